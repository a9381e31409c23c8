/* SPDX-License-Identifier: BSD-2-Clause */
#include "report/memory/accesses.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../tree.h"
#include "report/memory/access_maps.h"
#include "report/report.h"

#define ALLOC \
	"# dltraced alloc 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tADDR\tSIZE\tOLD_ADDR\tOLD_SIZE\tLIFE_NS\tALLOC_TID\tSITE\tOLD_SITE\n"
#define ACCESS \
	"# dltraced access 1\nTIMESTAMP\tTIME\tPID\tSOURCE\tSPAN_NS\tADDR\tBYTES\tTOUCHED\tWRITTEN\tCOUNT\tHUGE\tNODE\tTID\tIP\tKIND\tFID\tOFFSET\tSITE\n"
#define MAPS \
	"# dltraced mmap 1\nTIMESTAMP\tTIME\tPID\tTID\tCOMM\tFUNC\tLAT_NS\tRET\tADDR\tLEN\tPROT\tFLAGS\tFD\tOFFSET\tOLD_ADDR\tOLD_LEN\tFID\tFILE\n"
#define FILES "# dltraced files 1\nTIMESTAMP\tTIME\tFID\tDEV\tINO\tTYPE\tFSTYPE\tSIZE\tSTATE\tREALPATH\n"
#define PIDS "# dltraced pids 1\nTIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS\n"
#define MS "000000" /* of a number of ms, in ns */
#define AT(ms) "10000000" ms MS "\t2026-11-21T01:02:03." ms "000000Z\t"
#define PAGES(ms, pid, addr, bytes, touched, kind) \
	AT(ms) pid "\tpages\t10" MS "\t" addr "\t" bytes "\t" touched "\t-\t-\t-\t-\t-\t-\t" kind "\t-\n"
#define SAMPLES(ms, addr, bytes, count) \
	AT(ms) "10\tpmu\t10" MS "\t" addr "\t" bytes "\t-\t-\t" count "\t-\t-\t-\t-\t-\t-\t-\t-\n"
#define FAULT(ms, addr, written) \
	AT(ms) "10\tfaults\t0\t" addr "\t4096\t4096\t" written "\t1\t-\t-\t10\t0x1\theap\t-\t-\t-\n"

static struct report *loaded(const char *alloc, const char *access)
{
	struct report *r = NULL;

	tree_put("manifest.json", "{\"tool\":\"dltraced\",\"schema\":1,\"complete\":true,\"probes\":[]}");
	if (alloc)
		tree_put("alloc.out", alloc);
	tree_put("access.out", access);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	return r;
}

static const struct report_access_site *site_of(const struct report *r, enum access_order order, uint64_t id)
{
	for (unsigned int i = 0; i < r->accesses->n_sites[order]; i++)
		if (r->accesses->site[order][i].id == id)
			return &r->accesses->site[order][i];
	return NULL;
}

/* Blocks of four stacks; the numbers are added up by hand. */
static const char *const allocs = ALLOC AT("001") "10\t10\ta\tmalloc\t0x10000\t262144\t-\t-\t-\t-\t2\t-\n" AT(
	"001") "10\t10\ta\tmalloc\t0x100000\t65536\t-\t-\t-\t-\t3\t-\n" /* no row ends it */
	AT("050") "10\t10\ta\tmalloc\t0x200000\t8192\t-\t-\t-\t-\t3\t-\n" AT(
		"055") "10\t10\ta\tfree\t0x200000\t8192\t-\t-\t5" MS "\t10\t3\t-\n" /* no interval covers it */
	AT("100") "10\t10\ta\tfree\t0x10000\t262144\t-\t-\t99" MS "\t10\t2\t-\n" AT(
		"110") "10\t10\ta\tmalloc\t0x10000\t65536\t-\t-\t-\t-\t2\t-\n" /* where the other one has been */
	AT("160") "10\t10\ta\trealloc\t0x400000\t131072\t0x10000\t65536\t50" MS
		  "\t10\t5\t2\n" AT("200") "10\t10\ta\tmalloc\t0x300000\t65536\t-\t-\t-\t-\t4\t-\n" AT(
			  "225") "10\t10\ta\tfree\t0x300000\t65536\t-\t-\t25" MS
				 "\t10\t4\t-\n" /* its last touch is in the next row of pages */
	AT("240") "99\t99\tb\tmalloc\t0x300000\t65536\t-\t-\t-\t-\t6\t-\n"; /* a process that was not watched */
