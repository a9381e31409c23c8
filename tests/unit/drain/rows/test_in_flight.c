/* SPDX-License-Identifier: BSD-2-Clause */
#include "drain/rows/decode.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/open.h"
#include "dlt/sync.h"
#include "host/rights/owner.h"
#include "records.h"

/* Late enough that this process existed when a call began 2 s ago. */
static uint64_t now_ns;
#define NOW_NS now_ns

/* An open of PATH by this thread, begun 2 s ago. */
static struct dlt_call opening(const char *path)
{
	const uint16_t openat = 2;

	assert_string_equal(probes[DLT_open]->calls[openat].name, "openat");
	return (struct dlt_call){
		.start_ns = NOW_NS - 2 * NSEC_PER_SEC,
		.tid = (uint32_t)gettid(),
		.tgid = (uint32_t)getpid(),
		.probe = DLT_open,
		.func = openat,
		.shape = DLT_OPEN_AT,
		.args = { (uint64_t)-100, (uintptr_t)path, O_RDONLY },
	};
}

/* Returns column N, from 0, of the only row of open.out. */
static char *column(unsigned int n)
{
	autofree char *rows = rows_of(DLT_open);
	char *s = rows;

	assert_ptr_equal(strchr(rows, '\n'), rows + strlen(rows) - 1);
	while (n--)
		s = strchr(s, '\t') + 1;
	return strndup(s, strcspn(s, "\t\n"));
}

enum { TIMESTAMP = 0, PID = 2, TID = 3, COMM = 4, FUNC = 5, LAT_NS = 6, RET = 8, PATH = 13 };

static void expect_column(unsigned int n, const char *want)
{
	autofree char *got = column(n);

	assert_string_equal(got, want);
}

static void a_call_is_a_row_with_its_latency_so_far(void **state)
{
	const struct dlt_call call = opening("data/x");
	char number[24];

	prctl(PR_SET_NAME, "test \t-running-");
	in_flight_row(&decode, &call, NOW_NS);
	snprintf(number, sizeof(number), "%llu", (unsigned long long)NOW_NS);
	expect_column(TIMESTAMP, number);
	expect_column(COMM, "test\\040\\011-running-");
	snprintf(number, sizeof(number), "%d", getpid());
	expect_column(PID, number);
	expect_column(TID, number);
	expect_column(FUNC, "openat");
	expect_column(LAT_NS, "2000000000");
	expect_column(RET, "?");
	expect_column(PATH, "data/x");
	assert_int_equal(decode.counts[DLT_open].records, 1);
}

static void names_are_those_of_threads_that_are_still_there(void **state)
{
	struct dlt_call call = opening("x");

	call.tid = NO_SUCH_PID;
	in_flight_row(&decode, &call, NOW_NS);
	expect_column(COMM, "-");
	expect_column(PATH, "x"); /* the process is still there */
}

/* Another process has its number by now, as it started after the call began: it is not looked at. */
static void another_process_has_no_rows(void **state)
{
	struct dlt_call call = opening("x");

	call.start_ns = 0;
	in_flight_row(&decode, &call, NOW_NS);
	expect_column(COMM, "-");
	expect_column(PATH, "-");
	assert_int_equal(decode.counts[DLT_open].records, 1);
}

/* A user's trace shows nothing of a process that is another user's by now. */
static void of_other_users_nothing_is_shown(void **state)
{
	const struct owner nobody = { .uid = getuid() + 1, .gid = getgid() };
	const struct dlt_call call = opening("x");

	decode.owner = &nobody;
	in_flight_row(&decode, &call, NOW_NS);
	decode.owner = NULL;
	expect_column(COMM, "-");
	expect_column(PATH, "-");
}

static void a_path_that_cannot_be_read_is_empty(void **state)
{
	const struct dlt_call call = opening(NULL);

	in_flight_row(&decode, &call, NOW_NS);
	expect_column(PATH, "-");
}

/* Strings may end where their memory ends: the memory mapped after it must not be read. */
static void a_path_may_end_with_its_memory(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct dlt_call call = opening(two + page - sizeof("/at/the/end"));

	assert_true(two != MAP_FAILED);
	assert_int_equal(munmap(two + page, page), 0);
	strcpy(two + page - sizeof("/at/the/end"), "/at/the/end");
	in_flight_row(&decode, &call, NOW_NS);
	expect_column(PATH, "/at/the/end");
	munmap(two, page);
}

