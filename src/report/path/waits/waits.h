/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The waits of each thread, from waits.out: in the order of time, none over another, and each with the wait as which it
 * ends. Bounded: beyond MAX rows the path is not known.
 */
#ifndef REPORT_PATH_WAITS_WAITS_H
#define REPORT_PATH_WAITS_WAITS_H

#include "report/path/lives/lives.h"
#include "report/path/lives/rows.h"
#include "report/path/waits/enders.h"

struct report;
struct scan;

/* A thread that waits again in the same call, so soon after a timeout, has found nothing. */
#define PATH_RETRY_NS 2000000U
/* A thread waits for Python's lock in turns of sys.getswitchinterval(), 5 ms (CPython, Python/ceval_gil.c). */
#define PATH_GIL_LEAST_NS 4900000U
#define PATH_GIL_MOST_NS 6500000U
#define PATH_GIL_TURNS 10U /* fewer may be anything */
/* What others did while a thread polls is looked at for so long at a time. */
#define PATH_SLICE_NS 100000000U

/* OUT <= WAKE <= FREE <= IN, and OUT is not before the IN of the thread's wait before it. */
struct path_wait {
	struct path_row row; /* at_ns: OUT, when it left the CPU */
	uint64_t wake_ns; /* it could run again, at once where it could all the time, */
	uint64_t free_ns; /* and the quota of its cgroup was no longer used up */
	uint64_t in_ns; /* it was back on a CPU */
	uint32_t settled; /* index of the wait as which it ends */
	uint32_t slice : 31; /* index of the first wait of its slice of polls */
	uint32_t acted : 1; /* since the wait before it, its thread has ended a wait of another one */
	struct path_ender ender;
};

_Static_assert(sizeof(struct path_wait) <= 80, "there may be millions");

struct path_waits {
	struct report *report; /* for the files; NULL: they are known by their rows */
	struct path_lives *lives;
	struct table files; /* enum path_file, uint8_t, by FID */
	struct path_wait *v;
	uint32_t n, max;
	bool there; /* there is waits.out: a thread without a row waits for less than 1 ms */
	bool full;
	bool fuse; /* the job has files of FUSE */
	uint64_t strangers; /* rows of threads that pids.out lacks */
	uint64_t last_ns; /* of the last row */
	struct path_range *of; /* those of each life, after path_waits_end() */
};

void path_waits_init(struct path_waits *waits, struct report *r, struct path_lives *lives, uint32_t max);
void path_waits_free(struct path_waits *waits);

/* Forgets all rows of waits.out, to take others; the files stay. */
void path_waits_clear(struct path_waits *waits);
/* Takes a row of files.out, of a struct path_waits without a report. A scan_taker's. */
bool path_waits_take_file(struct scan *s, void *own);

/* Takes a row of waits.out, of a struct path_waits, once all lives are known. A scan_taker's. */
bool path_waits_take(struct scan *s, void *own);
/* All rows have been taken. Returns 0 or -ENOMEM. */
int path_waits_end(struct path_waits *waits);

/* Returns what a row of waits.out or of sched.out shows of how a wait of LIFE ended, by WAKE. */
struct path_ender path_waits_ender(struct path_waits *waits, const struct scan *s, uint32_t life, uint64_t wake_ns);

/* Returns the index of the first wait of LIFE that ends after AT; behind its last wait where none does. */
uint32_t path_waits_from(const struct path_waits *waits, uint32_t life, uint64_t at_ns);

static inline uint32_t path_waits_stop(const struct path_waits *waits, uint32_t life)
{
	return waits->of[life].first + waits->of[life].n;
}

#endif
