# Subjects whose call chains are known, built in the ways in which programs are built.
#
# No sanitizers here, whatever the rest is built with: their functions would stand in the chains.

STACKS := $(B)/subjects/stacks

# The same source, by flags alone.
CHAIN_FLAGS_framed := -fno-omit-frame-pointer
CHAIN_FLAGS_frameless := -fomit-frame-pointer
CHAIN_FLAGS_static := -fomit-frame-pointer -static
CHAIN_FLAGS_static-pie := -fomit-frame-pointer -fPIE -static-pie
CHAIN_FLAGS_pie := -fomit-frame-pointer -fPIE -pie
CHAIN_FLAGS_nopie := -fomit-frame-pointer -fno-pie -no-pie
CHAIN_FLAGS_prelinked := -fomit-frame-pointer -fPIE -pie -Wl,-Ttext-segment=0x40000000
CHAIN_FLAGS_packed := -fomit-frame-pointer -fno-pie -no-pie -Wl,-z,noseparate-code
CHAIN_FLAGS_exported := -fomit-frame-pointer -rdynamic
CHAIN_FLAGS_build-id := -fomit-frame-pointer -Wl,--build-id=sha1
CHAIN_FLAGS_no-id := -fomit-frame-pointer -Wl,--build-id=none
CHAINS := framed frameless static static-pie pie nopie prelinked packed exported build-id no-id
# What has been taken out of one of those, and where it is now.
CHAINS_STRIPPED := stripped dynsym split linked mini

STACK_SUBJECTS := $(addprefix $(STACKS)/chain-,$(CHAINS) $(CHAINS_STRIPPED)) \
	$(addprefix $(STACKS)/,cpp rust jit open libknown.so brief hot)
subjects: $(STACK_SUBJECTS)

STACK_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(WARN) -MMD -MP -MF $@.d -MT $@ -O2 -pthread
OBJCOPY ?= $(or $(shell $(CC) -print-prog-name=objcopy 2>/dev/null),objcopy)

$(CHAINS:%=$(STACKS)/chain-%): $(STACKS)/chain-%: tests/subjects/stacks/chain.c $(B)/flags | $(B)/needs.ok
	$(call say,SUBJECT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STACK_CFLAGS) $(CHAIN_FLAGS_$*) -o $@ $<

# No name of its functions is left anywhere.
$(STACKS)/chain-stripped: $(STACKS)/chain-no-id
	$(Q)$(OBJCOPY) --strip-all $< $@

# Those that a program exports stay.
$(STACKS)/chain-dynsym: $(STACKS)/chain-exported
	$(Q)$(OBJCOPY) --strip-all $< $@

# Found by its build id, in a folder as /usr/lib/debug is one.
$(STACKS)/chain-split: $(STACKS)/chain-build-id
	$(Q)id=$$(readelf -n $< | sed -n 's/.*Build ID: //p') && [ -n "$$id" ] && \
		folder=$(STACKS)/debug/.build-id/$$(echo $$id | cut -c1-2) && mkdir -p $$folder && \
		$(OBJCOPY) --only-keep-debug $< $$folder/$$(echo $$id | cut -c3-).debug && \
		$(OBJCOPY) --strip-all $< $@

# Found by the name that .gnu_debuglink says, beside the program.
$(STACKS)/chain-linked: $(STACKS)/chain-no-id
	$(Q)$(OBJCOPY) --only-keep-debug $< $@.debug
	$(Q)cd $(@D) && $(OBJCOPY) --strip-all --add-gnu-debuglink=$(@F).debug $(<F) $(@F)

# Inside, compressed.
$(STACKS)/chain-mini: $(STACKS)/chain-no-id
	$(Q)$(OBJCOPY) --only-keep-debug $< $@.debug
	$(Q)xz -9 --stdout $@.debug > $@.xz && rm -f $@.debug
	$(Q)$(OBJCOPY) --strip-all --add-section .gnu_debugdata=$@.xz $< $@ && rm -f $@.xz

$(STACKS)/%: tests/subjects/stacks/%.c $(B)/flags | $(B)/needs.ok
	$(call say,SUBJECT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STACK_CFLAGS) -o $@ $(filter %.c %.o,$^) -ldl

$(STACKS)/rust $(STACKS)/jit $(STACKS)/open: tests/subjects/stacks/call.c

$(STACKS)/cpp: tests/subjects/stacks/call.c $(STACKS)/cpp.o
	$(call say,SUBJECT,$@)
	$(Q)$(CC) $(STACK_CFLAGS) -o $@ $^

$(STACKS)/cpp.o: tests/subjects/stacks/cpp.cc $(B)/flags | $(B)/needs.ok
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu++17 -D_GNU_SOURCE -Wall -Wextra -Werror -MMD -MP -MF $@.d -MT $@ -O2 \
		-fno-exceptions -fno-rtti -c -o $@ $<

$(STACKS)/libknown.so: tests/subjects/stacks/lib.c $(B)/flags | $(B)/needs.ok
	$(call say,SUBJECT,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(STACK_CFLAGS) -fPIC -shared -o $@ $<