static const char *const pages = ACCESS PAGES("010", "10", "0x10000", "131072", "131072", "heap\t-\t-")
	PAGES("020", "10", "0x10000", "65536", "65536", "heap\t-\t-")
		PAGES("030", "10", "0x7f0000000000", "131072", "65536", "file\t5\t65536")
			PAGES("040", "20", "0x7e0000000000", "65536", "65536", "file\t5\t131072")
				PAGES("180", "10", "0x400000", "65536", "65536", "anon\t-\t-")
					PAGES("190", "10", "0x400000", "131072", "131072", "anon\t-\t-")
						PAGES("230", "10", "0x300000", "65536", "65536", "anon\t-\t-")
							PAGES("290", "10", "0x500000", "4096", "4096", "stack\t-\t-");

static void stacks_have_what_nothing_touched(void **state)
{
	struct report *r = loaded(allocs, pages);
	const struct report_access_site *s = site_of(r, ACCESSES_BY_UNTOUCHED, 2);

	assert_non_null(s);
	assert_int_equal(s->blocks, 2);
	assert_int_equal(s->bytes, 262144 + 65536);
	assert_int_equal(report_access_untouched(s), 131072 + 65536);
	assert_int_equal(s->untouched_blocks, 1);
	assert_int_equal(s->once, 65536);
	s = site_of(r, ACCESSES_BY_UNTOUCHED, 3);
	assert_int_equal(s->blocks, 1);
	assert_int_equal(report_access_untouched(s), 65536);
	/* but the short one, and that of process 99 */
	assert_int_equal(r->accesses->watched_bytes, 262144 + 65536 + 65536 + 131072 + 65536);
	assert_int_equal(r->accesses->untouched_bytes, 131072 + 65536 + 65536);
	assert_null(site_of(r, ACCESSES_BY_UNTOUCHED, 4)); /* all of it was touched */
	assert_int_equal(site_of(r, ACCESSES_BY_ONCE, 4)->once, 65536);
	assert_int_equal(site_of(r, ACCESSES_BY_ONCE, 5)->once, 65536);
	assert_null(site_of(r, ACCESSES_BY_UNTOUCHED, 6));
	report_free(r);
}

static void processes_have_what_they_touched(void **state)
{
	struct report *r = loaded(NULL, pages);
	const struct report_access_process *p = r->accesses->process;

	assert_int_equal(r->accesses->n_processes, 2);
	assert_int_equal(p->pid, 10);
	assert_int_equal(p->rows, 7);
	assert_int_equal(p->intervals, 7);
	assert_int_equal(p->most, 131072);
	assert_int_equal(p->ever.bytes, 131072 + 65536 + 131072 + 65536 + 4096);
	assert_int_equal(p->ever.written, 0);
	assert_int_equal(r->accesses->n_sites[ACCESSES_BY_UNTOUCHED], 0);
	report_free(r);
}

/* A sample shows that a page was touched, and nothing of what was not. */
static void samples_are_pages_at_most(void **state)
{
	struct report *r =
		loaded(allocs, ACCESS SAMPLES("010", "0x20000", "65536", "3") SAMPLES("010", "0x30008", "4096", "1")
				       SAMPLES("020", "0x40000", "65536", "1000"));
	const struct report_access_process *p = r->accesses->process;

	assert_int_equal(r->accesses->n_processes, 1);
	assert_int_equal(p->source, ACCESS_PMU);
	assert_int_equal(p->count, 1004);
	assert_int_equal(p->intervals, 2);
	assert_int_equal(p->most, 65536);
	assert_int_equal(p->sum, 65536 + 12288 + 4096);
	assert_int_equal(r->accesses->n_sites[ACCESSES_BY_UNTOUCHED], 0);
	report_free(r);
}

