# wakewhy: build, test, install. Quiet by default; V=1 shows the commands.
#
#   make                 build build/wakewhy (as a user; no network)
#   sudo make demo       install what is missing, build, run the main job
#   sudo make check      install what is missing, run every test
#   sudo make check-vm   the same program on other kernels and on arm64, emulated by qemu
#   sudo make storms     exactness under load and under faults, the long way
#   sudo make check-all  all three, and check-tools: make lint, check-valgrind and coverage
#   sudo make bench      what it costs, beside its peers, which sudo make bench-peers installs; make bench-docs
#                        writes the figures to docs/cost.md
#   make install         DESTDIR= PREFIX=/usr/local; uninstall takes the same
#   make deps            install what a build needs; deps-check: what the tests need as well
#   make check-unit      the unit tests alone, as a user
#   make fuzz T=60       every parser against made-up input, T seconds each; needs clang's libFuzzer
#   make lint            clang-tidy and cppcheck; check-valgrind, coverage: what else looks at the code
#   make clean
#
# B= names another build directory, CC=clang another compiler, SAN=1 a build with the address and
# undefined-behaviour sanitizers. A cross build needs no more than
#   make CC=aarch64-linux-gnu-gcc B=build-arm64
# Parts with targets of their own bring them in a .mk file beside their sources.

VERSION := 0.1.0

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

# make itself presets CC to cc, which ?= would leave alone.
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
# A user's PATH has no sbin on Debian, where bpftool lives.
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool /sbin/bpftool) bpftool)
PREFIX ?= /usr/local

# The architecture that is built for, from the compiler; its own ar and nm come with it.
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null || uname -m)
ARCH := $(if $(filter aarch64% arm64%,$(TARGET)),arm64,x86)
AR := $(or $(shell $(CC) -print-prog-name=ar 2>/dev/null),ar)
NM := $(or $(shell $(CC) -print-prog-name=nm 2>/dev/null),nm)

B ?= build
V ?= 0
ifeq ($(V),0)
Q := @
say = @printf '  %-8s %s\n' '$(1)' '$(2)';
else
Q :=
say =
endif

SAN ?=
ifeq ($(SAN),1)
SANFLAGS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif

CFLAGS ?= -O2 -g
WARN := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 \
	-Wno-format-nonliteral -Wno-missing-field-initializers
ALL_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DWAKEWHY_VERSION='"$(VERSION)"' $(WARN) -Iuser -I. -I$(B) \
	-MMD -MP $(SANFLAGS) $(CFLAGS)
PURE_LIBS := -ldw -lelf -liberty -llzma -lz -ljansson -lm
LIBS := -lbpf $(PURE_LIBS) -ldl -lpthread

