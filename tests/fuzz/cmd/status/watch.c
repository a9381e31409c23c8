/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a trace, or whoever made a socket where those of traces are, sends to `dltraced status --watch'. Nothing is
 * looked up: the processes are those that the input names. What is printed is text, or a line of JSON again.
 */
#include "fuzz.h"

#include "base/json_read.h"
#include "cmd/status/frame.h"
#include "cmd/status/frame_text.h"

static void on_nothing(void *ctx, const char *path, enum json_event event, const char *text, size_t len)
{
}

/* The real output, in a file: as JSON without TEXT. */
static size_t shown(struct frame_text *text, const struct frame *frame, const char *line, char *buf, size_t size)
{
	static int file = -1;
	ssize_t n;

	if (file < 0)
		EXPECT((file = memfd_create("stdout", MFD_CLOEXEC)) >= 0 && dup2(file, STDOUT_FILENO) >= 0);
	EXPECT(ftruncate(file, 0) == 0 && lseek(file, 0, SEEK_SET) == 0);
	if (text)
		frame_text_show(text, frame, line); /* whatever it is, as text */
	else
		frame_print_json(frame, line, NULL);
	EXPECT(fflush(stdout) == 0 && (n = pread(file, buf, size, 0)) >= 0);
	return (size_t)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct frame_text text = { .name = "fuzz" };
	static struct frame frame;
	static char out[1U << 20];
	autofree char *line = fuzz_text(data, size);
	size_t n;

	if (frame_read(&frame, line, size) < 0)
		return 0;
	EXPECT(frame.n_calls <= LIVE_CALLS_MAX && frame.n_sums <= FRAME_SUMS_MAX);
	n = shown(NULL, &frame, line, out, sizeof(out));
	EXPECT(n && memchr(out, '\n', n) == out + n - 1 && json_read(out, n, on_nothing, NULL) == 0);
	n = shown(&text, &frame, line, out, sizeof(out));
	EXPECT(n && !memchr(out, '\033', n));
	return 0;
}
