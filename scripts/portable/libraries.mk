# SPDX-License-Identifier: BSD-2-Clause
#
# make -f scripts/portable/libraries.mk S=SOURCES O=OUT CC=... HOSTCC=...: the libraries that the portable program links, as
# archives in OUT/lib with their headers in OUT/include, from the sources that scripts/portable/fetch has unpacked in
# SOURCES/NAME. No configure script runs: the result is the same on each machine, and no program has to run on the target.
# -ffile-prefix-map takes the paths of this machine out of it.
AR     ?= ar
HOSTCC ?= cc
CFLAGS ?= -O2
all: $(addprefix $O/lib/lib,bpf.a cap-ng.a elf.a inih.a z.a zstd.a)
.PHONY: all
.DELETE_ON_ERROR:

sources = $(sort $(wildcard $(addprefix $S/,$(1))))
FLAGS = $(CFLAGS) -fPIC -ffunction-sections -fdata-sections -fvisibility=hidden -fno-sanitize=all -w \
	-ffile-prefix-map=$S=. -ffile-prefix-map=$O=. -D_GNU_SOURCE

# For each: the sources of its archive, and the flags for the files in its folder. What configure would find is what
# glibc 2.28 and Linux have.
z_SRC := $(call sources,zlib/*.c)
zlib_FLAGS := -DHAVE_UNISTD_H -DHAVE_HIDDEN -D_LARGEFILE64_SOURCE=1

zstd_SRC := $(call sources,zstd/lib/common/*.c zstd/lib/compress/*.c zstd/lib/decompress/*.c)
zstd_FLAGS := -DZSTD_DISABLE_ASM=1 -DZSTD_MULTITHREAD -DZSTD_LEGACY_SUPPORT=0 -DZSTDLIB_VISIBLE=

inih_SRC := $S/inih/ini.c
inih_FLAGS := -DINI_ALLOW_MULTILINE=1

cap-ng_SRC := $(call sources,libcap-ng/src/cap-ng.c libcap-ng/src/lookup_table.c)
libcap-ng_FLAGS := -DHAVE_CONFIG_H -I$O/libcap-ng

elf_SRC := $(filter-out %/dummy.c,$(call sources,elfutils/libelf/*.c elfutils/lib/eu-search.c elfutils/lib/next_prime.c \
	elfutils/lib/crc32.c))
elfutils_FLAGS := -std=gnu99 -DHAVE_CONFIG_H -iquote$O/elfutils -I$O/elfutils -I$S/elfutils/libelf -I$S/elfutils/lib

bpf_SRC := $(call sources,libbpf/src/*.c)
libbpf_FLAGS := -std=gnu11 -D_LARGEFILE64_SOURCE -D_FILE_OFFSET_BITS=64 -I$S/libbpf/include -I$S/libbpf/include/uapi

objects = $(patsubst $S/%.c,$O/obj/%.o,$(1))
define library
$O/lib/lib$(1).a: $(call objects,$($(1)_SRC))
	mkdir -p $$(@D) && rm -f $$@ && $(AR) rcsD $$@ $$^
endef
$(foreach l,bpf cap-ng elf inih z zstd,$(eval $(call library,$l)))

$O/obj/%.o: $S/%.c $O/headers
	mkdir -p $(@D) && $(CC) $(FLAGS) $($(firstword $(subst /, ,$*))_FLAGS) -I$O/include -c -o $@ $<

# What programs include, and what configure would write. The names of the capabilities are those of the same header from
# which libcap-ng's own build takes them.
$O/headers: $(MAKEFILE_LIST)
	rm -rf $O/include && mkdir -p $O/include/bpf $O/include/elfutils $O/libcap-ng $O/elfutils
	cp $S/zlib/zlib.h $S/zlib/zconf.h $S/zstd/lib/zstd.h $S/zstd/lib/zstd_errors.h $S/inih/ini.h \
		$S/libcap-ng/src/cap-ng.h $S/elfutils/libelf/libelf.h $S/elfutils/libelf/gelf.h $O/include
	cp $S/elfutils/version.h $O/include/elfutils
	cp $(filter-out %_internal.h %/hashmap.h,$(wildcard $S/libbpf/src/*.h)) $O/include/bpf
	printf '#define %s\n' 'HAVE_LINUX_MAGIC_H 1' 'HAVE_PTHREAD_H 1' 'HAVE_SYS_VFS_H 1' 'HAVE_SYS_XATTR_H 1' \
		'HAVE_SYSCALL_H 1' >$O/libcap-ng/config.h
	echo '#include <linux/capability.h>' | $(HOSTCC) -E -dM - | \
		awk '/^#define CAP_[A-Z0-9_]+ +[0-9]+$$/ { print "_S(" $$3 ", \"" tolower(substr($$2, 5)) "\")" }' | \
		LC_ALL=C sort -t '(' -k 2n >$O/libcap-ng/captab.h
	printf '#define %s\n' 'PACKAGE_NAME "elfutils"' 'HAVE_DECL_MEMPCPY 1' 'HAVE_DECL_MEMRCHR 1' \
		'HAVE_DECL_RAWMEMCHR 1' 'HAVE_DECL_REALLOCARRAY 1' 'HAVE_DECL_POWEROF2 1' 'HAVE_VISIBILITY 1' \
		'HAVE_ERR_H 1' 'SIZEOF_LONG 8' >$O/elfutils/config.h
	echo '#include <eu-config.h>' >>$O/elfutils/config.h
	touch $@
