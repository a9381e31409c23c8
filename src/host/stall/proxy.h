/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the trace goes to a file server, or to a program as with FUSE, the dltraced that traces can hang in
 * the kernel for as long as the server does not answer, beyond any signal. So the process that was called
 * is only a proxy for it then: it passes signals on, and ends with the tracing process's status, or before
 * it, when that one reports that it cannot end.
 */
#ifndef HOST_STALL_PROXY_H
#define HOST_STALL_PROXY_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * OUT: the pattern of --output, NULL: the default. Returns false to go on: behind a proxy, as before, or
 * alone. Returns true in the proxy: all is over, and *CODE is the exit status.
 */
bool proxy_stand(const char *out, int *code);

/* For a command that only reads the N folders DIRS, and has nothing to finish: any signal ends the proxy. */
bool proxy_wait(char *const *dirs, int n, int *code);

/* Returns our proxy, 0: none. */
pid_t proxy_pid(void);

/*
 * Returns a descriptor that reports an error (EPOLLERR) once the proxy has been killed; -1: there is none.
 * The other returns whether it has.
 */
int proxy_gone_fd(void);
bool proxy_gone(void);

/* End the proxy now, with this status. */
void proxy_leave(int code);

/* For tests: may a file system of this kind (statfs(2)) not answer? */
bool proxy_is_remote(unsigned long fs_type);

#endif
