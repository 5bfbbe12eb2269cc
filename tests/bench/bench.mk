# What `make bench` runs beside wakewhy: programs that do nothing on its hooks, loops and threads to time.

BENCH_PROGRAMS := $(B)/bench/empty $(B)/bench/loops $(B)/bench/threads

$(B)/bench/empty.bpf.o: tests/bench/empty.bpf.c vmlinux/$(ARCH)/vmlinux.h
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@.tmp $<
	$(Q)$(BPFTOOL) gen object $@ $@.tmp && rm -f $@.tmp

$(B)/bench/empty.skel.h: $(B)/bench/empty.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name empty_bpf > $@.tmp && mv $@.tmp $@

$(B)/bench/empty: tests/bench/empty.c $(B)/bench/empty.skel.h
	$(call say,BENCH,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -MF $@.d -o $@ $< $(LDFLAGS) -lbpf -lelf -lz

$(B)/bench/loops $(B)/bench/threads: $(B)/bench/%: tests/bench/%.c
	$(call say,BENCH,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MF $@.d -pthread -o $@ $< $(LDFLAGS)

.PHONY: bench-programs
bench-programs: $(BENCH_PROGRAMS)
bench: $(BENCH_PROGRAMS)

# Whom wakewhy is measured against, where they are to be had. `make check` needs none of them.
.PHONY: bench-peers
bench-peers:
	$(Q)tests/setup/deps.sh install bench

# docs/cost.md's tables, from the last `make bench`.
.PHONY: bench-docs
bench-docs:
	$(Q)python3 -B tests/bench/cost_doc.py $(B)/bench.json docs/cost.md
