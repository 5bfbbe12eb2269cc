# What the end-to-end tests run besides wakewhy itself.

$(B)/subjects/stackdump: $(B)/tests/e2e/stackdump.o $(B)/libcollect.a $(B)/libwakewhy.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

subjects: $(B)/subjects/stackdump

# Their stacks are known by their frame pointers.
$(B)/subjects/stackpaths $(B)/subjects/stackstorm: ALL_CFLAGS += -fno-omit-frame-pointer -fno-optimize-sibling-calls

# Half an hour, and it takes a CPU away and sets the clock: docs/storms.md.
.PHONY: storms
storms:
	$(Q)tests/setup/deps.sh install build check
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory all subjects
	$(Q)tests/run.sh $(B) storms
