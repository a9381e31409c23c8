/* SPDX-License-Identifier: BSD-2-Clause */
/* The tracks of the Perfetto format: of hosts, processes, threads, and what is below them, with their names. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "export/perfetto/perfetto.h"
#include "export/text.h"

uint64_t perfetto_key(const struct perfetto *s, char kind, const void *of, size_t len)
{
	return table_key_more(table_key_more(table_key(&kind, 1), (const char *)&s->host, sizeof(s->host)), of, len);
}

/* Names TRACK with the texts BEFORE, OF and AFTER; OF is escaped as in a row. */
static void name_track(struct export *export, struct track *track, const char *before, struct reader_field of,
		       const char *after)
{
	const size_t len = strlen(before);
	autofree char *text = malloc(len + TEXT_JSON_MAX(of.len) + strlen(after) + 1);

	if (!text)
		return;
	char *end = text_put_utf8(mempcpy(text, before, len), of, export->scratch);

	end = stpcpy(end, after);
	tracks_name(track, text, (size_t)(end - text));
}

uint32_t perfetto_track(struct export *export, uint64_t key, enum track_kind kind, uint32_t parent,
			struct reader_field name)
{
	struct perfetto *s = export->state;
	bool is_new;
	const uint32_t i = tracks_find(&s->tracks, key, &is_new);

	if (i == TRACKS_NONE || !is_new)
		return i;
	tracks_at(&s->tracks, i)->kind = kind;
	tracks_at(&s->tracks, i)->parent = parent;
	name_track(export, tracks_at(&s->tracks, i), "", name, "");
	return i;
}

/* Returns the number of a process for the viewer, which knows one machine only: each host gets a range of numbers. */
static int32_t number_of(const struct perfetto *s, uint64_t pid)
{
	return (int32_t)((pid + ((uint64_t)s->host << 22)) & INT32_MAX);
}

/* Names the track of a process; of several hosts, also by the host that it is on. */
static void name_process(struct export *x, struct track *t, struct reader_field comm)
{
	autofree char *before = x->n_hosts > 1 ? util_fmt("%s: ", x->host->name) : NULL;

	name_track(x, t, before ? before : "", comm, "");
}

static void remember_comm(struct track *t, struct reader_field comm)
{
	memset(t->comm, 0, sizeof(t->comm));
	memcpy(t->comm, comm.p, MIN(comm.len, sizeof(t->comm)));
}

static bool has_comm(const struct track *t, struct reader_field comm)
{
	return !memcmp(t->comm, comm.p, MIN(comm.len, sizeof(t->comm))) &&
	       (comm.len >= sizeof(t->comm) || !t->comm[comm.len]);
}

static uint32_t process_track(struct export *export, uint64_t pid, struct reader_field comm, bool is_leader)
{
	struct perfetto *perfetto = export->state;
	bool is_new;
	const uint32_t i = tracks_find(&perfetto->tracks, perfetto_key(perfetto, 'p', &pid, sizeof(pid)), &is_new);
	struct track *track;

	if (i == TRACKS_NONE)
		return i;
	track = tracks_at(&perfetto->tracks, i);
	if (is_new) {
		track->kind = TRACK_PROCESS;
		track->pid = number_of(perfetto, pid);
	}
	if (is_new || (is_leader && !has_comm(track, comm))) {
		remember_comm(track, comm);
		name_process(export, track, comm);
	}
	return i;
}

uint32_t perfetto_thread(struct export *export, uint64_t pid, uint64_t tid, struct reader_field comm)
{
	struct perfetto *perfetto = export->state;
	const uint64_t key[2] = { pid, tid };
	struct track *track;
	uint32_t i = perfetto->last_track, process;
	bool is_new = false;

	if (i == TRACKS_NONE || pid != perfetto->last_pid || tid != perfetto->last_tid)
		i = tracks_find(&perfetto->tracks, perfetto_key(perfetto, 't', key, sizeof(key)), &is_new);
	if (i == TRACKS_NONE)
		return i;
	perfetto->last_pid = pid;
	perfetto->last_tid = tid;
	perfetto->last_track = i;
	track = tracks_at(&perfetto->tracks, i);
	if (!is_new && has_comm(track, comm))
		return i;
	track->kind = TRACK_THREAD;
	track->pid = number_of(perfetto, pid);
	track->tid = number_of(perfetto, tid);
	remember_comm(track, comm);
	name_track(export, track, "", comm, "");
	process = process_track(export, pid, comm, pid == tid);
	tracks_at(&perfetto->tracks, i)->parent = process;
	return i;
}
