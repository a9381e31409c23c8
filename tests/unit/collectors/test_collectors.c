/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collectors: reading (fed through a pipe, text as the tools print it) and processes (real
 * mpstat and iostat, the stand-in tests/stubs/nvidia-smi, and small scripts first on PATH).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "collectors/collectors.h"
#include "collectors/kinds.h"
#include "collectors/sample.h"
#include "host/helper.h"
#include "os/loop.h"
#include "temp.h"
#include "trace/clock.h"

static char folder[TEMP_MAX], *first_path;
static int dirfd_ = -1;
static struct clock_map map;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int set_up(void **state)
{
	struct clock_reading now;

	if (!mkdtemp(temp_template(folder, "collectors")))
		return -1;
	dirfd_ = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	helper_trust_path();
	first_path = strdup(getenv("PATH"));
	clock_read(&now, 3);
	clock_map_init(&map, &now);
	alarm(60); /* whatever hangs */
	return dirfd_ < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	alarm(0);
	setenv("PATH", first_path, 1);
	free(first_path);
	util_close(&dirfd_);
	return nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The output of an mpstat, and the file made of it. */
#define CPU_HEADER "03:04:44     CPU    %usr   %idle\n"
#define CPU_COLUMNS "TIMESTAMP\tTIME\tCLOCK\tCPU\t%usr\t%idle\n"
#define CPU_ALL "03:04:45     all    0.50   99.50\n"
#define CPU_ROW "T\tU\t03:04:45\tall\t0.50\t99.50\n"

/* --- helpers ---------------------------------------------------------------------------------- */

static char *file_text(const char *name)
{
	autofree char *path = util_fmt("%s/%s", folder, name);
	char *text;

	assert_int_equal(util_read_file(path, SIZE_MAX, &text, NULL), 0);
	return text;
}

/* Returns the file with the two times of every row as T and U, for comparison. */
static char *file_without_times(const char *name)
{
	autofree char *text = file_text(name);
	char *out = calloc(1, strlen(text) + 1), *save = NULL;
	unsigned int n = 0;

	for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save), n++) {
		char *rest = l;

		if (l[0] >= '0' && l[0] <= '9') {
			strsep(&rest, "\t");
			strsep(&rest, "\t");
			assert_non_null(rest);
			strcat(strcat(strcat(out, "T\tU\t"), rest), "\n");
		} else {
			strcat(strcat(out, l), "\n");
		}
	}
	return out;
}

static unsigned int count(const char *text, const char *needle)
{
	unsigned int n = 0;

	for (const char *p = text; (p = strstr(p, needle)); p += strlen(needle))
		n++;
	return n;
}

/* Returns a collector of kind I that reads from a pipe, whose write end is *WRITE_FD. */
static struct collector *reader(unsigned int i, uint64_t interval_s, int *write_fd)
{
	struct collector *c = calloc(1, sizeof(*c));
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
	c->kind = &collector_kinds[i];
	c->interval_s = interval_s;
	c->read_fd = fds[0];
	*write_fd = fds[1];
	assert_int_equal(sink_open(&c->sink, dirfd_, c->kind->file), 0);
	return c;
}

static void finish(struct collector *c, int write_fd)
{
	close(write_fd);
	while (!collector_read(c, &map))
		;
	sink_close(&c->sink);
	free(c);
}

/* Returns the file of kind I after the tool has printed TEXT, CHUNK bytes at a time. */
static char *read_text_n(unsigned int i, uint64_t interval_s, const char *text, size_t len, size_t chunk)
{
	int fd;
	struct collector *c = reader(i, interval_s, &fd);

	for (size_t at = 0; at < len; at += chunk) {
		size_t n = MIN(chunk, len - at);

		assert_int_equal(write(fd, text + at, n), n);
		assert_false(collector_read(c, &map));
	}
	finish(c, fd);
	return file_without_times(collector_kinds[i].file);
}

static char *read_text(unsigned int i, const char *text)
{
	return read_text_n(i, 1, text, strlen(text), 4096);
}

/* Puts a script NAME first on PATH. */
static void fake_tool(const char *name, const char *body)
{
	autofree char *path = util_fmt("%s/bin", folder);
	autofree char *file = util_fmt("%s/%s", path, name);
	autofree char *env = util_fmt("%s:%s", path, first_path);
	FILE *f;

	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	f = fopen(file, "we");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s", body);
	assert_int_equal(fchmod(fileno(f), 0700), 0);
	fclose(f);
	setenv("PATH", env, 1);
}

/*
 * An mpstat that prints a header and, with the PREFIX tail, a row, and then waits. The row comes after the exec: a
 * shell that is about to exec loses the signal that the test sends.
 */
static void fake_waiting_mpstat(const char *prefix, const char *suffix)
{
	autofree char *body = util_fmt("echo 03:04:44 CPU %%usr %%idle\n"
				       "%s tail -n 1 -f $(dirname $0)/row\n%s",
				       prefix, suffix);

	fake_tool("row", CPU_ALL);
	fake_tool("mpstat", body);
}

