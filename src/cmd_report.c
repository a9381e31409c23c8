/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced report: trace folders summed up, on the terminal, as JSON, as a page for a browser or, of CPU
 * time, as CSV. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "front.h"
#include "log.h"
#include "new_file.h"
#include "page.h"
#include "patience.h"
#include "phases_read.h"
#include "report.h"
#include "report_compare.h"
#include "report_cpu.h"
#include "report_cpu_json.h"
#include "report_job.h"
#include "text.h"
#include "util.h"
#include "zone.h"

#define LOGS_MAX 64U

struct options {
	bool json, cpu, compare;
	bool of_cpu; /* an option that is for --cpu alone */
	const char *csv;
	const char *html; /* the file, "-" for stdout, or NULL */
	const char *path; /* of calls those on files there alone, or NULL */
	struct report_cpu_options cpu_options;
	const char *logs[LOGS_MAX];
	struct applog_rules rules;
	struct phases_options phases;
	char **dirs;
	int n_dirs;
};

enum {
	KEY_CPU = 256, KEY_CSV, KEY_MERGE, KEY_PATTERN, KEY_THRESHOLD, KEY_GAP, KEY_HTML, KEY_COMPARE, KEY_PATH, KEY_APP_LOG,
	KEY_APP_LOG_TZ, KEY_PHASE,
};

static const struct argp_option option_table[] = {
	{ "html", KEY_HTML, "FILE", 0,
	  "One page for a browser, with a timeline and all that it needs inside; - is standard output", 0 },
	{ "json", 'j', NULL, 0, "One JSON object: ns, bytes, names as in the .out files", 0 },
	{ "compare", KEY_COMPARE, NULL, 0,
	  "The folders side by side, with ratios to the first; without it several are one job's hosts to --json and --html",
	  0 },
	{ "path", KEY_PATH, "PATH", 0, "Of calls only those on files at or below this absolute path, a data set for one", 0 },
	{ "cpu", KEY_CPU, NULL, 0,
	  "CPU time in place of files: who ran, who waited and for what (of traces made with --sched)",
	  1 },
	{ NULL, 0, NULL, 0, "The job's phases:", 3 },
	{ "app-log", KEY_APP_LOG, "FILE", 0,
	  "A log of the job, plain or packed (.gz, .zst), in place of its output in the trace; may be repeated", 3 },
	{ "app-log-tz", KEY_APP_LOG_TZ, "ZONE", 0,
	  "Of times in logs that name no zone: UTC, +02:00, Europe/Berlin (default: the traced host's)", 3 },
	{ "phase", KEY_PHASE, "REGEX=NAME", 0,
	  "Lines of logs that match begin the phase NAME, until the next such or NAME_end; NAME_start begins and "
	  "NAME_end ends one; \\1 is what the first ( ) matched; may be repeated", 3 },
	{ NULL, 0, NULL, 0, "With --cpu:", 2 },
	{ "csv", KEY_CSV, "DIR", 0,
	  "Also as CSV files in this folder, which is made; of several traces in one folder each", 2 },
	{ "gap", KEY_GAP, "T", 0, "Tell gaps from this length on (default: 100ms)", 2 },
	{ "merge", KEY_MERGE, "PREFIX[,PREFIX]", 0,
	  "Tasks that are one by how their names begin (default: the kernel's workers; +PREFIX: beside these; none)",
	  2 },
	{ "pattern", KEY_PATTERN, "GLOB[,GLOB]", 0,
	  "Threads to tell the lifespans of (default: " CPU_PATTERN ")", 2 },
	{ "threshold", KEY_THRESHOLD, "PERCENT", 0, "What is below is summed up as `other' (default: 3)", 2 },
	{ 0 },
};

/* "3", "0.5": tenths of a percent. */
static bool parse_permille(const char *arg, unsigned int *ret)
{
	char *end;
	double v = strtod(arg, &end);

	if (end == arg || *end || !(v >= 0 && v <= 100))
		return false;
	*ret = (unsigned int)(v * 10 + 0.5);
	return true;
}

