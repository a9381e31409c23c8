/* SPDX-License-Identifier: BSD-2-Clause */
/* The bounds of what is read of a job's own .pfw. */
#include "report/phases/pfw.h"

#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "report/phases/read_impl.h"
#include "tree.h"

#define S NSEC_PER_SEC
#define REAL 1795334400 /* 2026-11-22T08:00:00Z, when CLOCK_MONOTONIC is 1000 s */
#define LINE                                    \
	"{\"name\":\"%s\",\"cat\":\"compute\"," \
	"\"pid\":7,\"tid\":7,\"ts\":%llu,\"dur\":1000,\"ph\":\"X\",\"args\":{\"step\":%u}}\n"

struct fixture {
	struct pfw p;
	struct phase_reader *r;
};

/* A line with the region NAME, at SECOND of the trace. */
static char *line(const char *name, unsigned int second)
{
	return util_fmt(LINE, name, (REAL + second) * 1000000ULL, second);
}

static void begin(struct fixture *f)
{
	autoclose int dirfd = open(tree, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	*f = (struct fixture){ .r = calloc(1, sizeof(*f->r)) };
	f->r->phases = phases_new();
	phase_clock_reading(&f->r->clock, 1000 * S, REAL * S);
	tree_put("pids.out", "# dltraced pids 1\n"
			     "TIMESTAMP\tTIME\tPID\tTID\tPPID\tCOMM\tEVENT\tSTATUS\tNSPID\tUID\tCGROUP\tRANK\tARGS\n"
			     "1000000000000\t-\t7\t7\t1\tpython\tfork\t-\t7\t0\t-\t-\t-\n");
	pfw_begin(&f->p, dirfd);
}

static void end(struct fixture *f)
{
	pfw_free(&f->p);
	phases_free(f->r->phases);
	free(f->r);
}

static void read_file(struct fixture *f, const char *name)
{
	autofree char *path = tree_path(name);

	pfw_read(&f->p, f->r, open(path, O_RDONLY | O_CLOEXEC), name);
}

struct found {
	unsigned int n;
	uint64_t last_begin_ns;
	char last[64];
};

static void take(void *ctx, const struct step_region *region)
{
	struct found *found = ctx;

	found->n++;
	found->last_begin_ns = region->begin_ns;
	snprintf(found->last, sizeof(found->last), "%.*s", (int)region->name_len, region->name);
}

/* 8 MiB of empty lines between two regions are packed into 8 KiB: only the first region is within the bound. */
static void of_a_packed_file_a_bounded_part_is_read(void **state)
{
	autofree char *path = tree_path("job.pfw.gz"), *first = line("first", 1), *second = line("second", 2);
	static const char empty[65536] = { [0 ... 65535] = '\n' };
	struct found found = { 0 };
	struct stat st;
	struct fixture f;
	gzFile z = gzopen(path, "w");

	gzputs(z, first);
	for (unsigned int i = 0; i < 128; i++)
		assert_int_equal(gzwrite(z, empty, sizeof(empty)), sizeof(empty));
	gzputs(z, second);
	assert_int_equal(gzclose(z), Z_OK);
	assert_int_equal(stat(path, &st), 0);
	assert_in_range(st.st_size, 1, 65536);

	begin(&f);
	f.p.text_max_bytes = 4U << 20;
	read_file(&f, "job.pfw.gz");
	pfw_end(&f.p, take, &found);
	assert_int_equal(found.n, 1);
	assert_string_equal(found.last, "first");
	assert_int_equal(f.r->phases->n_notes, 1);
	assert_string_equal(f.r->phases->notes[0], "job.pfw.gz: cannot be read: File too large");
	end(&f);

	begin(&f);
	assert_true(f.p.text_max_bytes >= 16U << 20);
	read_file(&f, "job.pfw.gz");
	found.n = 0;
	pfw_end(&f.p, take, &found);
	assert_int_equal(found.n, 2);
	assert_string_equal(found.last, "second");
	assert_int_equal(f.r->phases->n_notes, 0);
	end(&f);
}

/* Each region has its own name, also where names come again; what is beyond the bound is counted. */
static void so_many_names_are_known(void **state)
{
	autofree char *path = tree_path("job.pfw");
	struct found found = { 0 };
	struct fixture f;
	FILE *out = fopen(path, "w");

	for (unsigned int i = 0; i < 2 * 4100; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%u", i % 4100);
		fprintf(out, LINE, name, (REAL + i) * 1000000ULL, i);
	}
	assert_int_equal(fclose(out), 0);
	begin(&f);
	read_file(&f, "job.pfw");
	pfw_end(&f.p, take, &found);
	assert_int_equal(found.n, 2 * 4096);
	assert_string_equal(found.last, "n4095");
	assert_int_equal(found.last_begin_ns, (1000 + 4100 + 4095) * S);
	assert_int_equal(f.r->phases->n_notes, 1);
	assert_string_equal(f.r->phases->notes[0], "job.pfw: 8 regions are left out: there are too many");
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(of_a_packed_file_a_bounded_part_is_read),
		IN_TREE(so_many_names_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
