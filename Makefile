# SPDX-License-Identifier: GPL-2.0-only
# One Makefile, no configure: `make help` lists everything, `make setup` as root installs the libraries.

VERSION := 0.1.0
prefix ?= /usr/local
RUNS ?= 100000
CFLAGS ?= -O2 -g
PKG_CONFIG ?= pkg-config
# CROSS=aarch64-linux-gnu- builds a static program for that machine, with what `.ci/setup cross` unpacked.
CROSS ?=
triplet := $(CROSS:-=)
ifeq ($(origin CC),default)
CC := $(CROSS)gcc
endif
default_O := build/gcc
O ?= build/$(notdir $(firstword $(CC)))$(if $(SAN),-san)$(if $(TSAN),-tsan)$(if $(FUZZ),-fuzz)
Q := $(if $(V),,@)
say = $(if $(V)$(findstring s,$(firstword -$(MAKEFLAGS))),,@printf '  %-6s %s\n' $(1) $@)

# --- libraries ---

# libperf is the one that .ci/setup built, or the system's.
libperf := $(shell CC='$(CC)' .ci/setup where $(triplet))

ifdef CROSS
sysroot := $(libperf:%/libperf=%/sysroot)
pkg_config := PKG_CONFIG_LIBDIR='$(sysroot)/usr/lib/$(triplet)/pkgconfig' PKG_CONFIG_SYSROOT_DIR='$(sysroot)' \
	$(PKG_CONFIG) --static
sysroot_cflags := -isystem $(sysroot)/usr/include
static := -static -Wl,--no-warnings -L$(sysroot)/usr/lib/$(triplet)
else
pkg_config := $(PKG_CONFIG)
endif

packages := libtraceevent capstone libelf libzstd zlib json-c
missing := $(shell for p in $(packages); do $(pkg_config) --exists $$p 2>/dev/null || echo $$p; done)
found := $(filter-out $(missing),$(packages))
libcheck := $(shell $(pkg_config) --exists check 2>/dev/null && $(pkg_config) --libs check)
# Their headers as system headers: warnings in them are not ours.
as_system = $(patsubst -I%,-isystem %,$(1))

# The order of libperf's folders matters: the kernel's linux/types.h before that of uapi, and the
# perf_event.h of its uapi before the system's, whose perf_event_attr may be shorter.
ifeq ($(libperf),)
missing += libperf
else ifeq ($(libperf),system)
libperf_version := (system)
libperf_cflags := $(call as_system,$(shell $(pkg_config) --cflags libperf))
libperf_libs := $(shell $(pkg_config) --libs libperf)
else
libperf_version := $(shell head -n 1 $(libperf)/version)
libperf_cflags := $(addprefix -isystem $(libperf)/tools/,lib/perf/include lib include) \
	$(addprefix -isystem ,$(wildcard $(libperf)/tools/arch/*/include $(libperf)/tools/arch/*/include/uapi)) \
	-isystem $(libperf)/tools/include/uapi
libperf_libs := $(libperf)/lib/libperf.a $(libperf)/lib/libapi.a
endif

libraries := libperf $(libperf_version)$(shell for p in $(found); do \
	printf ', %s %s' $$p "$$($(pkg_config) --modversion $$p)"; done)
ldlibs := -Wl,--as-needed $(libperf_libs) $(if $(found),$(shell $(pkg_config) --libs $(found))) -lpthread -lm

# --- flags ---

export WARNINGS := -Wall -Wextra -Wshadow -Wvla -Wformat=2 -Wundef -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wimplicit-fallthrough
asan := -fsanitize=address,undefined
sanitize := $(if $(SAN)$(FUZZ),$(asan)) $(if $(FUZZ),-fsanitize=fuzzer-no-link) $(if $(TSAN),-fsanitize=thread) \
	$(if $(SAN)$(FUZZ)$(TSAN),-fno-sanitize-recover=all -fno-omit-frame-pointer)
cppflags := -D_GNU_SOURCE -Iinclude -DDA_VERSION='"$(VERSION)"' -DDA_LIBRARIES='"$(libraries)"' \
	$(call as_system,$(if $(found),$(shell $(pkg_config) --cflags $(found)))) $(sysroot_cflags) $(CPPFLAGS)
cflags := -std=c17 -pthread $(WARNINGS) $(if $(WERROR),-Werror) $(CFLAGS) $(sanitize)
compile = $(CC) $(cppflags) $(dirs) $(cflags) $(std)
link = $(CC) $(cflags) $(static) $(LDFLAGS)

