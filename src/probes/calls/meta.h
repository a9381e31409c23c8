/* SPDX-License-Identifier: BSD-2-Clause */
/* What the probes meta and meta_sums share: their calls, and the names of requests. */
#ifndef PROBES_CALLS_META_H
#define PROBES_CALLS_META_H

#include "dlt/meta.h"
#include "trace/field.h"

/* X(name, shape, function of the kernel where its name differs, else NULL) */
#define META_CALLS(X)                                \
	X(access, DLT_META_PATH, NULL)               \
	X(chdir, DLT_META_CHDIR, NULL)               \
	X(chmod, DLT_META_PATH, NULL)                \
	X(chown, DLT_META_PATH, NULL)                \
	X(dup, DLT_META_FD, NULL)                    \
	X(dup2, DLT_META_FD, NULL)                   \
	X(dup3, DLT_META_FD, NULL)                   \
	X(faccessat, DLT_META_AT, NULL)              \
	X(faccessat2, DLT_META_AT, NULL)             \
	X(fadvise64, DLT_META_FD, NULL)              \
	X(fchdir, DLT_META_FD, NULL)                 \
	X(fchmod, DLT_META_FD, NULL)                 \
	X(fchmodat, DLT_META_AT, NULL)               \
	X(fchmodat2, DLT_META_AT, NULL)              \
	X(fchown, DLT_META_FD, NULL)                 \
	X(fchownat, DLT_META_AT, NULL)               \
	X(fcntl, DLT_META_FD | DLT_META_FCNTL, NULL) \
	X(fgetxattr, DLT_META_FD, NULL)              \
	X(flistxattr, DLT_META_FD, NULL)             \
	X(flock, DLT_META_FD, NULL)                  \
	X(fremovexattr, DLT_META_FD, NULL)           \
	X(fsetxattr, DLT_META_FD, NULL)              \
	X(fstat, DLT_META_FD, "newfstat")            \
	X(fstatfs, DLT_META_FD, NULL)                \
	X(futimesat, DLT_META_AT, NULL)              \
	X(getdents, DLT_META_FD, NULL)               \
	X(getdents64, DLT_META_FD, NULL)             \
	X(getxattr, DLT_META_PATH, NULL)             \
	X(getxattrat, DLT_META_AT, NULL)             \
	X(ioctl, DLT_META_FD | DLT_META_IOCTL, NULL) \
	X(lchown, DLT_META_PATH, NULL)               \
	X(lgetxattr, DLT_META_PATH, NULL)            \
	X(listxattr, DLT_META_PATH, NULL)            \
	X(listxattrat, DLT_META_AT, NULL)            \
	X(llistxattr, DLT_META_PATH, NULL)           \
	X(lremovexattr, DLT_META_PATH, NULL)         \
	X(lseek, DLT_META_FD, NULL)                  \
	X(lsetxattr, DLT_META_PATH, NULL)            \
	X(lstat, DLT_META_PATH, "newlstat")          \
	X(newfstatat, DLT_META_AT, NULL)             \
	X(readahead, DLT_META_FD, NULL)              \
	X(readlink, DLT_META_PATH, NULL)             \
	X(readlinkat, DLT_META_AT, NULL)             \
	X(removexattr, DLT_META_PATH, NULL)          \
	X(removexattrat, DLT_META_AT, NULL)          \
	X(setxattr, DLT_META_PATH, NULL)             \
	X(setxattrat, DLT_META_AT, NULL)             \
	X(stat, DLT_META_PATH, "newstat")            \
	X(statfs, DLT_META_PATH, NULL)               \
	X(statx, DLT_META_AT, NULL)                  \
	X(utime, DLT_META_PATH, NULL)                \
	X(utimensat, DLT_META_AT, NULL)              \
	X(utimes, DLT_META_PATH, NULL)

/* Of dlt_meta_key.request, for FIELD_FLAGS. */
extern const struct field_name meta_request_names[];

#endif
