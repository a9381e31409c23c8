/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What processes print, write by write: each begins with a byte for the process and one for the time since the last, in
 * 16 ms; bits for stderr, for a pipe, for something passed over before it and for a rest that was not copied; and two
 * with the length of its text.
 */
#include "fuzz.h"

#include "drain/rows/decode.h"
#include "drain/rows/printed.h"
#include "drain/rows/stage.h"
#include "trace/probe.h"

#define WRITES_MAX 64
#define HEAD 5
#define STDERR 1
#define OF_PIPE 2
#define GAP 4
#define CUT 8

static const struct config cfg;

static void take(struct decode *d, const uint8_t *head, const uint8_t *text, size_t len, uint64_t now_ns, uint32_t gaps)
{
	autofree struct dlt_printed *rec = calloc(1, sizeof(*rec) + len);

	*rec = (struct dlt_printed){
		.hdr = { .ts_ns = now_ns,
			 .tgid = head[0],
			 .tid = head[0],
			 .probe = DLT_printed,
			 .size = (uint32_t)(sizeof(*rec) + len) },
		.id = { .ino = 1U + (head[2] & OF_PIPE) },
		.mode = head[2] & OF_PIPE ? S_IFIFO : S_IFREG,
		.fd = 1U + (head[2] & STDERR),
		.bytes = (uint32_t)(len + (head[2] & CUT)),
		.gaps = gaps,
	};
	memcpy(rec + 1, text, len);
	decode_record(d, rec, rec->hdr.size);
	printed_stage.turn(d, now_ns);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct clock_reading start = { .mono_ns = NSEC_PER_SEC, .real_ns = 1795222923 * NSEC_PER_SEC };
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t now_ns = NSEC_PER_SEC, most = 0;
	uint32_t gaps = 0;
	struct sink *sink;
	struct decode d;

	unlinkat(dir, "printed", 0);
	EXPECT(decode_init(&d, &cfg) == 0 && printed_stage.open(&d) == 0);
	clock_map_init(&d.clock, &start);
	sink = &d.sinks[DLT_printed];
	EXPECT(sink_open(sink, dir, "printed") == 0);
	for (unsigned int i = 0; i < WRITES_MAX && size > HEAD; i++) {
		const uint8_t *head = data;
		size_t len = MIN(head[3] | (size_t)head[4] << 8, size - HEAD);

		now_ns += head[1] * 16 * NSEC_PER_MSEC;
		gaps += !!(head[2] & GAP);
		take(&d, head, data + HEAD, len, now_ns, gaps);
		most += 2 + len; /* a line has at least a byte, and is read once more when it continues */
		data += HEAD + len;
		size -= HEAD + len;
	}
	printed_stage.end(&d, 0);
	EXPECT(sink_flush(sink) == 0 && sink->rows <= most && !sink->late);
	printed_stage.free(TAKE_PTR(d.state[DLT_printed]));
	decode_free(&d);
	return 0;
}
