/* SPDX-License-Identifier: BSD-2-Clause */
/* The program: finds the command and calls it. Knows the commands' names, not their work. */
#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/exit_codes.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/similar.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "host/path_search.h"
#include "host/rights/filecaps.h"
#include "os/stack.h"

static const struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
	enum {
		TRACES = 1, /* loads BPF programs, itself or in a child */
		PRINTS = 2, /* its result is its standard output */
		CHECKS = 4, /* finds by itself what this machine lacks */
	} flags;
} commands[] = {
	{ "anonymize", "copy a trace with stand-ins for its names", cmd_anonymize },
	{ "check", "check whether this machine can be traced, and what to do if not", cmd_check,
	  TRACES | PRINTS | CHECKS },
	{ "cut", "copy a part of a trace: some times, some processes", cmd_cut },
	{ "daemon", "run the service: always-on traces, and traces of users", cmd_daemon, TRACES },
	{ "export", "write a trace in the format of another program", cmd_export, PRINTS },
	{ "mark", "add a row to marks.out of a running trace", cmd_mark },
	{ "merge", "copy a trace with its segments as one file each", cmd_merge },
	{ "probes", "list the files of a trace and their columns", cmd_probes, TRACES | PRINTS },
	{ "report", "print what the job of a trace waited for", cmd_report, PRINTS },
	{ "sample", NULL, cmd_sample }, /* for start only: a collector */
	{ "serve", NULL, cmd_serve, TRACES }, /* for the daemon only */
	{ "start", "trace a command, or running processes", cmd_start, TRACES },
	{ "status", "list the running traces", cmd_status, PRINTS },
	{ "stop", "end a running trace, not its workload", cmd_stop },
	{ "validate", "check that a trace is whole and well-formed", cmd_validate, PRINTS },
};

static void print_usage(FILE *out)
{
	fputs("Usage: dltraced COMMAND [OPTION...]\n"
	      "Trace every file and disk operation of a job, with CPU and GPU use beside it.\n"
	      "\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].help)
			fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	fputs("\n"
	      "`dltraced help COMMAND' lists its options. To trace a script from its first\n"
	      "instruction to its end, into a folder of text files:\n"
	      "\n"
	      "  sudo dltraced start --workload \"python train.py\"\n",
	      out);
}

/* Is it what hold_standard_streams() has put there, or another file that is open for reading alone? */
static bool stdout_is_closed(void)
{
	return (fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY;
}

/* Returns 0, or 125 after a message, if something that was printed has not arrived. */
static int finish_stdout(void)
{
	const int r = fflush(stdout) ? errno : 0;

	if (!r && !ferror(stdout))
		return 0;
	if (stdout_is_closed())
		log_err("standard output is closed, or not open for writing: the output went nowhere");
	else /* of an earlier write the reason is not known any more */
		log_err("standard output: %s",
			r ? limits_strerror(-r) : "not all of the output could be written: is its disk full?");
	return EXIT_DLTRACED;
}

/* argp prints --help and --usage, and ends the process. */
static bool command_runs;

static void finish_help(void)
{
	if (command_runs && finish_stdout())
		_exit(EXIT_DLTRACED);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; name && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

/* Logs that NAME is no command, and what the user may have meant: a similar one, or to trace a program of this name. */
static int no_command(const char *name)
{
	struct similar s = similar_to(name, strlen(name));
	const int len = (int)strnlen(name, NAME_MAX);
	char hint[64], path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].help)
			similar_offer(&s, commands[i].name);
	if (s.best || path_search(name, getenv("PATH"), path, sizeof(path)) < 0)
		log_err("no such command: '%.*s'%s (`dltraced help' lists them)", len, name,
			similar_text(&s, "", hint, sizeof(hint)));
	else
		log_err("no such command: '%.*s' (to trace this program: dltraced start -- %.*s ...)", len, name, len,
			name);
	return EXIT_DLTRACED;
}

/* Names of files that are open, processes, mounts: without /proc each command would fail for another, wrong reason. */
static bool has_proc(void)
{
	if (access("/proc/self/fd", F_OK) == 0)
		return true;
	log_err("/proc is not mounted: mount -t proc proc /proc");
	return false;
}

/* After a failure: where the current folder has been removed, no relative name leads anywhere. */
static void note_lost_folder(void)
{
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)) && errno == ENOENT)
		log_info("the current folder has been removed: cd to one that is there, or give absolute paths");
}

static int run(int argc, char **argv)
{
	const struct command *command = find(argv[0]);
	char name[64];
	int code;

	if (!command)
		return no_command(argv[0]);
	if (!(command->flags & CHECKS) && !has_proc())
		return EXIT_DLTRACED;
	snprintf(name, sizeof(name), "dltraced %s", command->name);
	argv[0] = name;
	command_runs = true;
	atexit(finish_help);
	/* A file beyond ulimit -f is an error, with a message. Those that trace leave the signal as it is for the
	 * workload. */
	if (!(command->flags & TRACES) || command->flags & CHECKS)
		signal(SIGXFSZ, SIG_IGN);
	code = command->run(argc, argv);
	command_runs = false;
	if (code == EXIT_DLTRACED && !(command->flags & TRACES))
		note_lost_folder();
	if (code == EXIT_DLTRACED && !stdout_is_closed()) /* the command has logged why */
		return code;
	return command->flags & PRINTS && finish_stdout() ? EXIT_DLTRACED : code;
}

/*
 * Occupies standard streams that the caller has closed: otherwise a file of ours could get such a number, and our
 * messages would go into it. The descriptors are close-on-exec, so that the workload finds these streams closed.
 * Standard output gets one that cannot be written: what is printed there is what the user wants, and must not vanish
 * without a word.
 */
static void hold_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) | O_CLOEXEC) < 0)
			return;
}

int main(int argc, char **argv)
{
	static char help[] = "--help";
	const struct command *command;
	uint64_t stack_bytes;
	FILE *plain;

	hold_standard_streams();
	stack_of_threads();
	/* argp and getopt print arguments on stderr, and these may contain a terminal's escape sequences */
	plain = log_stream();
	if (plain)
		stderr = plain;
	if (!stack_suffices(&stack_bytes)) {
		log_err("ulimit -s is %llu KiB, which is too small a stack: raise it (ulimit -s 8192)",
			(unsigned long long)stack_bytes >> 10);
		return EXIT_DLTRACED;
	}
	command = argc > 1 ? find(argv[1]) : NULL;
	if (filecaps_begin(argv, command && command->flags & TRACES) < 0)
		return EXIT_DLTRACED;
	argp_err_exit_status = EXIT_DLTRACED;
	if (argc < 2) {
		print_usage(stderr);
		return EXIT_DLTRACED;
	}
	if (strcmp(argv[1], "--version") == 0) {
		version_print();
		return finish_stdout();
	}
	if (argc > 2 && strcmp(argv[1], "help") == 0 && *argv[2] != '-') {
		argv[1] = argv[2];
		argv[2] = help;
		return run(2, argv + 1);
	}
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], help) == 0 || strcmp(argv[1], "-h") == 0) {
		print_usage(stdout);
		return finish_stdout();
	}
	return run(argc - 1, argv + 1);
}
