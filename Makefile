# dltraced: one Makefile, everything built in build/.
#
#   make                 build/dltraced, on all CPUs (-j2: on two)
#   make demo            trace the bundled workload, make its page
#   make install         into PREFIX (/usr/local), below DESTDIR; other folders: the variables below "--- install"
#   make uninstall       with the variables of the installation
#   make portable        one program for every Linux of this architecture, libraries linked in, in build/portable/stage
#   make wheel           that for pip, in build/portable/dist
#   make tarball         that to unpack and run, there too
#   make deb             that for Debian and Ubuntu
#   make rpm             that for RHEL and Fedora
#   make image           that for containers
#   make python          wheel and source distribution of the package for Python, in build/python (PYTHON: for which)
#   make deps            install what building and testing need
#   make ARCH=arm64      any of these for arm64 on another machine, in build/arm64: deps all workloads check-vm
#   make clean           remove build/
#   make help            this
#
#   make quick           the tests that fit into minutes
#   make check           the tests that every change must pass
#   make check-full      all tests (STEPS="fuzz tsan": these, see tests/check)
#   make check-peers     the tests beside other people's tools
#   make check-vm        the tests for other kernels, in QEMU
#   make check-systemd   the service in a guest that systemd has booted
#   make check-package   packages, wheel and archive in clean roots, the service under systemd in a container, the image
#   make unit            unit tests only (no root needed)
#   make unit-asan       the same with ASan and UBSan
#   make native          the daemon on this kernel, as root (T=exit: the scripts with "exit" in their names)
#   make fuzz            hostile input, for a bounded number of runs (SECS=600: each for so long)
#   make page            the page of report --html, in a browser
#   make soak            a mixed load for an hour (DURATION=24h), and whether anything grows or is lost
#   make bench           what tracing costs, beside other tracers (20 min; ROUNDS=1: 5; BENCH=fixed: a part)
#   make lint            static analysis
#   make syntax          clang's warnings
#   make syntax-rest     clang's warnings of what make fuzz does not compile
#   make workloads       build the programs that tests trace
#   make fuzzers         build what make fuzz runs (FUZZ=1 CC=clang)
#   make docs            the blocks of docs/ that commands print
#   make screenshot      docs/report.png
#
# Variables: CC, CLANG, BPFTOOL, STRIP (true: install with symbols), V=1, DEBUG=1 (ASan and UBSan), TSAN=1
# (ThreadSanitizer), VMLINUX_BTF (whose BTF vmlinux.h is made from), LIBBPF_STATIC=1, ZSTD=0 (build without libzstd; by
# default with it where it is installed), UPLOT_DIR (the folder dist of the npm package uplot, for the charts of
# report --html; empty or not there: they are drawn without it).

# --- knobs ---------------------------------------------------------------------------------------
PREFIX       ?= /usr/local
# Some shells pass "PREFIX=~/x" as it is: without this, a folder of the name "~" would be made here.
override PREFIX := $(patsubst %/,%,$(abspath $(patsubst ~/%,$(HOME)/%,$(PREFIX))))
DEBUG        ?= 0
TSAN         ?= 0
FUZZ         ?= 0
LIBBPF_STATIC ?= 0
VMLINUX_BTF  ?= /sys/kernel/btf/vmlinux
CLANG        ?= clang
STRIP        ?= $(if $(SANITIZERS),true,$(CROSS_COMPILE)strip)
BPFTOOL      ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool /sbin/bpftool) bpftool)
PKG_CONFIG   ?= pkg-config
UPLOT_DIR    ?= src/report/show/page/node_modules/uplot/dist
V            ?= 0
Q             = $(if $(filter 1,$(V)),,@)
say           = $(if $(filter 1,$(V)),,@printf '  %-8s %s\n' $(1) $(2))

VERSION := $(shell scripts/version)
NATIVE_ARCH := $(shell uname -m | sed 's/x86_64/x86/; s/aarch64/arm64/; s/ppc64le/powerpc/; s/riscv64/riscv/; s/s390x/s390/')
# Not from the environment, where it is of a kernel that somebody builds.
ifneq ($(origin ARCH),command line)
ARCH := $(NATIVE_ARCH)
endif
# Another architecture than this machine's, or empty; its files are in a folder of build/.
CROSS := $(if $(filter-out $(NATIVE_ARCH),$(ARCH)),$(ARCH))
B := build$(if $(CROSS),/$(CROSS))$(if $(filter 1,$(DEBUG)),/debug)$(if $(filter 1,$(TSAN)),/tsan)$(if $(filter 1,$(FUZZ)),/fuzz)