static void files_have_their_used_bytes(void **state)
{
	const struct report_access_file *f;
	struct report *r;

	tree_put(
		"mmap.out",
		MAPS AT("001") "10\t10\ta\tmmap\t9\t0x7f0000000000\t0\t1048576\tREAD\tSHARED\t3\t0\t-\t-\t5\tx\n" AT("002") "10\t10\ta\tmmap\t9\t-12\t0\t9999999\tREAD\tSHARED\t3\t0\t-\t-\t6\ty\n" AT(
			"003") "10\t10\ta\tmmap\t9\t0x7d0000000000\t0\t4194304\tREAD\tPRIVATE\t3\t1048576\t-\t-\t7\tz\n" AT("004") "10\t10\ta\tmunmap\t9\t0\t0x7d0000000000\t4194304\t-\t-\t-\t-\t-\t-\t8\tz\n");
	tree_put("files.out", FILES AT("001") "5\t8:1\t77\treg\text4\t800000\tok\t/data/x\n" AT(
				      "001") "7\t8:1\t78\treg\text4\t9000000\tok\t/data/z\n");
	r = loaded(NULL, pages);
	f = r->accesses->file;
	assert_int_equal(r->accesses->n_files, 2);
	assert_string_equal(f[0].path, "/data/z");
	assert_int_equal(f[0].mapped, 4194304);
	assert_int_equal(f[0].used.bytes, 0);
	assert_string_equal(f[1].path, "/data/x");
	assert_int_equal(f[1].mapped, 800000);
	/* half of each of two blocks by one process, all of the second by another */
	assert_int_equal(f[1].used.bytes, 32768 + 65536);
	report_free(r);
}

/* Where the source knows no file, mmap.out does: also of a mapping that another one has cut, has ended, or is the
 * parent's. */
static void files_are_found_by_address(void **state)
{
	const struct report_access_file *f;
	struct report *r;

	tree_put(
		"mmap.out",
		MAPS AT("001") "10\t10\ta\tmmap\t9\t0x7f0000000000\t0\t1048576\tREAD\tSHARED\t3\t65536\t-\t-\t5\tx\n" AT("002") "10\t10\ta\tmmap\t9\t0x7f0000020000\t0\t65536\tREAD\tPRIVATE\t3\t0\t-\t-\t7\ty\n" AT(
			"015") "10\t10\ta\tmunmap\t9\t0\t0x7f0000000000\t65536\t-\t-\t-\t-\t-\t-\t-\t-\n" AT("035") "10\t10\ta\tmremap\t9\t0x7d0000000000\t-\t131072\t-\tMREMAP_MAYMOVE\t-\t-\t0x7f0000080000\t65536\t5\tx\n");
	tree_put("pids.out", PIDS AT("012") "20\t20\t10\ta\tfork\t-\t20\t0\t-\t-\t-\n" AT(
				     "044") "20\t20\t10\ta\texec\t-\t20\t0\t-\t-\tb\n");
	r = loaded(NULL, ACCESS PAGES("010", "10", "0x7f0000000000", "262144", "262144",
				      "-\t-\t-") /* 128 KiB of 5, 64 of 7, 64 of 5 */
		   PAGES("020", "10", "0x7f0000000000", "65536", "65536", "-\t-\t-") /* its end is in the interval */
		   PAGES("030", "10", "0x7f0000000000", "65536", "65536", "-\t-\t-") /* nothing is there */
		   PAGES("030", "20", "0x7f0000010000", "65536", "65536",
			 "-\t-\t-") PAGES("040", "20", "0x7f0000080000", "65536", "65536", "-\t-\t-")
			   PAGES("050", "10", "0x7d0000000000", "65536", "65536", "-\t-\t-") /* the same bytes of 5 */
		   PAGES("060", "20", "0x7f0000090000", "65536", "65536", "-\t-\t-")); /* of another program */
	f = r->accesses->file;
	assert_int_equal(r->accesses->n_files, 2);
	assert_int_equal(f[0].fid, 5);
	assert_int_equal(f[0].mapped, 1048576);
	assert_int_equal(f[0].used.bytes, 4 * 65536);
	assert_int_equal(f[0].used.once, 65536); /* but the first two, by two processes, and the moved one */
	assert_int_equal(f[1].fid, 7);
	assert_int_equal(f[1].used.bytes, 65536);
	report_free(r);
}

