/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/util.h"
#include "base/version.h"
#include "collectors/kinds.h"
#include "session/state.h"
#include "trace/config.h"
#include "trace/manifest_read.h"
#include "temp.h"

#define NAME "manifest.json"
#define TMP "manifest.json.tmp"
#define VICTIM "victim"

static int manifest_write(struct session *s, int dirfd, bool complete)
{
	autofree char *text = NULL;
	size_t len;
	int r = manifest_text(s, complete, &text, &len);

	return r < 0 ? r : manifest_put(dirfd, text, len);
}

static char dir[TEMP_MAX];
static int dirfd;

static char *cmdline[] = { "dltraced", "start", "--", "train", "a b", NULL };
static char *job_env[] = { "RANK=3", "HOME=/root", NULL };
static struct config cfg = { .argv = cmdline + 3,
			     .experiment = "train",
			     .probes = PROBE_BIT(DLT_bio) | PROBE_BIT(DLT_sync) };

static const struct session sample = {
	.cfg = &cfg,
	.argv = cmdline,
	.environ = job_env,
	.cwd = (char *)"/",
	.user.name = "ann",
	.manifest.start = { 1000, 1700000000000000001 },
	.workload.pid = 42,
	.workload_log_fd = -1,
	.traced = true,
	.tracer = {
		.probes = PROBE_BIT(DLT_bio),
		.why[DLT_sync] = "no CAP_BPF",
		.plain[DLT_bio] = "refused, so no files",
		.n_rings = 2,
		.ring_bytes = 64 << 20,
		.cfg.ring_reserve = 8 << 20,
	},
	.status.counts.probes[DLT_bio] = { .calls = 1, .rows = 2, .lost = 3, .late = 4, .unmatched = 5, .filtered = 6,
					   .bytes = UINT64_MAX },
	.collectors = {
		.c = { { .kind = &collector_kinds[0], .state = "running" }, { .kind = &collector_kinds[2], .state = "not found" } },
		.n = 2,
	},
};

static int make_dir(void **state)
{
	autoclose int fd = -1;

	umask(022);
	temp_template(dir, "test_manifest");
	if (!mkdtemp(dir))
		return -1;
	dirfd = open(dir, O_DIRECTORY | O_CLOEXEC);
	fd = openat(dirfd, VICTIM, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return dirfd < 0 || fd < 0 ? -1 : util_write_all(fd, "precious", 8);
}

static int remove_dir(void **state)
{
	unlinkat(dirfd, NAME, 0);
	unlinkat(dirfd, TMP, 0);
	unlinkat(dirfd, TMP, AT_REMOVEDIR);
	unlinkat(dirfd, VICTIM, 0);
	close(dirfd);
	return rmdir(dir);
}

static char *content(const char *name)
{
	autofree char *path = util_fmt("%s/%s", dir, name);
	char *text;

	assert_int_equal(util_read_file(path, 1 << 20, &text, NULL), 0);
	return text;
}

static void expect_content(const char *name, const char *want)
{
	autofree char *got = content(name);

	assert_string_equal(got, want);
}

static void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s is not in %s", part, text);
}

