/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One .out file, plain or packed (the first byte says how): read to its end, gone back in, and summed
 * up as --keep does before it drops a segment, which root does with files in a user's folder.
 */
#include "drain/rows/rollup.h"
#include "fuzz.h"
#include "trace/reader.h"
#include "trace/sink.h"

#define BACK_MAX 8

/* Reads every row, then the first ones again, which must be the same. */
static void read_all(struct reader *rd)
{
	uint64_t offsets[BACK_MAX], number, rows = 0;
	size_t lengths[BACK_MAX];
	struct reader_row row;

	while (reader_next(rd, &row) > 0) {
		for (unsigned int i = 0; i <= rd->n_columns; i++) {
			reader_u64(reader_field(&row, i), &number);
			reader_flag(reader_field(&row, i), "DIRECT");
		}
		if (rows < BACK_MAX) {
			offsets[rows] = row.offset;
			lengths[rows] = reader_field(&row, 1).len;
		}
		rows++;
	}
	EXPECT(rd->rows == rows);
	EXPECT(reader_next(rd, &row) <= 0);
	for (unsigned int i = 0; i < MIN(rows, BACK_MAX); i++) {
		EXPECT(reader_seek(rd, offsets[i]) == 0);
		EXPECT(reader_next(rd, &row) > 0);
		EXPECT(row.offset == offsets[i] && reader_field(&row, 1).len == lengths[i]);
	}
}

static void sum_up(struct reader *rd)
{
	static char file[64];
	autoclose int dir = open(fuzz_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sink out = { .fd = -1 };
	struct rollup sums;

	snprintf(file, sizeof(file), "rollup.out");
	unlinkat(dir, file, 0);
	EXPECT(sink_open(&out, dir, file) == 0);
	rollup_init(&sums);
	rollup_rows(&sums, rd, &out, 1);
	rollup_free(&sums);
	sink_close(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum pack pack;
	struct reader rd;

	if (!size)
		return 0;
	pack = (enum pack)(*data % PACKS);
	if (reader_open_fd(&rd, fuzz_file(data + 1, size - 1), pack, size - 1) < 0)
		return 0;
	read_all(&rd);
	reader_close(&rd);
	if (*data < PACKS)
		return 0;
	EXPECT(reader_open_fd(&rd, fuzz_file(data + 1, size - 1), pack, size - 1) == 0);
	sum_up(&rd);
	reader_close(&rd);
	return 0;
}

FUZZ_NUMBERS