static void read_rows(struct collector *c, uint64_t rows)
{
	while (c->sink.rows + c->sink.rows_buffered < rows) {
		struct pollfd p = { .fd = c->read_fd, .events = POLLIN };

		assert_int_equal(poll(&p, 1, -1), 1);
		assert_false(collector_read(c, &map));
	}
}

static void stop_and_free(struct collectors *cs)
{
	collectors_stop(cs, NULL);
	for (unsigned int i = 0; i < cs->n; i++)
		while (!collector_read(&cs->c[i], &map))
			;
	collectors_free(cs);
}

/* collectors_start(); LOG gets its messages. */
static int start_logged(struct collectors *cs, const char *list, char *log, size_t size)
{
	autoclose int fd = memfd_create("log", MFD_CLOEXEC);
	autoclose int saved = dup(STDERR_FILENO);
	ssize_t n;
	int r;

	dup2(fd, STDERR_FILENO);
	r = collectors_start(cs, list, NSEC_PER_SEC, dirfd_);
	dup2(saved, STDERR_FILENO);
	n = pread(fd, log, size - 1, 0);
	log[MAX(n, 0)] = '\0';
	return r;
}

/* --- reading ---------------------------------------------------------------------------------- */

enum { CPU, DISK, GPU, GPU_DEV, CGROUP };

static const char mpstat_text[] = "Linux 6.8.0 (dgx) \t2026-11-21 \t_x86_64_\t(2 CPU)\n"
				  "\n" CPU_HEADER CPU_ALL "03:04:45       0    1.00   99.00\n"
				  "\n" CPU_HEADER CPU_ALL "03:04:45       0    1.00   99.00\n"
				  "\nAverage:     CPU    %usr   %idle\n"
				  "Average:     all    0.50   99.50\n";

static const char mpstat_file[] =
	CPU_COLUMNS "# Linux 6.8.0 (dgx) 2026-11-21 _x86_64_ (2 CPU)\n" CPU_ROW
		    "T\tU\t03:04:45\t0\t1.00\t99.00\n" CPU_ROW "T\tU\t03:04:45\t0\t1.00\t99.00\n"
		    "# Average: CPU %usr %idle\n"
		    "# Average: all 0.50 99.50\n";

static void header_goes_first_and_averages_are_comments(void **state)
{
	autofree char *text = read_text(CPU, mpstat_text);

	assert_string_equal(text, mpstat_file);
}

static void arrival_in_pieces_changes_nothing(void **state)
{
	autofree char *text = read_text_n(CPU, 1, mpstat_text, sizeof(mpstat_text) - 1, 1);

	assert_string_equal(text, mpstat_file);
}

static void rows_carry_the_time_of_arrival(void **state)
{
	uint64_t before = clock_now_ns(CLOCK_MONOTONIC), after, ts;
	char utc[64], expect[64] = "";
	struct text_utc_cache cache = { 0 };
	autofree char *text = NULL;

	free(read_text(CPU, CPU_HEADER CPU_ALL));
	after = clock_now_ns(CLOCK_MONOTONIC);
	text = file_text("cpu.out");
	assert_non_null(strchr(text, '\n'));
	assert_int_equal(sscanf(strchr(text, '\n'), "%lu %63s", &ts, utc), 2);
	assert_in_range(ts, before, after);
	text_put_utc(expect, clock_utc_ns(&map, ts), &cache);
	assert_string_equal(utc, expect);
}

static unsigned int single_cpu_rows(uint64_t every, unsigned int samples)
{
	autofree char *text = calloc(samples + 1, sizeof(CPU_HEADER CPU_ALL CPU_ALL)), *file = NULL;
	struct collector *c;
	int fd;

	for (unsigned int i = 0; i < samples; i++)
		strcat(text, CPU_HEADER CPU_ALL "03:04:45       7    0.50   99.50\n");
	c = reader(CPU, 1, &fd);
	c->singles_every = every;
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	finish(c, fd);
	file = file_without_times("cpu.out");
	assert_int_equal(count(file, "\tall\t"), samples);
	unlinkat(dirfd_, "cpu.out", 0);
	return count(file, "\t7\t");
}

static void single_cpus_are_in_as_many_samples_as_requested(void **state)
{
	assert_int_equal(single_cpu_rows(0, 10), 10);
	assert_int_equal(single_cpu_rows(1, 10), 10);
	assert_int_equal(single_cpu_rows(10, 10), 1);
	assert_int_equal(single_cpu_rows(10, 21), 3);
	assert_int_equal(single_cpu_rows(4, 9), 3);
}

