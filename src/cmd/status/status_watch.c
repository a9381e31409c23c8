/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/status_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/fmt.h"
#include "base/json.h"
#include "base/json_bind.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"
#include "cmd/status/recent_reader.h"
#include "cmd/status/recent_text.h"
#include "control/client.h"
#include "control/control.h"
#include "dltraced.h"
#include "drain/rows/live.h"
#include "host/process.h"
#include "host/stall/remote.h"
#include "os/terminal.h"

#define TEXT_ROWS 20 /* processes in a block, without a terminal */
#define SUMS_MAX 1000 /* a terminal has fewer rows */
#define FAILED_MAX 256
#define COMM_MAX TEXT_ESCAPED_MAX(64)

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

/* What one process did, or all. */
struct sum {
	uint64_t pid, calls, read_bytes, written_bytes, fetched_bytes, reads, disk_reads, p99_ns;
	char comm[COMM_MAX];
};

/* A call or request in flight. */
struct call {
	uint64_t pid, tid, running_ms, addr;
	char fd[TEXT_U64_MAX + 1], comm[COMM_MAX], probe[16], name[64]; /* "": none */
	char file[TEXT_ESCAPED_MAX(PATH_MAX)];
};

/* A region that the job has begun and not ended. */
struct region {
	uint64_t pid, tid, running_ms;
	char comm[COMM_MAX], name[TEXT_ESCAPED_MAX(DLTRACED_NAME_MAX)], epoch[TEXT_U64_MAX + 1],
		step[TEXT_U64_MAX + 1]; /* "": none */
};

struct frame {
	char phase[16];
	uint64_t elapsed_ms, rows, lost, interval_ms, alive, with_calls;
	struct sum all, sums[SUMS_MAX];
	struct call calls[LIVE_CALLS_MAX];
	struct region regions[LIVE_REGIONS_MAX];
	unsigned int n_sums, n_calls, n_regions;
	char failed[FAILED_MAX]; /* "ENOSPC 5, EMFILE 64": calls since the trace began; "": none */
	struct sum *sum; /* that is being read; NULL: no room for it */
	struct call *call; /* likewise */
	struct region *region;
	const char *running; /* in the line, after the bracket that opens the calls; NULL: not received yet */
};

struct watch {
	const struct trace *trace;
	bool json, terminal;
	unsigned int width; /* of a line; 0: any */
	int fd;
	struct answer came; /* text that was received and is not shown yet */
	struct frame frame;
	unsigned int frames;
	struct recent_reader recent;
};

/* --- a line ----------------------------------------------------------------------------------------- */

static const struct json_member of_frame[] = {
	JSON_MEMBER("phase", JSON_TEXT, frame, phase),
	JSON_MEMBER("elapsed_ms", JSON_U64, frame, elapsed_ms),
	JSON_MEMBER("rows", JSON_U64, frame, rows),
	JSON_MEMBER("lost", JSON_U64, frame, lost),
	JSON_MEMBER("interval_ms", JSON_U64, frame, interval_ms),
	JSON_MEMBER("processes_alive", JSON_U64, frame, alive),
	JSON_MEMBER("processes_with_calls", JSON_U64, frame, with_calls),
	{ 0 },
};

static const struct json_member of_sum[] = {
	JSON_MEMBER("pid", JSON_U64, sum, pid),
	JSON_MEMBER("comm", JSON_TEXT, sum, comm),
	JSON_MEMBER("calls", JSON_U64, sum, calls),
	JSON_MEMBER("read_bytes", JSON_U64, sum, read_bytes),
	JSON_MEMBER("written_bytes", JSON_U64, sum, written_bytes),
	JSON_MEMBER("fetched_bytes", JSON_U64, sum, fetched_bytes),
	JSON_MEMBER("file_reads", JSON_U64, sum, reads),
	JSON_MEMBER("disk_reads", JSON_U64, sum, disk_reads),
	JSON_MEMBER("latency_p99_ns", JSON_U64, sum, p99_ns),
	{ 0 },
};

