/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole trace folder: its files one after the other, each behind a line "=== NAME". Loaded and rendered in every
 * form, that on CPU time too, validated, and copied: a copy of a valid one is valid.
 */
#include "fuzz.h"

#include <ftw.h>

#include "base/json.h"
#include "base/log.h"
#include "folder/anonymize.h"
#include "folder/cut.h"
#include "folder/merge.h"
#include "report/compare.h"
#include "report/cpu/cpu.h"
#include "report/cpu/load.h"
#include "report/memory/memory_map.h"
#include "report/report.h"
#include "report/scan/model.h"
#include "report/show/show.h"
#include "report/show/svg/memory.h"
#include "validate/validate.h"

static const char *const names[] = {
	"access.out",
	"alloc.out",
	"bio.000001.out",
	"bio.000002.out.gz",
	"bio.out",
	"close.out",
	"cpu.out",
	"create_del.out",
	"files.000001.out.zst",
	"files.out",
	"manifest.json",
	"marks.out",
	"mmap.out",
	"open.out",
	"pids.out",
	"rollup.out",
	"sched.out",
	"sched_switch.out",
	"sites.out",
	"sync.out",
	"time_align.out",
	"vfs_rw.000001.out",
	"vfs_rw.000002.out.gz",
	"vfs_rw.000002.out.gz.tmp",
	"vfs_rw.000003.out.zst",
	"vfs_rw.out",
	"workload.log",
	"workload.out",
};

static void put_files(const uint8_t *data, size_t size)
{
	static bool there[ARRAY_SIZE(names)];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		autofree char *path = util_fmt("%s/%s", fuzz_folder(), names[i]);

		if (there[i])
			unlink(path);
		there[i] = false;
	}
	for (const uint8_t *end; size > 4; data = end) {
		const uint8_t *text = memchr(data + 4, '\n', size - 4);
		size_t len;

		if (!text || memcmp(data, "=== ", 4))
			return;
		text++;
		size -= (size_t)(text - data);
		end = memmem(text, size, "=== ", 4);
		len = end ? (size_t)(end - text) : size;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (strlen(names[i]) == (size_t)(text - data) - 5 &&
			    !memcmp(names[i], data + 4, strlen(names[i]))) {
				fuzz_put(names[i], text, len);
				there[i] = true;
			}
		size -= len;
		if (!end)
			return;
	}
}

static void of_cpu(void)
{
	static const struct report_cpu_options o = {
		.merge = "+py",
		.pattern = "p*,[",
		.threshold_permille = 1,
		.gap_ns = 1,
	};
	struct report_cpu *r;

	if (report_cpu_load(&r, fuzz_folder(), &o) < 0)
		return;
	report_cpu_text(r, fuzz_nowhere());
	report_cpu_free(r);
}

/* A report on one data set, and a comparison of the trace with itself. */
static void of_path(void)
{
	static const struct report_options o = { .timed = true, .path = "/d" };
	struct report *r[2] = { NULL };
	struct json j = { 0 };
	struct compare c;

	if (report_load(&r[0], fuzz_folder(), &o) < 0)
		return;
	r[1] = r[0];
	EXPECT(r[0]->only.left_out <= r[0]->only.rows);
	report_text(r[0], fuzz_nowhere());
	EXPECT(compare_init(&c, r, 2) == 0);
	compare_text(&c, fuzz_nowhere());
	compare_json(&c, &j);
	EXPECT(json_write(&j, fuzz_nowhere()) == 0);
	compare_free(&c);
	report_free(r[0]);
}

/* A report on a part of the time. */
static void of_window(void)
{
	static const struct report_options o = { .timed = true, .window = { 1001000000000, 1005000000000 } };
	struct report *r;
	struct json j = { 0 };

	if (report_load(&r, fuzz_folder(), &o) < 0)
		return;
	report_text(r, fuzz_nowhere());
	report_json(r, &j);
	EXPECT(json_write(&j, fuzz_nowhere()) == 0);
	report_free(r);
}

static int merged(const char *to)
{
	return merge_folder(fuzz_folder(), to);
}

static int anonymized(const char *to)
{
	struct names names;

	names_init(&names, "a key of 16 bytes", 16);
	return anonymize_folder(fuzz_folder(), to, &names);
}

static int cut_out(const char *to)
{
	static const struct cut_options part = { .times.from = { .given = true, .ns = 1 }, .pids = { { 1000 }, 1 } };

	return cut_folder(fuzz_folder(), to, &part);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return remove(path);
}

static void of_copies(bool valid)
{
	static int (*const make[])(const char *to) = { merged, anonymized, cut_out };
	autofree char *to = util_fmt("%s.copy", fuzz_folder());

	log_to(fileno(fuzz_nowhere()));
	for (size_t i = 0; i < ARRAY_SIZE(make); i++) {
		const int res = make[i](to);

		EXPECT(!valid || res < 0 || (res == 0 && validate_run(to, fuzz_nowhere()) == 0));
		nftw(to, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct json j = { 0 };
	struct report *r;

	put_files(data, size);
	of_cpu();
	of_path();
	of_window();
	of_copies(validate_run(fuzz_folder(), fuzz_nowhere()) == 0);
	if (report_load(&r, fuzz_folder(),
			&(struct report_options){ .timed = true, .memory = &(struct memory_options){ 0 } }) < 0)
		return 0;
	report_text(r, fuzz_nowhere());
	if (report_has_memory(r))
		report_memory_svg(r, fuzz_nowhere());
	report_screen(r, 80, fuzz_nowhere());
	report_json(r, &j);
	EXPECT(json_write(&j, fuzz_nowhere()) == 0);
	report_free(r);
	return 0;
}

FUZZ_NUMBERS
