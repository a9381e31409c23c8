/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the trace goes to a file server, or to a program as with FUSE, the dltraced that traces can be held
 * in the kernel for as long as that does not answer, beyond any signal. So the one that was called only
 * stands in front of it then, passes signals on, and ends with its status: or before it, when that one
 * says that it cannot.
 */
#ifndef HOST_STALL_PROXY_H
#define HOST_STALL_PROXY_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * OUT: the pattern of --output, NULL: the default. False: go on, behind somebody, as before, or alone. True, in
 * the front: all is over, and *CODE the exit status.
 */
bool proxy_stand(const char *out, int *code);

/*
 * The same for who only reads what lies in the N folders DIRS, and has nothing to end: any signal ends the one in
 * front.
 */
bool proxy_wait(char *const *dirs, int n, int *code);

/* The process in front of us, 0: none. */
pid_t proxy_pid(void);

/* Reports an error (EPOLLERR) once that has been killed; -1: there is none. And whether it has. */
int proxy_gone_fd(void);
bool proxy_gone(void);

/* It is to end now, with this status. */
void proxy_leave(int code);

/* For tests: may what lies on a file system of this kind (statfs(2)) not answer? */
bool proxy_is_remote(unsigned long fs_type);

#endif
