# What the end-to-end tests run besides wakewhy itself.

$(B)/subjects/stackdump: $(B)/tests/e2e/stackdump.o $(B)/libcollect.a $(B)/libwakewhy.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

subjects: $(B)/subjects/stackdump

# Their stacks are known by their frame pointers.
$(B)/subjects/stackpaths $(B)/subjects/stackstorm: ALL_CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

# More than half an hour; it takes a CPU away for a moment and sets the clock. WAKEWHY_SOAK_S=1800: the
# mixed load for so long.
.PHONY: storms
storms:
	$(Q)tests/setup/deps.sh install build check
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory all subjects
	$(Q)tests/run.sh $(B) storms