# The pure rooms: no libbpf, no clock, no /proc, no environment, no printing. tests/layers.sh holds
# them to it.
PURE_DIRS := base model stat sym record report render
PURE_SRC := $(foreach d,$(PURE_DIRS),$(wildcard user/$(d)/*.c))
PURE_OBJ := $(PURE_SRC:%.c=$(B)/%.o)
# Their unit tests: those that are not named after another room.
PURE_TESTS := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(filter-out $(foreach r,runtime collect cmd,\
	tests/unit/test_$(r)%),$(wildcard tests/unit/test_*.c)))
COLLECT_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard user/collect/*.c))
RUNTIME_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard user/runtime/*.c))
CMD_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard user/cmd/*.c))
MAIN_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard user/*.c))

.PHONY: all
all: $(B)/needs.ok $(B)/wakewhy

include $(sort $(wildcard user/*/*.mk tests/*/*.mk))

$(B)/wakewhy: $(MAIN_OBJ) $(CMD_OBJ) $(RUNTIME_OBJ) $(COLLECT_OBJ) $(B)/libwakewhy.a $(B)/layers.ok
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LIBS)

$(B)/libwakewhy.a: $(PURE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# Sanitizers and gcov put calls of their own into every object: only the plain build can tell.
$(B)/layers.ok: $(B)/libwakewhy.a tests/layers.sh $(wildcard user/*/*.[ch])
	$(call say,LAYERS,user)
	$(Q)NM='$(NM)' tests/layers.sh $(if $(SANFLAGS)$(findstring --coverage,$(CFLAGS)),,$(B)) && touch $@

$(B)/%.o: %.c $(B)/flags | $(B)/needs.ok
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# Rewritten only when the compiler, its version or a flag changes: then everything is built again.
STAMP := $(CC) $(shell $(CC) -dumpfullversion -dumpversion 2>/dev/null) $(ALL_CFLAGS) $(LDFLAGS) $(LIBS)
BPF_STAMP = $(CLANG) $(BPFTOOL) $(BPF_CFLAGS)
$(B)/flags: export STAMP := $(STAMP)
$(B)/bpf-flags: export STAMP = $(BPF_STAMP)
$(B)/flags $(B)/bpf-flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' "$$STAMP" | cmp -s - $@ || printf '%s\n' "$$STAMP" > $@
.PHONY: FORCE
FORCE:

# One clear line about what is missing, before a compiler says it in many.
$(B)/needs.ok: tests/setup/deps.sh tests/setup/packages $(B)/flags
	$(Q)CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' tests/setup/deps.sh need build
	@touch $@

# ---- kernel side -------------------------------------------------------------------------------

BPF_CFLAGS := -g -O2 -std=gnu11 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror \
	-Wno-unused-parameter -Ivmlinux/$(ARCH) -I.

$(B)/wakewhy.bpf.o: bpf/wakewhy.bpf.c $(B)/bpf-flags | $(B)/needs.ok
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -MT $@ -MF $(@:.o=.d) -c -o $@.tmp $<
	$(Q)$(BPFTOOL) gen object $@ $@.tmp && rm -f $@.tmp

$(B)/wakewhy.skel.h: $(B)/wakewhy.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name wakewhy_bpf > $@.tmp && mv $@.tmp $@

# For vmlinux/gen.sh, which builds the same program with another header.
.PHONY: bpf-cflags
bpf-cflags:
	@echo '$(BPF_CFLAGS)'

# The skeleton must be there before the first compile; afterwards the .d files know who includes it.
$(COLLECT_OBJ): | $(B)/wakewhy.skel.h

# ---- tests -------------------------------------------------------------------------------------

# A unit test links with the pure part only, those named after an outer room with that room too.
UNIT := $(patsubst tests/unit/%.c,$(B)/tests/unit/%,$(wildcard tests/unit/test_*.c))
UNIT_HELP := $(patsubst %.c,$(B)/%.o,$(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c)))
UNIT_RUNTIME := $(filter $(B)/tests/unit/test_runtime%,$(UNIT))
UNIT_COLLECT := $(filter $(B)/tests/unit/test_collect%,$(UNIT))
UNIT_CMD := $(filter $(B)/tests/unit/test_cmd%,$(UNIT))
$(UNIT_RUNTIME) $(UNIT_CMD): $(B)/libruntime.a
$(UNIT_COLLECT) $(UNIT_CMD): $(B)/libcollect.a
$(UNIT_CMD): $(B)/libcmd.a
$(B)/libruntime.a: $(RUNTIME_OBJ)
$(B)/libcollect.a: $(COLLECT_OBJ)
$(B)/libcmd.a: $(CMD_OBJ)
$(B)/libruntime.a $(B)/libcollect.a $(B)/libcmd.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(UNIT): $(B)/%: $(B)/%.o $(UNIT_HELP) $(B)/libwakewhy.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group -lcmocka \
		$(if $(filter %/libcollect.a,$^),-lbpf) $(PURE_LIBS) -ldl -lpthread

