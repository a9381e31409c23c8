/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/util.h"
#include "trace/manifest_read.h"

static void reasons_are_listed_with_their_counts_where_there_are_several(void **state)
{
	const uint64_t by[LOSSES] = { [LOSS_BUFFER] = 7, [LOSS_DISK] = 1234 };
	autofree char *text = loss_text(by), *none = loss_text((const uint64_t[LOSSES]){ 0 });
	autofree char *one = loss_text((const uint64_t[LOSSES]){ [LOSS_SKIPPED] = 7 });

	assert_string_equal(
		text,
		"the ring buffers were full (use a larger --buffer) [7]; "
		"the disk was full, refused them, or had less than --min-free left (put the trace on another disk) [1234]");
	assert_string_equal(one, "the kernel skipped runs of dltraced's hooks (no option changes that)");
	assert_string_equal(none, "");
}

/* Each reason that the manifest may have is read back. */
static void each_reason_is_read_from_a_manifest(void **state)
{
	for (enum loss why = 0; why < LOSSES; why++) {
		autofree char *text = util_fmt("{\"probes\":[{\"name\":\"bio\",\"lost\":9,\"lost_by\":{\"%s\":9}}]}",
					       loss_kinds[why].key);
		struct manifest_facts *m = calloc(1, sizeof(*m));

		assert_int_equal(manifest_parse(m, text), 0);
		for (enum loss other = 0; other < LOSSES; other++)
			assert_int_equal(m->probes[0].lost_by[other], other == why ? 9 : 0);
		free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_are_listed_with_their_counts_where_there_are_several),
		cmocka_unit_test(each_reason_is_read_from_a_manifest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
