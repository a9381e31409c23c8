/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/files/streams.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "report/scan/lookup.h"
#include "report/scan/part.h"
#include "stats/top.h"

static int part_new(struct report *r, const struct report_options *o)
{
	struct report_streams *u = r->streams = calloc(1, sizeof(*u));

	if (!u)
		return -ENOMEM;
	table_init(&u->logs, sizeof(struct report_log), REPORT_LOGS_MAX);
	return 0;
}

static void part_free(struct report *r)
{
	struct report_streams *u = r->streams;

	if (!u)
		return;
	for (uint32_t i = 0; i < u->logs.n; i++)
		free(((struct report_log *)table_at(&u->logs, i))->gaps);
	for (unsigned int i = 0; i < u->n_top; i++)
		free(u->top[i].path);
	table_free(&u->logs);
	free(u);
}

/* --- classes ------------------------------------------------------------------------------------- */

static bool begins(struct reader_field f, const char *s)
{
	return f.len >= strlen(s) && memcmp(f.p, s, strlen(s)) == 0;
}

/*
 * Returns the class of an anonymous file: "eventpoll" for anon_inode:[eventpoll], "bpf-map" for anon_inode:bpf-map.
 * Text after a further colon names one file, so it is left out.
 */
static struct reader_field anon_name(struct reader_field f)
{
	static const char prefix[] = "anon_inode:";
	size_t skip = begins(f, prefix) ? sizeof(prefix) - 1 : 0, len = 0;

	skip += skip < f.len && f.p[skip] == '[';
	f.p += skip;
	f.len -= skip;
	while (len < f.len && f.p[len] != ']' && f.p[len] != ':')
		len++;
	f.len = len;
	return f;
}

#define FIELD(text) ((struct reader_field){ .p = (text), .len = sizeof(text) - 1 })

static struct reader_field class_name(enum report_type type, struct reader_field path)
{
	switch (type) {
	case REPORT_ANON:
		path = anon_name(path);
		return path.len ? path : FIELD("anonymous");
	case REPORT_FIFO:
		return begins(path, "pipe:") ? FIELD("pipe") : FIELD("named pipe");
	case REPORT_SOCK:
		return FIELD("socket");
	case REPORT_MEMFD:
		return FIELD("memfd");
	default:
		if (begins(path, "/dev/pts/") || begins(path, "/dev/tty") || begins(path, "/dev/console"))
			return FIELD("terminal");
		return begins(path, "/") ? path : FIELD("device");
	}
}

static struct report_class *class_of(struct report_streams *streams, struct reader_field name)
{
	char text[sizeof(streams->classes[0].name)];
	unsigned int i;

	report_copy(text, sizeof(text), name);
	for (i = 0; i < streams->n_classes; i++)
		if (strcmp(streams->classes[i].name, text) == 0)
			return &streams->classes[i];
	if (i == REPORT_CLASSES_MAX)
		return &streams->classes[REPORT_CLASSES_MAX - 1];
	snprintf(streams->classes[i].name, sizeof(text), "%s", i == REPORT_CLASSES_MAX - 1 ? "all others" : text);
	streams->n_classes++;
	return &streams->classes[i];
}

static bool is_log_name(struct reader_field path)
{
	static const char end[] = ".log";

	return path.len >= strlen(end) && memcmp(path.p + path.len - strlen(end), end, strlen(end)) == 0;
}

void report_streams_file(struct scan *scan, struct report_file *file)
{
	struct reader_field path = scan_field(scan, COL_REALPATH);
	enum report_type type = (enum report_type)file->type;
	struct report_streams *u = scan->report->streams;
	struct report_class *class;

	file->log = type == REPORT_REG && is_log_name(path);
	if (file->stream || !file->inside || (report_is_file(type) && type != REPORT_MEMFD))
		return;
	class = class_of(u, class_name(type, path));
	class->files++;
	file->stream = (uint8_t)(class - u->classes + 1);
}