static void single_cpus_are_in_every_sample_up_to_128_of_them(void **state)
{
	assert_int_equal(collectors_each_s(0, 2), 0);
	assert_int_equal(collectors_each_s(0, 128), 0);
	assert_int_equal(collectors_each_s(0, 129), 10);
	assert_int_equal(collectors_each_s(0, -1), 0); /* the number of CPUs is not known */
	assert_int_equal(collectors_each_s(30 * NSEC_PER_SEC, 2), 30);
	assert_int_equal(collectors_each_s(NSEC_PER_SEC, 256), 1);
}

/* Each 5 s with samples of 2 s means each 6 s, and the file says so. */
static void thinned_cpus_are_announced(void **state)
{
	struct collectors cs = { .each_ns = 5 * NSEC_PER_SEC };
	autofree char *text = NULL;

	fake_tool("mpstat", "echo nothing\n");
	assert_int_equal(collectors_start(&cs, "cpu", 2 * NSEC_PER_SEC, dirfd_), 0);
	assert_int_equal(cs.c[0].singles_every, 3);
	stop_and_free(&cs);
	text = file_text("cpu.out");
	assert_non_null(strstr(text, "# dltraced cpu 1 command=\"mpstat -P ALL 2\" each_s=6\n"));
}

static void every_disk_of_every_table_is_a_row(void **state)
{
	autofree char *text = read_text(DISK, "Linux 6.8.0 (dgx)\n\n\n"
					      "Device  r/s  %util\nnvme0n1  1.00  0.10\n\n\n"
					      "Device  r/s  %util\nnvme0n1  2.00  0.20\n"
					      "dm-0  3.00  0.30\n\n");

	assert_string_equal(text, "TIMESTAMP\tTIME\tDevice\tr/s\t%util\n"
				  "# Linux 6.8.0 (dgx)\n"
				  "T\tU\tnvme0n1\t1.00\t0.10\n"
				  "T\tU\tnvme0n1\t2.00\t0.20\n"
				  "T\tU\tdm-0\t3.00\t0.30\n");
}

#define PMON_HEADER                                               \
	"#Date       Time      gpu   pid  type    sm   command\n" \
	"#YYYYMMDD   HH:MM:SS  Idx     #   C/G     %   name\n"

static void units_stand_once_and_the_command_may_hold_blanks(void **state)
{
	autofree char *text =
		read_text(GPU, PMON_HEADER " 20261121   03:04:45    0  4711     C    97   pt main thread  \n"
					   " 20261121   03:04:45    1     -     -     -   -\n\n" PMON_HEADER
					   " 20261121   03:04:46    0  4711     C     -   ?\n"
					   "Unable to determine the device handle for GPU 0: Lost\n");

	assert_string_equal(text, "TIMESTAMP\tTIME\tDate\tTime\tgpu\tpid\ttype\tsm\tcommand\n"
				  "# YYYYMMDD HH:MM:SS Idx \\043 C/G % name\n"
				  "T\tU\t20261121\t03:04:45\t0\t4711\tC\t97\tpt\\040main\\040thread\n"
				  "T\tU\t20261121\t03:04:45\t1\t-\t-\t-\t-\n"
				  "T\tU\t20261121\t03:04:46\t0\t4711\tC\t-\t\\077\n"
				  "# Unable to determine the device handle for GPU 0: Lost\n");
}

/* Who may make cgroups chooses their names: none of them passes for a header, or for several columns. */
static void paths_of_cgroups_stay_paths(void **state)
{
	autofree char *text = read_text(CGROUP, "# LEVEL SPAN_NS CGROUP\n0 - /\n1 5 /a LEVEL # b\n"
						"# no sample: the kernel has not answered\n2 6 /a LEVEL # b/\"c\n");

	assert_string_equal(text, "TIMESTAMP\tTIME\tLEVEL\tSPAN_NS\tCGROUP\n"
				  "T\tU\t0\t-\t/\n"
				  "T\tU\t1\t5\t/a\\040LEVEL\\040\\043\\040b\n"
				  "# no sample: the kernel has not answered\n"
				  "T\tU\t2\t6\t/a\\040LEVEL\\040\\043\\040b/\\042c\n");
}

static void rows_under_another_header_are_comments(void **state)
{
	autofree char *text = read_text(CPU, CPU_HEADER CPU_ALL "03:04:44  CPU  %sys  %idle\n"
								"03:04:45  all  1.00  2.00\n" CPU_HEADER CPU_ALL);

	assert_string_equal(text, CPU_COLUMNS CPU_ROW "# 03:04:44 CPU %sys %idle\n"
						      "# 03:04:45 all 1.00 2.00\n" CPU_ROW);
}

