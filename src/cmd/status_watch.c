/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lines that come are session/live.c's. What a call hangs on is looked up here, with this user's rights:
 * a look into a process may hang like the process itself, and here it holds nobody else up.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

#include "control/control.h"
#include "control/client.h"
#include "base/json.h"
#include "drain/live.h"
#include "base/log.h"
#include "base/fmt.h"
#include "host/stall/remote.h"
#include "base/text.h"
#include "base/util.h"

#define TEXT_ROWS 20 /* processes of a block, where no terminal says how many fit */
#define WORDS_MAX 16

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

struct watch {
	const struct trace *trace;
	bool json, terminal;
	int fd;
	struct answer came; /* and is not shown yet */
	unsigned int frames;
};

/* --- lines ----------------------------------------------------------------------------------------- */

/* A line's words, the first of which says what it is. */
struct line {
	const char *word[WORDS_MAX];
	unsigned int n;
};

static void split(struct line *l, char *text)
{
	char *rest;

	l->n = 0;
	for (char *w = strtok_r(text, "\t", &rest); w && l->n < WORDS_MAX; w = strtok_r(NULL, "\t", &rest))
		l->word[l->n++] = w;
}

static uint64_t number(const struct line *l, unsigned int at)
{
	return at < l->n ? strtoull(l->word[at], NULL, 10) : 0;
}

static const char *word(const struct line *l, unsigned int at)
{
	return at < l->n ? l->word[at] : "-";
}

static bool is(const struct line *l, const char *what)
{
	return l->n && !strcmp(l->word[0], what);
}

/* --- what a call hangs on --------------------------------------------------------------------------- */

_Static_assert(REMOTE_STRING_MAX <= PATH_MAX, "a path");

/* What is behind the descriptor of the call in line L, AT_FDCWD too: its length, or -1. */
static ssize_t read_link(const struct line *l, char path[PATH_MAX])
{
	unsigned long long pid = number(l, 1), tid = number(l, 2);
	int fd = atoi(word(l, 6));
	char link[64];

	if (fd == AT_FDCWD || !strcmp(word(l, 6), "-"))
		snprintf(link, sizeof(link), "/proc/%llu/task/%llu/cwd", pid, tid);
	else
		snprintf(link, sizeof(link), "/proc/%llu/task/%llu/fd/%d", pid, tid, fd);
	return readlink(link, path, PATH_MAX - 1);
}

/* The path that it was given, made absolute where that can be known; its length, or -1. */
static ssize_t read_path(const struct line *l, char path[2 * PATH_MAX])
{
	char given[REMOTE_STRING_MAX];
	ssize_t len = remote_string((pid_t)number(l, 1), number(l, 7), given), base = -1;

	if (len > 0 && *given != '/')
		base = read_link(l, path);
	if (base > 0 && path[base - 1] != '/')
		path[base++] = '/';
	if (len >= 0)
		memcpy(path + MAX(base, 0), given, (size_t)len);
	return len < 0 ? len : len + MAX(base, 0);
}

/* The file of the call in line L, escaped. */
#define FILE_MAX (TEXT_ESCAPED_MAX(2 * PATH_MAX) + 1)
static void file_of(const struct line *l, char file[FILE_MAX])
{
	char path[2 * PATH_MAX];
	ssize_t len = -1;

	if (strcmp(word(l, 8), "-") != 0) { /* it was known */
		snprintf(file, FILE_MAX, "%s", word(l, 8));
		return;
	}
	if (number(l, 7))
		len = read_path(l, path);
	else if (strcmp(word(l, 6), "-") != 0)
		len = read_link(l, path);
	*text_put_str(file, path, (size_t)MAX(len, 0)) = '\0';
}

static void comm_of(const struct line *l, char *comm)
{
	char path[64], name[64] = "";

	if (strcmp(word(l, 9), "-") != 0) {
		snprintf(comm, TEXT_ESCAPED_MAX(64), "%s", word(l, 9));
		return;
	}
	snprintf(path, sizeof(path), "/proc/%llu/task/%llu/comm", (unsigned long long)number(l, 1),
		 (unsigned long long)number(l, 2));
	util_read_line(path, name, sizeof(name));
	*text_put_str(comm, name, strlen(name)) = '\0';
}

/* --- JSON ------------------------------------------------------------------------------------------- */

/* A word as the text that it stands for. */
static void put_word(struct json *j, const char *key, const char *escaped)
{
	char text[TEXT_ESCAPED_MAX(2 * PATH_MAX)];

	json_strn(j, key, text, text_unescape(text, escaped, MIN(strlen(escaped), sizeof(text))));
}

static const char *const of_begin[] = { "elapsed_ms", "rows", "lost", "interval_ms", "processes_alive", "processes_with_calls",
					NULL };
static const char *const of_sum[] = { "calls", "failed", "read_bytes", "written_bytes", "fetched_bytes", "file_reads",
				      "disk_reads", "latency_sum_ns", "latency_max_ns", "latency_p99_ns", NULL };

