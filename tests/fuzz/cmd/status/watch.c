/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a trace, or whoever made a socket where those of traces are, sends to `dltraced status --watch'. Nothing is
 * looked up: the processes are those that the input names. What is printed is text, or a line of JSON again.
 */
#include "fuzz.h"

#include "cmd/status/status_watch.c"

static void on_nothing(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
}

/* The real output, in a file. */
static size_t shown(struct watch *w, const char *line, char *buf, size_t size)
{
	static int file = -1;
	ssize_t n;

	if (file < 0)
		EXPECT((file = memfd_create("stdout", MFD_CLOEXEC)) >= 0 && dup2(file, STDOUT_FILENO) >= 0);
	EXPECT(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	if (w->json)
		show_json(&w->frame, line, NULL);
	else
		show_text(w);
	EXPECT(fflush(stdout) == 0 && (n = pread(file, buf, size, 0)) >= 0);
	return (size_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct trace trace = { .name = "fuzz", .dir = "/fuzz", .owner = "0" };
	static struct watch w = { .trace = &trace };
	static char out[1U << 20];
	autofree char *line = fuzz_text(data, size);
	size_t n;

	if (frame_read(&w.frame, line, size) < 0)
		return 0;
	EXPECT(w.frame.n_calls <= LIVE_CALLS_MAX && w.frame.n_sums <= SUMS_MAX);
	w.json = true;
	n = shown(&w, line, out, sizeof(out));
	EXPECT(n && memchr(out, '\n', n) == out + n - 1 && json_read(out, n, on_nothing, NULL) == 0);
	w.json = false;
	w.recent.line = line; /* whatever it is, as text */
	n = shown(&w, line, out, sizeof(out));
	EXPECT(n && !memchr(out, '\033', n));
	return 0;
}
