/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records as they come out of a ring. The kernel is trusted, but a record can be shorter than it says,
 * and its strings are the programs'. Each begins with its probe, how much of it there is, and which
 * of its lengths the input sets; the rest is the record.
 */
#include "fuzz.h"

#include "drain/rows/decode.h"
#include "drain/rows/printed.h"
#include "drain/rows/stage.h"
#include "drain/stages.h"
#include "trace/probe.h"

#define RECORDS_MAX 16

static struct config cfg = { .probes = UINT32_MAX };

static void decoder_open(struct decode *d)
{
	const struct clock_reading start = { .mono_ns = 1000 * NSEC_PER_SEC, .real_ns = 1795222923 * NSEC_PER_SEC };

	EXPECT(decode_init(d, &cfg) == 0 && decode_stages(d, drain_stages, PROBE_BIT(DLT_printed)) == 0);
	clock_map_init(&d->clock, &start);
}

/* Only for probes with records: each sink takes a file and a megabyte. */
static void sink_needed(struct decode *d, unsigned int probe)
{
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (!probe || probe >= DLT_PROBES || d->sinks[probe].fd >= 0)
		return;
	unlinkat(dir, probes[probe]->name, 0);
	EXPECT(sink_open(&d->sinks[probe], dir, probes[probe]->name) == 0);
}

/* Like decode_row(), into memory of exactly the size that a row may have. */
static void put_row(struct decode *d, const struct probe *p, const struct dlt_hdr *rec)
{
	autofree char *row = malloc(SINK_ROW_MAX);
	char *end;

	if (p->decode || rec->size < p->rec_size)
		return;
	end = record_put_row(row, p, rec, &d->ctx);
	EXPECT((size_t)(end - row) <= SINK_ROW_MAX);
	EXPECT(end[-1] == '\n' && !memchr(row, '\n', (size_t)(end - row) - 1));
	EXPECT(!memchr(row, '\0', (size_t)(end - row)));
}

/*
 * The record lies at the end of its memory. Fields of its header that would only cause reads of /proc or sleeps are
 * replaced.
 */
static void take(struct decode *d, const uint8_t *data, size_t size, unsigned int probe, bool whole)
{
	autofree struct dlt_hdr *rec = calloc(1, size);

	memcpy(rec, data, size);
	if (size >= sizeof(*rec)) {
		rec->probe = (uint16_t)probe;
		rec->tgid |= 1U << 30; /* a number that no process has */
		if (whole || rec->size > size)
			rec->size = (uint32_t)size;
	}
	sink_needed(d, probe);
	sink_needed(d, cfg.rollup_only ? DLT_rollup : DLT_files);
	if (probe == DLT_open)
		sink_needed(d, DLT_create_del);
	decode_record(d, rec, (uint32_t)size);
	if (size >= sizeof(*rec) && probe && probe < DLT_PROBES)
		put_row(d, probes[probe], rec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct decode d;

	cfg.rollup_only = size && *data & 1;
	decoder_open(&d);
	for (unsigned int i = 0; i < RECORDS_MAX && size > 4; i++) {
		unsigned int probe = data[0] >> 1;
		bool whole = data[1] & 1;
		size_t len = data[2] | (size_t)data[3] << 8;

		data += 4;
		size -= 4;
		len = MIN(len, size);
		if (len)
			take(&d, data, len, probe % (DLT_PROBES + 1), whole);
		data += len;
		size -= len;
	}
	decode_files_again(&d, 2000 * NSEC_PER_SEC);
	printed_stage.end(&d, 0);
	decode_free(&d);
	return 0;
}
