/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations of memory: the page that the preloaded library (preload/) fills in each thread, and its copy that
 * bpf/memory/alloc.bpf.c sends. All of it is written by the traced program: the daemon believes none of it beyond what
 * concerns that program.
 */
#ifndef DLT_ALLOC_H
#define DLT_ALLOC_H

#include "dlt/alloc_functions.h"
#include "dlt/dlt.h"

/* What an event is. The names of those that are rows: src/probes/memory/alloc.c. */
enum dlt_alloc_op {
	DLT_ALLOC_MALLOC,
	DLT_ALLOC_CALLOC,
	DLT_ALLOC_REALLOC,
	DLT_ALLOC_REALLOCARRAY,
	DLT_ALLOC_POSIX_MEMALIGN,
	DLT_ALLOC_ALIGNED_ALLOC,
	DLT_ALLOC_MEMALIGN,
	DLT_ALLOC_VALLOC,
	DLT_ALLOC_PVALLOC,
	DLT_ALLOC_FREE,
#define DLT_ALLOC_FUNCTION(id, ...) DLT_ALLOC_IN_##id, /* a call that a uprobe of the kernel sees, not the library */
	DLT_ALLOC_FUNCTIONS(DLT_ALLOC_FUNCTION)
#undef DLT_ALLOC_FUNCTION
		DLT_ALLOC_END, /* the daemon's: the block was live when its process, or the trace, ended */
	DLT_ALLOC_FUNCS, /* those above are rows */
	DLT_ALLOC_OLD = DLT_ALLOC_FUNCS, /* a realloc begins: the block that it gets */
	DLT_ALLOC_SITE, /* defines a number of a stack: see struct dlt_alloc_event */
	DLT_ALLOC_MODULE, /* and that of a file that code is in */
	DLT_ALLOC_LINES, /* that of a stack of Python's lines */
	DLT_ALLOC_CODE, /* and that of a function in Python */
	DLT_ALLOC_PYTHON, /* which interpreter the process has */
	DLT_ALLOC_OPS,
};

/*
 * In the order in which they happened: what takes a block out of use comes before the call that does it, what puts one
 * to use after the call. DLT_ALLOC_SITE: SITE is the number, ADDR that of frames, in the N events behind it (32 bytes
 * each, of anything): a __u64 each, module << 48 | offset, 0 in the upper bits: not in a file. DLT_ALLOC_MODULE: SITE
 * is the number, ADDR the length of its build id, which is in the first of the N behind it, and its path is in the
 * others, with NUL. DLT_ALLOC_LINES: as DLT_ALLOC_SITE, but a frame is code << 32 | line. DLT_ALLOC_CODE: SITE is the
 * number, the N behind it are a file and a function, each with NUL. DLT_ALLOC_PYTHON: ADDR is the version as in
 * PY_VERSION_HEX, SITE 1 where its lines are read, else 0. DLT_ALLOC_IN_*: SITE is the number of frames in the N events
 * behind it, a __u64 each: an address in the process.
 */
struct dlt_alloc_event {
	__u64 ticks; /* of the clock that the page's head names */
	__u64 addr;
	__u64 op_size; /* op << DLT_ALLOC_OP_SHIFT | bytes */
	__u32 site; /* 0: not known */
	__u32 n;
};
#define DLT_ALLOC_OP_SHIFT 56
#define DLT_ALLOC_SIZE_MAX ((1ULL << DLT_ALLOC_OP_SHIFT) - 1)
#define DLT_ALLOC_MODULE_SHIFT 48
#define DLT_ALLOC_FRAMES 32 /* at most in a site */
#define DLT_ALLOC_FRAME_EVENTS                                                                \
	(DLT_ALLOC_FRAMES * sizeof(__u64) / sizeof(struct dlt_alloc_event)) /* that have them \
									     */
#define DLT_ALLOC_PATH 1024 /* at most of a module's path, with its NUL */
#define DLT_ALLOC_BUILD_ID 20
#define DLT_ALLOC_FUNCTION 256 /* at most of a function's name in Python, with its NUL */

/* A page has this head, and the sums of small allocations, which are not events. */
struct dlt_alloc_head {
	__u64 magic; /* which clock its ticks are of; 0: the kernel has cleared the page in a child */
	__u64 id; /* of this page in this thread, as ticks of its begin */
	__u64 seq; /* how often the page has been full before */
	__u64 n; /* events, written after they are complete */
	__u64 small_calls, small_bytes; /* since the thread began */
	__u32 skipped; /* events within a signal handler that interrupted one */
	__u32 siteless; /* events whose stack has no number, as there are too many */
	__u64 writing; /* not 0: an event has its time, and is not counted in N yet */
};
#define DLT_ALLOC_TSC 0x31636f6c6c61746cULL /* the CPU's counter */
#define DLT_ALLOC_NS 0x31636f6c6c616e73ULL /* CLOCK_MONOTONIC */
#define DLT_ALLOC_PAGE 4096
#define DLT_ALLOC_EVENTS 126

struct dlt_alloc_page {
	struct dlt_alloc_head head;
	struct dlt_alloc_event v[DLT_ALLOC_EVENTS];
};

/* Why a copy was sent. */
enum dlt_alloc_copy {
	DLT_ALLOC_BEGUN, /* a thread has got its page; no events */
	DLT_ALLOC_FULL, /* the thread goes on with an empty one */
	DLT_ALLOC_PART, /* before an exec that may fail */
	DLT_ALLOC_LAST, /* the thread ends */
	DLT_ALLOC_SINGLE, /* no page of the thread: one event on its stack */
	DLT_ALLOC_CALLED, /* no page: one event, of a function with a uprobe, and its frames; its time is the record's
			   */
};

/* Its tail is as long as its events need, in steps: DLT_ALLOC_FEW, DLT_ALLOC_SOME, all. */
struct dlt_alloc {
	struct dlt_hdr hdr;
	__u64 page; /* its address in the process */
	__u32 copy; /* enum dlt_alloc_copy */
	__u32 pad;
	struct dlt_alloc_page at;
};
#define DLT_ALLOC_FEW 4
#define DLT_ALLOC_SOME 32
#define DLT_ALLOC_BYTES(events) (__builtin_offsetof(struct dlt_alloc, at.v) + (events) * sizeof(struct dlt_alloc_event))

/* The library's settings, in this variable of the environment: "min=4096 sites=native clock=tsc". */
#define DLT_ALLOC_VARIABLE "DLTRACED_ALLOC"
#define DLT_ALLOC_LIBRARY "libdltraced-alloc.so"
/* The symbol of the probed instruction, of one byte on x86. */
#define DLT_ALLOC_POINT dltraced_alloc_point

DLT_ASSERT_SIZE(dlt_alloc_event, 32);
DLT_ASSERT_SIZE(dlt_alloc_head, 64);
DLT_ASSERT_SIZE(dlt_alloc_page, DLT_ALLOC_PAGE);
DLT_ASSERT_SIZE(dlt_alloc, 64 + DLT_ALLOC_PAGE);

#endif
