/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System call numbers: the host's <sys/syscall.h>, and -1 for those that this architecture lacks (the plain
 * forms on arm64 and riscv) or this libc does not know yet.
 */
#ifndef KERNEL_SYSCALLS_H
#define KERNEL_SYSCALLS_H

#include <sys/syscall.h>

#ifndef SYS_clone3
#define SYS_clone3 435 /* one number on every architecture, since 5.3 */
#endif
#ifndef SYS_close_range
#define SYS_close_range 436 /* likewise, 5.9 */
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441 /* 5.11 */
#endif
#ifndef SYS_openat2
#define SYS_openat2 437 /* likewise, 5.6 */
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439 /* 5.8 */
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* 6.6 */
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463 /* 6.13 */
#endif
#ifndef SYS_getxattrat
#define SYS_getxattrat 464
#endif
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif
#ifndef SYS_removexattrat
#define SYS_removexattrat 466
#endif
#ifndef SYS_access
#define SYS_access (-1)
#endif
#ifndef SYS_chmod
#define SYS_chmod (-1)
#endif
#ifndef SYS_chown
#define SYS_chown (-1)
#endif
#ifndef SYS_creat
#define SYS_creat (-1)
#endif
#ifndef SYS_dup2
#define SYS_dup2 (-1)
#endif
#ifndef SYS_epoll_wait
#define SYS_epoll_wait (-1)
#endif
#ifndef SYS_fork
#define SYS_fork (-1)
#endif
#ifndef SYS_futimesat
#define SYS_futimesat (-1)
#endif
#ifndef SYS_getdents
#define SYS_getdents (-1)
#endif
#ifndef SYS_lchown
#define SYS_lchown (-1)
#endif
#ifndef SYS_link
#define SYS_link (-1)
#endif
#ifndef SYS_lstat
#define SYS_lstat (-1)
#endif
#ifndef SYS_mkdir
#define SYS_mkdir (-1)
#endif
#ifndef SYS_mknod
#define SYS_mknod (-1)
#endif
#ifndef SYS_open
#define SYS_open (-1)
#endif
#ifndef SYS_poll
#define SYS_poll (-1)
#endif
#ifndef SYS_readlink
#define SYS_readlink (-1)
#endif
#ifndef SYS_rename
#define SYS_rename (-1)
#endif
#ifndef SYS_renameat
#define SYS_renameat (-1)
#endif
#ifndef SYS_rmdir
#define SYS_rmdir (-1)
#endif
#ifndef SYS_select
#define SYS_select (-1)
#endif
#ifndef SYS_stat
#define SYS_stat (-1)
#endif
#ifndef SYS_symlink
#define SYS_symlink (-1)
#endif
#ifndef SYS_sync_file_range
#define SYS_sync_file_range (-1)
#endif
#ifndef SYS_unlink
#define SYS_unlink (-1)
#endif
#ifndef SYS_vfork
#define SYS_vfork (-1)
#endif
#ifndef SYS_utime
#define SYS_utime (-1)
#endif
#ifndef SYS_utimes
#define SYS_utimes (-1)
#endif

#endif