static bool exists(const char *name)
{
	return faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void write_as(const struct session *from, bool complete)
{
	struct session s = *from;

	assert_int_equal(manifest_begin(&s), 0);
	assert_int_equal(manifest_write(&s, dirfd, complete), 0);
	json_free(&s.manifest.head);
}

static void reads_back_its_values(void **state)
{
	struct session s = sample;
	struct manifest_facts f;
	const struct manifest_probe *bio;

	s.manifest.end = (struct manifest_time){ 5000, 1700000000000004001 };
	s.manifest.workload_end = s.manifest.end;
	s.workload.ended = true;
	s.workload.status = 7 << 8;
	write_as(&s, true);

	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_string_equal(f.tool, "dltraced");
	assert_string_equal(f.version, version_text);
	assert_int_equal(f.schema, 1);
	assert_true(f.complete);
	assert_string_not_equal(f.host, "");
	assert_string_not_equal(f.kernel, "");
	assert_string_equal(f.cmdline, "dltraced start -- train 'a b'");
	assert_string_equal(f.argv, "train 'a b'");
	assert_string_equal(f.user, "ann");
	assert_int_equal(f.workload_pid, 42);
	assert_true(f.has_status);
	assert_int_equal(f.status, 7 << 8);
	assert_int_equal(f.start_ns, 1000);
	assert_string_equal(f.start_utc, "2023-11-14T22:13:20.000000001Z");
	assert_int_equal(f.end_ns, 5000);
	assert_string_equal(f.end_utc, "2023-11-14T22:13:20.000004001Z");

	assert_int_equal(f.n_probes, 2 + 3); /* files, marks, pids */
	bio = manifest_probe(&f, "bio");
	assert_non_null(bio);
	assert_string_equal(bio->backend, "tracepoint");
	assert_int_equal(bio->calls, 1);
	assert_int_equal(bio->rows, 2);
	assert_int_equal(bio->lost, 3);
	assert_int_equal(bio->late, 4);
	assert_int_equal(bio->unmatched, 5);
	assert_int_equal(bio->filtered, 6);
	assert_true(bio->bytes == UINT64_MAX);
	assert_int_equal(f.n_collectors, 2);
	assert_string_equal(f.collectors[1].name, "gpu");
	assert_string_equal(f.collectors[1].state, "not found");
}

static void leaves_open_what_has_not_ended(void **state)
{
	autofree char *text = NULL;
	struct manifest_facts f;

	write_as(&sample, false);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_false(f.complete);
	assert_false(f.has_status);
	assert_int_equal(f.end_ns, 0);
	text = content(NAME);
	expect_in(text, "\"why\": \"no CAP_BPF\"");
	expect_in(text, "\"plain\": \"refused, so no files\"");
	assert_null(strstr(text, "at_end"));
}

/* Anybody may choose their names. */
static void names_processes_that_outlive_the_trace(void **state)
{
	struct process v[10] = { { .pid = 7, .cpu_us = 30, .comm = "a\"b\n" },
				 { .pid = 8, .cpu_us = 12, .comm = "c" } };
	struct session s = sample;
	struct manifest_facts f;
	autofree char *text = NULL;

	s.left = (struct left_running){ .known = true, .v = v, .n = 10, .more = 5 };
	s.files = FILES_CLOSED;
	write_as(&s, true);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_int_equal(f.left_running, 15);
	assert_int_equal(f.left_running_cpu_us, 42);
	assert_string_equal(f.left_comms, "a\"b\n, c"); /* of the first eight, the others have none */
	write_as(&sample, true);
	text = content(NAME);
	expect_in(text, "\"job\": null");
}

static void shows_what_the_workload_used(void **state)
{
	struct session s = sample;
	struct manifest_facts f;

	write_as(&s, false);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_false(f.has_usage);
	s.manifest.workload_start = (struct manifest_time){ 2000, 1700000000000001001 };
	s.manifest.workload_end = (struct manifest_time){ 5000, 1700000000000004001 };
	s.workload.ended = true;
	for (enum usage i = 0; i < USAGES; i++)
		s.workload.usage[i] = 100 + i;
	write_as(&s, true);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_true(f.has_usage);
	assert_int_equal(f.usage[USAGE_WALL_NS], 3000);
	for (enum usage i = USAGE_WALL_NS + 1; i < USAGES; i++)
		assert_int_equal(f.usage[i], 100 + i);
	s.manifest.usage_unknown = true; /* the service: the client has gone */
	write_as(&s, true);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_false(f.has_usage);
}

static void attached_traces_have_no_workload(void **state)
{
	struct config attach = { .pids = { 17, 18 }, .n_pids = 2, .comm = { { "pt_*" }, 1 } };
	struct session s = sample;
	struct manifest_facts f;
	autofree char *text = NULL;

	s.cfg = &attach;
	write_as(&s, true);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_string_equal(f.argv, "");
	text = content(NAME);
	expect_in(text, "\"workload\": null");
	expect_in(text, "\"workload_log\": null");
	expect_in(text, "\"pids\": [\n      17,\n      18\n    ]");
	expect_in(text, "\"comm\": [\n      \"pt_*\"\n    ]");
}

/* 56 MiB at 600 000 records of 128 bytes a second */
static void says_how_long_a_stall_the_rings_ride_out(void **state)
{
	struct session none = sample;
	autofree char *text = NULL, *empty = NULL;

	write_as(&sample, false);
	text = content(NAME);
	expect_in(text, "\"stall_ms\": 764,");
	none.tracer.n_rings = 0;
	none.tracer.ring_bytes = 0;
	write_as(&none, false);
	empty = content(NAME);
	expect_in(empty, "\"stall_ms\": 0,");
}

static uint64_t max_rss(const struct session *s)
{
	static const char key[] = "\"max_rss_bytes\": ";
	autofree char *text = NULL;
	const char *at;

	write_as(s, false);
	text = content(NAME);
	at = strstr(text, key);
	assert_non_null(at);
	return strtoull(at + strlen(key), NULL, 10);
}

/* They are mapped twice, and the kernel's number counts both. */
static void memory_of_rings_counts_once(void **state)
{
	struct session s = sample;
	struct rusage before, after;
	uint64_t bytes;

	s.tracer.n_rings = 2;
	s.tracer.ring_bytes = 1 << 18;
	getrusage(RUSAGE_SELF, &before);
	assert_true(before.ru_maxrss > 1024);
	bytes = max_rss(&s);
	getrusage(RUSAGE_SELF, &after);
	assert_in_range(bytes, (uint64_t)before.ru_maxrss * 1024 - (2 << 18),
			(uint64_t)after.ru_maxrss * 1024 - (2 << 18));
}

static void is_json_whatever_the_strings_hold(void **state)
{
	char *hostile[] = {
		"", "\"},\n{\t", "\x01\x7f\xff\xc3(\xed\xa0\x80", "\\u0000", "naïve", NULL,
	};
	char *env[] = { "SLURM_X\"\n\xff=\xfe\"", "CUDA_=", NULL };
	struct session s = sample;
	struct manifest_facts f;
	autofree char *command = NULL;

	s.argv = hostile;
	s.environ = env;
	s.cwd = (char *)"/no\xff/such";
	write_as(&s, true);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_string_equal(f.cmdline, "'' '\"},\n{\t' '\x01\x7f\\377\\303(\\355\\240\\200' "
				       "'\\u0000' 'naïve'");
	if (system("command -v python3 >/dev/null") != 0) {
		print_message("python3 not found\n");
		skip();
	}
	command = util_fmt("python3 -m json.tool %s/%s >/dev/null", dir, NAME);
	assert_int_equal(system(command), 0);
}

static void replaces_the_file_as_a_whole(void **state)
{
	autofree char *before = NULL, *still = NULL, *path = NULL;
	autoclose int old = -1;
	struct stat st;

	write_as(&sample, false);
	before = content(NAME);
	old = openat(dirfd, NAME, O_RDONLY | O_CLOEXEC);
	assert_true(old >= 0);

	write_as(&sample, true);
	path = util_fmt("/proc/self/fd/%d", old);
	assert_int_equal(util_read_file(path, 1 << 20, &still, NULL), 0);
	assert_string_equal(still, before);
	assert_int_equal(fstatat(dirfd, NAME, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_false(exists(TMP));
}

static void has_its_origin_of_the_start_at_the_end(void **state)
{
	struct session s = sample;
	struct manifest_facts f;

	assert_int_equal(manifest_begin(&s), 0);
	s.argv = NULL;
	s.cwd = NULL;
	assert_int_equal(manifest_write(&s, dirfd, true), 0);
	assert_int_equal(manifest_write(&s, dirfd, true), 0);
	json_free(&s.manifest.head);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_string_equal(f.cmdline, "dltraced start -- train 'a b'");
}

static void planted_links_gain_nothing(void **state)
{
	struct stat st;

	assert_int_equal(symlinkat(VICTIM, dirfd, TMP), 0);
	assert_int_equal(symlinkat(VICTIM, dirfd, NAME), 0);
	write_as(&sample, false);
	expect_content(VICTIM, "precious");
	assert_false(exists(TMP));
	assert_int_equal(fstatat(dirfd, NAME, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(fstatat(dirfd, VICTIM, &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0644);

	assert_int_equal(linkat(dirfd, VICTIM, dirfd, TMP, 0), 0);
	write_as(&sample, true);
	expect_content(VICTIM, "precious");
}

static void a_failed_write_leaves_the_old_one(void **state)
{
	autofree char *before = NULL;
	struct rlimit lim, low;
	struct session s = sample;
	int r;

	write_as(&sample, false);
	before = content(NAME);
	assert_int_equal(manifest_begin(&s), 0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &lim), 0);
	low = (struct rlimit){ .rlim_cur = 100, .rlim_max = lim.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
	r = manifest_write(&s, dirfd, true);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &lim), 0);
	assert_int_equal(r, -EFBIG);
	expect_content(NAME, before);
	assert_false(exists(TMP));

	assert_int_equal(mkdirat(dirfd, TMP, 0700), 0);
	assert_int_equal(manifest_write(&s, dirfd, true), -EISDIR);
	expect_content(NAME, before);
	json_free(&s.manifest.head);
}

/* A full file system for this test, on dir. */
static int full_folder(void)
{
	static const char zeros[65536];

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("tmpfs", dir, "tmpfs", 0, "size=64k") < 0) {
		print_message("needs to mount a tmpfs: a full one\n");
		skip();
	}
	int at = open(dir, O_DIRECTORY | O_CLOEXEC);
	autoclose int fd = openat(at, "fill", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_int_equal(util_write_all(fd, zeros, sizeof(zeros)), 0);
	return at;
}

static void a_disk_that_is_full_from_the_start_is_reported(void **state)
{
	struct session s = sample;
	int at = full_folder(), r;

	assert_int_equal(manifest_begin(&s), 0);
	r = manifest_write(&s, at, false);
	close(at);
	assert_int_equal(umount2(dir, MNT_DETACH), 0);
	json_free(&s.manifest.head);
	assert_int_equal(r, -ENOSPC);
}

static void belongs_to_the_owner_of_the_folder(void **state)
{
	struct stat st;

	if (geteuid() != 0) {
		print_message("needs root: a folder of somebody else\n");
		skip();
	}
	assert_int_equal(fchown(dirfd, 1234, 1235), 0);
	write_as(&sample, false);
	assert_int_equal(fstatat(dirfd, NAME, &st, 0), 0);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(st.st_gid, 1235);
}

static void no_args_hides_those_of_the_workload(void **state)
{
	char *line[] = { "dltraced start", "--no-args", "--", "train", "--password", "x", NULL };
	char *shell[] = { "dltraced start", "--no-args", "--workload=train --password x", NULL };
	struct config hiding = { .argv = line + 3, .experiment = "train", .no_args = true };
	char *sh[] = { "sh", "-c", shell[2] + strlen("--workload="), NULL };
	struct session s = sample;
	struct manifest_facts f;

	s.cfg = &hiding;
	s.argv = line;
	write_as(&s, false);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_string_equal(f.cmdline, "'dltraced start' --no-args -- train '(hidden)'");
	assert_string_equal(f.argv, "train '(hidden)'");
	hiding.shell_cmd = sh[2];
	hiding.argv = sh;
	s.argv = shell;
	write_as(&s, false);
	assert_int_equal(manifest_read_at(&f, dirfd), 0);
	assert_string_equal(f.cmdline, "'dltraced start' --no-args '(hidden)'");
	assert_string_equal(f.argv, "sh '(hidden)'");
}

static void environment_is_chosen_and_secrets_are_hidden(void **state)
{
	char *env[] = {
		"NCCL_DEBUG=INFO",
		"RANK=0",
		"RANK=1",
		"HOME=/root",
		"MY_RANK=9",
		"SLURM_TOKEN=a",
		"TF_Api_Key=b",
		"MASTER_PASSWORD=c",
		"OMP_SECRETS=d",
		"CUDA_PATH",
		"KMP_=e=f",
		"SLURM_JWT=g",
		"TORCH_PROXY=http://me:h@host/",
		"TORCH_HOME=http://host/a@b",
		NULL,
	};
	struct json j = { 0 };
	autofree char *got = NULL;

	json_object(&j, NULL);
	manifest_put_environ(&j, env);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	got = strndup(j.buf, j.len);
	json_free(&j);
	assert_string_equal(got, "{\n"
				 "  \"NCCL_DEBUG\": \"INFO\",\n"
				 "  \"RANK\": \"0\",\n"
				 "  \"SLURM_TOKEN\": \"(hidden)\",\n"
				 "  \"TF_Api_Key\": \"(hidden)\",\n"
				 "  \"MASTER_PASSWORD\": \"(hidden)\",\n"
				 "  \"OMP_SECRETS\": \"(hidden)\",\n"
				 "  \"KMP_\": \"e=f\",\n"
				 "  \"SLURM_JWT\": \"(hidden)\",\n"
				 "  \"TORCH_PROXY\": \"(hidden)\",\n"
				 "  \"TORCH_HOME\": \"http://host/a@b\"\n"
				 "}\n");
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_DIR(a_disk_that_is_full_from_the_start_is_reported),
		IN_DIR(a_failed_write_leaves_the_old_one),
		IN_DIR(shows_what_the_workload_used),
		IN_DIR(attached_traces_have_no_workload),
		IN_DIR(belongs_to_the_owner_of_the_folder),
		IN_DIR(names_processes_that_outlive_the_trace),
		IN_DIR(no_args_hides_those_of_the_workload),
		cmocka_unit_test(environment_is_chosen_and_secrets_are_hidden),
		IN_DIR(is_json_whatever_the_strings_hold),
		IN_DIR(leaves_open_what_has_not_ended),
		IN_DIR(planted_links_gain_nothing),
		IN_DIR(reads_back_its_values),
		IN_DIR(replaces_the_file_as_a_whole),
		IN_DIR(memory_of_rings_counts_once),
		IN_DIR(says_how_long_a_stall_the_rings_ride_out),
		IN_DIR(has_its_origin_of_the_start_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
