# The program that asks the questions of bpf/compat.bpf.h, for the unit test that loads it with types of its own.

$(B)/tests/unit/compat.bpf.o: tests/unit/bpf/compat.bpf.c $(B)/bpf-flags | $(B)/needs.ok
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.tmp $<
	$(Q)$(BPFTOOL) gen object $@ $@.tmp && rm -f $@.tmp

$(B)/tests/unit/compat.skel.h: $(B)/tests/unit/compat.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name compat_bpf > $@.tmp && mv $@.tmp $@

$(B)/tests/unit/test_collect_compat.o: $(B)/tests/unit/compat.skel.h
