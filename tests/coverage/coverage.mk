# Line coverage of the pure rooms by their unit tests, the golden renderings and the inputs of the fuzz targets.
#
#   make coverage      a table: each room, its least covered files, and the total; fails below COVERAGE_MIN %

COVERAGE_MIN ?= 95

.PHONY: coverage
coverage:
	$(Q)+$(MAKE) --no-print-directory B=$(B)-cov CFLAGS='-O0 -g --coverage' $(B)-cov/wakewhy \
		$(PURE_TESTS:$(B)/%=$(B)-cov/%) fuzz-replay
	$(Q)CC='$(CC)' tests/coverage/run.sh $(B)-cov $(COVERAGE_MIN) '$(PURE_DIRS)' $(notdir $(PURE_TESTS))