static const struct json_member of_call[] = {
	JSON_MEMBER("pid", JSON_U64, call, pid),    JSON_MEMBER("tid", JSON_U64, call, tid),
	JSON_MEMBER("comm", JSON_TEXT, call, comm), JSON_MEMBER("probe", JSON_TEXT, call, probe),
	JSON_MEMBER("call", JSON_TEXT, call, name), JSON_MEMBER("running_ms", JSON_U64, call, running_ms),
	JSON_MEMBER("file", JSON_TEXT, call, file), JSON_MEMBER("fd", JSON_LITERAL, call, fd),
	JSON_MEMBER("addr", JSON_U64, call, addr),  { 0 },
};

static const struct json_member of_region[] = {
	JSON_MEMBER("pid", JSON_U64, region, pid),
	JSON_MEMBER("tid", JSON_U64, region, tid),
	JSON_MEMBER("comm", JSON_TEXT, region, comm),
	JSON_MEMBER("name", JSON_TEXT, region, name),
	JSON_MEMBER("epoch", JSON_LITERAL, region, epoch),
	JSON_MEMBER("step", JSON_LITERAL, region, step),
	JSON_MEMBER("running_ms", JSON_U64, region, running_ms),
	{ 0 },
};

static void on_open(struct frame *f, const char *path, const char *text)
{
	if (!strcmp(path, "running") && text[-1] == '[')
		f->running = f->running ?: text;
	else if (!strcmp(path, "processes[]"))
		f->sum = f->n_sums < SUMS_MAX ? &f->sums[f->n_sums++] : NULL;
	else if (!strcmp(path, "regions[]"))
		f->region = f->n_regions < LIVE_REGIONS_MAX ? &f->regions[f->n_regions++] : NULL;
	else if (!strcmp(path, "running[]"))
		f->call = f->n_calls < LIVE_CALLS_MAX ? &f->calls[f->n_calls++] : NULL;
}

/* Adds NAME, of an error, and how many calls have failed by it. Both are another process's words. */
static void add_failed(struct frame *frame, const char *name, const char *number, size_t len)
{
	const size_t used = strlen(frame->failed);

	if (strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(name) && strspn(number, "0123456789") == len)
		snprintf(frame->failed + used, sizeof(frame->failed) - used, "%s%s %.*s", used ? ", " : "", name,
			 (int)len, number);
}

static void on_value(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
	struct frame *frame = ctx;
	const struct json_place places[] = {
		{ "all.", of_sum, &frame->all },
		{ "processes[].", of_sum, frame->sum },
		{ "regions[].", of_region, frame->region },
		{ "running[].", of_call, frame->call },
		{ "", of_frame, frame },
	};
	static const char of_failed[] = "failed_calls.";
	const struct json_place *place;

	if (event == JSON_OPEN) {
		on_open(frame, path, text);
		return;
	}
	if (event == JSON_WORD && !strncmp(path, of_failed, strlen(of_failed))) {
		add_failed(frame, path + strlen(of_failed), text, len);
		return;
	}
	place = json_place_of(places, &path);
	if (place->base)
		json_bind(place->members, place->base, path, event, text, len);
}

/* Returns 0; -EBADMSG when the LEN bytes of LINE are no frame. */
static int frame_read(struct frame *f, const char *line, size_t len)
{
	*f = (struct frame){};
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)line[i] < ' ') /* invalid even in a string (RFC 8259, 7) */
			return -EBADMSG;
	return json_read(line, len, on_value, f) < 0 || !f->running ? -EBADMSG : 0;
}

/* --- the file of a call ------------------------------------------------------------------------------ */

_Static_assert(REMOTE_STRING_MAX <= PATH_MAX && 2UL * PATH_MAX <= sizeof(((struct call *)NULL)->file), "a path");

