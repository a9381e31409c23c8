/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The chain: back from the end, from each thread to the one that ended its wait, and on from there without coming back.
 * It is what sets the pace: a stage that works ahead counts with all of its time, where the path as the root saw it
 * has what the root waited for. All pieces add up to the time, too; they come from the last to the first.
 */
#ifndef REPORT_PATH_CHAIN_H
#define REPORT_PATH_CHAIN_H

#include "report/path/walk.h"

/* Threads that one has ended the wait of another in the same moment; more are in a damaged trace alone. */
#define PATH_JUMPS_MAX 1000U

/* Gives all of [BEGIN, END) back from LIFE at END to the taker of WALK. */
void path_chain(struct path_walk *walk, uint32_t life, uint64_t begin_ns, uint64_t end_ns);

#endif