static void overlong_lines_are_left_out(void **state)
{
	static char text[3 * 8192];
	autofree char *file = NULL;
	char *p = stpcpy(text, CPU_HEADER);

	p = (char *)memset(p, 'x', 4095) + 4095; /* the longest line that is kept */
	p = stpcpy(p, "\n" CPU_ALL);
	p = (char *)memset(p, 'y', 4096) + 4096;
	p = stpcpy(p, "\n" CPU_ALL);
	p = (char *)memset(p, 'z', 9000) + 9000;
	p = stpcpy(p, " " CPU_ALL CPU_ALL);
	file = read_text_n(CPU, 1, text, (size_t)(p - text), 1000);
	assert_int_equal(count(file, CPU_ROW), 3);
	assert_int_equal(count(file, "# xxx"), 1);
	assert_int_equal(count(file, "# a line of more than 4095 bytes left out\n"), 2);
	assert_int_equal(count(file, "yy") + count(file, "zz"), 0);
}

static void no_byte_can_forge_a_row(void **state)
{
	char text[1024] = CPU_HEADER;
	size_t len = strlen(text);
	autofree char *file = NULL;

	for (int byte = 0; byte < 256; byte++)
		text[len++] = (char)byte;
	memcpy(text + len, "\n" CPU_ALL, sizeof("\n" CPU_ALL) - 1);
	len += sizeof("\n" CPU_ALL) - 1;
	/* the right number of words, among them an escape sequence and a tab */
	len += (size_t)sprintf(text + len, "03:04:45  a\033[2J  \"\\  \xff\xfe\n");
	file = read_text_n(CPU, 1, text, len, 4096);
	for (char *p = file; *p; p++)
		assert_true((unsigned char)*p < 0x7f && (*p >= ' ' || *p == '\t' || *p == '\n'));
	assert_int_equal(count(file, "T\tU\t"), 2);
	assert_non_null(strstr(file, "T\tU\t03:04:45\ta\\033[2J\t\\042\\134\t\\377\\376\n"));
}

static void cut_last_line_is_no_row(void **state)
{
	autofree char *text = read_text(CPU, CPU_HEADER CPU_ALL "03:04:46     all    0.50   9");

	assert_string_equal(text, CPU_COLUMNS CPU_ROW "# 03:04:46 all 0.50 9\n");
}

static void tool_without_a_header_leaves_only_comments(void **state)
{
	autofree char *gpu = read_text(GPU, "NVIDIA-SMI has failed because it couldn't "
					    "communicate with the NVIDIA driver.\n");
	autofree char *disk = read_text(DISK, "");

	assert_string_equal(gpu, "# NVIDIA-SMI has failed because it couldn't communicate with "
				 "the NVIDIA driver.\n# no sample\n");
	assert_string_equal(disk, "# no sample\n");
}

static void endless_talk_before_the_header_is_bounded(void **state)
{
	static char text[1 << 14];
	autofree char *file = NULL;
	char *p = text;

	for (int i = 0; i < 1000; i++)
		p = stpcpy(p, "still loading\n");
	stpcpy(p, CPU_HEADER CPU_ALL);
	file = read_text(CPU, text);
	assert_int_equal(count(file, CPU_COLUMNS "# still loading\n"), 1);
	assert_int_equal(count(file, CPU_ROW), 1);
	assert_true(strlen(file) < 4096);
}

static void noise_without_end_is_not_read_without_end(void **state)
{
	static char noise[1 << 12];
	autofree char *file = NULL;
	struct collector *c;
	int fd, reads = 0;

	memset(noise, 'y', sizeof(noise));
	for (size_t i = 1; i < sizeof(noise); i += 2)
		noise[i] = '\n';
	c = reader(CPU, 1, &fd);
	dprintf(fd, "%s", CPU_HEADER CPU_ALL);
	for (int round = 0; round < 2; round++) { /* a row resets the count of noise */
		for (size_t n = 0; n < COLLECTOR_NOISE_MAX / 2; n += sizeof(noise)) {
			assert_int_equal(write(fd, noise, sizeof(noise)), sizeof(noise));
			assert_false(collector_read(c, &map));
		}
		dprintf(fd, "%s", CPU_ALL);
		assert_false(collector_read(c, &map));
	}
	do
		assert_int_equal(write(fd, noise, sizeof(noise)), sizeof(noise));
	while (!collector_read(c, &map) && ++reads < 1000);
	assert_in_range(reads, COLLECTOR_NOISE_MAX / sizeof(noise) - 1, COLLECTOR_NOISE_MAX / sizeof(noise) + 1);
	assert_true(atomic_load(&c->noisy));
	assert_int_equal(c->read_fd, -1);
	finish(c, fd);
	file = file_text("cpu.out");
	assert_int_equal(count(file, "# 1 MiB without a row: reading stopped\n"), 1);
}

/* --- processes -------------------------------------------------------------------------------- */

static void unknown_name_starts_nothing(void **state)
{
	static const char *const bad[] = { "tpu", "cpu,tpu", "", "cpu,", ",", "cp", "cpux", "CPU" };
	struct collectors cs = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(collectors_start(&cs, bad[i], NSEC_PER_SEC, dirfd_), -EINVAL);
		assert_int_equal(cs.n, 0);
	}
	assert_int_equal(collectors_start(&cs, "none", NSEC_PER_SEC, dirfd_), 0);
	assert_int_equal(cs.n, 0);
	collectors_free(&cs);
}

