/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The runs of a folder that scripts/recipes/matrix has made, by its matrix.tsv, and their statistics: for each program
 * and mode, and compared with dry runs. Offline: trusts no byte of the file.
 */
#ifndef REPORT_MATRIX_H
#define REPORT_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/usage.h"

#define MATRIX_FILE "matrix.tsv"

/* A row of the file. Strings point into the matrix's text. */
struct matrix_run {
	const char *program, *mode, *mem, *cpu, *command;
	uint64_t order, rep, seed, status;
	bool dry;
	bool has_lost, has[USAGES];
	uint64_t lost, usage[USAGES];
	bool counted; /* status 0, nothing lost, and all numbers known */
	const struct matrix_run *dry_run; /* that it is compared with, one that counts; NULL: none */
};

/* Of the runs of a mode that count. */
struct matrix_sum {
	uint64_t median, min, max, mean, stdev; /* STDEV: of the sample, from two runs on */
	/* The ratios to the dry runs of the same program, nodes and repetition, less 1. */
	uint64_t pairs; /* 0: the rest is not known */
	double overhead; /* their median */
	double low, high; /* an interval that holds the true median with the probability CONFIDENCE */
	double confidence;
};

struct matrix_mode {
	const char *program, *mode;
	const struct matrix_run **run; /* its runs, in their order; part of the matrix's */
	uint64_t runs, counted;
	uint64_t many; /* COUNTED, where there are two at least */
	struct matrix_sum sum[USAGES];
};

struct matrix {
	char *text; /* owned */
	struct matrix_run *run; /* in the order of running */
	uint32_t n_runs;
	const struct matrix_run **sorted; /* by program and mode */
	struct matrix_mode *mode; /* in the order of their names, by program */
	uint32_t n_modes;
	uint64_t left_out; /* runs that do not count */
};

/* Reads the folder DIRFD. Returns 0; -ENOENT; -EBADMSG when a line is damaged; or -errno. */
int matrix_read(struct matrix *matrix, int dirfd);
/* Logs why matrix_read() of the folder DIR returned the error R. Returns R. */
int matrix_log(int r, const char *dir);
/* Parses TEXT, which M then owns, likewise. */
int matrix_parse(struct matrix *matrix, char *text);
void matrix_free(struct matrix *m);

/* Returns the run PROGRAM.MODE.REP that FOLDER, a name, is of; NULL: none. */
const struct matrix_run *matrix_find(const struct matrix *m, const char *folder);

/* Returns whether RUN can be compared with its dry run, with *RET as their ratio. */
bool matrix_ratio(const struct matrix_run *run, enum usage u, double *ret);

/* Sets MATRIX's modes from its runs. Returns 0 or -ENOMEM. matrix_parse() calls it. */
int matrix_sum_up(struct matrix *matrix);

#endif