static void add_to_class(const struct scan *s, struct report_class *class, const struct report_call_facts *c)
{
	class->calls++;
	class->time_ns += c->again_side ? 0 : c->lat_ns;
	if (s->kind != REPORT_VFS_RW)
		return;
	if (c->write) {
		class->writes++;
		class->write_bytes += c->bytes;
	} else {
		class->reads++;
		class->read_bytes += c->bytes;
	}
}

/* --- output and logs ------------------------------------------------------------------------------ */

static unsigned int how_of(const struct scan *s, const struct report_call_facts *c)
{
	struct reader_field fd = scan_field(s, COL_FD), flags = scan_field(s, COL_FLAGS);

	return (reader_is(fd, "1") ? REPORT_STDOUT : 0) | (reader_is(fd, "2") ? REPORT_STDERR : 0) |
	       (flags.len > 1 && reader_flag(flags, "APPEND") ? REPORT_APPEND : 0) |
	       (c->file->log ? REPORT_LOG_NAME : 0);
}

static void add_to_log(const struct scan *scan, const struct report_call_facts *facts, unsigned int how)
{
	struct report_streams *streams = scan->report->streams;
	uint64_t key = report_pair_key(facts->pid, facts->fid);
	struct report_log *log = key ? table_get(&streams->logs, key) : NULL;

	if (!log) {
		streams->left_out++;
		return;
	}
	log->pid = facts->pid;
	log->fid = facts->fid;
	log->how |= how;
	log->bytes += facts->bytes;
	log->time_ns += facts->again_side ? 0 : facts->lat_ns;
	if (log->calls++ == 0) {
		log->first_ns = log->last_ns = scan->time_ns;
		return;
	}
	if (!log->gaps)
		log->gaps = calloc(1, sizeof(*log->gaps));
	if (log->gaps && scan->time_ns >= log->last_ns)
		spread_add(log->gaps, scan->time_ns - log->last_ns);
	log->last_ns = MAX(log->last_ns, scan->time_ns);
}

void report_streams_call_of(const struct scan *scan, const struct report_call_facts *facts)
{
	unsigned int how;

	if (facts->file->stream)
		add_to_class(scan, &scan->report->streams->classes[facts->file->stream - 1], facts);
	if (scan->kind != REPORT_VFS_RW || !facts->write || facts->failed || facts->running)
		return;
	how = how_of(scan, facts);
	if (how)
		add_to_log(scan, facts, how);
}

static void part_settle(struct report *report)
{
	struct report_streams *streams = report->streams;

	for (uint32_t i = 0; i < streams->logs.n; i++) {
		const struct report_log *l = table_at(&streams->logs, i);
		struct report_log *at = TOP_PLACE(streams->top, streams->n_top, REPORT_TOP, e, e->calls, l->calls);

		if (at)
			*at = *l;
	}
	for (unsigned int i = 0; i < streams->n_top; i++)
		streams->top[i].path = report_path_of(report, streams->top[i].fid, NULL, 0);
}

const char *report_log_how(unsigned int how, char buf[48])
{
	static const char *const names[] = { "stdout", "stderr", "append", "log" };

	buf[0] = '\0';
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (how & 1U << i) {
			size_t len = strlen(buf);

			snprintf(buf + len, 48 - len, "%s%s", len ? "," : "", names[i]);
		}
	return buf;
}

double report_log_rate(const struct report_log *l)
{
	if (l->last_ns <= l->first_ns)
		return -1;
	return (double)(l->calls - 1) * (double)NSEC_PER_SEC / (double)(l->last_ns - l->first_ns);
}

static void part_note(struct report *r)
{
	report_note_count(r, "too many logs", r->streams->left_out, "write is", "writes are", "in the sum of no log");
}

const struct report_part report_streams_part = {
	.new = part_new,
	.note = part_note,
	.settle = part_settle,
	.free = part_free,
};