# The compiler and the emulator for arm64, the libraries and a kernel's types of scripts/sysroot (SYSROOT: another folder
# with usr/ and vmlinux.btf). All of them are for a build on another machine; there is no need of them on arm64 itself.
ifneq ($(CROSS),)
$(if $(filter arm64,$(CROSS)),,$(error ARCH=$(CROSS) on $(NATIVE_ARCH): only arm64 can be built on another machine))
CROSS_COMPILE ?= aarch64-linux-gnu-
ifeq ($(filter clean deps help,$(MAKECMDGOALS))$(origin SYSROOT),undefined)
SYSROOT := $(shell scripts/sysroot $(CROSS))
$(if $(SYSROOT),,$(error no libraries of $(CROSS): see above))
endif
export SYSROOT
ifneq ($(filter default,$(origin CC)),)
CC := $(CROSS_COMPILE)gcc
endif
ifneq ($(filter default,$(origin AR)),)
AR := $(CROSS_COMPILE)ar
endif
ifneq ($(SYSROOT),)
override CC += --sysroot=$(SYSROOT)
ifeq ($(origin VMLINUX_BTF),file)
VMLINUX_BTF = $(SYSROOT)/vmlinux.btf
endif
override PKG_CONFIG := env PKG_CONFIG_SYSROOT_DIR=$(SYSROOT) \
	PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/aarch64-linux-gnu/pkgconfig:$(SYSROOT)/usr/share/pkgconfig $(PKG_CONFIG)
# Runs a program of this build, for its tables.
EMULATOR ?= qemu-aarch64 -L $(SYSROOT)
endif
endif

ZSTD := $(or $(ZSTD),$(shell $(PKG_CONFIG) --exists libzstd && echo 1 || echo 0))

# A build takes all CPUs, unless -j or MAKEFLAGS of the environment says how many; here only the shell sees the latter.
# Goals that run or remove something go one after the other, as before. For a make within a make, the outer one decides.
# No name here may be JOBS: make would put its own value into the environment of tests/run-native.
EACH_CPU := -j$(or $(shell nproc 2>/dev/null),1)
ALL_CPUS = $(if $(findstring -j,$(MAKEFLAGS)),,$(EACH_CPU))
ifeq ($(MAKELEVEL)$(filter-out all fuzzers install syntax syntax-rest unit workloads $(B)/%,$(MAKECMDGOALS)),0)
ADDED := $(if $(findstring -j,$(MAKEFLAGS) $(shell echo "$$MAKEFLAGS")),,$(EACH_CPU))
MAKEFLAGS += $(ADDED)
endif

comma := ,
SANITIZERS := $(if $(filter 1,$(DEBUG)),address$(comma)undefined)$(if $(filter 1,$(TSAN)),thread)$(if \
	      $(filter 1,$(FUZZ)),fuzzer-no-link$(comma)address$(comma)undefined)
SANITIZE := $(if $(SANITIZERS),-fsanitize=$(SANITIZERS) -fno-sanitize-recover=all -fno-omit-frame-pointer)
CFLAGS ?= $(if $(SANITIZERS),-O1,-O2) -g
# BPF objects, and the files generated from them, do not depend on the sanitizer, nor on the compiler of the program.
G := $(if $(SANITIZERS),build$(if $(CROSS),/$(CROSS)),$(B))
# What clang compiles of them; in G they are linked: BPF_LINES=no without source lines, see scripts/portable/without-lines.
K := $(G)
# What a function of the program may have on the stack: see src/os/stack.h. Sanitizers make frames larger.
FRAME_CFLAGS = $(if $(SANITIZERS),,-Wframe-larger-than=40960)
# -fno-strict-aliasing: a record is read as its header and as its probe's struct, the same memory as two types.
ALL_CFLAGS = -std=gnu11 -fno-strict-aliasing -Wall -Wextra -Wno-unused-parameter \
	     -Wno-missing-field-initializers \
	     -D_GNU_SOURCE $(if $(filter 1,$(ZSTD)),-DHAVE_ZSTD) \
	     -Isrc -Iinclude -I. -I$(B) -I$(G) $(SANITIZE) $(CPPFLAGS) $(CFLAGS) -MMD -MP
LIBBPF_LIBS = $(if $(filter 1,$(LIBBPF_STATIC)),-Wl$(comma)-Bstatic -lbpf -Wl$(comma)-Bdynamic,-lbpf)
ALL_LDFLAGS = $(SANITIZE) $(LDFLAGS)
# For --version: those that cannot be queried at run time.
BUILT_WITH ?= $(shell for l in libelf libcap-ng inih; do echo "$$l $$($(PKG_CONFIG) --modversion $$l 2>/dev/null)"; done | \
	      paste -sd , | sed 's/,/, /g')
LDLIBS = $(LIBBPF_LIBS) -lelf -lcap-ng -linih $(if $(filter 1,$(ZSTD)),-lzstd) -lz -ldl -lm -lpthread
BPF_CFLAGS = -g -O2 -target bpf -mcpu=v2 -D__TARGET_ARCH_$(ARCH) -Wall -Wextra -Wno-unused-parameter \
	     -Wno-missing-declarations -Wno-unused-function -Ibpf -Iinclude -I. -I$(K) -MMD -MP

