/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced report: sums up trace folders on the terminal, as JSON, as a page for a browser, or as CSV files. */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/exit_codes.h"
#include "base/json.h"
#include "base/log.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/report/report_matrix.h"
#include "cmd/report/report_out.h"
#include "cmd/report/report_picture.h"
#include "cmd/report/windows.h"
#include "cmd/traces/not_read.h"
#include "cmd/traces/traces.h"
#include "export/times.h"
#include "host/stall/guard.h"
#include "host/stall/proxy.h"
#include "os/huge_heap.h"
#include "os/new_file.h"
#include "os/terminal.h"
#include "report/compare.h"
#include "report/cpu/cpu.h"
#include "report/cpu/load.h"
#include "report/hosts/hosts.h"
#include "report/hosts/summary.h"
#include "report/options.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/show/view/view.h"

/* --- one trace ------------------------------------------------------------------------------------------- */

/*
 * Loads the part WINDOW of the trace DIR. Its timeline begins at BEGIN_NS, or with that part where that is 0.
 * Comparison and text do not show the CPU time, so it is not loaded for them.
 */
static int load(struct report **ret, const char *dir, const struct report_args *args, const struct window *window,
		uint64_t begin_ns)
{
	const struct report_options how = {
		.timed = true,
		.begin_ns = begin_ns,
		.window = *window,
		.path = args->path,
		.phases = &args->phases,
		.every_file = args->csv,
		.what_if = args->compare ? NULL : &args->what_if,
		.memory = args->html || args->json || args->picture ? &args->memory : NULL,
		.cpu = !args->compare && (args->html || args->json || args->csv) ? &args->cpu_options : NULL,
	};
	int res;

	stall_guard_begin(dir, STALL_GUARD_REPORTS);
	res = report_load(ret, dir, &how);
	stall_guard_end();
	if (res == -ENODATA && traces_are_below(dir))
		log_err("%s is not a trace folder, but holds traces: name one of them (`dltraced report %s' lists "
			"them)",
			dir, dir);
	else if (res == -ENODATA)
		log_err("%s is not a trace folder: it holds neither a manifest.json of dltraced "
			"nor a .out file with its header",
			dir);
	else if (res == -ERANGE)
		times_log_none((char *const *)&dir, 1);
	else if (res < 0)
		log_not_read(res, dir);
	return res;
}

/* Loads the I-th trace, whose times count from its own start. */
static int load_alone(struct report **ret, const struct report_args *o, int i)
{
	autofree struct window *w = windows_of(o, &o->dirs[i], 1);

	return w ? load(ret, o->dirs[i], o, w, 0) : -EINVAL;
}

/* Logs the files of R that do not match its manifest. Returns whether there are any. */
static bool log_damage(const struct report *r)
{
	fflush(stdout); /* where both go to one file, the error comes after the report, not within it */
	for (unsigned int i = 0; i < r->missing.n; i++)
		if (missing_is_damage(&r->missing.reason[i]))
			log_err("%s/%s", r->dir, r->missing.reason[i].text);
	return r->missing.damaged;
}

/* Returns 0; 1 when files are damaged, and only the rest was reported; or -errno. */
static int report_one(const struct report_args *args, int i)
{
	const char *dir = args->dirs[i];
	struct json j = { 0 };
	struct report *report;
	int res = load_alone(&report, args, i);

	if (res < 0)
		return res;
	if (args->picture) {
		res = report_picture(report, args);
	} else if (args->html || args->json) {
		report_fit(report, &j);
		res = report_out(&j, dir, args);
	} else if (args->full || args->path) {
		view_text_fit(terminal_fold());
		report_text(report, stdout);
		terminal_unfold();
	} else {
		report_screen(report, terminal_width(STDOUT_FILENO), stdout);
	}
	if (res == 0)
		res = report_out_csv(args, i, report, NULL);
	if (res == 0)
		res = log_damage(report);
	report_free(report);
	return res;
}

/* --- several traces -------------------------------------------------------------------------------------- */

static int print_compare(const struct compare *compare, const struct report_args *args)
{
	struct json j = { 0 };

	if (args->html || args->json) {
		compare_fit(compare, &j);
		return report_out(&j, "the comparison", args);
	}
	terminal_fold();
	compare_text(compare, stdout);
	terminal_unfold();
	return 0;
}

