/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/rlimits.h"

const struct rlimit_name rlimit_names[DLT_RLIMITS] = {
	[DLT_RLIMIT_AS] = { "RLIMIT_AS", "address_space_bytes", "as=", "Max address space" },
	[DLT_RLIMIT_CPU] = { "RLIMIT_CPU", "cpu_s", "cpu_s=", "Max cpu time", " s" },
	[DLT_RLIMIT_FSIZE] = { "RLIMIT_FSIZE", "file_bytes", "fsize=", "Max file size" },
	[DLT_RLIMIT_MEMLOCK] = { "RLIMIT_MEMLOCK", "memlock_bytes", "memlock=", "Max locked memory" },
	[DLT_RLIMIT_NOFILE] = { "RLIMIT_NOFILE", "nofile", "nofile=", "Max open files", "" },
	[DLT_RLIMIT_NPROC] = { "RLIMIT_NPROC", "nproc", "nproc=", "Max processes", "" },
};