# --- files ---------------------------------------------------------------------------------------
BPF_SRC   := $(sort $(wildcard bpf/*.bpf.c bpf/*/*.bpf.c))
BPF_HEADERS := $(sort $(wildcard bpf/*.bpf.h bpf/*/*.bpf.h))
BPF_NAMES := $(notdir $(BPF_SRC:.bpf.c=))
BPF_OBJ   := $(BPF_NAMES:%=$(G)/obj/bpf/%.bpf.o) $(BPF_NAMES:%=$(G)/obj/bpf/%.probed.bpf.o)
SKELS     := $(BPF_NAMES:%=$(G)/%.skel.h)
vpath %.bpf.c $(sort $(dir $(BPF_SRC)))
SRC       := $(sort $(wildcard $(addsuffix .c,src/*/* src/*/*/* src/*/*/*/*)))
OBJ       := $(SRC:src/%.c=$(B)/obj/%.o) $(B)/obj/page_html.o
LIB_OBJ   := $(filter-out $(B)/obj/cmd/main.o,$(OBJ))
UNIT_SRC  := $(sort $(wildcard $(addsuffix /test_*.c,tests/unit/* tests/unit/*/* tests/unit/*/*/*)))
UNITS     := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
WORK_SRC  := $(sort $(wildcard tests/workloads/*.c))
# clang's target and ld's form of programs of 32 bits, where the kernel may run them.
COMPAT := $(if $(filter x86,$(ARCH)),i386-linux-gnu elf_i386)$(if $(filter arm64,$(ARCH)),arm-linux-gnueabi armelf_linux_eabi)
WORKLOADS := $(WORK_SRC:tests/workloads/%.c=$(B)/workloads/%) $(B)/workloads/syscall_fuzz $(if $(COMPAT),$(B)/workloads/compat) $(addprefix $(B)/workloads/c10-,plain.so bare.so $(if $(filter x86,$(ARCH)),nop5.so stepped.so))
FUZZ_SRC  := $(sort $(wildcard $(addsuffix .c,tests/fuzz/*/* tests/fuzz/*/*/* tests/fuzz/*/*/*/*)))
FUZZERS   := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/tests/%)
BENCHES   := $(addprefix $(B)/bench/,load hooks shim.so alloc_shim.so)
SITE      := $(addprefix $(B)/site/,sitecustomize.py _mark.py __pycache__)
LIBRARIES := $(B)/libdltraced-alloc.so $(B)/libdltraced-nvtx.so

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all workloads syntax syntax-rest unit unit-asan native page screenshot docs fuzz fuzzers lint quick check check-full check-peers check-vm check-systemd \
	check-package bench soak demo python \
	deps help install uninstall portable wheel tarball deb rpm image clean

all: $(B)/dltraced $(LIBRARIES) $(B)/dltraced-traces.5 $(B)/duckdb.sql $(SITE)

help:
	@sed '/^$$/,$$d; s/^# \{0,1\}//' $(firstword $(MAKEFILE_LIST))

# --- the program ---------------------------------------------------------------------------------
$(B)/dltraced: $(OBJ)
	$(call say,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# What traced programs load, see preload/README.md: nothing but libc is in it, and nothing of a sanitizer.
PRELOAD_SRC := $(sort $(wildcard preload/*.c))
$(B)/libdltraced-alloc.so: $(PRELOAD_SRC) $(wildcard preload/*.h) include/dlt/alloc.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE -Ipreload -Iinclude -I. $(CPPFLAGS) $(CFLAGS) \
		-fPIC -fvisibility=hidden -ftls-model=initial-exec -fno-omit-frame-pointer -fexceptions \
		$(addprefix -fno-builtin-,malloc calloc realloc free) -shared -static-libgcc -Wl,-z,now,-soname,$(@F) $(LDFLAGS) -o $@ $(PRELOAD_SRC)

# What NVTX loads into traced programs, see inject/README.md. It stays there: threads that end call it.
INJECT_SRC := $(sort $(wildcard inject/*.c))
$(B)/libdltraced-nvtx.so: $(INJECT_SRC) $(wildcard inject/*.h) include/dltraced.h
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -Iinject -Iinclude $(CPPFLAGS) $(CFLAGS) -fPIC -fvisibility=hidden \
		-shared -static-libgcc -Wl,-z,now,-z,nodelete,-soname,$(@F) $(LDFLAGS) -o $@ $(INJECT_SRC)

# Skeletons first: which object needs which is known only once dependencies have been generated.
$(B)/obj/%.o: src/%.c | $(SKELS) $(G)/core_types.h $(B)/syscall_names.inc $(B)/errors.inc
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(FRAME_CFLAGS) -c -o $@ $<

# Written only when they change, so that a new version compiles one file.
written = $(shell mkdir -p $(B) && printf '"%s"\n' '$(2)' | cmp -s - $(B)/$(1) || printf '"%s"\n' '$(2)' >$(B)/$(1))
ifeq ($(filter help clean,$(MAKECMDGOALS)),)
$(call written,version.inc,$(VERSION))
$(call written,built_with.inc,$(BUILT_WITH))
endif
$(B)/obj/base/version.o: $(B)/version.inc $(B)/built_with.inc

# Files that differ with and without libzstd are built again when that changes.
$(shell mkdir -p $(B) && cd $(B) && { [ -e zstd-$(ZSTD) ] || { rm -f zstd-?; touch zstd-$(ZSTD); }; })
$(B)/obj/trace/pack.o $(B)/obj/trace/unpack.o: $(B)/zstd-$(ZSTD)

# The page of report --html in one piece, as an object: page_html to page_html_end.
UPLOT := $(if $(UPLOT_DIR),$(wildcard $(UPLOT_DIR)/uPlot.iife.min.js))
$(shell mkdir -p $(B) && cd $(B) && { [ -e uplot-$(words $(UPLOT)) ] || { rm -f uplot-?; touch uplot-$(words $(UPLOT)); }; })
$(B)/page.html: $(wildcard src/report/show/page/*.html src/report/show/page/*.css src/report/show/page/*.js) src/report/show/page/assemble $(UPLOT) $(B)/uplot-$(words $(UPLOT))
	$(call say,PAGE,'$@$(if $(UPLOT),, (without uPlot))')
	$(Q)src/report/show/page/assemble $(if $(UPLOT),"$(UPLOT_DIR)") >$@

$(B)/obj/page_html.o: $(B)/page.html
	$(Q)mkdir -p $(@D)
	$(Q)printf '%s\n' '.section .rodata' '.global page_html, page_html_end' 'page_html:' '.incbin "$<"' \
		'page_html_end:' '.byte 0' '.section .note.GNU-stack,"",%progbits' | $(CC) -c -x assembler -o $@ -

# --- BPF -----------------------------------------------------------------------------------------
$(K)/vmlinux.h:
	$(call say,BTF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)for tool in $(firstword $(CC)) $(firstword $(CLANG)) $(BPFTOOL); do command -v "$$tool" >/dev/null || { \
		echo "$$tool not found: scripts/install-deps --$(or $(CROSS),build) installs what the build needs" >&2; exit 1; }; done
	$(Q)test -r $(VMLINUX_BTF) || { echo "$(VMLINUX_BTF) not found: this kernel has no BTF" \
		"(CONFIG_DEBUG_INFO_BTF=y); set VMLINUX_BTF to that of another kernel to build" >&2; exit 1; }
	$(Q)$(BPFTOOL) btf dump file $(VMLINUX_BTF) format c >$@

# Each program is compiled twice, see bpf/compat.bpf.h: 1 for kernels whose verifier accepts loads through casts, 0 for
# the others.
$(K)/obj/bpf/%.1.o: %.bpf.c Makefile | $(K)/vmlinux.h
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -DDLT_DIRECT=1 -c -o $@ $<
$(K)/obj/bpf/%.0.o: %.bpf.c Makefile | $(K)/vmlinux.h
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -DDLT_DIRECT=0 -c -o $@ $<

# Linked alone, which drops DWARF: a tenth of the size.
linked = mkdir -p $(@D) && $(BPFTOOL) gen object $@ $< $(if $(filter no,$(BPF_LINES)),&& scripts/portable/without-lines $@ $@)
$(G)/obj/bpf/%.bpf.o: $(K)/obj/bpf/%.1.o
	$(Q)$(linked)
$(G)/obj/bpf/%.probed.bpf.o: $(K)/obj/bpf/%.0.o
	$(Q)$(linked)

# One header for both: struct NAME_bpf and NAME_probed_bpf.
$(G)/%.skel.h: $(G)/obj/bpf/%.bpf.o $(G)/obj/bpf/%.probed.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@ && \
		$(BPFTOOL) gen skeleton $(G)/obj/bpf/$*.probed.bpf.o name $*_probed_bpf >>$@

# CALL(name) for each system call of this architecture.
$(B)/syscall_names.inc:
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <sys/syscall.h>' | $(CC) -E -dM -x c - | \
		awk '/^#define __NR_[a-z]/ && $$2 !~ /^__NR_(syscalls|arch_specific_syscall)$$/ { sub(/^__NR_/, "", $$2); print "CALL(" $$2 ")" }' | LC_ALL=C sort >$@ && test -s $@

# NAME(name) for each error of this architecture; those that are defined by another one's name have no number of their own.
$(B)/errors.inc:
	$(call say,GEN,$@)
	$(Q)mkdir -p $(@D)
	$(Q)echo '#include <errno.h>' | $(CC) -E -dM -x c - | \
		awk '/^#define E[A-Z0-9]+ [0-9]+$$/ { print "NAME(" $$2 ")" }' | LC_ALL=C sort >$@ && test -s $@

# The names of structs, unions and enums in the objects' BTF, without flavours: see src/kernel/btf.h.
$(G)/core_types.h: $(BPF_OBJ)
	$(call say,TYPES,$@)
	$(Q)for o in $^; do $(BPFTOOL) btf dump file $$o || exit 1; done | LC_ALL=C awk -F"'" ' \
		/^\[[0-9]+\] (STRUCT|UNION|ENUM|ENUM64) / && $$2 != "(anon)" { sub(/___.*/, "", $$2); print $$2 }' | \
		LC_ALL=C sort -u | awk 'BEGIN { print "static const char *const core_types[] = {" } \
		{ print "\t\"" $$0 "\"," } END { print "};" }' >$@

