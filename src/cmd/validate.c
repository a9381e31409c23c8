/* SPDX-License-Identifier: BSD-2-Clause */
/* dltraced validate: whether trace folders keep the promises of docs/traces.md. */
#include <stddef.h>
#include <stdio.h>

#include "base/exit_codes.h"
#include "base/options.h"
#include "cmd/cmd.h"
#include "cmd/traces/not_read.h"
#include "host/stall/proxy.h"
#include "validate/validate.h"

static const struct option_row options[] = { { 0 } };

static const char *finish(struct option_parse *p)
{
	return p->n_args ? NULL : "which trace folder?";
}

static const struct option_line line = {
	.options = options,
	.args_doc = "DIR...",
	.doc = "Check trace folders: headers, fields, order, times, references and counts. Prints a line for each kind "
	       "of problem, with the first place and the number of them. Exits with 0 if all are valid, 1 if not. "
	       "Needs no root.",
	.finish = finish,
};

int cmd_validate(int argc, char **argv)
{
	struct option_parse p;
	int status = 0, res = 0;
	char none = 0;

	options_parse(&line, argc, argv, 0, &p, &none);
	if (proxy_wait(p.args, p.n_args, &status))
		return status;
	if (log_newer(p.args, p.n_args))
		return EXIT_DLTRACED;
	for (int i = 0; i < p.n_args; i++) {
		const int one = validate_run(p.args[i], stdout);

		res = one < 0 || res < 0 ? -1 : one | res;
	}
	if (res < 0)
		return EXIT_DLTRACED;
	return res ? EXIT_DAMAGED : 0;
}