/* Reads the path of CALL's descriptor, or of AT_FDCWD. Returns its length, or -1. */
static ssize_t read_link(const struct call *call, char path[PATH_MAX])
{
	unsigned long long pid = call->pid, tid = call->tid;
	int fd = atoi(call->fd);
	char link[64];

	if (fd == AT_FDCWD || !*call->fd)
		snprintf(link, sizeof(link), "/proc/%llu/task/%llu/cwd", pid, tid);
	else
		snprintf(link, sizeof(link), "/proc/%llu/task/%llu/fd/%d", pid, tid, fd);
	return readlink(link, path, PATH_MAX - 1);
}

/* Reads the path that was passed to CALL, made absolute where possible. Returns its length, or -1. */
static ssize_t read_path(const struct call *call, char path[2 * PATH_MAX])
{
	char given[REMOTE_STRING_MAX];
	ssize_t len = remote_string((pid_t)call->pid, call->addr, given), base = -1;

	if (len > 0 && *given != '/')
		base = read_link(call, path);
	if (base > 0 && path[base - 1] != '/')
		path[base++] = '/';
	if (len >= 0)
		memcpy(path + MAX(base, 0), given, (size_t)len);
	return len < 0 ? len : len + MAX(base, 0);
}

/* Whether C's thread, which existed at SINCE_NS, still exists; a later thread with its number does not count. */
static bool thread_is_there(const struct call *c, uint64_t since_ns)
{
	autofree char *text = NULL;
	struct process thread;
	char name[64];

	snprintf(name, sizeof(name), "task/%llu/stat", (unsigned long long)c->tid);
	return process_text((pid_t)c->pid, name, PROCESS_TEXT_MAX, &text, NULL) == 0 &&
	       process_parse(&thread, (pid_t)c->tid, text) == 0 && process_is_from(&thread, since_ns);
}

/*
 * Fills in what the frame lacks of CALL, as far as it can be found. The thread is checked before and after the look: if
 * it is still there, no other thread or process had its numbers in between.
 */
static void look_up(struct call *call)
{
	uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	uint64_t since_ns = now_ns - MIN(call->running_ms, now_ns / NSEC_PER_MSEC) * NSEC_PER_MSEC;
	bool has_file = *call->file, has_comm = *call->comm;
	char path[64];
	ssize_t len = 0;

	if (!thread_is_there(call, since_ns))
		return;
	if (!has_file && (call->addr || *call->fd)) {
		len = call->addr ? read_path(call, call->file) : read_link(call, call->file);
		call->file[MAX(len, 0)] = '\0';
	}
	snprintf(path, sizeof(path), "/proc/%llu/task/%llu/comm", (unsigned long long)call->pid,
		 (unsigned long long)call->tid);
	if (!has_comm)
		util_read_line(path, call->comm, sizeof(call->comm));
	if (thread_is_there(call, since_ns))
		return;
	if (!has_file)
		*call->file = '\0';
	if (!has_comm)
		*call->comm = '\0';
}

/* --- JSON ------------------------------------------------------------------------------------------- */

/*
 * Prints LINE, from which FRAME was read, but the calls, its last member, as FRAME has them now; and RECENT behind it,
 * which is JSON, too, or NULL.
 */
static void show_json(const struct frame *frame, const char *line, const char *recent)
{
	struct json j = { .flat = true };

	json_array(&j, NULL);
	for (unsigned int i = 0; i < frame->n_calls; i++) {
		const struct call *call = &frame->calls[i];

		json_object(&j, NULL);
		json_u64(&j, "pid", call->pid);
		json_u64(&j, "tid", call->tid);
		json_str(&j, "comm", call->comm);
		json_str(&j, "probe", call->probe);
		json_str(&j, "call", call->name);
		json_u64(&j, "running_ms", call->running_ms);
		json_str(&j, "file", *call->file ? call->file : NULL);
		json_end(&j);
	}
	json_end(&j);
	if (!j.error)
		printf("%.*s%.*s,\"path\": %s}\n", (int)(frame->running - 1 - line), line, (int)j.len, j.buf,
		       recent ?: "null");
	json_free(&j);
}