# --- what there is to build ---

objects = $(patsubst %.c,$(O)/%.o,$(wildcard $(1)))
bin := $(O)/damon-attrs
lib := $(O)/libda.a
lib_o := $(call objects,src/*.c decoders/*.c)
libperf_o := $(filter $(O)/src/evt_libperf.o $(O)/src/libperf_%.o,$(lib_o))
cmd_o := $(call objects,cmd/*.c)
help_o := $(filter-out $(O)/tests/test_%,$(call objects,tests/*.c))
tests := $(if $(libcheck),$(patsubst %.c,$(O)/%,$(wildcard tests/test_*.c)))
fuzzers := $(patsubst tests/fuzz/%.c,$(O)/%,$(wildcard tests/fuzz/fuzz_*.c))
replays := $(patsubst tests/fuzz/%.c,$(O)/tests/fuzz/%_replay,$(wildcard tests/fuzz/fuzz_*.c))
guests := $(patsubst tests/guest/%.c,$(O)/tests/guest/%,$(wildcard tests/guest/*.c))
sources := $(wildcard $(addsuffix /*.[ch],include src decoders cmd tests tests/*))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all check test print-ldlibs check-guest guest guest-programs layers headers unit golden replay live demo run-demo bench \
	bench-regions fuzz fuzz-run format \
	format-check install clean setup help FORCE

all: $(bin) ## build ./damon-attrs
ifeq ($(O),$(default_O))
	@test damon-attrs -ef $(bin) || ln -sf $(bin) damon-attrs
else
	@echo 'built $(bin)'
endif

$(bin): $(cmd_o) $(lib)
	$(call say,LINK)
	$(Q)$(link) -o $@ $^ $(ldlibs)

$(lib): $(lib_o)
	$(call say,AR)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $^

# Nothing in src/ or decoders/ may need cmd/.
$(O)/libda-alone: $(lib)
	$(call say,LINK)
	$(Q)echo 'int main(void) { return 0; }' | $(link) -o $@ -x c - -x none -Wl,--whole-archive $(lib) \
		-Wl,--no-whole-archive $(ldlibs)

$(O)/%.o: %.c $(O)/flags
	$(call say,CC)
	@mkdir -p $(@D)
	$(Q)$(compile) -MMD -MP -c -o $@ $<

$(O)/tests/%.o: private dirs := -Isrc -Idecoders
$(libperf_o): private dirs := $(libperf_cflags)
$(libperf_o): private std := -std=gnu17

$(tests): $(O)/tests/%: $(O)/tests/%.o $(help_o) $(lib)
	$(call say,LINK)
	$(Q)$(link) -o $@ $^ $(libcheck) $(ldlibs)

$(replays): $(O)/tests/fuzz/%_replay: $(O)/tests/fuzz/%.o $(O)/tests/fuzz/replay.o $(lib)
	$(call say,LINK)
	$(Q)$(link) -o $@ $^ $(ldlibs)

$(guests): $(O)/tests/guest/%: $(O)/tests/guest/%.o $(lib)
	$(call say,LINK)
	$(Q)$(link) -o $@ $^ $(ldlibs)

$(fuzzers): $(O)/%: $(O)/tests/fuzz/%.o $(lib)
	$(call say,LINK)
	$(Q)$(link) -fsanitize=fuzzer -o $@ $^ $(ldlibs)

# Other flags, another libperf: everything is compiled again.
$(O)/flags: FORCE
	$(if $(missing),$(error not installed: $(missing). Run: $(if $(CROSS),.ci/setup cross $(triplet),make setup) (as root, for packages)))
	@mkdir -p $(O)
	@echo '$(subst ','\'',$(compile) $(libperf_cflags))' >$@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

-include $(patsubst %.o,%.d,$(lib_o) $(cmd_o) $(call objects,tests/*.c tests/fuzz/*.c tests/guest/*.c))

# --- tests ---

run_tests = O=$(O) SAN=$(SAN)$(TSAN) tests/run-tests.sh
# After root worked in somebody's checkout, what was built is theirs.
give_back = [ "$$(id -u)" != 0 ] || [ -O . ] || chown -hR --reference=. build damon-attrs 2>/dev/null || :

check: ## all tests; as root it installs first what they need (T='unit/*' picks some)
	@[ "$$(id -u)" != 0 ] || .ci/setup check
	@$(MAKE) --no-print-directory test; status=$$?; $(give_back); exit $$status

.PHONY: check-cross some-tests
check-cross: ## unit tests on arm64 and on a big-endian machine, emulated
	@tests/check-cross.sh

KINDS ?= layers headers docs unit golden replay live
test: all $(O)/libda-alone $(tests) $(replays) ## the same with what is installed (KINDS='unit golden' runs these)
	@$(run_tests) $(KINDS)

print-ldlibs: # for tests that link programs of their own with $(lib)
	@echo '$(ldlibs)'

layers headers: ## only the direction rules; only: every header compiles alone
	@tests/check-$@.sh

unit: $(tests) ## only the unit tests
golden: $(bin) ## only the golden tests
replay: $(replays) ## only the fuzz targets, over their corpora
live: $(bin) ## only the tests that record on this machine
unit golden replay live:
	@$(run_tests) $@

# For check-cross: those unit tests.
some-tests: $(bin) $(patsubst %,$(O)/tests/test_%,$(TESTS))

check-guest: ## tests that need a kernel of their own, in guests under qemu; as root it installs first what they need
	@[ "$$(id -u)" != 0 ] || .ci/setup guest || :
	@$(MAKE) --no-print-directory guest; status=$$?; $(give_back); exit $$status

# Without the compiler for it there is no arm64 guest.
O_ARM64 ?= build/aarch64-linux-gnu-gcc
guest: guest-programs ## the same with what is installed
	@[ -z "$$(.ci/setup where aarch64-linux-gnu)" ] || ! command -v aarch64-linux-gnu-gcc >/dev/null || \
		$(MAKE) --no-print-directory CROSS=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc O=$(O_ARM64) SAN= TSAN= \
		guest-programs
	@O_ARM64=$(O_ARM64) $(run_tests) $@

guest-programs: $(bin) $(guests)

demo: ## build and show record, report, diagnose; as root it installs first what they need
	@[ "$$(id -u)" != 0 ] || .ci/setup build
	@$(MAKE) --no-print-directory run-demo; status=$$?; $(give_back); exit $$status

run-demo: all
	@DA=$(bin) tests/demo.sh

bench: all ## measure speed and memory, as ratios
	@for b in tests/bench/*.sh; do echo "== $$b"; DA=$(abspath $(bin)) DA_SRC=$(CURDIR) $$b || exit 1; done

ifdef FUZZ
fuzz: $(fuzzers)
fuzz-run: $(fuzzers)
	@RUNS=$(RUNS) tests/fuzz/run.sh $(O) $(fuzzers)
else
fuzz fuzz-run: ## build the libFuzzer targets; run each of them RUNS=100000 times
	@$(MAKE) --no-print-directory CC=clang FUZZ=1 $@
endif

bench-regions: all ## only: regions against a known truth, as a table
	@DA=$(abspath $(bin)) DA_SRC=$(CURDIR) tests/bench/regions.sh

# --- the rest ---

format: ## reformat all sources
	clang-format -i $(sources)

format-check: ## show what `make format` would change
	@status=0; for f in $(sources); do \
		clang-format $$f | diff -u --label $$f --label $$f.formatted $$f - || status=1; \
	done; exit $$status

install: $(bin) ## install to $(DESTDIR)$(prefix)
	install -D $(bin) $(DESTDIR)$(prefix)/bin/damon-attrs
	for m in $(wildcard doc/*.1 doc/*.7); do \
		install -D -m 644 $$m $(DESTDIR)$(prefix)/share/man/man$${m##*.}/$${m##*/} || exit 1; done

clean: ## remove what was built
	rm -rf build damon-attrs

setup: ## install all that building and testing need (root)
	.ci/setup check

help: ## this list
	@sed -n 's/^\([a-z][a-z -]*\):.*## \(.*\)/  \1\t\2/p' Makefile | expand -t 20
	@echo
	@echo 'Another machine: .ci/setup cross aarch64-linux-gnu, then make CROSS=aarch64-linux-gnu- (a static program)'
	@echo 'Variables: CC=clang  SAN=1 (address, undefined)  TSAN=1  WERROR=1  V=1 (show commands)  O=FOLDER'
	@echo '           CFLAGS  LDFLAGS  DESTDIR  prefix  RUNS  T=PATTERN  DA_DEPS=FOLDER (where libperf is)'
