/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the lines by which an MLPerf job says where it is (":::MLLOG {...}", github.com/mlcommons/logging),
 * as they come out of logs: with the rank of a process before them or without. Pure; trusts nothing.
 */
#ifndef APPLOG_MLLOG_H
#define APPLOG_MLLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mllog_event { MLLOG_POINT, MLLOG_START, MLLOG_END };

struct mllog {
	enum mllog_event event;
	char phase[64];	  /* the key without its _start, _stop or _end: init, epoch, eval, run */
	int64_t rank;	  /* -1: the line does not say */
	int64_t epoch;	  /* epoch_num or first_epoch_num of its metadata; -1: the line does not say */
	uint64_t time_ms; /* since the epoch; 0: the line does not say */
};

/* The mark that begins such a line. */
#define MLLOG_MARK ":::MLLOG"

/* LINE of LEN bytes. False when it is none, or not whole. */
bool mllog_parse(struct mllog *ret, const char *line, size_t len);

/* The rank that is told by what stands before a line, as launchers put it there; -1: none. */
int64_t mllog_rank(const char *prefix, size_t len);

#endif