static void table_has_names_for_help_and_docs(void **state)
{
	unsigned int i;

	for (i = 0; collectors_file(i); i++) {
		assert_non_null(collector_kinds[i].name);
		assert_non_null(collector_kinds[i].help);
	}
	assert_int_equal(i, COLLECTOR_KINDS);
}

static void no_gpu_is_no_line(void **state)
{
	struct collectors cs = { 0 };
	char log[1024];

	setenv("PATH", folder, 1);
	assert_int_equal(start_logged(&cs, NULL, log, sizeof(log)), 0);
	assert_int_equal(count(log, "nvidia-smi not found"), collectors_vendor_there("", "0x10de"));
	assert_int_equal(count(log, "mpstat"), 0); /* we sample in its place */
	for (unsigned int i = 0; i < cs.n; i++)
		assert_string_equal(cs.c[i].state, cs.c[i].kind->vendor ? "not found" : "running");
	stop_and_free(&cs);
}

static void devices_are_found_by_their_vendor(void **state)
{
	autofree char *root = util_fmt("%s/machine", folder),
		      *cmd = util_fmt("mkdir -p %s/sys/bus/pci/devices/a %s/sys/bus/pci/devices/b %s/dev && "
				      "echo 0x1af4 >%s/sys/bus/pci/devices/a/vendor",
				      root, root, root, root);
	autofree char *gpu = util_fmt("echo 0x10de >%s/sys/bus/pci/devices/b/vendor", root);
	autofree char *node = util_fmt("rm %s/sys/bus/pci/devices/b/vendor && : >%s/dev/nvidiactl", root, root);

	setenv("PATH", "/usr/bin:/bin", 1);
	assert_int_equal(system(cmd), 0);
	assert_false(collectors_vendor_there(root, "0x10de"));
	assert_int_equal(system(gpu), 0);
	assert_true(collectors_vendor_there(root, "0x10de"));
	assert_int_equal(system(node), 0);
	assert_true(collectors_vendor_there(root, "0x10de"));
	setenv("PATH", folder, 1);
}

static void missing_tool_is_one_line_and_no_file(void **state)
{
	struct collectors cs = { 0 };
	char log[1024];

	setenv("PATH", folder, 1);
	assert_int_equal(start_logged(&cs, "gpu,gpu_dev", log, sizeof(log)), 0);
	assert_int_equal(cs.n, 2);
	assert_int_equal(count(log, "\n"), 1);
	assert_int_equal(count(log, "nvidia-smi not found; GPU trace off "
				    "(gpu.out and gpu_dev.out are not written"),
			 1);
	for (unsigned int i = 0; i < cs.n; i++) {
		assert_string_equal(cs.c[i].state, "not found");
		assert_true(collector_read(&cs.c[i], &map));
		assert_int_equal(faccessat(dirfd_, cs.c[i].kind->file, F_OK, 0), -1);
	}
	stop_and_free(&cs);
	assert_string_equal(cs.c[0].state, "not found");
}

