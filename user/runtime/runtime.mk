# What is embedded in wakewhy: the scripts of all runtimes, and the floor, built for the target.
#
# floor-static runs startup, idle and serve; where there is no libc.a it is a dynamic program. floor-hash is
# dynamic, for it loads libcrypto. Both are small, without debugging information and sanitizers, and
# the same whatever CFLAGS are: they are what every figure is compared with.

RUNTIME_SCRIPTS := $(wildcard $(addprefix user/runtime/scripts/*.,js py pl rb php))
FLOOR_CFLAGS := -std=gnu11 -D_GNU_SOURCE $(WARN) -O2 -s

$(B)/floor-static: user/runtime/scripts/floor.c $(B)/flags | $(B)/needs.ok
	$(call say,FLOOR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FLOOR_CFLAGS) -static -o $@ $< 2>/dev/null || $(CC) $(FLOOR_CFLAGS) -o $@ $<

$(B)/floor-hash: user/runtime/scripts/floor_hash.c $(B)/flags | $(B)/needs.ok
	$(call say,FLOOR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(FLOOR_CFLAGS) -o $@ $< -ldl

# Arrays of bytes, so that their sizes are constants of C: startup.js becomes script_startup_js.
$(B)/runtime_scripts.h: $(RUNTIME_SCRIPTS) user/runtime/runtime.mk
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)for file in $(RUNTIME_SCRIPTS); do \
		name=$$(basename $$file | tr . _); \
		echo "static const unsigned char script_$$name[] = {"; \
		od -An -v -tx1 $$file | sed 's/ \([0-9a-f][0-9a-f]\)/0x\1,/g'; \
		echo "};"; \
	done > $@.tmp && mv $@.tmp $@

$(B)/user/runtime/runtimes.o: $(B)/runtime_scripts.h
$(B)/user/runtime/embed.o: $(B)/floor-static $(B)/floor-hash
$(B)/user/runtime/embed.o: private ALL_CFLAGS += \
	-DFLOOR_STATIC_FILE='"$(B)/floor-static"' -DFLOOR_HASH_FILE='"$(B)/floor-hash"'