static bool parse_gap(const char *arg, uint64_t *ret)
{
	static const struct { const char *unit; double ns; } units[] = {
		{ "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 },
	};
	char *end;
	double v = strtod(arg, &end);

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (end != arg && strcmp(end, units[i].unit) == 0 && v > 0 && v < 1e9) {
			*ret = MAX((uint64_t)(v * units[i].ns), 1);
			return true;
		}
	return false;
}

static error_t parse_cpu_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_CSV:
		o->csv = arg;
		break;
	case KEY_GAP:
		if (!parse_gap(arg, &o->cpu_options.gap_ns))
			argp_error(state, "--gap %s: not a time such as 100ms or 2s", arg);
		break;
	case KEY_MERGE:
		o->cpu_options.merge = arg;
		break;
	case KEY_PATTERN:
		o->cpu_options.pattern = arg;
		break;
	case KEY_THRESHOLD:
		if (!parse_permille(arg, &o->cpu_options.threshold_permille))
			argp_error(state, "--threshold %s: not a percentage from 0 to 100", arg);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	o->of_cpu = true;
	return 0;
}

static void add_log(struct options *o, const char *path, struct argp_state *state)
{
	int fd = util_open_regular(AT_FDCWD, path, 0);

	if (fd < 0)
		argp_error(state, "--app-log %s: %s", path, fd == -EBADMSG ? "not a regular file" : strerror(-fd));
	if (o->phases.n_logs == LOGS_MAX)
		argp_error(state, "--app-log: at most %u files", LOGS_MAX);
	if (fd >= 0)
		close(fd);
	o->logs[o->phases.n_logs++] = path;
}

static error_t parse_phase_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	char error[256];
	struct zone zone;

	switch (key) {
	case KEY_APP_LOG:
		add_log(o, arg, state);
		return 0;
	case KEY_APP_LOG_TZ:
		if (!zone_parse(&zone, arg))
			argp_error(state, "--app-log-tz %s: not UTC, +02:00 nor a zone that this machine knows", arg);
		o->phases.zone = arg;
		return 0;
	case KEY_PHASE:
		if (applog_add_rule(&o->rules, arg, error, sizeof(error)) < 0)
			argp_error(state, "--phase %s: %s", arg, error);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case 'j':
		o->json = true;
		return 0;
	case KEY_CPU:
		o->cpu = true;
		return 0;
	case KEY_HTML:
		o->html = arg;
		return 0;
	case KEY_COMPARE:
		o->compare = true;
		return 0;
	case KEY_PATH:
		if (arg[0] != '/')
			argp_error(state, "--path %s: not an absolute path", arg);
		o->path = arg;
		return 0;
	case ARGP_KEY_ARGS:
		o->dirs = state->argv + state->next;
		o->n_dirs = state->argc - state->next;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which trace folder? (dltraced start names it when it ends)");
		return 0;
	case ARGP_KEY_END:
		if (o->of_cpu && !o->cpu)
			argp_error(state, "--csv, --gap, --merge, --pattern and --threshold are for --cpu");
		if (o->html && (o->cpu || o->json))
			argp_error(state, "--html goes without --cpu and --json: the page holds the JSON");
		if (o->cpu && (o->compare || o->path))
			argp_error(state, "--compare and --path go without --cpu");
		if (o->compare && (o->n_dirs < 2 || o->n_dirs > COMPARE_MAX))
			argp_error(state, "--compare takes 2 to %u trace folders", COMPARE_MAX);
		return 0;
	default:
		return parse_phase_option(key, arg, state) == 0 ? 0 : parse_cpu_option(key, arg, state);
	}
}

static const struct argp argp = {
	.options = option_table,
	.parser = parse_option,
	.args_doc = "DIR...",
	.doc = "Sum up trace folders: calls, latencies, files, processes, disks, and what is "
	       "missing. Works on folders that are cut off or still growing, and needs no root."
	       "\vWith --cpu: time by task, process, thread and CPU, phases, gaps, and what threads waited for. "
	       "sched.out does not know the files of a call: which folders a wait for disk goes to is by the "
	       "latencies of the calls that went there.",
};

/* --- where it goes --------------------------------------------------------------------------------------- */

/* What is reported, and how it becomes a page; 1: a large one. WHOSE is for messages. */
struct page_of {
	const void *what;
	int (*html)(const void *what, FILE *out);
	const char *whose;
};

static int one_html(const void *what, FILE *out)
{
	return report_html(what, out);
}

static int compare_page(const void *what, FILE *out)
{
	return compare_html(what, out);
}

static int job_page(const void *what, FILE *out)
{
	return report_job_html(what, out);
}