# Small programs whose right answer is known.
SUBJECTS := $(patsubst tests/subjects/%.c,$(B)/subjects/%,$(wildcard tests/subjects/*.c))
$(SUBJECTS): $(B)/subjects/%: tests/subjects/%.c $(B)/flags | $(B)/needs.ok
	$(call say,SUBJECT,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MF $@.d -pthread -o $@ $< $(LDFLAGS)

.PHONY: unit-tests subjects vm-subjects
unit-tests: $(UNIT)
subjects: $(SUBJECTS)
vm-subjects: $(SUBJECTS)

-include $(shell find $(B) -name '*.d' 2>/dev/null)

# Under sudo, what lands in the checkout belongs to the invoking user; only measuring needs root.
AS_USER := tests/setup/as-user.sh

.PHONY: deps deps-check
deps:
	$(Q)CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' tests/setup/deps.sh install build
deps-check:
	$(Q)tests/setup/deps.sh install build run check

.PHONY: demo
demo:
	$(Q)tests/setup/deps.sh install build run
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory all
	$(Q)$(AS_USER) tests/setup/runtimes.sh || true
	$(Q)tests/setup/demo.sh $(B)

.PHONY: check check-unit
check:
	$(Q)tests/setup/deps.sh install build run check
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory all unit-tests subjects
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory SAN=1 B=$(B)-san unit-tests fuzz-replay
	$(Q)NM='$(NM)' tests/run.sh $(B) unit sanitizers fuzz layers golden runtimes e2e docs

check-unit: unit-tests
	$(Q)tests/run.sh $(B) unit

# This machine's architecture, and the other one by a cross build.
VM_OWN := $(if $(filter arm64,$(ARCH)),arm64,amd64)
VM_OTHER := $(if $(filter arm64,$(ARCH)),amd64,arm64)
VM_OTHER_CC := $(if $(filter arm64,$(ARCH)),x86_64,aarch64)-linux-gnu-gcc

.PHONY: check-vm check-all
check-vm:
	$(Q)tests/setup/deps.sh install build check
	$(Q)+$(AS_USER) $(MAKE) --no-print-directory all vm-subjects
	$(Q)tests/vm/prepare.sh $(B) $(VM_OWN) vm-$(VM_OWN) || true
	$(Q)+if CC=$(VM_OTHER_CC) tests/vm/prepare.sh $(B) $(VM_OTHER) vm-$(VM_OTHER) build; then \
		$(AS_USER) $(MAKE) --no-print-directory CC=$(VM_OTHER_CC) B=$(B)-$(VM_OTHER) all vm-subjects; \
	fi
	$(Q)NM='$(NM)' tests/run.sh $(B) vm-$(VM_OWN) vm-$(VM_OTHER)

check-all:
	$(Q)+$(MAKE) --no-print-directory check
	$(Q)+$(MAKE) --no-print-directory storms
	$(Q)+$(MAKE) --no-print-directory check-tools
	$(Q)+$(MAKE) --no-print-directory check-vm

.PHONY: bench
bench: all subjects
	$(Q)tests/bench/run.sh $(B)

# ---- install -----------------------------------------------------------------------------------

BIN_DIR := $(DESTDIR)$(PREFIX)/bin
MAN_DIR := $(DESTDIR)$(PREFIX)/share/man/man1
COMPLETION_DIR := $(DESTDIR)$(PREFIX)/share/bash-completion/completions

.PHONY: install uninstall clean
install: all
	install -D -m 755 $(B)/wakewhy '$(BIN_DIR)/wakewhy'
	install -D -m 644 docs/wakewhy.1 '$(MAN_DIR)/wakewhy.1'
	install -D -m 644 user/cmd/completion.bash '$(COMPLETION_DIR)/wakewhy'

uninstall:
	rm -f '$(BIN_DIR)/wakewhy' '$(MAN_DIR)/wakewhy.1' '$(COMPLETION_DIR)/wakewhy'

clean:
	$(Q)rm -rf $(B) $(B)-san $(B)-fuzz $(B)-cov $(B)-amd64 $(B)-arm64