/* The numbers of L from the word AT on. */
static void put_numbers(struct json *j, const struct line *l, unsigned int at, const char *const *keys)
{
	for (; *keys; keys++)
		json_u64(j, *keys, number(l, at++));
}

static void put_call(struct json *j, const struct line *l)
{
	char file[FILE_MAX], comm[TEXT_ESCAPED_MAX(64) + 1];

	file_of(l, file);
	comm_of(l, comm);
	json_object(j, NULL);
	json_u64(j, "pid", number(l, 1));
	json_u64(j, "tid", number(l, 2));
	put_word(j, "comm", comm);
	json_str(j, "probe", word(l, 3));
	json_str(j, "call", word(l, 4));
	json_u64(j, "running_ms", number(l, 5));
	if (strcmp(file, "-") != 0)
		put_word(j, "file", file);
	else
		json_null(j, "file");
	json_end(j);
}

/* The arrays are there, empty or not. */
static void put_line(struct json *j, const struct line *l, const char **array)
{
	if (is(l, "begin")) {
		json_str(j, "phase", word(l, 1));
		put_numbers(j, l, 2, of_begin);
	} else if (is(l, "all")) {
		json_object(j, "all");
		put_numbers(j, l, 1, of_sum);
		json_end(j);
		json_array(j, *array = "processes");
	} else if (is(l, "process")) {
		json_object(j, NULL);
		json_u64(j, "pid", number(l, 1));
		put_word(j, "comm", word(l, 2));
		put_numbers(j, l, 3, of_sum);
		json_end(j);
	} else if (is(l, "call")) {
		if (!strcmp(*array, "processes")) {
			json_end(j);
			json_array(j, *array = "running");
		}
		put_call(j, l);
	}
}

static void show_json(const struct watch *w, char *frame)
{
	const char *array = "processes";
	struct json j = { .flat = true };
	char *rest;

	json_object(&j, NULL);
	put_word(&j, "name", w->trace->name);
	json_u64(&j, "pid", strtoull(w->trace->pid, NULL, 10));
	for (char *text = strtok_r(frame, "\n", &rest); text; text = strtok_r(NULL, "\n", &rest)) {
		struct line l;

		split(&l, text);
		put_line(&j, &l, &array);
	}
	json_end(&j);
	if (!strcmp(array, "processes")) {
		json_array(&j, "running");
		json_end(&j);
	}
	json_end(&j);
	json_write(&j, stdout);
}

/* --- text ------------------------------------------------------------------------------------------- */

static double per_s(uint64_t n, uint64_t ms)
{
	return ms ? (double)n * 1000 / (double)ms : 0;
}

static void print_sum(FILE *out, const struct line *l, unsigned int at, uint64_t ms)
{
	double p99_ms = (double)number(l, at + 9) / 1e6;
	uint64_t reads = number(l, at + 5);
	char share[16] = "-";

	if (reads)
		snprintf(share, sizeof(share), "%.1f", 100.0 * (double)number(l, at + 6) / (double)reads);
	/* 80 columns, with the two before */
	fprintf(out, p99_ms < 1000 ? " %9.1f %9.2f %10.2f %9.2f %6s %8.3f\n" : " %9.1f %9.2f %10.2f %9.2f %6s %8.0f\n", per_s(number(l, at), ms),
		per_s(number(l, at + 2), ms) / 1e6, per_s(number(l, at + 3), ms) / 1e6, per_s(number(l, at + 4), ms) / 1e6,
		share, p99_ms);
}

static void print_head(FILE *out, const struct watch *w, const struct line *l)
{
	uint64_t s = number(l, 2) / 1000;

	fprintf(out, "%s  %s %02llu:%02llu:%02llu  %s rows  %s lost  %s processes, %s with calls in %.1f s\n", w->trace->name,
		word(l, 1), (unsigned long long)s / 3600, (unsigned long long)s / 60 % 60, (unsigned long long)s % 60,
		word(l, 3), word(l, 4), word(l, 6), word(l, 7), (double)number(l, 5) / 1000);
	fprintf(out, "%7s %-15s %9s %9s %10s %9s %6s %8s\n", "PID", "COMM", "CALLS/S", "READ_MB/S", "WRITE_MB/S",
		"DISK_MB/S", "DISK_%", "P99_MS");
}

static void print_call(FILE *out, const struct line *l, bool first)
{
	char file[FILE_MAX], comm[TEXT_ESCAPED_MAX(64) + 1];

	file_of(l, file);
	comm_of(l, comm);
	if (first)
		fprintf(out, "\n%7s %-15s %9s %-16s %s\n", "TID", "COMM", "RUNNING_S", "CALL", "FILE");
	fprintf(out, "%7s %-15s %9.2f %-16s %s\n", word(l, 2), comm, (double)number(l, 5) / 1000, word(l, 4), file);
}

