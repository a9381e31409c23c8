/* SPDX-License-Identifier: BSD-2-Clause */
/* The formats, the hosts, and the order of an export: open, walk, close. */
#include "export/export.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "base/log.h"
#include "export/exporter.h"
#include "export/text.h"
#include "report/hosts/hosts.h"
#include "report/scan/manifest_counts.h"
#include "trace/outdir.h"

static const struct exporter *const formats[] = {
	&export_csv, &export_folded, &export_ndjson, &export_perfetto, &export_pfw, &export_sqlite,
};

const struct exporter *export_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i]->name, name))
			return formats[i];
	return NULL;
}

const char *export_format(unsigned int i, const char **help)
{
	if (i >= ARRAY_SIZE(formats))
		return NULL;
	*help = formats[i]->help;
	return formats[i]->name;
}

/* --- hosts --------------------------------------------------------------------------------------------------- */

/*
 * Takes the numbers of rows from the manifest: those of probes only if the trace has ended, as before that the files may
 * have more or fewer.
 */
static void count_rows(struct export_host *h, const struct manifest_facts *m, uint64_t *all)
{
	for (unsigned int i = 0; i < m->n_probes && m->complete; i++) {
		const struct manifest_counts c = manifest_counts_of(m, m->probes[i].name);

		if (strlen(m->probes[i].name) >= sizeof(h->counted[0].name))
			continue;
		strcpy(h->counted[h->n_counted].name, m->probes[i].name);
		h->counted[h->n_counted].rows = c.rows - MIN(c.rows, c.dropped);
		*all += h->counted[h->n_counted++].rows;
	}
	for (unsigned int i = 0; i < m->n_collectors; i++)
		*all += m->collectors[i].rows - MIN(m->collectors[i].rows, m->collectors[i].dropped);
}

/* Returns a name for host I that no host before it has. */
static char *name_host(const struct export *x, unsigned int i, const char *host)
{
	unsigned int same = 1;

	for (unsigned int k = 0; k < i; k++) {
		const char *other = x->hosts[k].name;

		/* no host is without a name: NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker) */
		same += !strncmp(other, host, strlen(host)) && (!other[strlen(host)] || other[strlen(host)] == '#');
	}
	return same > 1 ? util_fmt("%s#%u", host, same) : strdup(host);
}

/* For a trace without a manifest: names host I after the folder. */
static char *name_by_folder(const struct export *x, unsigned int i)
{
	autofree char *real = realpath(x->hosts[i].dir, NULL);
	const char *slash = real ? strrchr(real, '/') : NULL;

	return name_host(x, i, slash && slash[1] ? slash + 1 : "trace");
}

static bool holds_rows(int dirfd)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		autofree char *file = util_fmt("%s.out", probes[i]->name);
		struct reader r;

		if (file && reader_open(&r, dirfd, file) == 0) {
			reader_close(&r);
			return true;
		}
	}
	return false;
}

static int open_host(struct export *x, unsigned int i)
{
	struct export_host *h = &x->hosts[i];
	autofree struct manifest_facts *m = calloc(1, sizeof(*m));

	h->dir = x->o->dirs[i];
	h->dirfd = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (h->dirfd < 0)
		return log_err_r(-errno, "%s: cannot be read: name a trace folder", h->dir);
	if (!m)
		return -ENOMEM;
	if (manifest_read_at(m, h->dirfd) == -ENOENT && !holds_rows(h->dirfd)) {
		log_err("%s is not a trace folder: it holds neither a manifest.json of dltraced nor a .out file with its header", h->dir);
		return -ENODATA;
	}
	count_rows(h, m, &x->rows_counted);
	h->name = m->host[0] ? name_host(x, i, m->host) : name_by_folder(x, i);
	return h->name ? 0 : -ENOMEM;
}

/* Finds by how much the hosts' clocks differ, for formats with one time axis. */
static int find_shifts(struct export *x)
{
	struct report_job job;
	unsigned int bad;
	int res;

	if (x->n_hosts < 2 || x->format->order != EXPORT_BY_TIME)
		return 0;
	res = report_job_open(&job, x->o->dirs, x->n_hosts, &bad);
	if (res < 0)
		return log_err_r(res, "%s: cannot be put on one time axis with the others: export it alone", x->o->dirs[MIN(bad, x->n_hosts - 1)]);
	for (unsigned int i = 0; i < x->n_hosts; i++)
		x->hosts[i].shift_ns = job.host[i].utc_ns - job.host[0].utc_ns;
	report_job_free(&job);
	return 0;
}

static int open_hosts(struct export *x)
{
	unsigned int first, again;
	int res = 0;

	if (report_job_twice(x->o->dirs, (unsigned int)x->o->n_dirs, &first, &again)) {
		log_err("%s and %s are the same folder: name it once", x->o->dirs[first], x->o->dirs[again]);
		return -EINVAL;
	}
	x->hosts = calloc((size_t)x->o->n_dirs, sizeof(*x->hosts));
	if (!x->hosts)
		return -ENOMEM;
	for (; x->n_hosts < (unsigned int)x->o->n_dirs && res == 0; x->n_hosts++) {
		x->hosts[x->n_hosts].dirfd = -1;
		res = open_host(x, x->n_hosts);
	}
	return res < 0 ? res : find_shifts(x);
}

static void close_hosts(struct export *x)
{
	for (unsigned int i = 0; i < x->n_hosts; i++) {
		util_close(&x->hosts[i].dirfd);
		free(x->hosts[i].name);
	}
	free(x->hosts);
}

/* --- the export ----------------------------------------------------------------------------------------------- */

static int open_out(struct export *x)
{
	const char *path = x->o->out;
	int res;

	if (outdir_owns(path)) {
		log_err("%s is a name of the trace's own files: name another with -o", path);
		return -EEXIST;
	}
	if (x->format->own_out)
		return 0;
	res = out_open(&x->out, path);
	if (res == -EISDIR)
		log_err("%s is a folder: name a file with -o, or - for standard output", path);
	else if (res < 0)
		log_err_r(res, "%s: cannot be made", path);
	return res;
}

static int run(struct export *x)
{
	int res = x->format->begin ? x->format->begin(x) : 0;

	if (res == 0)
		res = export_walk(x);
	if (res == 0 && x->format->end)
		res = x->format->end(x);
	if (x->format->close)
		x->format->close(x);
	if (!x->format->own_out) {
		if (res == 0)
			res = out_close(&x->out);
		else
			out_drop(&x->out);
	}
	/* -ECANCELED: the format has logged why */
	if (res < 0 && res != -ECANCELED)
		log_err_r(res, "%s: cannot be written", strcmp(x->o->out, "-") ? x->o->out : "standard output");
	if (x->bad_numbers)
		log_err("%s exported as empty", FMT_N(x->bad_numbers, "field that should be a number is none, and is",
						      "fields that should be numbers are none, and are"));
	return res < 0 ? res : x->damaged || x->bad_numbers;
}

int export_run(const struct export_options *o)
{
	struct export x = { .o = o, .format = o->format, .out = EXPORT_OUT_NONE };
	int res = open_hosts(&x);

	x.state = calloc(1, o->format->state_size + 1);
	x.scratch = malloc(EXPORT_SCRATCH);
	if (res == 0)
		res = times_init(&x.times, &o->times, o->dirs, x.n_hosts);
	if (res == 0 && (!x.state || !x.scratch))
		res = log_err_r(-ENOMEM, "export");
	if (res == 0)
		res = open_out(&x);
	if (res == 0)
		res = run(&x);
	free(x.state);
	free(x.scratch);
	times_free(&x.times);
	close_hosts(&x);
	return res;
}
