/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/process_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "host/process.h"
#include "host/stall/process_reader.h"
#include "host/stall/unanswered.h"

#define ENVIRON_MAX PROCESS_READER_TEXT_MAX

static struct process_fact *fact_of(struct process_facts *f, uint32_t pid)
{
	return &f->v[pid % PROCESS_FACTS];
}

/*
 * Finds the most specific cgroup: v2's, or on v1 and hybrid hosts the longest path of any hierarchy. Lines
 * are "ID:CONTROLLERS:PATH" (cgroups(7)).
 */
static void read_cgroup(const struct process_look *look, char *dst, size_t size)
{
	autofree char *text = NULL;
	size_t best = 0;

	if (process_look_text(look, "cgroup", PROCESS_TEXT_MAX, &text, NULL) < 0)
		return;
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		char *path = strchr(line, ':');

		path = path ? strchr(path + 1, ':') : NULL;
		if (path && strlen(path + 1) > best) {
			best = strlen(path + 1);
			snprintf(dst, size, "%s", path + 1);
		}
	}
}

static const char *const rank_names[DLT_PIDS_VARIABLES] = {
	[DLT_PIDS_RANK] = "RANK=",
	[DLT_PIDS_SLURM_PROCID] = "SLURM_PROCID=",
	[DLT_PIDS_OMPI_RANK] = "OMPI_COMM_WORLD_RANK=",
};

int64_t process_rank(const char *env, size_t len)
{
	int64_t rank = DLT_NONE;

	for (size_t i = DLT_PIDS_RANK; i < DLT_PIDS_VARIABLES && rank == DLT_NONE; i++) {
		size_t n = strlen(rank_names[i]);
		char *end;

		for (const char *s = env; s < env + len; s += strlen(s) + 1) {
			if (strncmp(s, rank_names[i], n))
				continue;
			rank = strtoll(s + n, &end, 10);
			if (end == s + n || *end)
				rank = DLT_NONE;
			break;
		}
	}
	return rank;
}

/* --- a look ----------------------------------------------------------------------------------------- */

/*
 * A process that is gone already keeps its parent's facts. Where its number is another's, or it has executed something
 * else or become another user's since it was reported, nothing is known of it.
 */
static void look_failed(struct process_facts *f, struct process_fact *p, int r)
{
	f->args_len = 0;
	if (r != -ESTALE)
		return;
	util_count(&f->others, 1);
	p->rank = DLT_NONE;
	p->cgroup[0] = '\0';
}

/* Requests what is in its memory. An exec's record has the rank, unless there are very many variables. Returns whether
 * it needs anything. */
static bool query(const struct dlt_pids *rec, bool args, int *r_ret)
{
	struct process_reader_look want = { .pid = (pid_t)rec->hdr.tgid };

	if (!rec->environ_read) {
		snprintf(want.name[0], sizeof(want.name[0]), "environ");
		want.max[0] = ENVIRON_MAX;
	}
	if (args) {
		snprintf(want.name[1], sizeof(want.name[1]), "cmdline");
		want.max[1] = DLT_ARGS_MAX;
	}
	*r_ret = want.max[0] || want.max[1] ? process_reader_query(&want) : 0;
	return want.max[0] || want.max[1];
}

/* An environment that cannot be read, or is empty, as a zombie's is, changes nothing. */
static void take(struct process_facts *f, const struct dlt_pids *rec, int r,
		 const struct process_reader_text texts[PROCESS_READER_TEXTS])
{
	if (r < 0) {
		unanswered_note(DLT_pids, (pid_t)rec->hdr.tgid, rec->hdr.comm);
		return;
	}
	if (texts[0].len > 0)
		f->found.rank = process_rank(texts[0].text, (size_t)texts[0].len);
	f->args_len = MIN((size_t)MAX(texts[1].len, 0), sizeof(f->args));
	memcpy(f->args, texts[1].text, f->args_len);
}

static void look_end(struct process_facts *f, struct process_fact *p)
{
	int r;

	read_cgroup(&f->look, f->found.cgroup, sizeof(f->found.cgroup));
	r = process_look_end(&f->look);
	if (r < 0)
		look_failed(f, p, r);
	else
		*p = f->found;
}

/* Begins a look at FACT. Returns 0 when it is over. */
static int look_begin(struct process_facts *facts, struct process_fact *fact, const struct dlt_pids *rec, bool args)
{
	const struct process_seen seen = {
		.pid = (pid_t)rec->hdr.tgid,
		.uid = rec->uid,
		.start_ns = rec->start_ns,
		.args_at = rec->args_at,
	};
	int r = process_look_begin(&facts->look, &seen);

	if (r < 0) {
		look_failed(facts, fact, r);
		return 0;
	}
	facts->found = *fact;
	facts->looking = query(rec, args, &r);
	if (facts->looking && !r)
		return -EAGAIN;
	if (facts->looking)
		take(facts, rec, r, NULL);
	facts->looking = false;
	look_end(facts, fact);
	return 0;
}

static int look_go_on(struct process_facts *facts, struct process_fact *fact, const struct dlt_pids *rec, int wait_ms)
{
	struct process_reader_text texts[PROCESS_READER_TEXTS];
	int r = process_reader_answer(wait_ms, texts);

	if (r == -EAGAIN)
		return r;
	facts->looking = false;
	take(facts, rec, r, texts);
	look_end(facts, fact);
	return 0;
}

/* --- facts ------------------------------------------------------------------------------------------ */

/* What FACT begins with. Returns whether it needs a look. */
static bool begin(struct process_facts *facts, struct process_fact *fact, const struct dlt_pids *rec, bool args)
{
	const struct process_fact *parent = fact_of(facts, rec->ppid);
	bool is_new = fact->pid != rec->hdr.tgid || fact->start_ns != rec->start_ns || rec->event == DLT_PIDS_FORK;

	facts->args_len = 0;
	if (rec->event == DLT_PIDS_FORK && parent->pid == rec->ppid) {
		struct process_fact inherited = { .rank = parent->rank };

		memcpy(inherited.cgroup, parent->cgroup, sizeof(inherited.cgroup));
		*fact = inherited;
		return false;
	}
	if (is_new)
		*fact = (struct process_fact){ .rank = DLT_NONE };
	return is_new || args || rec->event == DLT_PIDS_EXEC ||
	       (rec->event == DLT_PIDS_SNAPSHOT && rec->hdr.tid == rec->hdr.tgid);
}

int process_facts_get(struct process_facts *facts, const struct dlt_pids *rec, bool args, int wait_ms,
		      struct process_fact **ret)
{
	struct process_fact *fact = fact_of(facts, rec->hdr.tgid);
	int r = 0;

	if (!facts->looking && begin(facts, fact, rec, args))
		r = look_begin(facts, fact, rec, args);
	if (facts->looking)
		r = look_go_on(facts, fact, rec, wait_ms);
	if (r < 0)
		return r;
	fact->pid = rec->hdr.tgid;
	fact->start_ns = rec->start_ns;
	*ret = fact;
	return 0;
}