static void a_path_may_cross_into_the_next_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct dlt_call call = opening(two + page - 3);

	assert_true(two != MAP_FAILED);
	strcpy(two + page - 3, "/across/the/border");
	in_flight_row(&decode, &call, NOW_NS);
	expect_column(PATH, "/across/the/border");
	munmap(two, 2 * page);
}

static void a_string_without_an_end_is_cut_at_the_longest_path(void **state)
{
	static char endless[2 * DLT_PATH_MAX];
	const struct dlt_call call = opening(endless);
	autofree char *path = NULL;

	memset(endless, 'x', sizeof(endless));
	in_flight_row(&decode, &call, NOW_NS);
	path = column(PATH);
	assert_int_equal(strlen(path), DLT_PATH_MAX - 1);
	assert_int_equal(strspn(path, "x"), DLT_PATH_MAX - 1);
}

static void strings_follow_one_another(void **state)
{
	struct dlt_create_del *rec = rec_begin(DLT_create_del);
	const char *strings = (const char *)(rec + 1);

	record.hdr.tgid = (uint32_t)getpid();
	running_str(&record.hdr, &rec->segs, (uintptr_t) "first", 0);
	running_str(&record.hdr, &rec->segs, (uintptr_t) "", 1);
	running_str(&record.hdr, &rec->segs, 0, 2);
	running_str(&record.hdr, &rec->segs, (uintptr_t) "last", 3);
	assert_int_equal(rec->segs.len[0], 6);
	assert_int_equal(rec->segs.len[1], 1);
	assert_int_equal(rec->segs.len[2], 0);
	assert_int_equal(rec->segs.len[3], 5);
	assert_int_equal(record.hdr.size, sizeof(*rec) + 12);
	assert_memory_equal(strings, "first\0\0last", 12);
}

static void no_string_is_written_beyond_the_record(void **state)
{
	struct dlt_create_del *rec = rec_begin(DLT_create_del);

	record.hdr.tgid = (uint32_t)getpid();
	record.hdr.size = IN_FLIGHT_REC_MAX - DLT_PATH_MAX + 1;
	running_str(&record.hdr, &rec->segs, (uintptr_t) "too much", 0);
	assert_int_equal(rec->segs.len[0], 0);
	assert_int_equal(record.hdr.size, IN_FLIGHT_REC_MAX - DLT_PATH_MAX + 1);
}

/* The base of a relative path is not known: the path must not look absolute. */
static void a_relative_path_is_not_made_absolute(void **state)
{
	struct dlt_call call = opening("data/x");
	autofree char *rows = NULL;

	call.probe = DLT_create_del;
	call.func = 3;
	assert_string_equal(probes[DLT_create_del]->calls[3].name, "mkdir");
	call.shape = DLT_CD_MKDIR;
	call.args[0] = (uintptr_t) "./new";
	in_flight_row(&decode, &call, NOW_NS);
	rows = rows_of(DLT_create_del);
	assert_non_null(strstr(rows, "\tmkdir\t2000000000\t?\t?\t?\t-\t./new\t-\t-\n"));
}

static void a_close_knows_its_file(void **state)
{
	struct dlt_call call = opening("x");
	autofree char *rows = NULL;

	learn(file_of(11), "/mnt/nfs/x");
	call.probe = DLT_close;
	call.func = call.shape = 0;
	call.args[0] = 5;
	call.id = id_of(11);
	in_flight_row(&decode, &call, NOW_NS);
	rows = rows_of(DLT_close);
	assert_non_null(strstr(rows, "\tclose\t2000000000\t?\t5\t-\t1\tx\n"));
}

/* A hanging call is known by its arguments. */
static void a_range_is_known_before_its_end(void **state)
{
	struct dlt_call call = opening(NULL);
	autofree char *rows = NULL;

	call.probe = DLT_sync;
	call.func = 0;
	assert_string_equal(probes[DLT_sync]->calls[0].name, "fallocate");
	call.shape = DLT_SYNC_FALLOCATE;
	memcpy(call.args, (const uint64_t[]){ 1000000, 0, 4096, 8192 }, 4 * sizeof(uint64_t));
	in_flight_row(&decode, &call, NOW_NS);
	rows = rows_of(DLT_sync);
	assert_non_null(strstr(rows, "\tfallocate\t2000000000\t?\t1000000\t4096\t8192\t-\t-\n"));
}

