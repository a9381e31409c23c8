/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/stall/remote.h"

#include <errno.h>
#include <string.h>

#include "host/stall/process_reader.h"

ssize_t remote_string(pid_t pid, uint64_t addr, char buf[REMOTE_STRING_MAX])
{
	const struct process_reader_look look = { .pid = pid, .max = { REMOTE_STRING_MAX }, .addr = addr };
	struct process_reader_text texts[PROCESS_READER_TEXTS];
	int r = process_reader_query(&look) ?: process_reader_answer(-1, texts);
	ssize_t n = r < 0 ? r : texts[0].len;

	if (n > 0) {
		n = (ssize_t)strnlen(texts[0].text, (size_t)n - 1);
		*(char *)mempcpy(buf, texts[0].text, (size_t)n) = '\0';
	}
	return n;
}
