/* SPDX-License-Identifier: BSD-2-Clause */
/* What pids.out takes from /proc, for real processes of the test, which wait on a pipe. */
#include "dlt/pids.h"

#include <signal.h>
#include <sys/wait.h>

#include "host/process.h"
#include "records.h"

enum { PID = 2, CGROUP = 10, RANK = 11, ARGS = 12 };

#define PROCS 4096 /* as in src/probes/process/pids.c */

/* An exec closes files first, and has its environment later. */
static void environment_await(pid_t pid, char *const env[])
{
	autofree char *name = util_fmt("/proc/%d/environ", pid);
	size_t want = 0, len = 0;

	for (char *const *s = env; *s; s++)
		want += strlen(*s) + 1;
	while (len < want) {
		autofree char *text = NULL;

		assert_int_equal(util_read_file(name, 4096, &text, &len), 0);
	}
}

static pid_t cat_fork(char *const env[], int *stdin_ret)
{
	int execed[2], input[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe2(execed, O_CLOEXEC), 0);
	assert_int_equal(pipe2(input, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		dup2(input[0], 0);
		execve("/bin/cat", (char *[]){ "cat", "-", "-", NULL }, env);
		_exit(127);
	}
	close(execed[1]);
	close(input[0]);
	assert_int_equal(read(execed[0], &c, 1), 0); /* closed by the exec */
	close(execed[0]);
	environment_await(pid, env);
	*stdin_ret = input[1];
	return pid;
}

static void cat_end(pid_t pid, int stdin_fd)
{
	close(stdin_fd);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/*
 * Starts a cat with ENV that waits for its input, and waits until its exec is done. Its place in the cache is not
 * NO_SUCH_PID's.
 */
static pid_t cat_start(char *const env[], int *stdin_ret)
{
	pid_t pid = cat_fork(env, stdin_ret), shares;
	int shares_fd = *stdin_ret;

	if (pid % PROCS != NO_SUCH_PID % PROCS)
		return pid;
	shares = pid;
	pid = cat_fork(env, stdin_ret);
	cat_end(shares, shares_fd);
	return pid;
}

/* A record of the kernel for PID; a process that does not exist has no start. */
static struct dlt_pids *event_begin(uint32_t event, pid_t pid, pid_t ppid)
{
	struct dlt_pids *rec = rec_begin(DLT_pids);
	struct process p;

	rec->hdr.tgid = rec->hdr.tid = (uint32_t)pid;
	rec->ppid = (uint32_t)ppid;
	rec->event = event;
	rec->uid = getuid();
	if (!process_read(&p, pid))
		rec->start_ns = p.start_ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK)) + 1;
	return rec;
}

static void event(uint32_t event, pid_t pid, pid_t ppid)
{
	event_begin(event, pid, ppid);
	rec_emit();
}

/* Returns column N of the last row. */
static char *column(unsigned int n)
{
	autofree char *rows = rows_of(DLT_pids);
	char *s = rows + strlen(rows) - 1;

	while (s > rows && s[-1] != '\n')
		s--;
	while (n--)
		s = strchr(s, '\t') + 1;
	return strndup(s, strcspn(s, "\t\n"));
}

static void expect_column(unsigned int n, const char *want)
{
	autofree char *got = column(n);

	assert_string_equal(got, want);
}

static void expect_rank(char *const env[], const char *want)
{
	int in;
	pid_t pid = cat_start(env, &in);

	event(DLT_PIDS_EXEC, pid, getpid());
	expect_column(RANK, want);
	cat_end(pid, in);
}

static void ranks_of_every_launcher(void **state)
{
	expect_rank((char *[]){ "A=1", "RANK=7", NULL }, "7");
	expect_rank((char *[]){ "SLURM_PROCID=12", NULL }, "12");
	expect_rank((char *[]){ "OMPI_COMM_WORLD_RANK=3", NULL }, "3");
	expect_rank((char *[]){ "OMPI_COMM_WORLD_RANK=3", "SLURM_PROCID=2", "RANK=1", NULL }, "1");
	expect_rank((char *[]){ "LOCAL_RANK=5", "XRANK=5", "RANK_5", "RANKS=5", NULL }, "-");
	expect_rank((char *[]){ "RANK=-1", NULL }, "-1");
}

