/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that an argument list shows of its process. Pure; texts are escaped as in the files. */
#include "report/why/names.h"

#include <string.h>

#include "base/util.h"
#include "stats/table.h"

static bool has(struct reader_field f, const char *part)
{
	return memmem(f.p, f.len, part, strlen(part)) != NULL;
}

/* Returns the last component of the program's name, without the dash before a login shell's. */
static struct reader_field base_of(struct reader_field args)
{
	const char *nul = memmem(args.p, args.len, "\\000", 4), *slash;
	struct reader_field f = { args.p, nul ? (size_t)(nul - args.p) : args.len };

	slash = memrchr(f.p, '/', f.len);
	if (slash)
		f = (struct reader_field){ slash + 1, f.len - (size_t)(slash + 1 - f.p) };
	if (f.len && f.p[0] == '-')
		f = (struct reader_field){ f.p + 1, f.len - 1 };
	return f;
}

bool why_is_shell(struct reader_field name)
{
	static const char *const shells[] = { "sh",   "bash", "dash",	 "ksh", "zsh",	   "tmux",
					      "sudo", "time", "timeout", "env", "dltraced" };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (reader_is(name, shells[i]))
			return true;
	return false;
}

bool why_is_interpreter(struct reader_field name)
{
	static const char *const interpreters[] = { "R",	  "Rscript", "java", "julia",  "lua", "node",
						    "perl", "php",     "pypy", "python", "ruby" };
	struct reader_field bare = name;

	/* as in python3.12 */
	while (bare.len > 1 && (bare.p[bare.len - 1] == '.' || (bare.p[bare.len - 1] >= '0' && bare.p[bare.len - 1] <= '9')))
		bare.len--;
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (reader_is(bare, interpreters[i]))
			return true;
	return false;
}

void why_program(struct report_proc *p, struct reader_field args)
{
	p->shell = why_is_shell(base_of(args));
	p->interpreter = why_is_interpreter(base_of(args));
	/* a worker that is spawned, not forked, runs the program anew; a resource tracker only tidies up */
	p->spawned = has(args, "multiprocessing") && !has(args, "resource_tracker");
	p->args = args.len > 1 ? table_key(args.p, args.len) : 0;
}