# --- tests ---------------------------------------------------------------------------------------
$(B)/workloads/regions: LINKED := -static
$(B)/workloads/tensors: LINKED := -fno-omit-frame-pointer
# with signed return addresses
$(B)/workloads/alloc_stacks: LINKED := $(if $(filter arm64,$(ARCH)),-mbranch-protection=standard)
$(B)/workloads/%: tests/workloads/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -D_GNU_SOURCE -Iinclude $(CFLAGS) -MMD -MP -o $@ $< $(LINKED) -lpthread

# A program of several files.
$(B)/workloads/syscall_fuzz: $(wildcard tests/workloads/syscall_fuzz/*.[ch]) tests/workloads/uring.h
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -D_GNU_SOURCE $(CFLAGS) -o $@ $(filter %.c,$^) -lpthread

# A program of 32 bits, without a C library, which would have to be there for it.
$(B)/workloads/compat: tests/workloads/compat/compat.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) --target=$(firstword $(COMPAT)) $(if $(filter arm64,$(ARCH)),-march=armv7-a) -O2 -Wall -Wextra -ffreestanding \
		-fno-stack-protector -c -o $@.o $<
	$(Q)$(CROSS_COMPILE)ld -m $(lastword $(COMPAT)) -o $@ $@.o && rm $@.o

# Libraries that tensors loads: with functions that can be probed, also without frame pointers, and with one that must not.
$(B)/workloads/c10-bare.so: LINKED := -fomit-frame-pointer
$(B)/workloads/c10-nop5.so: LINKED := '-DENTRY=".byte 0x0f, 0x1f, 0x44, 0, 0"'
$(B)/workloads/c10-stepped.so: LINKED := '-DENTRY="cld"'
$(B)/workloads/c10-%.so: tests/workloads/tensors/c10.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -O2 -fno-omit-frame-pointer -fPIC -shared $(LINKED) -o $@ $<

# Generates traces of any size.
$(B)/tests/gen_trace: tests/scale/gen_trace.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -D_GNU_SOURCE $(CFLAGS) -MMD -MP -o $@ $<

workloads: $(WORKLOADS) $(BENCHES) $(B)/tests/gen_trace

# All of the program except main(), built once: a test links the functions that it uses.
$(B)/lib.a: $(LIB_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/%: tests/unit/%.c $(B)/lib.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/unit -Werror=unused-function $(ALL_LDFLAGS) -o $@ $< $(B)/lib.a -lcmocka $(LDLIBS)

# This one is linked only with report/ and, as far as that needs it, with what src/README.md calls common: no libbpf.
# Headers, which its .d file adds, are not linked.
COMMON_OBJ  := $(filter $(addprefix $(B)/obj/,applog/% base/% os/% stats/% trace/%),$(LIB_OBJ))
OFFLINE_OBJ := $(filter $(B)/obj/report/% $(B)/obj/page_html.o,$(LIB_OBJ))
$(B)/common.a: $(COMMON_OBJ)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/tests/report/test_offline: tests/unit/report/test_offline.c $(OFFLINE_OBJ) $(B)/common.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Werror=unused-function $(ALL_LDFLAGS) -o $@ $(filter %.c %.o %.a,$^) -lcmocka \
		$(filter-out $(LIBBPF_LIBS),$(LDLIBS))

# clang's warnings without code generation: of everything but 32-bit code, and of the files that FUZZ=1 CC=clang does not
# compile; and whether each header of bpf/ compiles alone, and the code in docs/adding-a-probe.md.
SYNTAX_REST := $(WORK_SRC) $(filter-out tests/workloads/compat/%,$(wildcard tests/workloads/*/*.c tests/bench/*.c tests/bench/peers/*.c \
	tests/soak/*.c tests/scale/*.c tests/page/*.c))
syntax: SYNTAX_SRC := $(SRC) $(UNIT_SRC) $(FUZZ_SRC) $(SYNTAX_REST)
syntax-rest: SYNTAX_SRC := $(SYNTAX_REST)
syntax syntax-rest: $(SKELS) $(G)/core_types.h $(B)/syscall_names.inc $(B)/errors.inc $(B)/bench/hooks.skel.h
	$(Q)printf '%s\0' $(filter-out %.bpf.c,$(SYNTAX_SRC)) | xargs -0 -n 16 -P "$$(nproc)" $(CLANG) -fsyntax-only \
		$(filter-out -MMD -MP,$(ALL_CFLAGS)) -Itests/unit -Itests/fuzz -I$(B)/bench -Werror
	$(Q)printf '%s\0' $(BPF_HEADERS) | xargs -0 -n 8 -P "$$(nproc)" $(CLANG) -fsyntax-only -x c \
		$(filter-out -MMD -MP,$(BPF_CFLAGS)) -DDLT_DIRECT=1 -Werror
	$(Q)CLANG="$(CLANG)" \
		C_FLAGS='$(filter-out -MMD -MP,$(ALL_CFLAGS))' \
		BPF_FLAGS='$(filter-out -MMD -MP,$(BPF_CFLAGS)) -DDLT_DIRECT=1' \
		tests/example

unit: $(UNITS) $(LIBRARIES)
	$(Q)tests/run-unit $(UNITS)

unit-asan:
	$(Q)$(MAKE) --no-print-directory $(ALL_CPUS) DEBUG=1 unit

native: all workloads $(B)/tests/drain/test_replay
	$(Q)DLT="$(CURDIR)/$(B)/dltraced" W="$(CURDIR)/$(B)/workloads" tests/run-native $(T)

# A target that includes a file of src/ to reach its static functions has its own copy, not the archive's.
$(B)/tests/%: tests/fuzz/%.c $(B)/lib.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Itests/fuzz $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $< $(B)/lib.a $(LDLIBS)

# The page alone, around a JSON text: tests/page draws generated reports.
$(B)/tests/page: tests/page/page.c $(B)/lib.a
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $< $(B)/lib.a $(LDLIBS)

page: all $(B)/tests/page $(B)/tests/gen_trace
	$(Q)DLT_BUILD=$(B) tests/page/run $(T)

# docs/report.png, of a trace of the PyTorch job on this machine.
screenshot: all
	$(Q)scripts/screenshot docs/report.png

docs: all
	$(Q)scripts/docs-blocks

fuzzers: $(FUZZERS)

fuzz:
	$(Q)SECS="$(SECS)" CLANG="$(CLANG)" tests/run-fuzz $(T)

lint: $(SKELS) $(G)/core_types.h $(B)/syscall_names.inc $(B)/errors.inc
	$(Q)tests/lint

check-vm: all workloads
	$(Q)$(if $(CROSS),VM_ARCH=$(CROSS) )tests/vm/run $(if $(T),-t $(T)) $(if $(K),-k "$(K)")

check-systemd: all
	$(Q)tests/vm/systemd

quick check check-full check-peers: deps
	$(Q)tests/check $(patsubst check-%,%,$(@:check=gate)) $(if $(filter check-full,$@),$(STEPS))

# --- soak ----------------------------------------------------------------------------------------
$(B)/soak/load: tests/soak/load.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE $(CFLAGS) -MMD -MP \
		-o $@ $< -lpthread

soak: all $(B)/soak/load
	$(Q)tests/soak/run $(or $(DURATION),1h)

# --- benchmark -----------------------------------------------------------------------------------
$(B)/bench/load: tests/bench/load.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE $(CFLAGS) -MMD -MP \
		-o $@ $< -lpthread

$(B)/bench/%.so: tests/bench/peers/%.c
	$(call say,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -std=gnu11 -Wall -Wextra -D_GNU_SOURCE $(CFLAGS) -MMD -MP -shared -fPIC -o $@ $< -ldl

$(B)/bench/%.bpf.o: tests/bench/%.bpf.c | $(K)/vmlinux.h
	$(call say,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -c -o $@ $<

$(B)/bench/%.skel.h: $(B)/bench/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

$(B)/bench/hooks: tests/bench/hooks.c $(B)/bench/hooks.skel.h
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -I$(@D) $(ALL_LDFLAGS) -o $@ $< $(LDLIBS)

bench: deps
	$(Q)$(MAKE) --no-print-directory $(ALL_CPUS) all workloads
	$(Q)for part in $(or $(BENCH),bench brief min_latency micro switches disk identity job alloc regions sizes fixed); do \
		page=performance; case $$part in reading|sizes) page=report-speed ;; esac; \
		BENCH=$$part tests/bench/run $(if $(ROUNDS),-r $(ROUNDS),-p "$(CURDIR)/docs/$$page.md") || exit; \
	done

demo:
	$(Q)scripts/install-deps --build
	$(Q)$(MAKE) --no-print-directory $(ALL_CPUS) all workloads
	$(Q)scripts/demo

deps:
	$(Q)scripts/install-deps $(if $(CROSS),--arm64)

# --- install -------------------------------------------------------------------------------------
# Each of these can be set; DESTDIR is put before all of them. Nothing is installed outside of PREFIX but the config: with
# PREFIX=/usr and /usr/local it goes to /etc, where the daemon looks. In another PREFIX the unit names the config.
TO_SYSTEM     := $(filter /usr /usr/local,$(PREFIX))
bindir        ?= $(PREFIX)/bin
libdir        ?= $(PREFIX)/lib/dltraced
mandir        ?= $(PREFIX)/share/man
includedir    ?= $(PREFIX)/include
pkgconfigdir  ?= $(PREFIX)/share/pkgconfig
docdir        ?= $(PREFIX)/share/doc/dltraced
datadir       ?= $(PREFIX)/share/dltraced
completionsdir ?= $(PREFIX)/share/bash-completion/completions
sysconfdir    ?= $(if $(TO_SYSTEM),/etc,$(PREFIX)/etc)
unitdir       ?= $(PREFIX)/lib/systemd/system
sysusersdir   ?= $(PREFIX)/lib/sysusers.d
tmpfilesdir   ?= $(PREFIX)/lib/tmpfiles.d

# The columns of a trace, from the program's own tables.
$(B)/dltraced-traces.5: docs/dltraced-traces.5.in scripts/man-columns $(B)/dltraced
	$(call say,MAN,$@)
	$(Q)scripts/man-columns "$(strip $(EMULATOR) $(B)/dltraced)" $< >$@

# What the workload's Python imports. A file is in the place of the folder in which Python would keep what it has compiled,
# and which would be a folder of the job's.
$(B)/site/%.py: python/dltraced/site/%.py
	$(call say,COPY,$@)
	$(Q)mkdir -p $(@D) && cp $< $@
$(B)/site/__pycache__:
	$(Q)mkdir -p $(@D) && echo 'so that Python writes nothing here' >$@

$(B)/duckdb.sql: $(B)/dltraced
	$(call say,SQL,$@)
	$(Q)$(EMULATOR) $(B)/dltraced probes --duckdb >$@

# MODE:FILE:FOLDER or, with a new name, MODE:FILE:FOLDER:NAME. No blanks in FILE.
INSTALL_LIST = \
	755:$(B)/dltraced:$(bindir) \
	$(patsubst %,755:%:$(libdir),$(LIBRARIES)) \
	644:$(B)/dltraced-traces.5:$(mandir)/man5 \
	$(patsubst %,644:%:$(mandir)/man5,$(sort $(wildcard docs/*.5))) \
	$(patsubst %,644:%:$(mandir)/man8,$(sort $(wildcard docs/*.8))) \
	644:scripts/dltraced.bash-completion:$(completionsdir):dltraced \
	644:$(B)/duckdb.sql:$(datadir) \
	$(patsubst %,644:%:$(datadir)/python/site,$(SITE)) \
	644:include/dltraced.h:$(includedir) \
	$(patsubst %,644:%:$(includedir)/dltraced/dftracer,$(sort $(wildcard include/dftracer/*))) \
	644:scripts/dltraced.pc.in:$(pkgconfigdir):dltraced.pc \
	$(call scripts_of,slurm) $(call scripts_of,recipes) \
	$(patsubst %,644:%:$(datadir)/python/dltraced,$(sort $(wildcard python/dltraced/*.py))) \
	$(patsubst %,644:%:$(datadir)/python/dltraced/dftracer,$(sort $(wildcard python/dltraced/dftracer/*.py))) \
	$(patsubst %,644:%:$(datadir)/python/dltraced/site,$(sort $(wildcard python/dltraced/site/*.py))) \
	$(patsubst %,644:%:$(unitdir),$(sort $(wildcard scripts/*.service scripts/*.socket))) \
	$(patsubst %,644:%:$(sysusersdir):dltraced.conf,$(wildcard scripts/dltraced.sysusers)) \
	$(patsubst %,644:%:$(tmpfilesdir):dltraced.conf,$(wildcard scripts/dltraced.tmpfiles)) \
	$(patsubst %,644:%:$(docdir),README.md LICENSE) \
	$(if $(UPLOT),644:$(firstword $(wildcard $(UPLOT_DIR)/LICENSE $(UPLOT_DIR)/../LICENSE)):$(docdir):uPlot-licence.txt) \
	$(patsubst %,644:%:$(docdir)/docs,$(sort $(wildcard docs/*.md docs/*.png docs/*.svg docs/*.ipynb))) \
	$(patsubst %,644:%:$(docdir)/docs/traces,$(sort $(wildcard docs/traces/*.md))) \
	$(patsubst %,644:%:$(docdir)/examples,$(sort $(wildcard scripts/*/*.example scripts/*/*.yaml)))
scripts_of = $(patsubst %,644:%:$(datadir)/$(1),scripts/$(1)/common.sh) $(patsubst %,755:%:$(datadir)/$(1), \
	$(filter-out %/common.sh %.example %.yaml,$(sort $(wildcard scripts/$(1)/*))))

# A file installed to $(CONFIG) belongs to the administrator: it is never replaced, and removed only if it is unchanged.
CONFIG_FILE = $(wildcard scripts/dltraced.conf)
CONFIG = $(sysconfdir)/dltraced/dltraced.conf

for_each = printf '%s\n' $(foreach f,$(INSTALL_LIST),'$(f)') | while IFS=: read -r mode file dir name; do \
	to="$(DESTDIR)$$dir/$${name:-$${file\#\#*/}}";