/* The page as the whole file NAME. */
static int html_file(const struct page_of *page, const char *name)
{
	struct new_file f = NEW_FILE_NONE;
	int res = new_file_open(&f, name);

	if (res == -ELOOP)
		return log_err_r(res, "%s is a symbolic link: name the file itself", name);
	if (res < 0)
		return log_err_r(res, "%s: cannot be made", name);
	res = page->html(page->what, f.stream);
	if (res < 0) {
		new_file_drop(&f);
		return log_err_r(res, "%s: no page", page->whose);
	}
	if (res > 0)
		log_warn("%s is larger than %u MiB: a browser may take its time", name, PAGE_BYTES_MAX >> 20);
	res = new_file_commit(&f);
	return res < 0 ? log_err_r(res, "%s: cannot be written", name) : 0;
}

static int html(const struct page_of *page, const char *name)
{
	int res;

	if (strcmp(name, "-") != 0)
		return html_file(page, name);
	res = page->html(page->what, stdout);
	return res < 0 ? log_err_r(res, "%s: no page", page->whose) : 0;
}

/* --- one trace ------------------------------------------------------------------------------------------- */

/* BEGIN_NS: of the timeline, 0: the trace's own. The comparison and the text do without CPU time. */
static int load(struct report **ret, const char *dir, const struct options *o, uint64_t begin_ns)
{
	const struct report_options how = {
		.timed = true, .begin_ns = begin_ns, .path = o->path, .phases = &o->phases,
		.cpu = !o->compare && (o->html || o->json) ? &o->cpu_options : NULL,
	};
	int res;

	patience_begin(dir, PATIENCE_SAYS);
	res = report_load_with(ret, dir, &how);
	patience_end();
	if (res == -ENODATA)
		log_err("%s is not a trace folder: it holds neither a manifest.json of dltraced "
			"nor a .out file with its header", dir);
	else if (res < 0)
		log_err_r(res, "%s: cannot be reported on", dir);
	return res;
}

static int report_one(const char *dir, const struct options *o)
{
	struct report *r;
	int res = load(&r, dir, o, 0);

	if (res < 0)
		return res;
	if (o->html || o->json)
		report_fit(r);
	if (o->html) {
		const struct page_of page = { r, one_html, dir };

		res = html(&page, o->html);
	} else if (o->json) {
		res = report_json(r, stdout);
	} else {
		report_text(r, stdout);
	}
	report_free(r);
	return res < 0 && !o->html ? log_err_r(res, "%s: no JSON", dir) : res;
}

/* --- several traces -------------------------------------------------------------------------------------- */

static int print_compare(const struct compare *c, const struct options *o)
{
	const struct page_of page = { c, compare_page, "the comparison" };
	int res;

	if (o->html)
		return html(&page, o->html);
	if (!o->json) {
		compare_text(c, stdout);
		return 0;
	}
	res = compare_json(c, stdout);
	return res < 0 ? log_err_r(res, "no JSON of the comparison") : 0;
}

static int report_compared(const struct options *o)
{
	struct report *r[COMPARE_MAX] = { NULL };
	unsigned int n = (unsigned int)o->n_dirs;
	struct compare c;
	int res = 0;

	for (unsigned int i = 0; i < n && res == 0; i++)
		res = load(&r[i], o->dirs[i], o, 0);
	if (res == 0) {
		res = compare_init(&c, r, n);
		if (res < 0)
			log_err_r(res, "no comparison");
	}
	if (res == 0) {
		res = print_compare(&c, o);
		compare_free(&c);
	}
	for (unsigned int i = 0; i < n; i++)
		report_free(r[i]);
	return res;
}

static int log_no_job(int res, const char *dir)
{
	if (res == -ENODATA)
		log_err("%s: no time_align.out with a row, so it cannot be on one axis with others: report on it alone, or "
			"--compare", dir);
	else if (res == -ERANGE)
		log_err("%s: its clock does not reach back to when the others began, or they are months apart: no hosts of "
			"one job; report on each alone, or --compare", dir);
	else if (res == -E2BIG)
		log_err("at most %u trace folders are one job", JOB_HOSTS_MAX);
	else
		log_err_r(res, "%s: cannot be reported on", dir);
	return res;
}

static int print_job(struct report_job *job, const struct options *o)
{
	const struct page_of page = { job, job_page, "the job" };
	int res = report_job_close(job);

	if (res < 0)
		return log_err_r(res, "no report on the job");
	report_job_fit(job);
	if (o->html)
		return html(&page, o->html);
	res = report_job_json(job, stdout);
	return res < 0 ? log_err_r(res, "no JSON of the job") : 0;
}