static int report_compared(const struct report_args *args)
{
	struct report *r[COMPARE_MAX] = { NULL };
	unsigned int n = (unsigned int)args->n_dirs;
	struct compare c;
	int res = 0;

	for (unsigned int i = 0; i < n && res == 0; i++)
		res = load_alone(&r[i], args, (int)i);
	if (res == 0) {
		res = compare_init(&c, r, n);
		if (res < 0)
			log_err_r(res, "no comparison");
	}
	if (res == 0) {
		res = print_compare(&c, args);
		compare_free(&c);
	}
	for (unsigned int i = 0; i < n; i++) {
		if (res >= 0 && log_damage(r[i]))
			res = 1;
		report_free(r[i]);
	}
	return res;
}

static int log_no_job(int res, const char *dir)
{
	if (res == -ENODATA)
		log_err("%s: no time_align.out with a row, so it cannot be put on one time axis with others: report on "
			"it alone, or --compare",
			dir);
	else if (res == -ERANGE)
		log_err("%s: its clock does not cover the time when the others began, or they are months apart: they "
			"are not hosts of one job; report on each alone, or --compare",
			dir);
	else if (res == -E2BIG)
		log_err("a job has at most %u trace folders", JOB_HOSTS_MAX);
	else if (res == -EPROTONOSUPPORT)
		log_err("%s: written by a newer dltraced; this one reads summaries up to version %u", dir,
			SUMMARY_VERSION);
	else if (res == -EBADMSG)
		log_err("%s: neither a trace folder nor a whole summary of one: name the folder, or make a summary "
			"(dltraced report --summary-only)",
			dir);
	else
		log_not_read(res, dir);
	return res;
}

static int print_job(struct report_job *job, const struct report_args *args)
{
	struct json j = { 0 };
	int res = 0;

	if (args->html || args->json) {
		report_job_fit(job, &j);
		res = report_out(&j, "the job", args);
	} else {
		view_text_fit(terminal_fold());
		report_job_text(job, args->full ? 0 : terminal_width(STDOUT_FILENO), stdout);
		terminal_unfold();
	}
	for (unsigned int i = 0; i < job->n && res == 0; i++)
		res = report_out_csv(args, (int)i, job->host[i].report, NULL);
	for (unsigned int i = 0, n = res == 0 ? job->n : 0; i < n; i++)
		res |= log_damage(job->host[i].report);
	return res;
}

/* Loads the reports of the parts W of all hosts of JOB, whose folders are DIRS, on one axis of time. */
static int load_hosts(struct report_job *job, const struct report_args *o, char *const *dirs, const struct window *w)
{
	int res = 0;

	report_job_narrow(job, w);
	for (unsigned int i = 0; i < job->n && res == 0; i++)
		res = load(&job->host[i].report, dirs[i], o, &w[i], report_job_begin_ns(job, i));
	return res;
}

#define NO_JOB 2

/*
 * Returns 0; 1 when files of a host are damaged; or -errno. Where text is wanted, returns NO_JOB when the folders are
 * not hosts of one job, or one is no trace: then each is reported by itself, as far as possible.
 */
static int report_job(const struct report_args *args)
{
	const bool text = !args->html && !args->json;
	autofree struct window *window = NULL;
	struct report_job job;
	unsigned int bad;
	int res = report_job_open(&job, args->dirs, (unsigned int)args->n_dirs, &bad);

	if (res < 0)
		return text ? NO_JOB : log_no_job(res, args->dirs[MIN(bad, (unsigned int)args->n_dirs - 1)]);
	window = windows_of(args, args->dirs, job.n);
	if (!window) {
		report_job_free(&job);
		return -EINVAL;
	}
	res = load_hosts(&job, args, args->dirs, window);
	if (res == 0) {
		res = report_job_close(&job);
		if (res < 0 && !text)
			log_err_r(res, "no report on the job");
	}
	if (res == 0)
		res = print_job(&job, args);
	else if (text)
		res = NO_JOB;
	report_job_free(&job);
	return res;
}

/* --- summaries ---------------------------------------------------------------------------------------------- */