/* --- text ------------------------------------------------------------------------------------------- */

static double per_s(uint64_t n, uint64_t ms)
{
	return ms ? (double)n * 1000 / (double)ms : 0;
}

/* Prints TEXT, from JSON, as a word of the text files. Both have a byte that is not UTF-8 as \\ooo. */
static void print_word(FILE *out, int width, const char *text)
{
	size_t len = strlen(text);
	autofree char *plain = malloc(len + 1), *word = malloc(TEXT_ESCAPED_MAX(len) + 4);

	if (!plain || !word)
		return;
	*text_put_str(word, plain, text_unescape(plain, text, len)) = '\0';
	fprintf(out, "%-*s", width, word);
}

static void print_sum(FILE *out, const struct sum *s, uint64_t ms)
{
	double p99_ms = (double)s->p99_ns / 1e6, mib = 1 << 20;
	char share[16] = "-";

	if (s->reads)
		snprintf(share, sizeof(share), "%.1f", 100.0 * (double)s->disk_reads / (double)s->reads);
	/* with the two columns that stand before, a line has 80 characters */
	fprintf(out, " %8.1f %10.2f %11.2f %10.2f %5s %7.*f\n", per_s(s->calls, ms), per_s(s->read_bytes, ms) / mib,
		per_s(s->written_bytes, ms) / mib, per_s(s->fetched_bytes, ms) / mib, share, p99_ms < 1000 ? 3 : 0,
		p99_ms);
}

static void print_head(FILE *out, const struct watch *watch)
{
	const struct frame *frame = &watch->frame;
	unsigned long long s = frame->elapsed_ms / 1000;
	autofree char *state =
		util_fmt("%s %02llu:%02llu:%02llu  %llu rows  %llu lost  processes: %llu, with calls in %.1f s: %llu",
			 frame->phase, s / 3600, s / 60 % 60, s % 60, (unsigned long long)frame->rows,
			 (unsigned long long)frame->lost, (unsigned long long)frame->alive,
			 (double)frame->interval_ms / 1000, (unsigned long long)frame->with_calls);
	const char *name = trace_called(watch->trace);

	if (!state)
		return;
	/* the name is whole: it is the argument of stop and mark */
	fprintf(out, "%s%s%s\n", name, watch->width && strlen(name) + 2 + strlen(state) > watch->width ? "\n" : "  ",
		state);
	if (*frame->failed)
		fprintf(out, "failed: %s\n", frame->failed);
	fprintf(out, "%7s %-15s %8s %10s %11s %10s %5s %7s\n", "PID", "COMM", "CALLS/S", "READ_MiB/S", "WRITE_MiB/S",
		"DISK_MiB/S", "DISK%", "P99_MS");
}

static void print_call(FILE *out, const struct call *c)
{
	fprintf(out, "%7llu ", (unsigned long long)c->tid);
	print_word(out, 15, c->comm);
	fprintf(out, " %9.2f %-16s ", (double)c->running_ms / 1000, c->name);
	print_word(out, 0, c->file);
	fputc('\n', out);
}

static void print_region(FILE *out, const struct region *region)
{
	fprintf(out, "%7llu ", (unsigned long long)region->tid);
	print_word(out, 15, region->comm);
	fprintf(out, " %9.2f ", (double)region->running_ms / 1000);
	print_word(out, 0, region->name);
	if (*region->epoch)
		fprintf(out, " epoch=%s", region->epoch);
	if (*region->step)
		fprintf(out, " step=%s", region->step);
	fputc('\n', out);
}

/*
 * Prints a frame in about ROWS lines: calls in flight get at most a third of them, live regions at most a sixth,
 * processes the rest, and RECENT its own lines before the calls.
 */
