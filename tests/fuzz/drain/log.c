/* SPDX-License-Identifier: BSD-2-Clause */
/* The workload's output, which becomes rows of workload.out line by line. */
#include "fuzz.h"

#include "drain/logtail.h"
#include "drain/rows/decode.h"
#include "trace/probe.h"

static const struct config cfg;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct clock_reading start = { .mono_ns = NSEC_PER_SEC, .real_ns = 1795222923 * NSEC_PER_SEC };
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name = probes[DLT_workload]->name;
	struct sink *sink;
	struct logtail t;
	struct decode d;
	uint64_t lines = size && data[size - 1] != '\n';

	for (size_t i = 0; i < size; i++)
		lines += data[i] == '\n';
	fuzz_put("workload.log", data, size);
	unlinkat(dir, name, 0);
	EXPECT(decode_init(&d, &cfg) == 0 && logtail_open(&t, dir, "workload.log") == 0);
	clock_map_init(&d.clock, &start);
	sink = &d.sinks[DLT_workload];
	EXPECT(sink_open(sink, dir, name) == 0);
	logtail_read(&t, &d, 1);
	logtail_close(&t);
	EXPECT(sink_flush(sink) == 0 && sink->rows >= lines);
	decode_free(&d);
	return 0;
}
