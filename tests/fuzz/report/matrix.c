/* SPDX-License-Identifier: BSD-2-Clause */
/* The matrix.tsv of many runs, which may be anybody's, in each form of `dltraced report --matrix'. */
#include "base/json.h"
#include "fuzz.h"
#include "report/matrix.h"
#include "report/show/svg/matrix.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json j = { 0 };
	struct matrix m;
	uint64_t runs = 0, counted = 0;

	if (matrix_parse(&m, fuzz_text(data, size)) < 0)
		return 0;
	for (uint32_t i = 0; i < m.n_modes; i++) {
		const struct matrix_sum *s = &m.mode[i].sum[USAGE_WALL_NS];

		runs += m.mode[i].runs;
		counted += m.mode[i].counted;
		EXPECT(!m.mode[i].counted || (s->min <= s->median && s->median <= s->max));
		EXPECT(!s->pairs || (s->low <= s->overhead && s->overhead <= s->high));
	}
	EXPECT(runs == m.n_runs && counted + m.left_out == runs);
	matrix_text(&m, fuzz_nowhere());
	matrix_svg(&m, fuzz_nowhere());
	matrix_json(&m, &j);
	EXPECT(json_write(&j, fuzz_nowhere()) == 0);
	matrix_free(&m);
	return 0;
}

FUZZ_NUMBERS
