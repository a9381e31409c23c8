/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics of a matrix. The overhead is the median of ratios of pairs, and not the ratio of two medians: a program's
 * traced and dry run of a repetition make a pair, so that what differs between repetitions cancels out.
 *
 * The interval of that median takes no distribution for granted: each ratio is above the true median with probability 1/2, so
 * the number of those that are below it is binomial. With fewer than six pairs no two of them hold it with 95 %.
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

static void sum_up(struct matrix_sum *s, double *v, uint32_t n)
{
	double mean = 0, squares = 0;

	qsort(v, n, sizeof(*v), by_number);
	for (uint32_t i = 0; i < n; i++)
		mean += v[i] / n;
	for (uint32_t i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	s->median = (uint64_t)(median_of(v, n) + 0.5);
	s->min = (uint64_t)v[0];
	s->max = (uint64_t)v[n - 1];
	s->mean = (uint64_t)(mean + 0.5);
	s->stdev = n > 1 ? (uint64_t)(sqrt(squares / (n - 1)) + 0.5) : 0;
}

static bool is_of(const struct matrix_run *run, const struct matrix_mode *mode)
{
	return !strcmp(run->program, mode->program) && !strcmp(run->mode, mode->mode);
}

/* Sets the sums of MODE. V has room for all runs. */
static void sum_mode(const struct matrix *m, struct matrix_mode *mode, double *v)
{
	for (enum usage u = 0; u < USAGES; u++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < m->n_runs; i++)
			if (m->run[i].counted && is_of(&m->run[i], mode))
				v[n++] = (double)m->run[i].usage[u];
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

/* Returns the dry run that RUN is compared with: of the first of the dry modes with its nodes, by name. NULL: none. */
static const struct matrix_run *dry_of(const struct matrix *m, const struct matrix_run *run)
{
	const struct matrix_run *first = NULL;

	for (uint32_t i = 0; i < m->n_runs; i++) {
		const struct matrix_run *dry = &m->run[i];

		if (dry->dry && dry->rep == run->rep && !strcmp(dry->program, run->program) && !strcmp(dry->mem, run->mem) &&
		    !strcmp(dry->cpu, run->cpu) && (!first || strcmp(dry->mode, first->mode) < 0))
			first = dry;
	}
	return first && first->counted ? first : NULL;
}

/* Sets what MODE costs. V and DRY have room for all runs. */
static void compare(const struct matrix *m, struct matrix_mode *mode, double *v, const struct matrix_run **dry)
{
	for (uint32_t i = 0; i < m->n_runs; i++)
		dry[i] = m->run[i].counted && !m->run[i].dry && is_of(&m->run[i], mode) ? dry_of(m, &m->run[i]) : NULL;
	for (enum usage u = 0; u < USAGES; u++) {
		struct matrix_sum *s = &mode->sum[u];
		uint32_t n = 0;

		for (uint32_t i = 0; i < m->n_runs; i++)
			if (dry[i] && dry[i]->usage[u])
				v[n++] = (double)m->run[i].usage[u] / (double)dry[i]->usage[u];
		s->pairs = n;
		if (!n)
			continue;
		qsort(v, n, sizeof(*v), by_number);
		s->overhead = median_of(v, n) - 1;
		find_interval(s, v, n);
	}
}

/* --- all modes ------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	const struct matrix_mode *x = a, *y = b;

	return strcmp(x->program, y->program) ?: strcmp(x->mode, y->mode);
}

/* Counts RUN in its mode, which is added where it is new. Returns 0 or -ENOMEM. */
static int count_run(struct matrix *m, const struct matrix_run *run)
{
	for (uint32_t i = 0; i < m->n_modes; i++)
		if (is_of(run, &m->mode[i])) {
			m->mode[i].runs++;
			return 0;
		}
	if (util_room(&m->mode, m->n_modes, sizeof(*m->mode)) < 0)
		return -ENOMEM;
	m->mode[m->n_modes++] = (struct matrix_mode){ .program = run->program, .mode = run->mode, .runs = 1 };
	return 0;
}

int matrix_sum_up(struct matrix *m)
{
	autofree double *v = calloc(m->n_runs + 1U, sizeof(*v));
	autofree const struct matrix_run **dry = calloc(m->n_runs + 1U, sizeof(*dry));
	int r = v && dry ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < m->n_runs; i++)
		r = count_run(m, &m->run[i]);
	if (r < 0)
		return r;
	if (m->n_modes)
		qsort(m->mode, m->n_modes, sizeof(*m->mode), by_name);
	for (uint32_t i = 0; i < m->n_modes; i++) {
		sum_mode(m, &m->mode[i], v);
		compare(m, &m->mode[i], v, dry);
	}
	return 0;
}