static int write_summary(const struct job_host *host)
{
	autofree char *name = util_fmt("%s/" SUMMARY_FILE, host->dir);
	struct new_file f = NEW_FILE_NONE;
	struct json j = { 0 };
	int res = name ? new_file_open(&f, name) : -ENOMEM;

	if (res < 0)
		return log_err_r(res, "%s/" SUMMARY_FILE ": cannot be made", host->dir);
	summary_put(host, &j);
	res = json_write(&j, f.stream);
	if (res < 0)
		new_file_drop(&f);
	else
		res = new_file_commit(&f);
	return res < 0 ? log_err_r(res, "%s: cannot be written", name) : 0;
}

/* Writes the summary of the trace in folder I. Returns 0; 1 when files are damaged; or -errno. */
static int summarize(const struct report_args *args, int i)
{
	autofree struct window *window = NULL;
	struct report_job job;
	unsigned int bad;
	int res = report_job_open(&job, &args->dirs[i], 1, &bad);

	if (res < 0)
		return log_no_job(res, args->dirs[i]);
	window = windows_of(args, &args->dirs[i], 1);
	res = window ? load_hosts(&job, args, &args->dirs[i], window) : -EINVAL;
	if (res == 0)
		res = write_summary(&job.host[0]);
	if (res == 0)
		res = log_damage(job.host[0].report);
	report_job_free(&job);
	return res;
}

