# Fuzz targets: one for each parser (tests/fuzz/target_NAME.c).
#
#   make fuzz T=60 [FUZZ="wrk text"]    runs libFuzzer on each for T seconds; needs clang and its runtime
#   make fuzz-replay                    the targets with a main of ours, for the inputs in corpus/
#
# FUZZER=1 links libFuzzer; `make fuzz` sets it, in a build directory of its own.

FUZZ_NAMES := $(patsubst tests/fuzz/target_%.c,%,$(wildcard tests/fuzz/target_*.c))
FUZZ_TARGETS := $(FUZZ_NAMES:%=$(B)/fuzz/%)
FUZZ_JSON := recording_json render json_result claims plan diff study
FUZZ_HELP := $(B)/tests/fuzz/fuzz.o $(B)/tests/fuzz/rendered.o
FUZZ_ROOMS := $(B)/libcmd.a $(B)/libruntime.a $(B)/libcollect.a $(B)/libwakewhy.a
FUZZER ?=
T ?= 60
FUZZ ?= $(FUZZ_NAMES)

ifeq ($(FUZZER),1)
FUZZ_LINK := -fsanitize=fuzzer
$(FUZZ_JSON:%=$(B)/fuzz/%): $(B)/tests/fuzz/json_mutate.o
else
FUZZ_HELP += $(B)/tests/fuzz/replay.o
endif

$(FUZZ_TARGETS): $(B)/fuzz/%: $(B)/tests/fuzz/target_%.o $(FUZZ_HELP) $(FUZZ_ROOMS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(SANFLAGS) $(CFLAGS) $(FUZZ_LINK) $(LDFLAGS) -o $@ $(filter %.o,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS)

# Statics of what a target includes that the target does not use.
$(B)/tests/fuzz/target_%.o: WARN += -Wno-unused-function
.SECONDARY: $(FUZZ_NAMES:%=$(B)/tests/fuzz/target_%.o)

.PHONY: fuzz fuzz-replay
fuzz-replay: $(FUZZ_TARGETS)

fuzz:
	$(Q)CLANG='$(CLANG)' tests/setup/deps.sh need build fuzz
	$(Q)+$(MAKE) --no-print-directory CC='$(CLANG)' SAN=1 FUZZER=1 B=$(B)-fuzz \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' fuzz-replay
	$(Q)tests/fuzz/run.sh fuzz $(B)-fuzz/fuzz $(T) $(FUZZ)
