/* SPDX-License-Identifier: BSD-2-Clause */
/* See windows.h. */
#include "cmd/report/windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/util.h"
#include "export/times.h"
#include "report/options.h"
#include "report/report.h"
#include "report/scan/model.h"

#define NAMES_SHOWN 12U

/* --- phases ------------------------------------------------------------------------------------------------ */

/* Sets SPANS, which have room for all, to the times of the phases called NAME. Returns how many there are. */
static unsigned int find(const struct phases *phases, const char *name, struct time_span *spans)
{
	unsigned int n = 0;

	for (unsigned int kind = 0; kind < PHASE_KINDS; kind++)
		for (uint32_t i = 0; i < phases_count(phases, kind); i++) {
			const struct phase *phase = phases_get(phases, kind, i);

			if (phases_is_called(phases, phase, name))
				spans[n++] = (struct time_span){ phase->begin_ns, phase->end_ns };
		}
	return times_join(spans, n);
}

static unsigned int count(const struct phases *phases)
{
	unsigned int n = 0;

	for (unsigned int kind = 0; kind < PHASE_KINDS; kind++)
		n += phases_count(phases, kind);
	return n;
}

static void log_names(const struct phases *phases, const char *name, const char *dir)
{
	autofree char *names = NULL;
	char label[PHASE_LABEL_MAX];
	size_t len = 0;
	FILE *out = open_memstream(&names, &len);

	for (uint32_t i = 0; out && i < MIN(phases->all.n, NAMES_SHOWN); i++)
		fprintf(out, "%s'%s'", i ? ", " : "", phases_label(phases, &phases->all.v[i], label));
	if (!out || fclose(out) || !names)
		return;
	log_err("%s: --phase: there is no phase '%s'%s%s%s", dir, name, len ? "; there are: " : "", names,
		phases->all.n > NAMES_SHOWN ? ", ..." : "");
}

/*
 * Narrows WINDOW to the phase that ARGS name: as a report on all of the trace shows it, as some phases begin or end
 * with reads and writes. Returns 0 or -errno after a message.
 */
static int narrow(struct window *window, const struct report_args *args, const char *dir)
{
	const struct report_options how = { .timed = true, .phases = &args->phases };
	autofree struct time_span *spans = NULL;
	struct report *report;
	unsigned int n = 0;
	int res = report_load(&report, dir, &how);

	if (res < 0)
		return 0; /* the report itself says why it cannot be read */
	spans = calloc(count(report->phases) + 1, sizeof(*spans));
	if (spans)
		n = find(report->phases, args->in_phase, spans);
	if (!n)
		log_names(report->phases, args->in_phase, dir);
	else if (n > 1)
		log_err("%s: --phase '%s' is %u parts of the time: name one, as in 'epoch 2', or give --from and --to",
			dir, args->in_phase, n);
	report_free(report);
	if (n != 1)
		return -ENODATA;
	window->begin_ns = MAX(window->begin_ns, spans[0].begin_ns);
	window->end_ns = window->end_ns ? MIN(window->end_ns, spans[0].end_ns) : spans[0].end_ns;
	if (window->begin_ns < window->end_ns)
		return 0;
	times_log_none((char *const *)&dir, 1);
	return -ERANGE;
}

/* --- all ---------------------------------------------------------------------------------------------------- */

struct window *windows_of(const struct report_args *args, char *const *dirs, unsigned int n)
{
	const struct times_options options = { .from = args->from, .to = args->to };
	autofree struct window *window = calloc(n, sizeof(*window));
	struct export_times times;

	if (!window) {
		log_err_r(-ENOMEM, "--from, --to and --phase");
		return NULL;
	}
	if (times_init(&times, &options, dirs, n) < 0)
		return NULL;
	for (unsigned int i = 0; i < times.n_hosts; i++)
		window[i] = (struct window){ times.host[i].v[0].begin_ns, times.host[i].v[0].end_ns };
	times_free(&times);
	for (unsigned int i = 0; args->in_phase && i < n; i++)
		if (narrow(&window[i], args, dirs[i]) < 0)
			return NULL;
	return TAKE_PTR(window);
}
