/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records put together as the kernel side does, and what decode makes of them in a folder of the test: decoder_make()
 * and decoder_remove() are its fixture.
 */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdlib.h>
#include <string.h>

#include "drain/rows/decode.h"
#include "drain/rows/process_rows.h"
#include "drain/rows/stage.h"
#include "drain/stages.h"
#include "trace/files.h"
#include "trace/probe.h"
#include "trace/record.h"
#include "tree.h"

#define START_NS (1000 * NSEC_PER_SEC) /* CLOCK_MONOTONIC when the trace began */
#define START_REAL_NS (1795222923 * NSEC_PER_SEC) /* 2026-11-21T01:02:03Z */
#define NO_SUCH_PID 5000000 /* above PID_MAX_LIMIT, linux/threads.h */

static struct config config;
static struct decode decode;

static union {
	struct dlt_hdr hdr;
	char bytes[IN_FLIGHT_REC_MAX];
} record;

/* The current record, empty except for its header: each is a millisecond later than the last. */
static inline void *rec_begin(unsigned int probe)
{
	uint64_t ts_ns = record.hdr.ts_ns ? record.hdr.ts_ns + NSEC_PER_MSEC : START_NS;

	memset(&record, 0, sizeof(record));
	record.hdr = (struct dlt_hdr){
		.ts_ns = ts_ns,
		.lat_ns = 1500,
		.tgid = 100,
		.tid = 101,
		.comm = "python",
		.probe = (uint16_t)probe,
		.size = (uint32_t)probes[probe]->rec_size,
	};
	return &record;
}

/* Appends BYTES as segment I; segments come in rising order. */
static inline void rec_bytes(struct dlt_segs *segs, unsigned int i, const char *bytes, size_t len)
{
	assert_true(record.hdr.size + len <= sizeof(record));
	memcpy(record.bytes + record.hdr.size, bytes, len);
	record.hdr.size += (uint32_t)len;
	segs->len[i] = (uint16_t)len;
}

/* A string as the program passed it. */
static inline void rec_str(struct dlt_segs *segs, unsigned int i, const char *s)
{
	rec_bytes(segs, i, s, strlen(s) + 1);
}

/* "/a/b" as the kernel side walks it, from the last component to the first; "/" is one, empty. */
static inline void rec_path(struct dlt_segs *segs, unsigned int i, const char *path)
{
	size_t len = strlen(path), at = 0;
	autofree char *walked = calloc(1, len + 1);

	for (size_t end = len; end;) {
		size_t start = end;

		while (path[start - 1] != '/')
			start--;
		memcpy(walked + at, path + start, end - start);
		at += end - start + 1;
		end = start - 1;
	}
	rec_bytes(segs, i, walked, at);
}

/* The record as a ring returns it, but at the end of its memory, so that ASan notices a read beyond. */
static inline void rec_emit(void)
{
	autofree char *copy = malloc(record.hdr.size);

	memcpy(copy, &record, record.hdr.size);
	decode_record(&decode, copy, record.hdr.size);
}

static inline struct dlt_file_id id_of(uint64_t ino)
{
	return (struct dlt_file_id){ .ino = ino, .dev = 259 << 20 | 2, .gen = 7 };
}

static inline struct dlt_file file_of(uint64_t ino)
{
	return (struct dlt_file){
		.id = id_of(ino),
		.size = 4096,
		.mode = S_IFREG | 0644,
		.magic = 0xef53,
		.fstype = "ext4",
	};
}

/* Informs decode that FILE has PATH. */
static inline void learn(struct dlt_file file, const char *path)
{
	struct dlt_files *rec = rec_begin(DLT_files);

	rec->file = file;
	rec_path(&rec->segs, 0, path);
	rec_emit();
}

static inline int decoder_make(void **state)
{
	const struct clock_reading start = { .mono_ns = START_NS, .real_ns = START_REAL_NS };
	autoclose int dir = -1;

	memset(&config, 0, sizeof(config));
	memset(&record, 0, sizeof(record));
	if (tree_make(state) < 0 || decode_init(&decode, &config) < 0)
		return -1;
	decode.stages = drain_stages;
	clock_map_init(&decode.clock, &start);
	dir = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (sink_open(&decode.sinks[i], dir, probes[i]->name) < 0)
			return -1;
	return 0;
}

static inline int decoder_remove(void **state)
{
	decode_free(&decode);
	return tree_remove(state);
}

/* Returns the rows of PROBE so far. */
static inline char *rows_of(unsigned int probe)
{
	autofree char *path = tree_path(probes[probe]->name);
	char *text;

	process_rows_stage.end(&decode, 0);
	assert_int_equal(sink_flush(&decode.sinks[probe]), 0);
	assert_int_equal(util_read_file(path, 1 << 24, &text, NULL), 0);
	return text;
}

/* Line by line: of a long text cmocka shows only the beginning. */
static inline void expect_lines(const char *got, const char *want)
{
	while (*got || *want) {
		size_t got_len = strcspn(got, "\n"), want_len = strcspn(want, "\n");
		autofree char *got_line = strndup(got, got_len);
		autofree char *want_line = strndup(want, want_len);

		assert_string_equal(got_line, want_line);
		assert_int_equal(got[got_len], want[want_len]);
		got += got_len + (got[got_len] == '\n');
		want += want_len + (want[want_len] == '\n');
	}
}

static inline void expect_rows(unsigned int probe, const char *want)
{
	autofree char *got = rows_of(probe);

	expect_lines(got, want);
}

/* The file of PROBE, with its header, equals tests/golden/NAME.txt. */
static inline void expect_golden(unsigned int probe)
{
	autofree char *path = util_fmt("tests/golden/%s.txt", probes[probe]->name), *want = NULL;
	autofree char *rows = rows_of(probe), *got = malloc(4096 + strlen(rows));

	strcpy(record_put_header(got, probes[probe]), rows);
	assert_int_equal(util_read_file(path, 1 << 20, &want, NULL), 0);
	expect_lines(got, want);
}

#define WITH_DECODER(test) cmocka_unit_test_setup_teardown(test, decoder_make, decoder_remove)

#endif