/* Puts N mappings of file 5 by process 10, each STEP above the one before, and the forks of CHILDREN; these execute a
 * program if EXEC. */
static struct report *mapped(unsigned int n, int step, unsigned int children, bool exec)
{
	autofree char *maps = NULL, *pids = NULL;
	size_t maps_len, pids_len;
	FILE *m = open_memstream(&maps, &maps_len), *p = open_memstream(&pids, &pids_len);

	fputs(MAPS, m);
	for (unsigned int i = 0; i < n; i++)
		fprintf(m, AT("001") "10\t10\ta\tmmap\t9\t0x%llx\t0\t4096\tREAD\tSHARED\t3\t0\t-\t-\t5\tx\n",
			0x7f0000000000 + (long long)step * i);
	fputs(PIDS, p);
	for (unsigned int i = 0; i < children; i++) {
		fprintf(p, AT("002") "%u\t20\t10\ta\tfork\t-\t20\t0\t-\t-\t-\n", 20 + i);
		if (exec)
			fprintf(p, AT("002") "%u\t20\t10\ta\texec\t-\t20\t0\t-\t-\tb\n", 20 + i);
	}
	fclose(m);
	fclose(p);
	tree_put("mmap.out", maps);
	tree_put("pids.out", pids);
	return loaded(NULL, ACCESS PAGES("010", "10", "0x7f0000000000", "4096", "4096", "-\t-\t-"));
}

/* Returns the note with PART in it; NULL: there is none. */
static const char *note_with(const struct report *r, const char *part)
{
	for (unsigned int i = 0; i < r->n_notes; i++)
		if (strstr(r->notes[i], part))
			return r->notes[i];
	return NULL;
}

/* A process has so many mappings, and all have so many; those of a program that another one has replaced do not count.
 */