/* Processes take what the calls in flight leave of ROWS. */
static void print_frame(FILE *out, const struct watch *w, char *frame, unsigned int rows)
{
	unsigned int calls = 0, left;
	bool first = true;
	uint64_t ms = 0;
	char *rest;

	for (const char *at = frame; (at = strstr(at, "\ncall\t")); at++)
		calls++;
	calls = MIN(calls, rows / 3);
	left = rows > calls + 5 ? rows - calls - 5 : 1;
	for (char *text = strtok_r(frame, "\n", &rest); text; text = strtok_r(NULL, "\n", &rest)) {
		struct line l;

		split(&l, text);
		if (is(&l, "begin")) {
			ms = number(&l, 5);
			print_head(out, w, &l);
		} else if (is(&l, "all")) {
			fprintf(out, "%7s %-15s", "all", "");
			print_sum(out, &l, 1, ms);
		} else if (is(&l, "process") && left) {
			left--;
			fprintf(out, "%7s %-15s", word(&l, 1), word(&l, 2));
			print_sum(out, &l, 3, ms);
		} else if (is(&l, "call") && calls) {
			print_call(out, &l, first);
			first = false;
			calls--;
		}
	}
}

/* As much of a line as fits in WIDTH columns; a character is taken for one. */
static int fits(const char *line, size_t len, unsigned int width)
{
	unsigned int columns = 0;
	size_t i;

	for (i = 0; i < len; i++)
		if ((line[i] & 0xc0) != 0x80 && ++columns > width)
			break;
	return (int)i;
}

static void redraw(const struct watch *w, const char *text, const struct winsize *size)
{
	unsigned int row = 0;

	fputs(w->frames ? "\033[H" : "\033[2J\033[H", stdout);
	for (const char *line = text; *line && row + 1 < size->ws_row; row++) {
		size_t len = strcspn(line, "\n");

		printf("%.*s\033[K\n", fits(line, len, size->ws_col), line);
		line += len + (line[len] == '\n');
	}
	fputs("\033[J", stdout);
}

/* TEXT's lines, without what a terminal would obey: names are those of others. The caller's to free; NULL: no memory. */
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

static void show_text(const struct watch *w, char *frame)
{
	struct winsize size = {};
	autofree char *text = NULL, *tamed = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return;
	if (w->terminal && (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col))
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	print_frame(out, w, frame, w->terminal ? size.ws_row : TEXT_ROWS + 5 + LIVE_CALLS_MAX);
	if (fclose(out) || !(tamed = tame(text)))
		return;
	if (w->terminal)
		redraw(w, tamed, &size);
	else
		printf("%s%s", w->frames ? "\n" : "", tamed);
}

/* --- frames ----------------------------------------------------------------------------------------- */

/* All frames that are whole; what remains is the beginning of the next. False: nobody reads us. */
static bool show_whole(struct watch *w)
{
	char *end;

	while ((end = strstr(w->came.text, "\nend\n"))) {
		*end = '\0';
		if (w->json)
			show_json(w, w->came.text);
		else
			show_text(w, w->came.text);
		w->frames++;
		answer_drop(&w->came, (size_t)(end - w->came.text) + strlen("\nend\n"));
		if (fflush(stdout) || ferror(stdout))
			return false;
	}
	return true;
}

static int go_on(struct watch *w)
{
	bool greeted = false;

	while (!interrupted) {
		ssize_t n = answer_more(&w->came, w->fd);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return greeted ? 0 : log_err_r(n < 0 ? (int)n : -ECONNRESET, "%s", w->trace->dir);
		if (!greeted && answer_begin(&w->came) < 0) { /* the first line says whether it is watched */
			log_err("%s: %.*s", w->trace->dir, (int)strcspn(w->came.text, "\n"), w->came.text);
			return -EPROTO;
		}
		greeted = true;
		if (!show_whole(w))
			return -EPIPE;
	}
	return 0;
}

int status_watch(const char *which, uint64_t interval_ms, bool json)
{
	const struct sigaction sa = { .sa_handler = on_interrupt };
	struct watch w = { .json = json, .terminal = !json && isatty(STDOUT_FILENO) };
	autofree char *how = util_fmt("%llu %u", (unsigned long long)interval_ms,
				      json ? LIVE_PROCESSES_MAX : 1000);
	struct traces ts;
	int r = -ESRCH;

	traces_find(&ts);
	w.trace = traces_pick(&ts, which);
	if (w.trace) {
		sigaction(SIGINT, &sa, NULL);
		sigaction(SIGTERM, &sa, NULL);
		w.fd = how ? trace_connect(w.trace, "watch", how) : -ENOMEM;
		r = w.fd < 0 ? log_err_r(w.fd, "%s", w.trace->dir) : go_on(&w);
		util_close(&w.fd);
		free(w.came.text);
		if (!r && w.terminal && !interrupted)
			log_info("the trace %s has ended", w.trace->name);
	}
	traces_free(&ts);
	return r < 0 ? 1 : 0;
}
