/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced anonymize, cut, merge: a trace folder made of another one. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include "base/exit_codes.h"
#include "base/log.h"
#include "base/options.h"
#include "base/util.h"
#include "cmd/cmd.h"
#include "cmd/traces/not_read.h"
#include "folder/anonymize.h"
#include "folder/cut.h"
#include "folder/merge.h"
#include "host/stall/proxy.h"

struct options {
	const char *from, *to, *key_file;
	struct cut_options cut;
};

#define TO(m) offsetof(struct options, m) /* NOLINT(bugprone-macro-parentheses): a member */
#define OUTPUT                                                                    \
	{                                                                         \
		"output", 'o', "DIR", "The new trace folder", option_text, TO(to) \
	}

static const char *finish(struct option_parse *p)
{
	struct options *o = p->into;

	if (p->n_args != 1)
		return p->n_args ? "one trace folder at a time: report, export and read() of Python take several as "
				   "they are" :
				   "which trace folder?";
	o->from = p->args[0];
	return o->to ? NULL : "where to? Name a new folder with -o";
}

/* Parses the command line, and calls MAKE in a process that may hang. Returns the exit status. */
static int run(const struct option_line *line, int argc, char **argv, int (*make)(const struct options *options))
{
	struct options o = { 0 };
	struct option_parse p;
	int status = 0, res;

	options_parse(line, argc, argv, 0, &p, &o);
	if (proxy_wait(p.args, p.n_args, &status))
		return status;
	if (log_newer(p.args, p.n_args) || log_foreign(o.from)) /* the copy would be without it */
		return EXIT_DLTRACED;
	res = make(&o);
	if (res < 0)
		return EXIT_DLTRACED;
	return res > 0 ? EXIT_DAMAGED : 0;
}

/* --- cut ---------------------------------------------------------------------------------------------------------- */

static const char *finish_cut(struct option_parse *p)
{
	const struct options *o = p->into;
	const char *why = finish(p);

	if (!why && !o->cut.pids.n && !o->cut.times.phase && !o->cut.times.from.given && !o->cut.times.to.given)
		return "which part? Name it by --from, --to, --phase or --pid";
	return why;
}

static int cut(const struct options *o)
{
	return cut_folder(o->from, o->to, &o->cut);
}

int cmd_cut(int argc, char **argv)
{
	static const struct option_row options[] = {
		{ "from", 0, "T",
		  "Rows from this time on: since the start of the trace (90, 1m30s, 250ms), or UTC "
		  "(2026-11-27T04:00:00Z)",
		  option_moment, TO(cut.times.from) },
		OUTPUT,
		{ "phase", 0, "NAME",
		  "Rows in this phase of the job, as the report names it: 'epoch 3', epoch, checkpoint", option_text,
		  TO(cut.times.phase) },
		{ "pid", 'p', "PID[,PID]", "Rows of these processes, in files whose rows have a process", option_pids,
		  TO(cut.pids) },
		{ "to", 0, "T", "Rows before this time, which is given as for --from", option_moment,
		  TO(cut.times.to) },
		{ 0 },
	};
	static const struct option_line line = {
		.options = options,
		.args_doc = "DIR",
		.finish = finish_cut,
		.doc = "Copy a part of a trace into a new trace folder. Files, processes, clocks and stacks stay "
		       "whole, as rows refer to them. "
		       "The manifest says what was cut from what. Needs no root.",
	};

	return run(&line, argc, argv, cut);
}

/* --- merge -------------------------------------------------------------------------------------------------------- */

static int merge(const struct options *o)
{
	return merge_folder(o->from, o->to);
}

int cmd_merge(int argc, char **argv)
{
	static const struct option_row options[] = { OUTPUT, { 0 } };
	static const struct option_line line = {
		.options = options,
		.args_doc = "DIR",
		.finish = finish,
		.doc = "Copy a trace into a new folder, in which the segments of a file, packed or not, are one plain "
		       "file. Needs no root.",
	};

	return run(&line, argc, argv, merge);
}

/* --- anonymize ---------------------------------------------------------------------------------------------------- */

#define KEY_BYTES_MAX (1U << 20)

static int read_key(struct names *names, const char *file)
{
	autofree char *text = NULL;
	size_t len;
	int res = util_read_file(file, KEY_BYTES_MAX, &text, &len);

	if (res < 0)
		return log_err_r(res, "%s: the key cannot be read", file);
	while (len && text[len - 1] == '\n')
		len--;
	if (len < NAMES_KEY_BYTES) {
		log_err("%s: a key has %u bytes at least", file, NAMES_KEY_BYTES);
		return -EINVAL;
	}
	names_init(names, text, len);
	return 0;
}

static int make_key(struct names *names)
{
	unsigned char bytes[NAMES_KEY_BYTES];
	char text[2 * sizeof(bytes) + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return log_err_r(-errno, "no random key; name one with --key-file");
	for (size_t i = 0; i < sizeof(bytes); i++)
		sprintf(text + 2 * i, "%02x", bytes[i]);
	names_init(names, text, strlen(text));
	log_info("the key of this trace is %s: a --key-file with it gives other traces the same stand-ins; keep it "
		 "secret",
		 text);
	return 0;
}

static int anonymize(const struct options *o)
{
	struct names names;
	int res = o->key_file ? read_key(&names, o->key_file) : make_key(&names);

	return res < 0 ? res : anonymize_folder(o->from, o->to, &names);
}

int cmd_anonymize(int argc, char **argv)
{
	static const struct option_row options[] = {
		{ "key-file", 0, "FILE", "The secret that stand-ins depend on (default: a new one, which is printed)",
		  option_text, TO(key_file) },
		OUTPUT,
		{ 0 },
	};
	static const struct option_line line = {
		.options = options,
		.args_doc = "DIR",
		.finish = finish,
		.doc = "Copy a trace into a new folder with stand-ins for names of files, programs, users and hosts, "
		       "arguments and output. Depth of paths, suffixes of files, common words and numbers stay. Logs "
		       "and collected files are left out. Needs no root.",
	};

	return run(&line, argc, argv, anonymize);
}