static void print_frame(FILE *out, const struct watch *watch, const struct recent_text *recent, unsigned int rows)
{
	const struct frame *frame = &watch->frame;
	unsigned int calls = MIN(frame->n_calls, rows / 3), regions = MIN(frame->n_regions, rows / 6);
	unsigned int others = calls + regions + (regions ? 2 : 0) + 5 + !!*frame->failed,
		     left = rows > others ? rows - others : 1;

	print_head(out, watch);
	fprintf(out, "%7s %-15s", "all", "");
	print_sum(out, &frame->all, frame->interval_ms);
	for (unsigned int i = 0; i < MIN(frame->n_sums, left); i++) {
		fprintf(out, "%7llu ", (unsigned long long)frame->sums[i].pid);
		print_word(out, 15, frame->sums[i].comm);
		print_sum(out, &frame->sums[i], frame->interval_ms);
	}
	recent_text(recent, out);
	if (regions)
		fprintf(out, "\n%7s %-15s %9s %s\n", "TID", "COMM", "RUNNING_S", "REGION");
	for (unsigned int i = 0; i < regions; i++)
		print_region(out, &frame->regions[i]);
	if (calls)
		fprintf(out, "\n%7s %-15s %9s %-16s %s\n", "TID", "COMM", "RUNNING_S", "CALL", "FILE");
	for (unsigned int i = 0; i < calls; i++)
		print_call(out, &frame->calls[i]);
}

/* On a terminal of ROWS rows the last seconds are shown where they take half of them at most. */
static void print_within(FILE *out, const struct watch *watch, unsigned int rows)
{
	struct recent_text recent;
	const unsigned int lines = recent_text_read(&recent, watch->recent.line);

	if (watch->terminal && lines > rows / 2)
		recent.n = 0;
	print_frame(out, watch, &recent, watch->terminal && recent.n ? rows - lines : rows);
}

/* Prints the LEN bytes of LINE; of one that is longer than the width, as much as fits before three dots. */
static void put_line(const struct watch *w, const char *line, size_t len)
{
	static const char dots[] = "...";
	size_t fits = w->width ? (size_t)fmt_fits(line, w->width) : len;

	if (fits >= len)
		fwrite(line, 1, len, stdout);
	else
		printf("%.*s%s", fmt_fits(line, w->width - (unsigned int)strlen(dots)), line, dots);
}

/* Prints the lines of TEXT, at most ROWS, each with END behind it. */
static void put_lines(const struct watch *w, const char *text, unsigned int rows, const char *end)
{
	for (const char *line = text; *line && rows; rows--) {
		size_t len = strcspn(line, "\n");

		put_line(w, line, len);
		fputs(end, stdout);
		line += len + (line[len] == '\n');
	}
}

static void redraw(const struct watch *w, const char *text, const struct winsize *size)
{
	fputs(w->frames ? "\033[H" : "\033[2J\033[H", stdout);
	put_lines(w, text, size->ws_row - 1U, "\033[K\n");
	fputs("\033[J", stdout);
}

/*
 * Returns a copy of TEXT without a terminal's escape sequences, as names come from other users. NULL when there is no
 * memory.
 */
static char *tame(const char *text)
{
	char *tamed = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&tamed, &len);

	for (size_t n; out && *text; text += n + (text[n] == '\n')) {
		autofree char *line = strndup(text, n = strcspn(text, "\n"));

		fmt_text(out, line ? line : "", 0);
		fputc('\n', out);
	}
	if (out && fclose(out))
		free(TAKE_PTR(tamed));
	return tamed;
}

static void show_text(struct watch *watch)
{
	struct winsize size = {};
	autofree char *text = NULL, *tamed = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	if (watch->terminal && (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col))
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	watch->width = terminal_limit(STDOUT_FILENO); /* a window may change its size */
	print_within(out, watch, watch->terminal ? size.ws_row : TEXT_ROWS + 5 + LIVE_CALLS_MAX);
	if (fclose(out) || !(tamed = tame(text)))
		return;
	if (watch->terminal) {
		redraw(watch, tamed, &size);
	} else {
		fputs(watch->frames ? "\n" : "", stdout);
		put_lines(watch, tamed, UINT_MAX, "\n");
	}
}