/* Whether the arguments are summaries, by the first one. */
static bool are_summaries(const struct report_args *o)
{
	const char *name = o->n_dirs ? o->dirs[0] : "";
	const size_t len = strlen(name), suffix = strlen(".json");
	struct stat st;

	return len > suffix && !strcmp(name + len - suffix, ".json") && stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

static int report_summaries(const struct report_args *args)
{
	struct report_job job;
	unsigned int bad;
	int res;

	if (args->html || args->csv || args->cpu || args->compare || args->path || args->summary_only ||
	    args->from.given || args->to.given || args->in_phase) {
		log_err("summaries give text and --json only: name the trace folders instead");
		return -EINVAL;
	}
	res = summary_open_job(&job, args->dirs, (unsigned int)args->n_dirs, &bad);
	if (res < 0)
		return log_no_job(res, args->dirs[MIN(bad, (unsigned int)args->n_dirs - 1)]);
	res = report_job_close(&job);
	res = res < 0 ? log_err_r(res, "no report on the job") : print_job(&job, args);
	report_job_free(&job);
	return res;
}

/* --- --cpu ------------------------------------------------------------------------------------------------ */

static int report_cpu_one(const struct report_args *args, int i)
{
	const char *dir = args->dirs[i];
	struct json j = { 0 };
	struct report_cpu *cpu;
	autofree struct window *window = windows_of(args, &args->dirs[i], 1);
	struct report_cpu_options how = args->cpu_options;
	int res;

	if (!window)
		return -EINVAL;
	how.window = *window;
	stall_guard_begin(dir, STALL_GUARD_REPORTS);
	res = report_cpu_load(&cpu, dir, &how);
	stall_guard_end();
	if (res == -ENODATA)
		log_err("%s is not a trace folder", dir);
	else if (res == -ENOMSG)
		log_err("%s has neither sched.out nor sched_switch.out: CPU scheduling was not traced "
			"(--probes +sched, the default but with --all)",
			dir);
	else if (res == -EINVAL)
		log_err("--merge, --pattern: at most %u prefixes of 15 bytes, %u patterns", CPU_RULES_MAX,
			CPU_PATTERNS_MAX);
	else if (res == -ERANGE)
		times_log_none((char *const *)&dir, 1);
	else if (res < 0)
		log_not_read(res, dir);
	if (res < 0)
		return res;
	if (args->json) {
		report_cpu_json(cpu, &j);
		res = report_out(&j, dir, args);
	} else {
		view_text_fit(terminal_fold());
		report_cpu_text(cpu, stdout);
		terminal_unfold();
	}
	if (res == 0)
		res = report_out_csv(args, i, NULL, cpu);
	if (res == 0 && cpu->damaged) {
		fflush(stdout);
		log_err("%s: files are shorter than its manifest says; the report says what is missing", dir);
		res = 1;
	}
	report_cpu_free(cpu);
	return res;
}

/* Whether a trace is given twice, which sums would count twice; logs that. --compare and --cpu may have one twice. */
static bool is_twice(const struct report_args *o)
{
	unsigned int first, again;

	if (o->compare || o->cpu || !report_job_twice(o->dirs, (unsigned int)o->n_dirs, &first, &again))
		return false;
	log_err("%s and %s are the same folder: name it once (only --compare takes one twice)", o->dirs[first],
		o->dirs[again]);
	return true;
}

static int report_one_matrix(struct report_args *o)
{
	int status = 0;

	if (!proxy_wait((char *[]){ (char *)o->matrix, NULL }, 1, &status))
		status = report_matrix(o) < 0 ? EXIT_DLTRACED : 0;
	report_args_free(o);
	return status;
}

static int status_of(int res)
{
	if (res < 0)
		return EXIT_DLTRACED;
	return res > 0 ? EXIT_DAMAGED : 0;
}

/* Warns of each rule of --phase that matches nothing, as that is mostly a mistake. */
static void warn_of_rules(const struct report_args *o)
{
	for (unsigned int i = 0; i < o->rules.n; i++)
		if (!o->rules.rule[i].lines)
			log_warn("--phase '%s': no line of a log matched; the expression is POSIX extended, and logs "
				 "are the files of --log, --collect and --app-log; without --log a trace keeps only "
				 "printed lines of known forms, and those that --phase of `dltraced start' matched",
				 o->rules.rule[i].text);
}

/* Called when no folder is given: takes the newest trace below the folder in which start puts traces. */
static bool take_newest(struct report_args *args)
{
	static char path[PATH_MAX];
	static char *dirs[] = { path, NULL };

	stall_guard_begin(TRACES_FOLDER, STALL_GUARD_REPORTS);
	if (!traces_newest(TRACES_FOLDER, path))
		log_err("there is no trace below ./" TRACES_FOLDER
			": name a trace folder (dltraced start prints its name when it ends)");
	stall_guard_end();
	if (!*path)
		return false;
	log_info("%s, the newest trace below ./" TRACES_FOLDER, path);
	args->dirs = dirs;
	args->n_dirs = 1;
	return true;
}

/* If the folder is no trace, but contains traces, prints a line for each of them. Returns whether it did. */
static bool is_listed(const struct report_args *o)
{
	bool listed = o->n_dirs == 1 && !o->summary_only && !o->json && !o->html && !o->cpu && !o->csv && !o->path;

	if (!listed)
		return false;
	terminal_fold();
	listed = traces_list(o->dirs[0], stdout);
	terminal_unfold();
	return listed;
}

int cmd_report(int argc, char **argv)
{
	struct report_args o;
	int status = 0, res;

	report_args_parse(&o, argc, argv);
	if (o.matrix)
		return report_one_matrix(&o);
	if (o.columns || o.rules_only) {
		(o.columns ? report_columns_markdown : report_rules_markdown)(stdout);
		o.n_dirs = 0;
	} else if (!o.n_dirs && !take_newest(&o)) {
		report_args_free(&o);
		return EXIT_DLTRACED;
	}
	if (proxy_wait(o.dirs, o.n_dirs, &status)) {
		report_args_free(&o);
		return status;
	}
	if (log_newer(o.dirs, o.n_dirs)) {
		report_args_free(&o);
		return EXIT_DLTRACED;
	}
	if (is_listed(&o)) {
		report_args_free(&o);
		return 0;
	}
	if ((o.html && report_out_is_of_trace(&o, o.html)) || (o.picture && !report_picture_is(&o)) || is_twice(&o)) {
		report_args_free(&o);
		return EXIT_DLTRACED;
	}
	huge_heap();
	if (are_summaries(&o)) {
		status = status_of(report_summaries(&o));
		o.n_dirs = 0;
	} else if (!o.summary_only && (o.compare || (o.n_dirs > 1 && !o.cpu))) {
		res = o.compare ? report_compared(&o) : report_job(&o);
		if (res != NO_JOB) {
			status = status_of(res);
			o.n_dirs = 0;
		}
	}
	for (int i = 0; i < o.n_dirs; i++) {
		if (o.summary_only)
			res = summarize(&o, i);
		else if (o.cpu)
			res = report_cpu_one(&o, i);
		else
			res = report_one(&o, i);
		status = MAX(status, status_of(res));
		if (res >= 0 && !o.json && !o.html && !o.summary_only && i + 1 < o.n_dirs)
			putchar('\n');
	}
	if (status != EXIT_DLTRACED)
		warn_of_rules(&o);
	report_args_free(&o);
	return status;
}