/* The kernel side describes the file at FD with PATH. */
static void learn_open(int fd, const char *path)
{
	struct dlt_file file = file_of(0);
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	file.id.ino = st.st_ino;
	file.id.dev = major(st.st_dev) << 20 | minor(st.st_dev);
	learn(file, path);
}

static void expect_fsync(int fd, const char *fid_and_file)
{
	autofree char *rows = NULL, *want = util_fmt("\tfsync\t2000000000\t?\t%d\t-\t-\t%s\n", fd, fid_and_file);
	struct dlt_call call = opening(NULL);

	call.probe = DLT_sync;
	call.func = 2;
	assert_string_equal(probes[DLT_sync]->calls[2].name, "fsync");
	call.shape = DLT_SYNC_FD;
	call.args[0] = (uint64_t)fd;
	in_flight_row(&decode, &call, NOW_NS);
	rows = rows_of(DLT_sync);
	assert_non_null(strstr(rows, want));
}

/*
 * The kernel's name for a descriptor may be another file's, because of the mark of deleted files, or seen from another
 * root.
 */
static void a_descriptor_is_of_the_file_that_is_open_there(void **state)
{
	static const char gone[] = "/dev/shm/dltraced-test", odd[] = "/dev/shm/dltraced-test (deleted)";
	autoclose int fd = open(gone, O_RDWR | O_CREAT | O_CLOEXEC, 0600),
		      other = open(odd, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int lacking = fd < 0 || other < 0;

	unlink(gone);
	unlink(odd);
	if (lacking) {
		print_message("no /dev/shm to be written to\n");
		skip();
	}
	learn_open(other, odd);
	expect_fsync(fd, "-\t-");
	learn_open(fd, gone);
	expect_fsync(fd, "2\tdltraced-test");
}

static void what_is_no_call_of_a_probe_is_no_row(void **state)
{
	const struct dlt_call call = opening("x");
	struct dlt_call other;

	other = call, other.probe = DLT_NO_PROBE;
	in_flight_row(&decode, &other, NOW_NS);
	other = call, other.probe = DLT_PROBES;
	in_flight_row(&decode, &other, NOW_NS);
	other = call, other.probe = UINT8_MAX;
	in_flight_row(&decode, &other, NOW_NS);
	other = call, other.probe = DLT_files; /* has no calls */
	in_flight_row(&decode, &other, NOW_NS);
	other = call, other.func = (uint8_t)probes[DLT_open]->n_calls;
	in_flight_row(&decode, &other, NOW_NS);
	for (unsigned int i = 0; i < DLT_PROBES; i++) {
		assert_int_equal(decode.counts[i].records, 0);
		assert_int_equal(decode.counts[i].bad, 0);
	}
}

static void threads_of_no_interest_are_no_rows(void **state)
{
	const struct dlt_call call = opening("x");

	config.exclude_comm = (struct config_list){ .items = { "unwanted" }, .n = 1 };
	prctl(PR_SET_NAME, "unwanted");
	in_flight_row(&decode, &call, NOW_NS);
	expect_rows(DLT_open, "");
	assert_int_equal(decode.counts[DLT_open].filtered, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(a_call_is_a_row_with_its_latency_so_far),
		WITH_DECODER(a_close_knows_its_file),
		WITH_DECODER(a_descriptor_is_of_the_file_that_is_open_there),
		WITH_DECODER(a_path_may_cross_into_the_next_page),
		WITH_DECODER(a_path_may_end_with_its_memory),
		WITH_DECODER(a_path_that_cannot_be_read_is_empty),
		WITH_DECODER(a_range_is_known_before_its_end),
		WITH_DECODER(a_relative_path_is_not_made_absolute),
		WITH_DECODER(a_string_without_an_end_is_cut_at_the_longest_path),
		WITH_DECODER(names_are_those_of_threads_that_are_still_there),
		WITH_DECODER(no_string_is_written_beyond_the_record),
		WITH_DECODER(another_process_has_no_rows),
		WITH_DECODER(of_other_users_nothing_is_shown),
		WITH_DECODER(strings_follow_one_another),
		WITH_DECODER(threads_of_no_interest_are_no_rows),
		WITH_DECODER(what_is_no_call_of_a_probe_is_no_row),
	};

	now_ns = clock_now_ns(CLOCK_MONOTONIC) + 3 * NSEC_PER_SEC;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