/* As the tools' columns; what is in them: test_sample.c. */
static void without_sysstat_we_sample(void **state)
{
	autofree char *cpu = NULL, *disk = NULL;
	struct collectors cs = { 0 };
	char log[1024];

	setenv("PATH", folder, 1);
	assert_int_equal(start_logged(&cs, "cpu,disk", log, sizeof(log)), 0);
	assert_string_equal(log, "");
	read_rows(&cs.c[0], 2 * ((uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + 1));
	stop_and_free(&cs);
	for (unsigned int i = 0; i < cs.n; i++)
		assert_string_equal(cs.c[i].state, "stopped");
	cpu = file_without_times("cpu.out");
	disk = file_without_times("disk.out");
	assert_ptr_equal(strstr(cpu, "# dltraced cpu 1 command=\"dltraced sample cpu 1\"\n"
				     "TIMESTAMP\tTIME\tCLOCK\tCPU\t%usr\t%nice\t%sys\t%iowait\t%irq\t%soft\t%steal\t"
				     "%guest\t%gnice\t%idle\n"),
			 cpu);
	assert_true(count(cpu, "\tall\t") >= 2);
	assert_int_equal(count(cpu, "\t0\t"), count(cpu, "\tall\t"));
	assert_non_null(strstr(disk, "# dltraced disk 1 command=\"dltraced sample disk 1\"\n"
				     "TIMESTAMP\tTIME\tDevice\tr/s\trMB/s\trrqm/s\t"));
}

/* No tool is looked for: a program of that name on PATH is not ours. The last sample comes when it is stopped. */
static void cgroups_of_a_process_are_sampled(void **state)
{
	struct collectors cs = { .job.pid = getpid() };
	autofree char *text = NULL;
	char log[1024];

	fake_tool("dltraced", "echo wrong; exec sleep 1000");
	assert_int_equal(start_logged(&cs, "cgroup", log, sizeof(log)), 0);
	assert_string_equal(log, "");
	read_rows(&cs.c[0], 1);
	stop_and_free(&cs);
	assert_string_equal(cs.c[0].state, "stopped");
	text = file_without_times("cgroup.out");
	assert_ptr_equal(strstr(text, "# dltraced cgroup 1 command=\"dltraced sample cgroup 1\"\n"
				      "TIMESTAMP\tTIME\tLEVEL\tSPAN_NS\tCPU_MAX\tCPU_NS\t"),
			 text);
	assert_non_null(strstr(text, "\nT\tU\t0\t-\t"));
}

static void tool_that_may_not_be_run_says_why(void **state)
{
	autofree char *file = util_fmt("%s/bin/iostat", folder);
	autofree char *bin = util_fmt("%s/bin", folder);
	struct collectors cs = { 0 };
	char log[1024];

	fake_tool("iostat", "");
	assert_int_equal(chmod(file, 0600), 0);
	setenv("PATH", bin, 1);
	assert_int_equal(start_logged(&cs, "disk", log, sizeof(log)), 0);
	assert_string_equal(cs.c[0].state, "cannot be run: Permission denied");
	assert_int_equal(count(log, "iostat cannot be run: Permission denied; disk trace off"), 1);
	stop_and_free(&cs);
}

static void existing_file_is_not_overwritten(void **state)
{
	autoclose int fd = openat(dirfd_, "disk.out", O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	struct collectors cs = { 0 };

	fake_tool("mpstat", "exec sleep 1000");
	fake_tool("iostat", "exec sleep 1000");
	assert_true(fd >= 0);
	assert_int_equal(collectors_start(&cs, "cpu,disk", NSEC_PER_SEC, dirfd_), -EEXIST);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no process is left */
}

static void real_sysstat_gives_rows_and_averages(void **state)
{
	autofree char *cpu = NULL, *disk = NULL;
	struct collectors cs = { 0 };

	if (system("{ command -v mpstat && command -v iostat; } >/dev/null") != 0) {
		print_message("skipped: sysstat (mpstat, iostat) is not installed\n");
		skip();
	}
	assert_int_equal(collectors_start(&cs, "cpu,disk", 1, dirfd_), 0);
	assert_string_equal(cs.c[0].state, "running");
	/* each of mpstat's samples has "all" and every CPU */
	read_rows(&cs.c[0], 2 * ((uint64_t)sysconf(_SC_NPROCESSORS_ONLN) + 1));
	read_rows(&cs.c[1], 1);
	stop_and_free(&cs);
	for (unsigned int i = 0; i < cs.n; i++) {
		assert_string_equal(cs.c[i].state, "stopped");
		assert_int_equal(kill(cs.c[i].pid, 0), -1);
	}
	cpu = file_without_times("cpu.out");
	disk = file_without_times("disk.out");
	assert_ptr_equal(strstr(cpu, "# dltraced cpu 1 command=\"mpstat -P ALL 1\"\n"
				     "TIMESTAMP\tTIME\tCLOCK\tCPU\t%usr\t"),
			 cpu);
	assert_int_equal(count(cpu, "TIMESTAMP"), 1);
	assert_int_equal(count(cpu, "\n# Average: all "), 1);
	assert_int_equal(count(cpu, "\tCLOCK\t"), 1);
	assert_true(count(cpu, "\tall\t") >= 2);
	assert_int_equal(count(cpu, "\t0\t"), count(cpu, "\tall\t"));
	assert_non_null(strstr(disk, "# dltraced disk 1 command=\"iostat -dxmy 1\"\n"
				     "TIMESTAMP\tTIME\tDevice\tr/s\t"));
}

static void stand_in_nvidia_smi_fills_both_gpu_files(void **state)
{
	autofree char *stubs = realpath("tests/stubs", NULL);
	autofree char *env = util_fmt("%s:%s", stubs, first_path), *gpu = NULL, *dev = NULL;
	struct collectors cs = { 0 };

	assert_non_null(stubs); /* run from the repository's root */
	setenv("PATH", env, 1);
	assert_int_equal(collectors_start(&cs, "gpu,gpu_dev", 20 * NSEC_PER_SEC, dirfd_), 0);
	read_rows(&cs.c[0], 2);
	read_rows(&cs.c[1], 2);
	stop_and_free(&cs);
	gpu = file_without_times("gpu.out");
	dev = file_without_times("gpu_dev.out");
	/* pmon takes 10 s at most */
	assert_non_null(strstr(gpu, "command=\"nvidia-smi pmon -s um -o DT -d 10\"\n"
				    "TIMESTAMP\tTIME\tDate\tTime\tgpu\tpid\ttype\tsm\t"));
	assert_non_null(strstr(gpu, "\t0\t4711\tC\t97\t41\t-\t-\t-\t-\t70976\t0\t"
				    "pt\\040main\\040thread\n"));
	assert_non_null(strstr(gpu, "\t1\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\n"));
	assert_non_null(strstr(dev, "command=\"nvidia-smi dmon -s pucvmet -o DT -d 20\"\n"
				    "TIMESTAMP\tTIME\tDate\tTime\tgpu\tpwr\tgtemp\t"));
	assert_non_null(strstr(dev, "\t1\t412\t54\t61\t97\t41\t0\t"));
}

static void tool_gets_a_clean_slate(void **state)
{
	autofree char *text = NULL;
	struct collectors cs = { 0 };
	struct pollfd p = { .events = POLLIN };
	sigset_t usr1, saved;

	/* the C library uses 32 and 33 itself: they cannot be reset, and make may leave them ignored */
	fake_tool("mpstat",
		  "grep -E '^Sig(Blk|Ign)' /proc/self/status | sed 's/0000000[01][08]0000000$/0000000000000000/'\n"
		  "env | grep -E '^(TZ|LC_ALL|S_TIME_FORMAT|S_COLORS)=' | sort\n"
		  "readlink /proc/self/fd/0\n"
		  "test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo own group\n"
		  "echo $*\n"
		  "echo not fine >&2\n"
		  "exec ls /proc/self/fd");
	setenv("TZ", "Asia/Tokyo", 1);
	setenv("S_COLORS", "always", 1);
	signal(SIGUSR2, SIG_IGN);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &saved);
	assert_int_equal(collectors_start(&cs, "cpu", 2500 * NSEC_PER_MSEC, dirfd_), 0);
	sigprocmask(SIG_SETMASK, &saved, NULL);
	signal(SIGUSR2, SIG_DFL);
	unsetenv("TZ");
	unsetenv("S_COLORS");

	p.fd = cs.c[0].pidfd;
	assert_int_equal(poll(&p, 1, -1), 1);
	stop_and_free(&cs);
	assert_string_equal(cs.c[0].state, "exited 0: not fine");
	text = file_text("cpu.out");
	/* 3 is the folder that ls itself opens */
	assert_string_equal(text, "# dltraced cpu 1 command=\"mpstat -P ALL 3\"\n"
				  "# SigBlk: 0000000000000000\n"
				  "# SigIgn: 0000000000000000\n"
				  "# LC_ALL=C\n# S_COLORS=never\n# S_TIME_FORMAT=ISO\n# TZ=UTC\n"
				  "# /dev/null\n# own group\n# -P ALL 3\n"
				  "# 0\n# 1\n# 2\n# 3\n# no sample\n");
}

static void dead_tool_is_restarted_once(void **state)
{
	autofree char *text = NULL;
	struct collectors cs = { 0 };
	struct loop loop;

	fake_tool("mpstat", "printf '03:04:44 CPU %%usr %%idle\\n03:04:45 all 0.50 99.50\\n"
			    "03:04:46 all'\n"
			    "printf 'no more\\033[2J\\nat all\\n' >&2\n"
			    "exit 3");
	assert_int_equal(loop_init(&loop), 0);
	assert_int_equal(collectors_start(&cs, "cpu", NSEC_PER_SEC, dirfd_), 0);
	assert_int_equal(collectors_watch(&cs, &loop), 0);
	while (!cs.c[0].restarts)
		assert_int_equal(loop_once(&loop, -1), 0);
	assert_string_equal(cs.c[0].state, "exited 3, restarted: no more?[2J");
	while (cs.c[0].pidfd >= 0)
		assert_int_equal(loop_once(&loop, -1), 0);
	collectors_stop(&cs, &loop);
	stop_and_free(&cs);
	loop_free(&loop);
	assert_string_equal(cs.c[0].state, "exited 3 after a restart: no more?[2J");
	assert_int_equal(cs.c[0].restarts, 1);
	text = file_without_times("cpu.out");
	assert_string_equal(text,
			    "# dltraced cpu 1 command=\"mpstat -P ALL 1\"\n" CPU_COLUMNS CPU_ROW "# 03:04:46 all\n"
			    "# mpstat ended and was started again\n" CPU_ROW "# 03:04:46 all\n");
}

static void hung_tool_is_killed_at_the_deadline(void **state)
{
	autofree char *text = NULL;
	struct collectors cs = { 0 };

	fake_waiting_mpstat("trap '' INT TERM; exec", "");
	assert_int_equal(collectors_start(&cs, "cpu", NSEC_PER_SEC, dirfd_), 0);
	read_rows(&cs.c[0], 1);
	stop_and_free(&cs);
	assert_string_equal(cs.c[0].state, "killed: it did not end when asked");
	assert_true(WIFSIGNALED(cs.c[0].status));
	text = file_without_times("cpu.out");
	assert_non_null(strstr(text, CPU_COLUMNS CPU_ROW));
}

static void wrapper_script_ends_with_the_tool_in_it(void **state)
{
	struct collectors cs;
	int tries = 5; /* a busy machine may not run it before it is killed */

	do {
		struct pollfd end = { .events = 0 };

		cs = (struct collectors){ 0 };
		fake_waiting_mpstat("", "echo not reached");
		assert_int_equal(collectors_start(&cs, "cpu", NSEC_PER_SEC, dirfd_), 0);
		read_rows(&cs.c[0], 1);
		collectors_stop(&cs, NULL);
		end.fd = cs.c[0].read_fd;
		assert_int_equal(poll(&end, 1, -1), 1); /* once no process holds the other end */
		assert_int_equal(end.revents, POLLHUP);
		stop_and_free(&cs);
		unlinkat(dirfd_, "cpu.out", 0);
	} while (strcmp(cs.c[0].state, "stopped") && --tries);
	assert_string_equal(cs.c[0].state, "stopped");
}

static void reading_ends_though_somebody_keeps_the_pipe(void **state)
{
	struct collectors cs = { 0 };
	int kept;

	fake_waiting_mpstat("exec", "");
	assert_int_equal(collectors_start(&cs, "cpu", NSEC_PER_SEC, dirfd_), 0);
	kept = dup(cs.c[0].write_fd);
	read_rows(&cs.c[0], 1);
	stop_and_free(&cs);
	close(kept);
	assert_string_equal(cs.c[0].state, "stopped");
	assert_int_equal(cs.c[0].sink.rows, 1);
}

static void tool_does_not_outlive_a_killed_tracer(void **state)
{
	struct pollfd tool = { .events = POLLIN };
	int fds[2];
	pid_t tracer, pid = 0;

	fake_tool("mpstat", "exec sleep 1000");
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	tracer = fork_bound();
	if (tracer == 0) {
		struct collectors cs = { 0 };

		if (collectors_start(&cs, "cpu", NSEC_PER_SEC, dirfd_) == 0)
			util_write_all(fds[1], &cs.c[0].pid, sizeof(pid));
		pause();
	}
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	tool.fd = util_pidfd_open(pid);
	assert_true(tool.fd >= 0);
	assert_int_equal(poll(&tool, 1, 0), 0);
	kill(tracer, SIGKILL);
	waitpid(tracer, NULL, 0);
	assert_int_equal(poll(&tool, 1, -1), 1);
	close(tool.fd);
	close(fds[0]);
	close(fds[1]);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(int argc, char **argv)
{
	/* without sysstat a collector is this program once more */
	if (argc == 4 && !strcmp(argv[1], "sample"))
		return sample_run(argv[2], strtoull(argv[3], NULL, 10)) < 0;

	if (argc == 5 && !strcmp(argv[1], "sample"))
		return sample_cgroups_run(argv[4], strtoull(argv[3], NULL, 10)) < 0;

	const struct CMUnitTest tests[] = {
		TEST(header_goes_first_and_averages_are_comments),
		TEST(arrival_in_pieces_changes_nothing),
		TEST(rows_carry_the_time_of_arrival),
		TEST(single_cpus_are_in_as_many_samples_as_requested),
		TEST(single_cpus_are_in_every_sample_up_to_128_of_them),
		TEST(thinned_cpus_are_announced),
		TEST(every_disk_of_every_table_is_a_row),
		TEST(paths_of_cgroups_stay_paths),
		TEST(cgroups_of_a_process_are_sampled),
		TEST(units_stand_once_and_the_command_may_hold_blanks),
		TEST(rows_under_another_header_are_comments),
		TEST(overlong_lines_are_left_out),
		TEST(no_byte_can_forge_a_row),
		TEST(cut_last_line_is_no_row),
		TEST(noise_without_end_is_not_read_without_end),
		TEST(tool_without_a_header_leaves_only_comments),
		TEST(endless_talk_before_the_header_is_bounded),
		TEST(unknown_name_starts_nothing),
		TEST(table_has_names_for_help_and_docs),
		TEST(missing_tool_is_one_line_and_no_file),
		TEST(without_sysstat_we_sample),
		TEST(no_gpu_is_no_line),
		TEST(devices_are_found_by_their_vendor),
		TEST(tool_that_may_not_be_run_says_why),
		TEST(existing_file_is_not_overwritten),
		TEST(real_sysstat_gives_rows_and_averages),
		TEST(stand_in_nvidia_smi_fills_both_gpu_files),
		TEST(tool_gets_a_clean_slate),
		TEST(dead_tool_is_restarted_once),
		TEST(hung_tool_is_killed_at_the_deadline),
		TEST(wrapper_script_ends_with_the_tool_in_it),
		TEST(reading_ends_though_somebody_keeps_the_pipe),
		TEST(tool_does_not_outlive_a_killed_tracer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
