/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics of a matrix. The overhead is the median of ratios of pairs, and not the ratio of two medians: a
 * program's traced and dry run of a repetition make a pair, so that what differs between repetitions cancels out.
 *
 * The interval of that median takes no distribution for granted: each ratio is above the true median with probability
 * 1/2, so the number of those that are below it is binomial. With fewer than six pairs no two of them hold it with 95
 * %.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/matrix.h"

#define CONFIDENCE 0.95

static int by_number(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* V is sorted. */
static double median_of(const double *v, uint32_t n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* --- the runs of a mode ------------------------------------------------------------------------------------ */

static void sum_up(struct matrix_sum *sum, double *v, uint32_t n)
{
	double mean = 0, squares = 0;

	qsort(v, n, sizeof(*v), by_number);
	for (uint32_t i = 0; i < n; i++)
		mean += v[i] / n;
	for (uint32_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	sum->median = (uint64_t)(median_of(v, n) + 0.5);
	sum->min = (uint64_t)v[0];
	sum->max = (uint64_t)v[n - 1];
	sum->mean = (uint64_t)(mean + 0.5);
	sum->stdev = n > 1 ? (uint64_t)(sqrt(squares / (n - 1)) + 0.5) : 0;
}

/* Sets the sums of MODE. V has room for its runs. */
static void sum_mode(struct matrix_mode *mode, double *v)
{
	for (enum usage u = 0; u < USAGES; u++) {
		uint32_t n = 0;

		for (uint64_t i = 0; i < mode->runs; i++)
			if (mode->run[i]->counted)
				v[n++] = (double)mode->run[i]->usage[u];
		mode->counted = n;
		mode->many = n > 1 ? n : 0;
		if (n)
			sum_up(&mode->sum[u], v, n);
	}
}

/* --- pairs --------------------------------------------------------------------------------------------------- */

/* Returns the probability that of N ratios at most K are below the true median. */
static double at_most(uint32_t k, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i <= k; i++)
		sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) - n * M_LN2);
	return sum;
}

/* Sets the interval from the N sorted ratios V: as many as possible are left out at each end. */
static void find_interval(struct matrix_sum *s, const double *v, uint32_t n)
{
	uint32_t out = 0;

	while (2 * (out + 1) < n && 1 - 2 * at_most(out + 1, n) >= CONFIDENCE)
		out++;
	s->low = v[out] - 1;
	s->high = v[n - 1 - out] - 1;
	s->confidence = MAX(1 - 2 * at_most(out, n), 0.0);
}

/* The dry runs, sorted by what a run must share with the one that it is compared with, then by mode. */
struct dry_runs {
	const struct matrix_run **v;
	uint32_t n;
};

static int by_pair(const struct matrix_run *a, const struct matrix_run *b)
{
	return strcmp(a->program, b->program) ?:
		       strcmp(a->mem, b->mem) ?:
		       strcmp(a->cpu, b->cpu) ?:
						(a->rep > b->rep) - (a->rep < b->rep);
}

static int by_pair_and_mode(const void *a, const void *b)
{
	const struct matrix_run *x = *(const struct matrix_run *const *)a, *y = *(const struct matrix_run *const *)b;

	return by_pair(x, y) ?: strcmp(x->mode, y->mode) ?: (x > y) - (x < y);
}

/* Returns the dry run that RUN is compared with: of the first of the dry modes with its nodes, by name. NULL: none. */
static const struct matrix_run *dry_of(const struct dry_runs *dry, const struct matrix_run *run)
{
	uint32_t low = 0, high = dry->n;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (by_pair(dry->v[middle], run) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < dry->n && by_pair(dry->v[low], run) == 0 && dry->v[low]->counted ? dry->v[low] : NULL;
}

bool matrix_ratio(const struct matrix_run *run, enum usage u, double *ret)
{
	const struct matrix_run *dry = run->dry_run;

	if (!dry || !dry->usage[u] || !run->has[u])
		return false;
	*ret = (double)run->usage[u] / (double)dry->usage[u];
	return true;
}

/* Sets what MODE costs. V has room for its runs. */
static void compare(struct matrix_mode *mode, double *v)
{
	for (enum usage u = 0; u < USAGES; u++) {
		struct matrix_sum *sum = &mode->sum[u];
		uint32_t n = 0;

		for (uint64_t i = 0; i < mode->runs; i++)
			if (mode->run[i]->counted && matrix_ratio(mode->run[i], u, &v[n]))
				n++;
		sum->pairs = n;
		if (!n)
			continue;
		qsort(v, n, sizeof(*v), by_number);
		sum->overhead = median_of(v, n) - 1;
		find_interval(sum, v, n);
	}
}

/* --- all modes ------------------------------------------------------------------------------------------------- */

static bool is_of_mode(const struct matrix_run *a, const struct matrix_run *b)
{
	return !strcmp(a->program, b->program) && !strcmp(a->mode, b->mode);
}

static int by_mode(const void *a, const void *b)
{
	const struct matrix_run *x = *(const struct matrix_run *const *)a, *y = *(const struct matrix_run *const *)b;

	return strcmp(x->program, y->program) ?: strcmp(x->mode, y->mode) ?: (x > y) - (x < y);
}

/* Adds the mode of the sorted run I, with the runs after it that are of it, too. Returns 0 or -ENOMEM. */
static int add_mode(struct matrix *matrix, uint32_t i)
{
	const struct matrix_run **run = matrix->sorted + i;
	struct matrix_mode mode = { .program = run[0]->program, .mode = run[0]->mode, .run = run };

	while (i + mode.runs < matrix->n_runs && is_of_mode(run[0], run[mode.runs]))
		mode.runs++;
	if (util_room(&matrix->mode, matrix->n_modes, sizeof(mode)) < 0)
		return -ENOMEM;
	matrix->mode[matrix->n_modes++] = mode;
	return 0;
}

int matrix_sum_up(struct matrix *matrix)
{
	autofree double *v = calloc(matrix->n_runs + 1U, sizeof(*v));
	autofree const struct matrix_run **dry_runs = calloc(matrix->n_runs + 1U, sizeof(*dry_runs));
	struct dry_runs dry = { .v = dry_runs };
	int r = 0;

	matrix->sorted = calloc(matrix->n_runs + 1U, sizeof(*matrix->sorted));
	if (!v || !dry_runs || !matrix->sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < matrix->n_runs; i++) {
		matrix->sorted[i] = &matrix->run[i];
		if (matrix->run[i].dry)
			dry.v[dry.n++] = &matrix->run[i];
	}
	qsort(matrix->sorted, matrix->n_runs, sizeof(*matrix->sorted), by_mode);
	qsort(dry.v, dry.n, sizeof(*dry.v), by_pair_and_mode);
	for (uint32_t i = 0; i < matrix->n_runs; i++)
		matrix->run[i].dry_run = matrix->run[i].dry ? NULL : dry_of(&dry, &matrix->run[i]);
	for (uint32_t i = 0; r == 0 && i < matrix->n_runs;
	     i += r < 0 ? 0 : (uint32_t)matrix->mode[matrix->n_modes - 1].runs)
		r = add_mode(matrix, i);
	for (uint32_t i = 0; r == 0 && i < matrix->n_modes; i++) {
		sum_mode(&matrix->mode[i], v);
		compare(&matrix->mode[i], v);
	}
	return r;
}
