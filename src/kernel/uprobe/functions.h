/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes on functions of libraries (struct probe_function) in processes that run already, in what they load later, and
 * in processes that they start. Only these processes meet them: each probe is on one process, and on the file that it
 * has mapped, whatever has that file's name by now. A thread looks for new processes and libraries; it may wait for a
 * file system without anybody waiting for it.
 */
#ifndef KERNEL_UPROBE_FUNCTIONS_H
#define KERNEL_UPROBE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct functions;
struct tracer;

/*
 * Begins with the processes in the target of TRACER, except BUT and its descendants. 0 or -errno, with one line in
 * ERROR, when no function of any process has got a probe.
 */
int functions_begin(struct functions **ret, const struct tracer *tracer, pid_t but, char *error, size_t size);

/* Calls FN with a line for each library of the beginning: which of its functions have probes, and why others have none.
 */
void functions_each_line(const struct functions *f, void (*fn)(void *ctx, const char *line), void *ctx);

struct functions_counts {
	uint64_t processes; /* that have probes, or had */
	uint64_t refused; /* functions in libraries of these that must not have one */
	uint64_t failed; /* probes that could not be attached */
};
void functions_count(const struct functions *f, struct functions_counts *ret);

/* Detaches all. Fine with NULL. */
void functions_end(struct functions *f);

#endif