static void a_rank_that_is_no_number_is_none(void **state)
{
	expect_rank((char *[]){ "RANK=", NULL }, "-");
	expect_rank((char *[]){ "RANK=zero", NULL }, "-");
	expect_rank((char *[]){ "RANK=1,2", NULL }, "-");
	expect_rank((char *[]){ "RANK=\n", NULL }, "-");
	expect_rank((char *[]){ "RANK=", "SLURM_PROCID=4", NULL }, "4");
}

/* An exec's record has STRING for VARIABLE, after one argument. */
static void exec_with(unsigned int variable, const char *string, pid_t pid)
{
	struct dlt_pids *rec = event_begin(DLT_PIDS_EXEC, pid, getpid());

	rec_str(&rec->segs, 0, "cat");
	if (string)
		rec_str(&rec->segs, variable, string);
	rec->environ_read = 1;
	rec_emit();
}

/* The kernel's value at the exec counts, not that of /proc by now. */
static void the_rank_is_that_of_the_exec(void **state)
{
	int in;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in);

	exec_with(DLT_PIDS_RANK, "RANK=3", pid);
	expect_column(RANK, "3");
	expect_column(ARGS, "cat");
	exec_with(DLT_PIDS_SLURM_PROCID, "SLURM_PROCID=4", pid);
	expect_column(RANK, "4");
	exec_with(DLT_PIDS_OMPI_RANK, "OMPI_COMM_WORLD_RANK=5", pid);
	expect_column(RANK, "5");
	exec_with(0, NULL, pid);
	expect_column(RANK, "-");
	exec_with(DLT_PIDS_RANK, "RANK=3", NO_SUCH_PID);
	expect_column(RANK, "3");
	cat_end(pid, in);
}

static void ranks_beyond_the_record_are_not_believed(void **state)
{
	for (unsigned int i = DLT_PIDS_RANK; i < DLT_PIDS_VARIABLES; i++) {
		struct dlt_pids *rec = event_begin(DLT_PIDS_EXEC, NO_SUCH_PID, getpid());

		rec_str(&rec->segs, i, "RANK=3");
		rec->segs.len[i] = i == DLT_PIDS_RANK ? UINT16_MAX : 100;
		rec->environ_read = 1;
		rec_emit();
		expect_column(RANK, "-");
	}
}

static void expect_nothing(uint64_t unread)
{
	expect_column(RANK, "-");
	expect_column(CGROUP, "-");
	expect_column(ARGS, "-");
	assert_int_equal(decode.counts[DLT_pids].unread, unread);
}

/* The number is another process's by now, or the process another user's, or it runs another program. */
static void of_another_process_nothing_is_shown(void **state)
{
	int in;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in);
	struct dlt_pids *rec = event_begin(DLT_PIDS_SNAPSHOT, pid, getpid());
	struct process p;

	assert_int_equal(process_read(&p, pid), 0);
	rec->args_at = p.args_at;
	rec_emit();
	expect_column(RANK, "7");
	expect_column(ARGS, "cat\\000-\\000-");
	assert_int_equal(decode.counts[DLT_pids].unread, 0);

	rec = event_begin(DLT_PIDS_SNAPSHOT, pid, getpid());
	rec->start_ns -= NSEC_PER_SEC;
	rec_emit();
	expect_nothing(1);

	rec = event_begin(DLT_PIDS_SNAPSHOT, pid, getpid());
	rec->uid++;
	rec_emit();
	expect_nothing(2);

	rec = event_begin(DLT_PIDS_SNAPSHOT, pid, getpid());
	rec->args_at = p.args_at + 16;
	rec_emit();
	if (p.args_at) /* the kernel shows it only to processes that may trace */
		expect_nothing(3);
	cat_end(pid, in);
}