# Stops where PREFIX has a blank: the lists below would be cut there.
one_folder = $(if $(word 2,$(PREFIX)),$(error PREFIX has a blank: choose a folder without one))

# A unit names the program by its path, and its config where that is not the daemon's own; the file of pkg-config names
# the folder of dltraced.h; the package for Python and the image have this build's version. The program and its libraries
# are installed without symbols; those in build/ keep them.
UNIT_EDIT = s,/usr/bin/dltraced daemon,&$(if $(filter /etc,$(sysconfdir)),, --config=$(CONFIG)),; \
	s,/usr/bin/dltraced,$(bindir)/dltraced,
PY_EDIT = s,^__version__ = .*,__version__ = "$(VERSION)",
IMAGE_EDIT = s,\(image: registry.example/dltraced:\).*,\1$(VERSION),
PC_EDIT = s,@PREFIX@,$(PREFIX),; s,@INCLUDEDIR@,$(includedir),; s,@VERSION@,$(VERSION),
install: all
	$(one_folder)$(call say,INSTALL,$(DESTDIR)$(PREFIX))
	$(Q)$(for_each) strip=; edit=; \
		case $$file in \
		$(B)/dltraced | *.so) strip='-s --strip-program=$(STRIP)' ;; \
		*.service) edit='$(UNIT_EDIT)' ;; \
		*/daemonset.yaml) edit='$(IMAGE_EDIT)' ;; \
		*.pc.in) edit='$(PC_EDIT)' ;; \
		python/dltraced/__init__.py) edit='$(PY_EDIT)' ;; \
		esac; \
		install -D $$strip -m "$$mode" "$$file" "$$to" && { [ ! "$$edit" ] || sed -i "$$edit" "$$to"; } || exit; done
	$(Q)[ -z "$(CONFIG_FILE)" ] || [ -e "$(DESTDIR)$(CONFIG)" ] || \
		install -D -m 644 $(CONFIG_FILE) "$(DESTDIR)$(CONFIG)"

