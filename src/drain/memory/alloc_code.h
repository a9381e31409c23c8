/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code that processes have mapped, and the files that it is from, for addresses that the kernel has found on their
 * stacks. A file's header is read as the process has it in memory: no file is opened. To read a process may take any
 * time, so a thread of its own does, and the drain never waits for long. Nothing of what a process has is believed: it
 * can only spoil the names of its own code. Drain thread.
 */
#ifndef DRAIN_MEMORY_ALLOC_CODE_H
#define DRAIN_MEMORY_ALLOC_CODE_H

#include <stdbool.h>
#include <stdint.h>

struct alloc_code_reader;
struct alloc_map;
struct alloc_module;

#define ALLOC_CODE_PROCESSES 256 /* at a time; addresses of others are in no file */

/* All zero: none. */
struct alloc_code {
	struct alloc_code_process {
		uint32_t tgid; /* 0: a free place */
		bool unreadable; /* a reader of it does not come back */
		uint64_t heard_ns, read_ns; /* CLOCK_MONOTONIC */
		struct alloc_map *map; /* NULL: not read */
	} processes[ALLOC_CODE_PROCESSES];
	struct alloc_code_reader *reader;
	unsigned int stuck; /* readers that have not come back */
};

/* An address in process TGID has come, of the moment NS. A process that is new begins to be read. */
void alloc_code_heard(struct alloc_code *code, uint32_t tgid, uint64_t ns);
/* Reads the processes that have been heard of since they were read, for WAIT_MS at most: the rest is there the next
 * time. */
void alloc_code_update(struct alloc_code *c, int wait_ms);
/* Process TGID has ended. */
void alloc_code_forget(struct alloc_code *c, uint32_t tgid);
void alloc_code_free(struct alloc_code *c);

/* Returns whether process TGID has been read. */
bool alloc_code_known(struct alloc_code *c, uint32_t tgid);
/*
 * Returns whether ADDR, at the end of a call, is in code of process TGID, and in *MODULE_RET the file, NULL: none, or
 * it is not known. Of a process that has not been read, all may be code.
 */
bool alloc_code_find(struct alloc_code *c, uint32_t tgid, uint64_t addr, struct alloc_module **module_ret);

#endif