static void what_is_known_is_inherited(void **state)
{
	int in;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in);

	event(DLT_PIDS_EXEC, pid, getpid());
	event(DLT_PIDS_FORK, NO_SUCH_PID, pid);
	expect_column(RANK, "7");
	event(DLT_PIDS_FORK, NO_SUCH_PID + 1, NO_SUCH_PID);
	expect_column(RANK, "7");
	event(DLT_PIDS_EXIT, NO_SUCH_PID + 1, 1);
	expect_column(RANK, "7");
	cat_end(pid, in);
}

static void an_exec_may_change_inherited_values(void **state)
{
	int in, in2;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in);
	pid_t child = cat_start((char *[]){ "RANK=3", NULL }, &in2);

	event(DLT_PIDS_EXEC, pid, getpid());
	event(DLT_PIDS_FORK, child, pid);
	expect_column(RANK, "7");
	event(DLT_PIDS_EXEC, child, pid);
	expect_column(RANK, "3");
	cat_end(child, in2);
	cat_end(pid, in);
}

/* A short command is gone, or a zombie, before its exec's record is read. */
static void a_process_that_is_gone_keeps_what_it_inherited(void **state)
{
	siginfo_t info;
	int in;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in), zombie;

	event(DLT_PIDS_EXEC, pid, getpid());
	event(DLT_PIDS_FORK, NO_SUCH_PID, pid);
	event(DLT_PIDS_EXEC, NO_SUCH_PID, pid);
	expect_column(RANK, "7");

	zombie = fork();
	if (!zombie)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)zombie, &info, WEXITED | WNOWAIT), 0);
	event(DLT_PIDS_FORK, zombie, pid);
	event(DLT_PIDS_EXEC, zombie, pid);
	expect_column(RANK, "7");
	waitpid(zombie, NULL, 0);
	cat_end(pid, in);
}

static void a_number_used_again_is_another_process(void **state)
{
	int in;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in);

	event(DLT_PIDS_EXEC, pid, getpid());
	event(DLT_PIDS_FORK, NO_SUCH_PID, pid);
	expect_column(RANK, "7");
	event(DLT_PIDS_EXIT, NO_SUCH_PID, pid);
	event(DLT_PIDS_FORK, NO_SUCH_PID, NO_SUCH_PID + 5); /* of a parent that is not known */
	expect_column(RANK, "-");
	expect_column(CGROUP, "-");
	cat_end(pid, in);
}

/* The longest of the paths in the lines of cgroups(7): ID:CONTROLLERS:PATH. */
static void the_cgroup_is_the_one_that_says_most(void **state)
{
	autofree char *text = NULL, *got = NULL;
	const char *best = "";
	char *rest, *line;

	assert_int_equal(util_read_file("/proc/self/cgroup", 1 << 16, &text, NULL), 0);
	rest = text;
	while ((line = strsep(&rest, "\n")) && *line) {
		const char *path = strchr(strchr(line, ':') + 1, ':') + 1;

		if (strlen(path) > strlen(best))
			best = path;
	}
	event(DLT_PIDS_SNAPSHOT, getpid(), getppid());
	got = column(CGROUP);
	assert_int_equal(strncmp(got, *best ? best : "-", 255), 0);
}

static void a_snapshot_has_the_arguments_of_the_process(void **state)
{
	int in;
	pid_t pid = cat_start((char *[]){ NULL }, &in);
	struct dlt_pids *rec;

	event(DLT_PIDS_SNAPSHOT, pid, getpid());
	expect_column(ARGS, "cat\\000-\\000-");

	rec = event_begin(DLT_PIDS_SNAPSHOT, pid, getpid()); /* its threads have none of their own */
	rec->hdr.tid = (uint32_t)pid + 1;
	rec_emit();
	expect_column(ARGS, "-");

	config.no_args = true;
	event(DLT_PIDS_SNAPSHOT, pid, getpid());
	expect_column(ARGS, "-");
	cat_end(pid, in);
}

