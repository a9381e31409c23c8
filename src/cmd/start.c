/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `dltraced start': makes a checked struct config of the command line, or prints a message and exits with 125. Finds
 * all mistakes that can be known before anything starts. start_options.c knows what each option accepts, the session
 * what it does.
 */
#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include "applog/applog.h"
#include "base/exit_codes.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/traces/verdict.h"
#include "os/terminal.h"
#include "report/phases/options.h"
#include "report/report.h"
#include "report/show/show.h"
#include "service/service.h"
#include "session/session.h"
#include "session/start_options.h"
#include "trace/config.h"

static const char doc[] = "Run a command, or attach to running processes, and record each file and disk operation with "
			  "CPU and GPU use beside them, into a folder of text files."
			  "\v"
			  "T is a time: 500ms, 30 or 30s, 5m, 1h30m. SIZE is in bytes, or with K, M, G, T in powers "
			  "of 1024. In DIR %h is the host, %j the job's ID, %n the rank, %e the experiment, %t the "
			  "time (UTC), %p dltraced's process ID, %% a %; within a Slurm job the default is "
			  "traces/%e_%j/%h. Options with a NAME, PATH or GLOB to trace, record or collect can be "
			  "given more than once.\n"
			  "\n"
			  "Examples:\n"
			  "  dltraced start --workload \"python train.py --epochs 2\"\n"
			  "  dltraced start -o /data/trace --log --linger 30 -- ./train.sh\n"
			  "  dltraced start --pid 4711 --duration 5m -P open,vfs_rw\n"
			  "  dltraced start --container new --workload ./start.sh\n"
			  "\n"
			  "Exit status: the command's own, 128+N when signal N ended it; 125 when dltraced itself "
			  "failed, 126 when the command could not be executed, 127 when it was not found.";

static const char *take_argument(struct option_parse *parse, char *arg)
{
	struct argp_state *state = parse->state;
	struct config *cfg = parse->into;

	if (!state->quoted)
		return option_because(parse, "unexpected argument '%s': the command goes after --, or into --workload",
				      arg);
	if (cfg->argv)
		return "give the command by --workload or after --, not both";
	cfg->argv = state->argv + state->next - 1;
	state->next = state->argc;
	return NULL;
}

static const char *note_given(struct option_parse *p, const struct option_row *o, char *arg)
{
	struct config *cfg = p->into;

	if (cfg->n_given == CONFIG_GIVEN_MAX)
		return option_because(p, "more than %d options", CONFIG_GIVEN_MAX);
	cfg->given[cfg->n_given++] = (struct config_given){ o->name, arg };
	return NULL;
}

static const char *finish(struct option_parse *parse)
{
	struct config *cfg = parse->into;
	const char *why;

	if (parse->state->quoted && (!cfg->argv || cfg->shell_cmd))
		return "no command behind --";
	why = start_config_finish(cfg);
	if (!why && cfg->background && cfg->argv)
		cfg->log = true;
	return why;
}

/* Prints the report's first screen. It needs the rules of --phase, which the start has checked, to find the job's
 * phases. */
static void put_screen(const struct config *cfg, const char *dir, int dirfd)
{
	struct applog_rules rules = { .n = 0 };
	const struct phases_options phases = { .rules = &rules };
	struct report *report;
	char error[256];

	for (unsigned int i = 0; i < cfg->phases.n; i++)
		applog_add_rule(&rules, cfg->phases.items[i], error, sizeof(error));
	if (report_load_at(&report, path_from_here(dir), dirfd,
			   &(struct report_options){ .timed = true, .phases = &phases }) == 0) {
		report_screen(report, terminal_width(STDOUT_FILENO), stdout);
		report_free(report);
		if (fflush(stdout) || ferror(stdout))
			log_warn("the report's first screen (--report screen) could not be written to standard output");
	}
	applog_free_rules(&rules);
}

/* Called at the end of the trace. The requested report goes to standard output; the last lines are messages. */
static void at_end(const struct config *cfg, const char *dir, int dirfd)
{
	const bool has_verdict = cfg->report != REPORT_NONE;
	struct verdict v = { 0 };

	if (cfg->report == REPORT_SCREEN)
		put_screen(cfg, dir, dirfd);
	if (cfg->log_level < LOG_LEVEL_INFO)
		return;
	if (has_verdict)
		verdict_read(&v, dir, dirfd);
	cmd_end(dir, dirfd, has_verdict ? &v : NULL, cfg->archive);
	verdict_free(&v);
}

int cmd_start_parse(int argc, char **argv, unsigned int argp_flags, struct config *cfg)
{
	static const struct option_line line = {
		.options = start_options,
		.gone = start_gone,
		.args_doc = "--workload \"CMD\"\n-- CMD [ARG...]\n"
			    "--pid PID | --cgroup PATH | --container NAME | --all",
		.doc = doc,
		.argument = take_argument,
		.given = note_given,
		.finish = finish,
	};
	struct option_parse p;

	start_config_defaults(cfg);
	cfg->at_end = at_end;
	return options_parse(&line, argc, argv, ARGP_IN_ORDER | argp_flags, &p, cfg);
}

int cmd_start(int argc, char **argv)
{
	struct config cfg;
	int code;

	if (cmd_start_parse(argc, argv, 0, &cfg))
		return EXIT_DLTRACED;
	log_set_level(cfg.log_level);
	argv[0] = "start"; /* as typed, for the manifest */
	code = client_needed() ? client_run(&cfg, argv - 1) : -1;
	return code >= 0 ? code : session_run(&cfg, argv - 1);
}