static void mappings_without_room_are_counted(void **state)
{
	static const struct {
		unsigned int n;
		int step;
		unsigned int children;
		bool exec;
		const char *note;
	} cases[] = {
		/* upwards: downwards, each moves all before it, which takes minutes under sanitizers */
		{ ACCESS_MAPS_OF_PROCESS_MAX + 7, 8192, 0, false,
		  "access: 7 mappings of files are not compared with what was touched: there are too many" },
		{ 1000, -8192, 1100, true, NULL },
		/* 10 has room for 1024; the others have as much as they need */
		{ 1000, -8192, 1100, false,
		  "access: 53000 mappings of files are not compared with what was touched: there are too many" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct report *r = mapped(cases[i].n, cases[i].step, cases[i].children, cases[i].exec);

		if (cases[i].note)
			assert_non_null(note_with(r, cases[i].note));
		else
			assert_null(note_with(r, "mappings"));
		assert_int_equal(r->accesses->file[0].used.bytes, 4096);
		report_free(r);
	}
}

/* A page that had its fault belongs to a later block, too; and no source but pages knows what was touched once. */
static void faults_are_first_touches(void **state)
{
	struct report *r = loaded(
		ALLOC AT("001") "10\t10\ta\tmalloc\t0x10000\t16384\t-\t-\t-\t-\t2\t-\n" AT(
			"003") "10\t10\ta\tfree\t0x10000\t16384\t-\t-\t2" MS
			       "\t10\t2\t-\n" AT("004") "10\t10\ta\tmalloc\t0x10000\t16384\t-\t-\t-\t-\t3\t-\n" AT(
				       "006") "10\t10\ta\tfree\t0x10000\t16384\t-\t-\t2" MS "\t10\t3\t-\n",
		ACCESS FAULT("002", "0x10000", "4096") FAULT("002", "0x11000", "0") FAULT("005", "0x12000", "4096"));
	const struct report_access_process *p = r->accesses->process;

	assert_int_equal(p->count, 3);
	assert_int_equal(p->intervals, 0);
	assert_int_equal(p->ever.bytes, 3 * 4096);
	assert_int_equal(p->ever.written, 2 * 4096);
	assert_int_equal(report_access_untouched(site_of(r, ACCESSES_BY_UNTOUCHED, 2)), 2 * 4096);
	assert_int_equal(report_access_untouched(site_of(r, ACCESSES_BY_UNTOUCHED, 3)), 4096);
	assert_int_equal(r->accesses->n_sites[ACCESSES_BY_ONCE], 0);
	report_free(r);
}

/* Written pages are known, but nothing of those that were only read. */
static void writes_alone_leave_no_block_untouched(void **state)
{
	struct report *r = loaded(allocs, ACCESS AT("010") "10\twrites\t10" MS
							   "\t0x10000\t65536\t-\t4096\t-\t-\t-\t-\t-\theap\t-\t-\t-\n");

	assert_int_equal(r->accesses->process[0].ever.written, 4096);
	assert_int_equal(r->accesses->n_sites[ACCESSES_BY_UNTOUCHED], 0);
	report_free(r);
}

static void damaged_rows_are_left_out(void **state)
{
	struct report *r = loaded(
		allocs,
		ACCESS PAGES("010", "10", "0x10000", "65536", "65537",
			     "heap\t-\t-") PAGES("011", "-", "0x10000", "65536", "65536", "heap\t-\t-")
			PAGES("012", "10", "10000", "65536", "65536", "heap\t-\t-") PAGES(
				"013", "10", "0xffffffffffff0000", "65536", "65536",
				"heap\t-\t-") PAGES("014", "10", "0x10000", "18446744073709551615", "1", "heap\t-\t-")
				AT("015") "10\tguess\t0\t0x10000\t4096\t4096\t-\t-\t-\t-\t-\t-\theap\t-\t-\t-\n" PAGES(
					"020", "10", "0x10000", "4096", "4096", "moon\t-\t-"));

	assert_int_equal(r->accesses->rows, 1);
	assert_int_equal(r->accesses->process[0].ever.bytes, 4096);
	assert_non_null(note_with(r, "access.out: 6 rows could not be read and are left out"));
	report_free(r);
}

static void without_the_file_there_is_nothing(void **state)
{
	struct report *r = NULL;

	tree_put("manifest.json", "{\"tool\":\"dltraced\",\"schema\":1,\"complete\":true,\"probes\":[]}");
	tree_put("alloc.out", allocs);
	assert_int_equal(report_load(&r, tree, &(struct report_options){ .timed = true }), 0);
	assert_false(r->accesses->present);
	assert_int_equal(r->accesses->n_files, 0);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(stacks_have_what_nothing_touched), IN_TREE(processes_have_what_they_touched),
		IN_TREE(samples_are_pages_at_most),        IN_TREE(files_have_their_used_bytes),
		IN_TREE(files_are_found_by_address),       IN_TREE(mappings_without_room_are_counted),
		IN_TREE(faults_are_first_touches),         IN_TREE(writes_alone_leave_no_block_untouched),
		IN_TREE(damaged_rows_are_left_out),        IN_TREE(without_the_file_there_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
