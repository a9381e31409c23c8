/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/access/perf_losses.h"

#include <linux/perf_event.h>
#include <string.h>

struct ring {
	const uint8_t *at;
	size_t bytes;
};

/* The ring wraps, but not within a word: records are multiples of 8 bytes. */
static uint64_t word_at(const struct ring *r, uint64_t pos)
{
	uint64_t word;

	memcpy(&word, r->at + (pos & (r->bytes - 1)), sizeof(word));
	return word;
}

/* The record at POS, of SIZE bytes. Those that are not asked for here are skipped: other kernels have more of them. */
static void record_add(struct perf_losses *sum, const struct ring *r, uint64_t pos, uint32_t type, uint16_t size)
{
	const uint64_t body = pos + sizeof(struct perf_event_header);

	if (type == PERF_RECORD_THROTTLE)
		sum->throttled++;
	else if (type == PERF_RECORD_LOST && size >= sizeof(struct perf_event_header) + 16)
		sum->lost_records += word_at(r, body + 8); /* behind the event's number */
	else if (type == PERF_RECORD_LOST_SAMPLES && size >= sizeof(struct perf_event_header) + 8)
		sum->lost_samples += word_at(r, body);
}

void perf_losses_read(struct perf_losses *sum, struct perf_event_mmap_page *page, const uint8_t *at, size_t bytes)
{
	const struct ring r = { at, bytes };
	const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t pos = page->data_tail;

	while (head - pos >= sizeof(struct perf_event_header) && head - pos <= bytes) {
		const uint64_t word = word_at(&r, pos);
		struct perf_event_header h;

		memcpy(&h, &word, sizeof(h));
		if (h.size < sizeof(h) || h.size % 8 || h.size > head - pos)
			break; /* no record: the rest cannot be read */
		record_add(sum, &r, pos, h.type, h.size);
		pos += h.size;
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

void perf_losses_add(struct perf_losses *sum, const struct perf_losses *more)
{
	sum->throttled += more->throttled;
	sum->lost_samples += more->lost_samples;
	sum->lost_records += more->lost_records;
}