/* --- frames ----------------------------------------------------------------------------------------- */

/* Shows LINE, which ends at END. Returns 0, or -errno after which nothing more can be shown. */
static int show(struct watch *watch, const char *line, const char *end)
{
	if (frame_read(&watch->frame, line, (size_t)(end - line)) < 0) {
		log_err("%s: the trace was started by another version of dltraced: this one cannot read what it sends",
			watch->trace->dir);
		return -EBADMSG;
	}
	for (unsigned int i = 0; i < watch->frame.n_calls; i++)
		look_up(&watch->frame.calls[i]);
	if (watch->json)
		show_json(&watch->frame, line, watch->recent.line);
	else
		show_text(watch);
	watch->frames++;
	return fflush(stdout) || ferror(stdout) ? -EPIPE : 0; /* the reader has gone */
}

/* Shows all lines that have come whole, and keeps the begin of the next one. */
static int show_whole(struct watch *w)
{
	char *end;
	int r = 0;

	while (!r && (end = memchr(w->came.text, '\n', w->came.len))) {
		r = show(w, w->came.text, end);
		answer_drop(&w->came, (size_t)(end - w->came.text) + 1);
	}
	return r;
}

/* Waits for a packet, and takes lines of where the last seconds went meanwhile. Returns as answer_more(). */
static ssize_t next_packet(struct watch *watch)
{
	struct pollfd p[] = { { .fd = watch->fd, .events = POLLIN }, { .events = POLLIN } };

	do {
		p[1].fd = watch->recent.fd;
		if (poll(p, ARRAY_SIZE(p), -1) < 0)
			return -errno;
		if (p[1].revents)
			recent_reader_take(&watch->recent);
	} while (!p[0].revents);
	return answer_more(&watch->came, watch->fd);
}

static int go_on(struct watch *watch)
{
	bool greeted = false;
	int r;

	while (!interrupted) {
		ssize_t n = next_packet(watch);

		if (n == -EINTR)
			continue;
		if (n == 0)
			n = -ECONNRESET;
		if (n < 0)
			return greeted && n == -ECONNRESET ? 0 : log_err_r((int)n, "%s", watch->trace->dir);
		if (!greeted && answer_begin(&watch->came) < 0) { /* the first line is the answer to the request */
			log_err("%s: %.*s", watch->trace->dir, (int)strcspn(watch->came.text, "\n"), watch->came.text);
			return -EPROTO;
		}
		greeted = true;
		if ((r = show_whole(watch)) < 0)
			return r;
	}
	return 0;
}

int status_watch(const char *which, uint64_t interval_ms, bool json)
{
	const struct sigaction sa = { .sa_handler = on_interrupt };
	static struct watch w; /* too large for any stack */
	autofree char *how = util_fmt("%llu %u", (unsigned long long)interval_ms, json ? LIVE_PROCESSES_MAX : SUMS_MAX);
	struct traces ts;
	int r = -ESRCH;

	w.json = json;
	w.terminal = !json && isatty(STDOUT_FILENO);
	traces_find(&ts);
	w.trace = traces_pick(&ts, which);
	if (w.trace) {
		sigaction(SIGINT, &sa, NULL);
		sigaction(SIGTERM, &sa, NULL);
		recent_reader_start(&w.recent, w.trace);
		w.fd = how ? trace_connect(w.trace, "views", how) : -ENOMEM;
		r = w.fd < 0 ? log_err_r(w.fd, "%s", w.trace->dir) : go_on(&w);
		util_close(&w.fd);
		recent_reader_stop(&w.recent);
		free(w.came.text);
		if (!r && w.terminal && !interrupted)
			log_info("the trace %s has ended", w.trace->name);
	}
	traces_free(&ts);
	return r < 0 ? 1 : 0;
}
