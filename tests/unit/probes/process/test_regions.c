/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages of dltraced.h as rows (tests/golden/regions.txt); live regions, and messages that our header never sends. */
#include "drain/rows/regions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "records.h"
#include "trace/record.h"

/* Returns a message for the next record, with its texts. */
static struct dltraced_msg message(enum dltraced_op op, const char *name, const char *args)
{
	struct dltraced_msg m = {
		.op = (uint8_t)op,
		.name_len = (uint8_t)strlen(name),
		.args_len = (uint8_t)strlen(args),
		.epoch = DLTRACED_NONE,
		.step = DLTRACED_NONE,
		.bytes = DLTRACED_NONE,
		.lane = DLTRACED_NONE,
	};

	strcpy(m.text, name);
	strcpy(m.text + m.name_len, args);
	return m;
}

/* LEN bytes of M arrive by the ring; the region began NS before their TIMESTAMP. */
static void sends_part(struct dltraced_msg m, uint64_t ns, size_t len)
{
	struct dlt_regions *rec = rec_begin(DLT_regions);

	m.start_ns = rec->hdr.ts_ns - ns;
	rec->msg_len = len;
	memcpy(rec->msg, &m, MIN(len, sizeof(rec->msg)));
	record.hdr.size = (uint32_t)(offsetof(struct dlt_regions, msg) +
				     (len <= DLT_REGIONS_SHORT ? DLT_REGIONS_SHORT : DLT_REGIONS_MSG_MAX));
	rec_emit();
}

static void sends(struct dltraced_msg m, uint64_t ns)
{
	sends_part(m, ns, DLT_REGIONS_HEAD + (size_t)m.name_len + m.args_len);
}

static unsigned int count(const char *text, char c)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void rows_have_a_programs_regions(void **state)
{
	struct dltraced_msg m;

	m = message(DLTRACED_OP_WHOLE, "ai.compute.step", "samples=32\nlr=0.1");
	m.epoch = 1;
	m.step = 99;
	m.lane = 7;
	sends(m, 5000);
	m = message(DLTRACED_OP_WHOLE, "ai.checkpoint.save", "");
	m.bytes = 1 << 20;
	m.flags = DLTRACED_FAILED;
	m.source = DLTRACED_SOURCE_TORCH;
	sends(m, 123456789);
	sends(message(DLTRACED_OP_WHOLE, "my.own.name", ""), 1);
	sends(message(DLTRACED_OP_WHOLE, "plain", ""), 1);
	sends(message(DLTRACED_OP_WHOLE, ".odd", ""), 1);
	sends(message(DLTRACED_OP_MARK, "half.way", ""), 1);
	sends(message(DLTRACED_OP_META, "batch_size", "32 or\tso"), 1);
	expect_golden(DLT_regions);
}

static void ends_process(uint32_t tgid, uint64_t now_ns)
{
	decode_life(&decode, &(struct dlt_pids){ .hdr = { .ts_ns = now_ns, .tgid = tgid }, .event = DLT_PIDS_EXIT });
}

static void a_live_region_has_one_row_however_it_ends(void **state)
{
	struct dltraced_msg ends = message(DLTRACED_OP_BEGIN, "ai.pipeline.epoch", "");
	struct dltraced_msg stays = message(DLTRACED_OP_BEGIN, "ai.checkpoint.save", "");
	autofree char *rows = NULL;

	ends.id = 1;
	stays.id = 2;
	sends(ends, 0);
	sends(stays, 0);
	ends.op = DLTRACED_OP_END;
	sends(ends, 1000000);
	sends(ends, 1000000); /* the end of a forgotten region: a row of its own, as in a forked child */
	ends_process(4711, record.hdr.ts_ns); /* another one */
	assert_int_equal(decode.counts[DLT_regions].filtered, 1);
	ends_process(record.hdr.tgid, record.hdr.ts_ns + 1);
	regions_stage.end(&decode, record.hdr.ts_ns + 2);
	rows = rows_of(DLT_regions);
	assert_int_equal(count(rows, '\n'), 3);
	assert_int_equal(count(rows, '?'), 1);
	assert_non_null(strstr(rows, "\tcheckpoint\tsave\t"));
	/* calls = rows + filtered */
	assert_int_equal(decode.counts[DLT_regions].records, 3 + decode.counts[DLT_regions].filtered);
}

static void lengths_that_lie_are_cut(void **state)
{
	struct dltraced_msg m = message(DLTRACED_OP_WHOLE, "name", "");
	autofree char *rows = NULL;

	memset(m.text, 'x', sizeof(m.text));
	m.name_len = m.args_len = 255;
	sends_part(m, 0, DLT_REGIONS_HEAD);
	sends_part(m, 0, DLT_REGIONS_HEAD + 3);
	sends_part(m, 0, sizeof(m));
	sends_part(m, 0, SIZE_MAX);
	sends_part(m, 0, 1);
	m.start_ns = 0;
	sends_part(m, UINT64_MAX, sizeof(m)); /* starts after its end */
	rows = rows_of(DLT_regions);
	assert_int_equal(count(rows, '\n'), 6);
	assert_null(strstr(rows, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\t0")); /* 65 */
}

static void more_live_regions_than_are_remembered_are_left_out(void **state)
{
	struct dltraced_msg m = message(DLTRACED_OP_BEGIN, "x", "");
	autofree char *rows = NULL;

	for (m.id = 0; m.id < 20000; m.id++)
		sends(m, 0);
	regions_stage.end(&decode, record.hdr.ts_ns);
	rows = rows_of(DLT_regions);
	assert_int_equal(count(rows, '\n') + decode.counts[DLT_regions].filtered, 20000);
	assert_in_range(count(rows, '\n'), 4000, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rows_have_a_programs_regions, decoder_make, decoder_remove),
		cmocka_unit_test_setup_teardown(a_live_region_has_one_row_however_it_ends, decoder_make,
						decoder_remove),
		cmocka_unit_test_setup_teardown(lengths_that_lie_are_cut, decoder_make, decoder_remove),
		cmocka_unit_test_setup_teardown(more_live_regions_than_are_remembered_are_left_out, decoder_make,
						decoder_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
