/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced's own exit statuses, as with env(1) and timeout(1): lower ones may be the workload's. */
#ifndef BASE_EXIT_CODES_H
#define BASE_EXIT_CODES_H

#include <sys/wait.h>

#define EXIT_DLTRACED 125 /* dltraced itself failed */
#define EXIT_DAMAGED                                                                                                  \
	1 /* report: the trace's files do not match its manifest; the rest was read; validate: the trace is not valid \
	   */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

/* Returns the exit status of a process as a shell reports it, of its waitpid(2) STATUS: 128+N when signal N killed it.
 */
static inline int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

#endif
