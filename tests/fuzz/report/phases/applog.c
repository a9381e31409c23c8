/* SPDX-License-Identifier: BSD-2-Clause */
/* A log of the job, of --app-log and in the trace's folder: its first line is the zone, the second REGEX=NAME. */
#include "fuzz.h"

#include "report/phases/read.h"
#include "stats/timeline.h"

static void check_list(const struct phases *p, const struct phase_list *l, bool apart)
{
	for (uint32_t i = 0; i < l->n; i++) {
		char label[PHASE_LABEL_MAX];

		EXPECT(l->v[i].begin_ns <= l->v[i].end_ns && l->v[i].name < p->n_names);
		EXPECT(strlen(phases_label(p, &l->v[i], label)) < sizeof(label));
		if (i && apart)
			EXPECT(l->v[i - 1].end_ns <= l->v[i].begin_ns);
	}
}

static void check(const struct phases *p)
{
	check_list(p, &p->recorded, false);
	check_list(p, &p->all, false);
	for (unsigned int k = 0; k < PHASE_KINDS; k++)
		check_list(p, &p->lanes[k], true);
}

/* Rules with repetitions are left out, as they may take any time: only users write rules. */
static void add_rule(struct applog_rules *rules, const char *text)
{
	char error[128];

	if (strlen(text) < 64 && !strpbrk(text, "*+{\\"))
		applog_add_rule(rules, text, error, sizeof(error));
	applog_add_rule(rules, "[Ee]poch ([0-9]+)/=epoch \\1", error, sizeof(error));
	applog_add_rule(rules, "done=epoch_end", error, sizeof(error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct manifest_facts m = {
		.start_ns = 1000 * NSEC_PER_SEC,
		.start_utc = "2026-11-22T08:00:00Z",
		.utc_offset_s = "3600",
	};
	autofree char *zone = fuzz_piece(&data, &size, "\n"), *rule = fuzz_piece(&data, &size, "\n");
	autofree char *path = util_fmt("%s/app", fuzz_folder());
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct applog_rules rules = { .n = 0 };
	const char *logs[] = { path };
	const struct phases_options o = { .logs = logs, .n_logs = 1, .zone = *zone ? zone : NULL, .rules = &rules };
	struct phase_clock clock = { .begin_ns = 0 };
	struct timeline *t = timeline_new(m.start_ns);
	struct phases *p;

	EXPECT(t);
	add_rule(&rules, rule);
	fuzz_put("app", data, size);
	fuzz_put("workload.out", data, size);
	fuzz_put("marks.out", data, size);
	fuzz_put("pids.out", data, size);
	fuzz_put("collected/x/y.log", data, size);
	for (unsigned int named = 0; named < 2; named++) {
		EXPECT(phases_read(&p, dir, &m, named ? &o : NULL, &clock) == 0);
		for (unsigned int i = 0; i < p->n_notes; i++)
			EXPECT(*p->notes[i]);
		check(p);
		EXPECT(phases_settle(p, t) == 0);
		check(p);
		phases_end(p, m.start_ns, 2000 * NSEC_PER_SEC);
		check(p);
		phases_free(p);
	}
	timeline_free(t);
	applog_free_rules(&rules);
	return 0;
}
