/* SPDX-License-Identifier: BSD-2-Clause */
/* `dltraced --version': the program's version on line 1, as scripts read it, and below it the libraries that it runs
 * with. */
#include "base/version.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <zlib.h>

#include <bpf/libbpf.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#endif

#include "cmd/cmd.h"

void version_print(void)
{
	printf("dltraced %s\n", version_text);
	/* libbpf has a "v" before its own */
	printf("glibc %s, libbpf %s, zlib %s", gnu_get_libc_version(), libbpf_version_string() + 1, zlibVersion());
#ifdef HAVE_ZSTD
	printf(", zstd %s", ZSTD_versionString());
#endif
	printf("%s%s\n", version_built_with[0] ? ", " : "", version_built_with);
}