static int report_job(const struct options *o)
{
	struct report_job job;
	unsigned int bad;
	int res = report_job_open(&job, o->dirs, (unsigned int)o->n_dirs, &bad);

	if (res < 0)
		return log_no_job(res, o->dirs[MIN(bad, (unsigned int)o->n_dirs - 1)]);
	for (unsigned int i = 0; i < job.n && res == 0; i++)
		res = load(&job.host[i].report, o->dirs[i], o, report_job_begin_ns(&job, i));
	if (res == 0)
		res = print_job(&job, o);
	report_job_free(&job);
	return res;
}

/* --- --cpu ------------------------------------------------------------------------------------------------ */

/* The last component of DIR, wherever it ends. */
static char *name_of(const char *dir)
{
	autofree char *real = realpath(dir, NULL);
	const char *slash = strrchr(real ? real : dir, '/');

	return strdup(slash && slash[1] ? slash + 1 : "trace");
}

/* Of several traces that of the I-th is a folder in OUT, named after it; two of one name differ by a number. */
static int write_csv(const struct report_cpu *r, const struct options *o, int i)
{
	autofree char *name = o->n_dirs > 1 ? name_of(o->dirs[i]) : NULL, *path = NULL;
	unsigned int same = 1;

	if (!name)
		return o->n_dirs > 1 ? -ENOMEM : report_cpu_csv(r, o->csv);
	for (int k = 0; k < i; k++) {
		autofree char *other = name_of(o->dirs[k]);

		same += other && strcmp(other, name) == 0;
	}
	path = same > 1 ? util_fmt("%s/%s-%u", o->csv, name, same) : util_fmt("%s/%s", o->csv, name);
	if (!path)
		return -ENOMEM;
	if (mkdir(o->csv, 0777) < 0 && errno != EEXIST)
		return -errno;
	return report_cpu_csv(r, path);
}

static int report_cpu_one(const struct options *o, int i)
{
	const char *dir = o->dirs[i];
	struct report_cpu *r;
	int res;

	patience_begin(dir, PATIENCE_SAYS);
	res = report_cpu_load(&r, dir, &o->cpu_options);
	patience_end();
	if (res == -ENODATA)
		log_err("%s is not a trace folder", dir);
	else if (res == -ENOMSG)
		log_err("%s has neither sched.out nor sched_switch.out with rows to come: CPU scheduling is traced with "
			"`dltraced start -P +sched' (or --sched sums, --sched timeline)",
			dir);
	else if (res == -EINVAL)
		log_err("--merge, --pattern: at most %u prefixes of 15 bytes, %u patterns", CPU_RULES_MAX,
			CPU_PATTERNS_MAX);
	else if (res < 0)
		log_err_r(res, "%s: cannot be reported on", dir);
	if (res < 0)
		return res;
	res = o->json ? report_cpu_json(r, stdout) : 0;
	if (!o->json)
		report_cpu_text(r, stdout);
	if (res < 0)
		log_err_r(res, "%s: no JSON", dir);
	else if (o->csv && (res = write_csv(r, o, i)) < 0)
		log_err_r(res, "%s: CSV files cannot be written", o->csv);
	report_cpu_free(r);
	return res;
}

int cmd_report(int argc, char **argv)
{
	struct options o = {
		.cpu_options = { .threshold_permille = CPU_THRESHOLD_PERMILLE, .gap_ns = CPU_GAP_NS },
	};
	int status = 0;

	o.phases.logs = o.logs;
	o.phases.rules = &o.rules;
	o.cpu_options.phases = &o.phases;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (front_wait(o.dirs, o.n_dirs, &status))
		return status;
	if (o.compare || (o.n_dirs > 1 && !o.cpu && (o.json || o.html))) {
		if ((o.compare ? report_compared(&o) : report_job(&o)) < 0)
			status = CMD_EXIT_FAILURE;
		o.n_dirs = 0;
	}
	for (int i = 0; i < o.n_dirs; i++) {
		if ((o.cpu ? report_cpu_one(&o, i) : report_one(o.dirs[i], &o)) < 0)
			status = CMD_EXIT_FAILURE;
		else if (!o.json && !o.html && i + 1 < o.n_dirs)
			putchar('\n');
	}
	applog_free_rules(&o.rules);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		log_err("standard output: %s", strerror(errno));
		status = CMD_EXIT_FAILURE;
	}
	return status;
}