uninstall:
	$(one_folder)$(call say,REMOVE,$(DESTDIR)$(PREFIX))
	$(Q)$(for_each) rm -f "$$to"; done
	$(Q)rm -rf "$(DESTDIR)$(datadir)/python/dltraced/__pycache__" "$(DESTDIR)$(datadir)/python/dltraced/"*/__pycache__
	$(Q)[ -z "$(CONFIG_FILE)" ] || ! cmp -s $(CONFIG_FILE) "$(DESTDIR)$(CONFIG)" || rm -f "$(DESTDIR)$(CONFIG)"
	$(Q)for d in "$(docdir)/examples" "$(docdir)/docs/traces" "$(docdir)/docs" "$(docdir)" "$(datadir)/slurm" "$(datadir)/recipes" \
		"$(datadir)/python/dltraced/dftracer" "$(datadir)/python/dltraced/site" "$(datadir)/python/dltraced" "$(datadir)/python/site" "$(datadir)/python" "$(datadir)" "$(libdir)" \
		"$(includedir)/dltraced/dftracer" "$(includedir)/dltraced" \
		"$(sysconfdir)/dltraced/conf.d" "$(sysconfdir)/dltraced"; do \
		[ ! -d "$(DESTDIR)$$d" ] || rmdir --ignore-fail-on-non-empty "$(DESTDIR)$$d"; done
	$(Q)$(if $(TO_SYSTEM),,$(for_each) while case $$dir in ($(PREFIX)/*) ;; (*) false ;; esac; do \
		rmdir "$(DESTDIR)$$dir" 2>/dev/null; dir=$${dir%/*}; done; done; rmdir "$(DESTDIR)$(PREFIX)/etc" 2>/dev/null || :)

# --- packages ------------------------------------------------------------------------------------
# All of the same program, which scripts/portable/build compiles from the files as they are.
portable wheel tarball deb rpm image:
	$(Q)scripts/install-deps $(or $(if $(CROSS),--arm64),$(if $(filter deb,$@),--deb,--build))
	$(Q)$(if $(CROSS),MACHINE=aarch64 SYSROOT="$(SYSROOT)" )K=$(B) scripts/portable/build $(B)/portable $(filter-out portable,$@)

python:
	$(Q)PYTHON="$(PYTHON)" scripts/python-package

check-package:
	$(Q)scripts/install-deps --deb
	$(Q)tests/package/portable
	$(Q)tests/package/run
	$(Q)tests/package/image
	$(Q)tests/package/chart

clean:
	rm -rf build

-include $(OBJ:.o=.d) $(UNITS:=.d) $(FUZZERS:=.d) $(WORKLOADS:=.d) $(BENCHES:=.d) $(addprefix $(B)/,bench/hooks.bpf.d bench/shim.d bench/alloc_shim.d soak/load.d tests/gen_trace.d tests/page.d) $(BPF_NAMES:%=$(K)/obj/bpf/%.1.d) $(BPF_NAMES:%=$(K)/obj/bpf/%.0.d)
