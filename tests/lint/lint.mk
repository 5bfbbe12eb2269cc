# Static analysis and memory checks.
#
#   make lint               clang-tidy (.clang-tidy) and cppcheck over the C of user/, bpf/ and tests/
#   make check-valgrind     the unit tests of the pure rooms, and the golden renderings, under memcheck; SLOW=1 leaves
#                           out none
#
# Both in `make check-all`: together they take minutes. A file is asked again when it or a header of its changes.

LINT_SRC := $(filter-out %.bpf.c,$(wildcard user/*.c user/*/*.c tests/*/*.c))
# embed.c is assembler's words alone.
LINT_TIDY := $(patsubst %.c,$(B)/lint/%.tidy,$(filter-out user/runtime/embed.c,$(LINT_SRC)))

.PHONY: lint check-valgrind check-tools
lint: $(LINT_TIDY) $(B)/lint/bpf.tidy $(B)/lint/cppcheck.ok

# The object stands for the headers: it is newer than any that changed. What is generated is nobody's.
# What bpftool generates ends by freeing through what it was given, which is not followed.
$(B)/lint/user/collect/load.tidy $(B)/lint/tests/bench/empty.tidy: TIDY_CHECKS := --checks=-clang-analyzer-unix.Malloc
$(LINT_TIDY): $(B)/lint/%.tidy: %.c $(B)/%.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)clang-tidy --quiet $(TIDY_CHECKS) $< -- $(patsubst -I$(B),-isystem$(B),$(filter-out -MMD -MP $(WARN),$(ALL_CFLAGS))) \
		> $@.log 2>&1 || { cat $@.log; exit 1; }
	$(Q)touch $@

# The kernel side is one unit; the analyzer knows nothing of BPF's helpers and maps, so only the checks that
# look at the text.
$(B)/lint/bpf.tidy: bpf/wakewhy.bpf.c $(B)/wakewhy.bpf.o .clang-tidy
	$(call say,TIDY,$<)
	$(Q)mkdir -p $(@D)
	$(Q)clang-tidy --quiet --checks='-clang-analyzer-*' $< -- $(BPF_CFLAGS) > $@.log 2>&1 || { cat $@.log; exit 1; }
	$(Q)touch $@

# FUZZ_CHECK does not return where a pointer is NULL or a number 0, which cppcheck 2.10 does not follow and clang-tidy does.
$(B)/lint/cppcheck.ok: $(LINT_SRC) $(wildcard user/*/*.h tests/*/*.h bpf/*.h) tests/lint/cppcheck.cfg
	$(call say,CPPCHECK,user tests)
	$(Q)mkdir -p $(@D)/cppcheck
	$(Q)cppcheck -q -j 2 --std=c11 --enable=warning,performance,portability --inline-suppr \
		--cppcheck-build-dir=$(@D)/cppcheck --library=tests/lint/cppcheck.cfg -Uvec_push '-DLIBBPF_OPTS(type,name,...)=struct type name={0}' \
		--suppress='nullPointerRedundantCheck:tests/fuzz/*' --suppress='zerodivcond:tests/fuzz/*' -Iuser -I. \
		--error-exitcode=1 $(LINT_SRC)
	$(Q)touch $@

check-valgrind: $(B)/wakewhy $(PURE_TESTS)
	$(Q)tests/setup/deps.sh need valgrind
	$(Q)tests/lint/valgrind.sh $(B) $(notdir $(PURE_TESTS))

check-tools:
	$(Q)tests/setup/deps.sh install build check lint valgrind
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory all unit-tests
	$(Q)NM='$(NM)' tests/run.sh $(B) lint valgrind coverage
