/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/status/status_watch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "cmd/status/call_file.h"
#include "cmd/status/frame.h"
#include "cmd/status/frame_text.h"
#include "cmd/status/recent_reader.h"
#include "control/client.h"
#include "control/control.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int sig)
{
	interrupted = 1;
}

struct watch {
	const struct trace *trace;
	bool json;
	int fd;
	struct answer came; /* text that was received and is not shown yet */
	struct frame frame;
	struct frame_text text;
	struct recent_reader recent;
};

/* Shows LINE, which ends at END. Returns 0, or -errno after which nothing more can be shown. */
static int show(struct watch *watch, const char *line, const char *end)
{
	if (frame_read(&watch->frame, line, (size_t)(end - line)) < 0) {
		log_err("%s: the trace was started by another version of dltraced: this one cannot read what it sends",
			watch->trace->dir);
		return -EBADMSG;
	}
	for (unsigned int i = 0; i < watch->frame.n_calls; i++)
		call_file_find(&watch->frame.calls[i]);
	if (watch->json)
		frame_print_json(&watch->frame, line, watch->recent.line);
	else
		frame_text_show(&watch->text, &watch->frame, watch->recent.line);
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
	autofree char *how =
		util_fmt("%llu %u", (unsigned long long)interval_ms, json ? LIVE_PROCESSES_MAX : FRAME_SUMS_MAX);
	struct traces ts;
	int r = -ESRCH;

	w.json = json;
	w.text.terminal = !json && isatty(STDOUT_FILENO);
	traces_find(&ts);
	w.trace = traces_pick(&ts, which);
	if (w.trace) {
		w.text.name = trace_called(w.trace);
		sigaction(SIGINT, &sa, NULL);
		sigaction(SIGTERM, &sa, NULL);
		recent_reader_start(&w.recent, w.trace);
		w.fd = how ? trace_connect(w.trace, "views", how) : -ENOMEM;
		r = w.fd < 0 ? log_err_r(w.fd, "%s", w.trace->dir) : go_on(&w);
		util_close(&w.fd);
		recent_reader_stop(&w.recent);
		free(w.came.text);
		if (!r && w.text.terminal && !interrupted)
			log_info("the trace %s has ended", w.trace->name);
	}
	traces_free(&ts);
	return r < 0 ? 1 : 0;
}