static void arguments_are_cut_at_their_most(void **state)
{
	static const uint16_t lens[] = { DLT_ARGS_MAX, DLT_ARGS_MAX + 1, 20000 };

	for (size_t i = 0; i < ARRAY_SIZE(lens); i++) {
		struct dlt_pids *rec = rec_begin(DLT_pids);
		autofree char *args = NULL;

		rec->hdr.tgid = rec->hdr.tid = NO_SUCH_PID;
		rec->event = DLT_PIDS_EXEC;
		memset(rec + 1, 'a', lens[i]);
		rec->segs.len[0] = lens[i];
		rec->hdr.size += lens[i];
		rec_emit();
		args = column(ARGS);
		assert_int_equal(strlen(args), DLT_ARGS_MAX);
	}
}

static void a_length_beyond_the_record_is_not_believed(void **state)
{
	static const uint32_t events[] = { DLT_PIDS_EXEC, DLT_PIDS_RENAME, DLT_PIDS_SNAPSHOT, DLT_PIDS_EXIT };

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct dlt_pids *rec = rec_begin(DLT_pids);

		rec->hdr.tgid = rec->hdr.tid = NO_SUCH_PID;
		rec->event = events[i];
		rec->segs.len[0] = UINT16_MAX;
		memcpy(rec + 1, "ab", 2);
		rec->hdr.size += 2;
		rec_emit();
		if (events[i] == DLT_PIDS_EXEC || events[i] == DLT_PIDS_RENAME)
			expect_column(ARGS, "ab");
	}
}

/* The cache is small: dropped entries are read again, and none is mistaken for another's. */
static void processes_that_share_a_place_in_the_cache(void **state)
{
	const pid_t others[] = { NO_SUCH_PID, NO_SUCH_PID + PROCS, NO_SUCH_PID + 2 * PROCS };
	int in;
	pid_t pid = cat_start((char *[]){ "RANK=7", NULL }, &in);

	event(DLT_PIDS_EXEC, pid, getpid());
	event(DLT_PIDS_FORK, others[0], pid);
	event(DLT_PIDS_THREAD, others[1], 1);
	expect_column(RANK, "-");
	event(DLT_PIDS_FORK, others[2], pid);
	expect_column(RANK, "7");
	event(DLT_PIDS_THREAD, pid, getpid());
	expect_column(RANK, "7");
	cat_end(pid, in);
}

/* The first argument of a script is its interpreter; a program may be given any. */
static void a_program_whose_children_leave_is_known_by_its_file(void **state)
{
	struct dlt_pids *rec = event_begin(DLT_PIDS_EXEC, NO_SUCH_PID, NO_SUCH_PID);

	strcpy(rec->hdr.comm, "sh");
	rec_str(&rec->segs, 0, "srun");
	rec_emit();
	assert_int_equal(decode.untraced.seen, 0);
	rec = event_begin(DLT_PIDS_EXEC, NO_SUCH_PID, NO_SUCH_PID);
	strcpy(rec->hdr.comm, "ray");
	rec_str(&rec->segs, 0, "python3");
	rec_emit();
	assert_int_not_equal(decode.untraced.seen, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_DECODER(a_length_beyond_the_record_is_not_believed),
		WITH_DECODER(a_number_used_again_is_another_process),
		WITH_DECODER(a_process_that_is_gone_keeps_what_it_inherited),
		WITH_DECODER(a_program_whose_children_leave_is_known_by_its_file),
		WITH_DECODER(a_rank_that_is_no_number_is_none),
		WITH_DECODER(a_snapshot_has_the_arguments_of_the_process),
		WITH_DECODER(an_exec_may_change_inherited_values),
		WITH_DECODER(arguments_are_cut_at_their_most),
		WITH_DECODER(of_another_process_nothing_is_shown),
		WITH_DECODER(processes_that_share_a_place_in_the_cache),
		WITH_DECODER(ranks_of_every_launcher),
		WITH_DECODER(ranks_beyond_the_record_are_not_believed),
		WITH_DECODER(the_cgroup_is_the_one_that_says_most),
		WITH_DECODER(the_rank_is_that_of_the_exec),
		WITH_DECODER(what_is_known_is_inherited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
