# The program that wrote tests/golden/*.wkw: needed only to add a recording.
$(B)/golden-recordings: $(B)/tests/golden/recordings.o $(B)/tests/unit/sample.o $(B)/tests/unit/sample_stacks.o \
		$(B)/libwakewhy.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PURE_LIBS)
