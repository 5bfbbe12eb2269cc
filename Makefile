# wakewhy: build, test, install. Quiet by default; V=1 shows the commands.
#
#   make                 build build/wakewhy (as a user; no network)
#   sudo make demo       install what is missing, build, run the main job
#   sudo make check      install what is missing, run every test
#   make install         DESTDIR= PREFIX=/usr/local

VERSION := 0.1.0

CC ?= gcc
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool /sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config
PREFIX ?= /usr/local

# The architecture that is built for, from the compiler: cross builds need only CC=.
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
ifneq (,$(filter aarch64%,$(TARGET)))
ARCH := arm64
else
ARCH := x86
endif

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
LIBS := -lbpf -lelf -lz -ljansson -lm -ldl

# The pure rooms: no libbpf, no clock, no /proc, no environment, no printing.
PURE_DIRS := base model stat sym record report render
PURE_SRC := $(foreach d,$(PURE_DIRS),$(wildcard user/$(d)/*.c))
APP_SRC := $(wildcard user/*.c user/cmd/*.c user/runtime/*.c user/collect/*.c)
PURE_OBJ := $(PURE_SRC:%.c=$(B)/%.o)
APP_OBJ := $(APP_SRC:%.c=$(B)/%.o)

.PHONY: all
all: $(B)/wakewhy

$(B)/wakewhy: $(APP_OBJ) $(B)/libwakewhy.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/libwakewhy.a: $(PURE_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/%.o: %.c
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<

# ---- kernel side -------------------------------------------------------------------------------

BPF_CFLAGS := -g -O2 -std=gnu11 -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Werror \
	-Wno-unused-function -Wno-missing-declarations -Ivmlinux/$(ARCH) -I.

$(B)/wakewhy.bpf.o: bpf/wakewhy.bpf.c $(wildcard bpf/*.h bpf/*.bpf.c) vmlinux/$(ARCH)/vmlinux.h
	$(call say,BPF,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@.tmp $<
	$(Q)$(BPFTOOL) gen object $@ $@.tmp && rm -f $@.tmp

$(B)/wakewhy.skel.h: $(B)/wakewhy.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name wakewhy_bpf > $@.tmp && mv $@.tmp $@

$(B)/user/collect/%.o: $(B)/wakewhy.skel.h

-include $(shell find $(B) -name '*.d' 2>/dev/null)

.PHONY: clean
clean:
	$(Q)rm -rf $(B)
