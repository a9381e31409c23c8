/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads matrix.tsv. matrix_sums.c calculates. */
#include "report/matrix.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"

#define BYTES_MAX (4U << 20) /* some 20 000 runs */
#define COLUMNS_MAX 64U

enum kind { TEXT, NUMBER, YES, MAYBE };

static const struct column {
	const char *name;
	enum kind kind;
	size_t at, has; /* offsets; HAS of MAYBE, which is - where it is not known */
} columns[] = {
#define AT(m) offsetof(struct matrix_run, m)
#define USED(name, u)                                 \
	{                                             \
		name, MAYBE, AT(usage[u]), AT(has[u]) \
	}
	{ "ORDER", NUMBER, AT(order), 0 },
	{ "PROGRAM", TEXT, AT(program), 0 },
	{ "MODE", TEXT, AT(mode), 0 },
	{ "REP", NUMBER, AT(rep), 0 },
	{ "DRY", YES, AT(dry), 0 },
	{ "MEM", TEXT, AT(mem), 0 },
	{ "CPU", TEXT, AT(cpu), 0 },
	{ "STATUS", NUMBER, AT(status), 0 },
	{ "LOST", MAYBE, AT(lost), AT(has_lost) },
	USED("WALL_NS", USAGE_WALL_NS),
	USED("USER_NS", USAGE_USER_NS),
	USED("SYSTEM_NS", USAGE_SYSTEM_NS),
	USED("MAX_RSS_BYTES", USAGE_MAX_RSS_BYTES),
	USED("MINOR_FAULTS", USAGE_MINOR_FAULTS),
	USED("MAJOR_FAULTS", USAGE_MAJOR_FAULTS),
	USED("VOLUNTARY_SWITCHES", USAGE_VOLUNTARY_SWITCHES),
	USED("INVOLUNTARY_SWITCHES", USAGE_INVOLUNTARY_SWITCHES),
	{ "SEED", NUMBER, AT(seed), 0 },
	{ "COMMAND", TEXT, AT(command), 0 },
};

/* A number from 2^63 on is damage: sums and the axis of a picture, calculated with fractions, must fit as well. */
static bool parse_u64(const char *text, uint64_t *ret)
{
	char *end;

	errno = 0;
	*ret = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && !*end && !errno && *ret <= INT64_MAX;
}

/* Stores the field TEXT of the column COLUMN in RUN. Returns whether it is one. */
static bool store(struct matrix_run *run, const struct column *column, const char *text)
{
	char *at = (char *)run + column->at;

	if (column->kind == TEXT) {
		*(const char **)at = text;
		return true;
	}
	if (column->kind == YES) {
		*(bool *)at = !strcmp(text, "yes");
		return *(bool *)at || !strcmp(text, "no");
	}
	if (column->kind == MAYBE && !strcmp(text, "-"))
		return true;
	if (!parse_u64(text, (uint64_t *)at))
		return false;
	if (column->kind == MAYBE)
		*((bool *)run + column->has) = true;
	return true;
}

/* Cuts LINE at its tabs. Returns the number of fields, COLUMNS_MAX at most. */
static unsigned int cut(char *line, char *fields[COLUMNS_MAX])
{
	unsigned int n = 0;

	for (char *field; n < COLUMNS_MAX && (field = strsep(&line, "\t"));)
		fields[n++] = field;
	return n;
}

/* Finds the place of each column in the header. Returns whether all are there. */
static bool find_columns(char *line, unsigned int place[ARRAY_SIZE(columns)], unsigned int *n_ret)
{
	char *fields[COLUMNS_MAX];
	const unsigned int n = cut(line, fields);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		unsigned int k = 0;

		while (k < n && strcmp(fields[k], columns[i].name) != 0)
			k++;
		if (k == n)
			return false;
		place[i] = k;
	}
	*n_ret = n;
	return true;
}

static bool is_counted(const struct matrix_run *run)
{
	bool counted = !run->status && run->has_lost && !run->lost;

	for (enum usage i = 0; i < USAGES; i++)
		counted = counted && run->has[i];
	return counted;
}

static int take_line(struct matrix *matrix, char *line, const unsigned int place[ARRAY_SIZE(columns)], unsigned int n)
{
	struct matrix_run run = { .order = 0 };
	char *fields[COLUMNS_MAX];

	if (cut(line, fields) != n)
		return -EBADMSG;
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!store(&run, &columns[i], fields[place[i]]))
			return -EBADMSG;
	if (util_room(&matrix->run, matrix->n_runs, sizeof(run)) < 0)
		return -ENOMEM;
	run.counted = is_counted(&run);
	matrix->left_out += !run.counted;
	matrix->run[matrix->n_runs++] = run;
	return 0;
}

int matrix_parse(struct matrix *matrix, char *text)
{
	unsigned int place[ARRAY_SIZE(columns)], n;
	char *rest = text, *line;
	int r = 0;

	*matrix = (struct matrix){ .text = text };
	line = strsep(&rest, "\n");
	if (!find_columns(line, place, &n))
		r = -EBADMSG;
	while (r == 0 && (line = strsep(&rest, "\n")))
		if (rest) /* else what is behind the last line end: nothing, or a row that is not whole */
			r = take_line(matrix, line, place, n);
	if (r == 0)
		r = matrix_sum_up(matrix);
	if (r < 0)
		matrix_free(matrix);
	return r;
}

int matrix_read(struct matrix *matrix, int dirfd)
{
	autoclose int fd = util_open_regular(dirfd, MATRIX_FILE, 0);
	char *text;
	int r;

	*matrix = (struct matrix){ .text = NULL };
	if (fd < 0)
		return fd;
	r = util_read_fd(fd, BYTES_MAX, &text, NULL);
	return r < 0 ? r : matrix_parse(matrix, text);
}

int matrix_log(int r, const char *dir)
{
	if (r == -ENOENT)
		log_err("%s holds no " MATRIX_FILE ": name a folder that scripts/recipes/matrix has made", dir);
	else if (r == -EBADMSG)
		log_err("%s/" MATRIX_FILE ": a line is damaged, or it is not a file of scripts/recipes/matrix", dir);
	else
		log_err_r(r, "%s/" MATRIX_FILE, dir);
	return r;
}

void matrix_free(struct matrix *m)
{
	free(m->text);
	free(m->run);
	free(m->sorted);
	free(m->mode);
	*m = (struct matrix){ .text = NULL };
}

const struct matrix_run *matrix_find(const struct matrix *m, const char *folder)
{
	for (uint32_t i = 0; i < m->n_runs; i++) {
		const struct matrix_run *run = &m->run[i];
		autofree char *name = util_fmt("%s.%s.%llu", run->program, run->mode, (unsigned long long)run->rep);

		if (name && !strcmp(name, folder))
			return run;
	}
	return NULL;
}
