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
	&export_csv, &export_fio, &export_folded, &export_ndjson, &export_perfetto, &export_pfw, &export_sqlite,
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
 * Takes the numbers of rows from the manifest: those of probes only if the trace has ended, as before that the files
 * may have more or fewer.
 */
static void count_rows(struct export_host *host, const struct manifest_facts *facts, uint64_t *all)
{
	for (unsigned int i = 0; i < facts->n_probes && facts->complete; i++) {
		const struct manifest_counts c = manifest_counts_of(facts, facts->probes[i].name);

		if (strlen(facts->probes[i].name) >= sizeof(host->counted[0].name))
			continue;
		strcpy(host->counted[host->n_counted].name, facts->probes[i].name);
		host->counted[host->n_counted].rows = c.rows - MIN(c.rows, c.dropped);
		*all += host->counted[host->n_counted++].rows;
	}
	for (unsigned int i = 0; i < facts->n_collectors; i++)
		*all += facts->collectors[i].rows - MIN(facts->collectors[i].rows, facts->collectors[i].dropped);
}

/* Returns a name for host I that no host before it has. */
static char *name_host(const struct export *export, unsigned int i, const char *host)
{
	unsigned int same = 1;

	for (unsigned int k = 0; k < i; k++) {
		const char *other = export->hosts[k].name;

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

static int open_host(struct export *export, unsigned int i)
{
	struct export_host *host = &export->hosts[i];
	autofree struct manifest_facts *facts = calloc(1, sizeof(*facts));

	host->dir = export->o->dirs[i];
	host->dirfd = open(host->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (host->dirfd < 0)
		return log_err_r(-errno, "%s: cannot be read: name a trace folder", host->dir);
	if (!facts)
		return -ENOMEM;
	if (manifest_read_at(facts, host->dirfd) == -ENOENT && !holds_rows(host->dirfd)) {
		log_err("%s is not a trace folder: it holds neither a manifest.json of dltraced nor a .out file with "
			"its header",
			host->dir);
		return -ENODATA;
	}
	count_rows(host, facts, &export->rows_counted);
	host->name = facts->host[0] ? name_host(export, i, facts->host) : name_by_folder(export, i);
	return host->name ? 0 : -ENOMEM;
}

/* Finds by how much the hosts' clocks differ, for formats with one time axis. */
static int find_shifts(struct export *export)
{
	struct report_job job;
	unsigned int bad;
	int res;

	if (export->n_hosts < 2 || export->format->order != EXPORT_BY_TIME)
		return 0;
	res = report_job_open(&job, export->o->dirs, export->n_hosts, &bad);
	if (res < 0)
		return log_err_r(res, "%s: cannot be put on one time axis with the others: export it alone",
				 export->o->dirs[MIN(bad, export->n_hosts - 1)]);
	for (unsigned int i = 0; i < export->n_hosts; i++)
		export->hosts[i].shift_ns = job.host[i].utc_ns - job.host[0].utc_ns;
	report_job_free(&job);
	return 0;
}

static int open_hosts(struct export *export)
{
	unsigned int first, again;
	int res = 0;

	if (report_job_twice(export->o->dirs, (unsigned int)export->o->n_dirs, &first, &again)) {
		log_err("%s and %s are the same folder: name it once", export->o->dirs[first], export->o->dirs[again]);
		return -EINVAL;
	}
	export->hosts = calloc((size_t) export->o->n_dirs, sizeof(*export->hosts));
	if (!export->hosts)
		return -ENOMEM;
	for (; export->n_hosts < (unsigned int)export->o->n_dirs && res == 0; export->n_hosts++) {
		export->hosts[export->n_hosts].dirfd = -1;
		res = open_host(export, export->n_hosts);
	}
	return res < 0 ? res : find_shifts(export);
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

static int open_out(struct export *export)
{
	const char *path = export->o->out;
	int res;

	if (outdir_owns(path)) {
		log_err("%s is a name of the trace's own files: name another with -o", path);
		return -EEXIST;
	}
	if (export->format->own_out)
		return 0;
	res = out_open(&export->out, path);
	if (res == -EISDIR)
		log_err("%s is a folder: name a file with -o, or - for standard output", path);
	else if (res < 0)
		log_err_r(res, "%s: cannot be made", path);
	return res;
}

static int run(struct export *export)
{
	int res = export->format->begin ? export->format->begin(export) : 0;

	if (res == 0)
		res = export_walk(export);
	if (res == 0 && export->format->end)
		res = export->format->end(export);
	if (export->format->close)
		export->format->close(export);
	if (!export->format->own_out) {
		if (res == 0)
			res = out_close(&export->out);
		else
			out_drop(&export->out);
	}
	/* -ECANCELED: the format has logged why */
	if (res < 0 && res != -ECANCELED)
		log_err_r(res, "%s: cannot be written",
			  strcmp(export->o->out, "-") ? export->o->out : "standard output");
	if (export->bad_numbers)
		log_err("%s exported as empty",
			FMT_N(export->bad_numbers, "field that should be a number is none, and is",
			      "fields that should be numbers are none, and are"));
	return res < 0 ? res : export->damaged || export->bad_numbers;
}

int export_run(const struct export_options *options)
{
	struct export x = { .o = options, .format = options->format, .out = EXPORT_OUT_NONE };
	int res = open_hosts(&x);

	x.state = calloc(1, options->format->state_size + 1);
	x.scratch = malloc(EXPORT_SCRATCH);
	if (res == 0)
		res = times_init(&x.times, &options->times, options->dirs, x.n_hosts);
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
