/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the lines by which an MLPerf job reports its state (":::MLLOG {...}", github.com/mlcommons/logging), as logs
 * have them: with the rank of a process before them or without. Pure; trusts nothing.
 */
#ifndef APPLOG_MLLOG_H
#define APPLOG_MLLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mllog_event { MLLOG_POINT, MLLOG_START, MLLOG_END };

struct mllog {
	enum mllog_event event;
	char phase[64]; /* the key without its _start, _stop or _end: init, epoch, eval, run */
	int64_t rank; /* -1: not in the line */
	int64_t epoch; /* epoch_num or first_epoch_num of its metadata; -1: not in the line */
	uint64_t time_ms; /* since the epoch; 0: not in the line */
	bool has_duration; /* of its value */
	uint64_t duration_ns;
	uint64_t start_ns; /* of its value: time.perf_counter_ns() of Python, which is CLOCK_MONOTONIC; 0: not in the
			      line */
};

/* The mark that begins such a line. */
#define MLLOG_MARK ":::MLLOG"

/* Parses LINE of LEN bytes. False when it is no such line, or not whole. */
bool mllog_parse(struct mllog *ret, const char *line, size_t len);

/* Returns the rank in PREFIX, the text before a line, as launchers write it; -1: none. */
int64_t mllog_rank(const char *prefix, size_t len);

#endif
