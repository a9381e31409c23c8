/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/memory_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../tree.h"
#include "report/report.h"
#include "report/scan/model.h"

#define ALLOC \
	"# dltraced alloc 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tADDR\tSIZE\tOLD_ADDR\tOLD_SIZE\tLIFE_NS\tALLOC_TID\tSITE\tOLD_SITE\n"
#define ACCESS \
	"# dltraced access 1\nTIMESTAMP\tTIME\tPID\tSOURCE\tSPAN_NS\tADDR\tBYTES\tTOUCHED\tWRITTEN\tCOUNT\tHUGE\tNODE\tTID\tIP\tKIND\tFID\tOFFSET\tSITE\n"
#define MANIFEST "{\"tool\":\"dltraced\",\"schema\":1,\"complete\":true,\"probes\":[]}"

static FILE *file;
static char *text;
static size_t text_len;

static void begin(const char *head)
{
	file = open_memstream(&text, &text_len);
	fputs(head, file);
}

static void end(const char *name)
{
	fclose(file);
	tree_put(name, text);
	free(text);
}

static void row(unsigned int ms, unsigned int pid, const char *source, unsigned long long addr,
		unsigned long long bytes, unsigned long long touched)
{
	fprintf(file, "10%09u000\t-\t%u\t%s\t%s\t0x%llx\t%llu\t%llu\t-\t%s\t-\t-\t-\t-\tanon\t-\t-\t-\n",
		ms * 1000000 / 1000, pid, source, *source == 'p' ? "10000000" : "0", addr, bytes, touched,
		*source == 'p' ? "-" : "1");
}

static struct report *loaded(const struct memory_options *o)
{
	struct report *r = NULL;

	tree_put("manifest.json", MANIFEST);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true, .memory = o }), 0);
	return r;
}

/* A line is as short as the large process allows, however many small ones there are. */
static void small_processes_do_not_make_lines_long(void **state)
{
	struct report *r;

	begin(ACCESS);
	row(10, 1, "pages", 0x10000000, 48 << 20, 48 << 20);
	for (unsigned int i = 2; i < 102; i++)
		row(10, i, "pages", 0x7f0000000000, 4096, 4096);
	end("access.out");
	r = loaded(&(struct memory_options){ 0 });
	assert_non_null(r->memory);
	assert_int_equal(r->memory->line_bytes, 128 << 10);
	assert_int_equal(r->memory->processes_left_out, 101 - MEMORY_PROCESSES);
	assert_int_equal(r->memory->parts_left_out, MEMORY_PROCESSES - 1);
	assert_int_equal(r->memory->n_parts, 1);
	assert_int_equal(r->memory->cells.lines, 48 * 8);
	report_free(r);
	/* the user's own lines show all of them */
	r = loaded(&(struct memory_options){ .block_bytes = 64 << 10 });
	assert_int_equal(r->memory->n_parts, 101);
	assert_int_equal(r->memory->cells.lines, 768 + 100);
	report_free(r);
}

/* Faults of one page at a time add up; a cell cannot have more than all. */
static void faults_add_up(void **state)
{
	enum cells_written hue;
	struct report *r;

	begin(ACCESS);
	for (unsigned int i = 0; i < 8; i++)
		row(10 + i, 1, "faults", 0x10000 + i * 4096 + 77, 4096, 4096); /* the address to the byte */
	end("access.out");
	r = loaded(&(struct memory_options){ .block_bytes = 64 << 10, .bin_ns = 1000000000 });
	assert_int_equal(r->memory->cells.lines, 1);
	assert_int_equal(r->memory->cells.bins, 1);
	assert_int_equal(cells_level(&r->memory->cells, 0, 0, &hue), 4);
	assert_int_equal(hue, CELLS_UNKNOWN);
	report_free(r);
}

static void largest_blocks_are_kept(void **state)
{
	const unsigned int n = MEMORY_BLOCKS_MAX + 10;
	struct report *r;

	begin(ALLOC);
	for (unsigned int i = 1; i <= n; i++)
		fprintf(file, "10%09u000\t-\t1\t1\ta\tmalloc\t0x%llx\t%u\t-\t-\t-\t-\t1\t-\n", i,
			0x10000000ULL + i * 65536ULL, 4096 + i);
	end("alloc.out");
	r = loaded(&(struct memory_options){ 0 });
	assert_int_equal(r->memory->n_blocks, MEMORY_BLOCKS_MAX);
	assert_int_equal(r->memory->all_blocks, n);
	assert_int_equal(r->memory->block[0].b.size, 4096 + n);
	assert_int_equal(r->memory->block[MEMORY_BLOCKS_MAX - 1].b.size, 4096 + 11);
	report_free(r);
	r = loaded(&(struct memory_options){ .min_bytes = 4096 + n });
	assert_int_equal(r->memory->n_blocks, 1);
	report_free(r);
}

/* However many addresses blocks have had, one that is still in use is known. */
static void blocks_that_ended_leave_room(void **state)
{
	const unsigned int n = ACCESSES_LIVE_MAX + 10;
	struct report *r;

	begin(ALLOC);
	for (unsigned int i = 1; i <= n; i++) {
		const unsigned long long addr = 0x10000000ULL + i * 65536ULL;

		fprintf(file, "10%09u000\t-\t1\t1\ta\tmalloc\t0x%llx\t4096\t-\t-\t-\t-\t1\t-\n", i, addr);
		if (i != 1 && i != n)
			fprintf(file, "10%09u000\t-\t1\t1\ta\tfree\t0x%llx\t4096\t-\t-\t0\t1\t1\t-\n", i, addr);
	}
	fprintf(file, "10%09u000\t-\t1\t1\ta\tmalloc\t0x10000\t9000\t-\t-\t-\t-\t1\t-\n", n + 1);
	end("alloc.out");
	r = loaded(&(struct memory_options){ .min_bytes = 4096 });
	assert_int_equal(r->memory->all_blocks, n + 1);
	report_free(r);
	r = loaded(&(struct memory_options){ .from = 0x10000, .to = 0x20000 });
	assert_non_null(r->memory);
	assert_int_equal(r->memory->block[0].b.size, 9000);
	report_free(r);
}

static void without_rows_there_is_none(void **state)
{
	struct report *r;

	begin(ACCESS);
	end("access.out");
	r = loaded(&(struct memory_options){ 0 });
	assert_null(r->memory);
	report_free(r);
	tree_put("access.out",
		 ACCESS "1000000000\t-\t1\tpages\t10\t0x1000\t4096\t4096\t-\t-\t-\t-\t-\t-\tanon\t-\t-\t-\n");
	r = loaded(NULL);
	assert_null(r->memory); /* not asked for */
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(small_processes_do_not_make_lines_long),
		IN_TREE(faults_add_up),
		IN_TREE(largest_blocks_are_kept),
		IN_TREE(blocks_that_ended_leave_room),
		IN_TREE(without_rows_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
