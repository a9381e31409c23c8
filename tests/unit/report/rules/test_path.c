/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers by what ended each wait, each with a job that is nearly so: see ../path/trace.h for the traces. */
#include <string.h>

#include "../path/trace.h"
#include "report/rules/rules.h"
#include "report/why/why.h"

#define LIFE (2000 * MS)

/* A job of 2 s whose first process waits for NS, as W says but for the times; then it computes. */
static struct report *waits_for(uint64_t ns, struct put_wait w)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put(SCHED, LIFE, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE,
	    (unsigned long long)(LIFE - ns));
	w.from = 100 * MS;
	w.to = 100 * MS + ns;
	w.pid = 10;
	put_wait_row(&w);
	return path_loaded();
}

static const struct finding *answer(const struct report *r)
{
	return &r->why->rules->bottleneck;
}

static bool has_evidence(const struct report *r, const char *text)
{
	for (unsigned int i = 0; i < answer(r)->n; i++)
		if (strstr(answer(r)->evidence[i], text))
			return true;
	return false;
}

/* Expects the answer CODE by the path with SHARE percent, and TEXT in what is said of it; frees R. */
static void expect_answer(struct report *r, const char *code, int share, const char *text)
{
	assert_string_equal(answer(r)->rule->code, code);
	assert_int_equal((int)(100 * answer(r)->share + 0.5), share);
	if (!has_evidence(r, text))
		fail_msg("no evidence has %s", text);
	report_free(r);
}

static void expect_not(struct report *r, const char *code)
{
	assert_string_not_equal(answer(r)->rule->code, code);
	report_free(r);
}

#define FROM_SERVER .call = "recvfrom", .by = "net", .peer = "10.0.0.5:9000"
static void a_server_has_its_name(void **state)
{
	expect_answer(waits_for(1200 * MS, (struct put_wait){ FROM_SERVER }), "network-read", 60, "10.0.0.5:9000");
}

static void what_is_sent_is_no_data_to_prefetch(void **state)
{
	expect_answer(waits_for(1200 * MS, (struct put_wait){ .call = "sendto", .by = "net", .peer = "10.0.0.5:514" }),
		      "network-write", 60, "sending over the network: 10.0.0.5:514");
}

/* The job listens at LISTENS; one end of a connection is 10.0.0.5:9000, and its own one is OWN. */
static struct report *serves(unsigned int listens, unsigned int own)
{
	put(SOCKETS, 50 * MS, "10\t10\tpython\t6\topen\tinet\tstream\ttcp\t0.0.0.0:%u\t-\t-\t-\t1\t0\t0\t-\t-\t0",
	    listens);
	put(SOCKETS, 50 * MS,
	    "10\t10\tpython\t7\topen\tinet\tstream\ttcp\t10.0.0.1:%u\t10.0.0.5:9000\t-\t-\t1\t0\t0\t-\t-\t0", own);
	return waits_for(1200 * MS, (struct put_wait){ .call = "epoll_wait", .by = "net", .peer = "10.0.0.5:9000" });
}

static void a_loop_that_serves_waits_for_clients(void **state)
{
	expect_answer(serves(8080, 8080), "no-requests", 60, "10.0.0.5:9000");
}

static void a_server_may_wait_for_another_one(void **state)
{
	expect_answer(serves(8080, 51000), "network-read", 60, "10.0.0.5:9000");
}

/* A peer that has taken SENT bytes, and given RECEIVED. */
static void put_exchange(uint64_t sent, uint64_t received)
{
	put(SOCKETS, 50 * MS, "10\t10\tpython\t7\topen\tinet\tstream\ttcp\t-\t10.0.0.5:9000\t-\t-\t1\t0\t0\t-\t-\t0");
	put(NET, LIFE, "10\t10\tpython\tsendto\tW\t1000\t5\t%llu\t0\t0\t100\t50\t-\t7", (unsigned long long)sent);
	put(NET, LIFE, "10\t10\tpython\trecvfrom\tR\t1000\t5\t%llu\t0\t0\t100\t50\t-\t7", (unsigned long long)received);
}

static void an_answer_to_an_upload_is_awaited(void **state)
{
	put_exchange(40 << 20, 10 << 20);
	expect_answer(waits_for(1200 * MS, (struct put_wait){ FROM_SERVER }), "network-write", 60, "10.0.0.5:9000");
}

static void three_times_as_much_sent_is_no_upload(void **state)
{
	put_exchange(30 << 20, 10 << 20);
	expect_answer(waits_for(1200 * MS, (struct put_wait){ FROM_SERVER }), "network-read", 60, "10.0.0.5:9000");
}

/* On the same machine, too, where the server's own thread ends the wait. */
static void a_server_beside_the_job_has_its_address(void **state)
{
	expect_answer(waits_for(1200 * MS, (struct put_wait){ .call = "recvfrom",
							      .by = "thread",
							      .by_pid = 77,
							      .by_comm = "server",
							      .peer = "127.0.0.1:9000" }),
		      "network-read", 60, "127.0.0.1:9000");
}

static void a_server_waits_for_clients(void **state)
{
	expect_answer(waits_for(1200 * MS,
				(struct put_wait){
					.call = "accept4", .by = "thread", .by_pid = 77, .by_comm = "client" }),
		      "no-requests", 60, "clients to connect");
}

static void a_few_packets_are_no_cause(void **state)
{
	expect_not(waits_for(200 * MS, (struct put_wait){ FROM_SERVER }), "network-read");
}

#define QUOTA .call = "-", .state = "throttled", .runq = 1000 * MS
static void a_quota_is_no_contention(void **state)
{
	expect_answer(waits_for(1000 * MS, (struct put_wait){ QUOTA }), "cpu-quota", 50, "CPU quota");
}

static void a_thread_that_loses_its_cpu_has_no_quota(void **state)
{
	expect_not(waits_for(1000 * MS, (struct put_wait){ .call = "-", .state = "runq", .runq = 1000 * MS }),
		   "cpu-quota");
}

/* A job of 2 s that WAITS for half of it; MANIFEST: members about its CPUs; ARGS: of the row of its end. */
static struct report *limited(const char *manifest, const char *args, struct put_wait waits)
{
	char text[1024];

	put_event(0, "exec", 10, 10, 1, "python", NULL);
	put(PIDS, LIFE, "10\t10\t1\tpython\texit\t0\t10\t0\t/\t-\tutime=0\\040minflt=1%s", args);
	put(SCHED, LIFE, "10\t10\tpython\ttarget\t0\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE, 1000 * MS);
	snprintf(text, sizeof(text),
		 "{\"workload\":{\"pid\":10},\"start\":{\"monotonic_ns\":%llu},\"end\":{\"monotonic_ns\":%llu}%s}",
		 BEGIN, BEGIN + LIFE, manifest);
	tree_put("manifest.json", text);
	waits.pid = 10;
	waits.from = 100 * MS;
	waits.to = 1100 * MS;
	put_wait_row(&waits);
	return path_loaded();
}

static struct report *waits_for_cpu(const char *manifest, const char *args)
{
	return limited(manifest, args, (struct put_wait){ .call = "-", .state = "runq", .runq = 1000 * MS });
}

static struct report *waits_for_quota(const char *limits)
{
	char manifest[512];

	snprintf(manifest, sizeof(manifest),
		 ",\"machine\":{\"cpus\":8},\"allowed\":{\"pid\":10,\"cgroup_limits\":[%s]}", limits);
	return limited(manifest, "", (struct put_wait){ QUOTA });
}

#define LIMIT(cgroup, file, value) "{\"cgroup\":\"" cgroup "\",\"file\":\"" file "\",\"value\":\"" value "\"}"
static void the_smallest_quota_is_shown(void **state)
{
	expect_answer(waits_for_quota(LIMIT("/a/b", "memory.max", "1000") "," LIMIT(
			      "/a/b", "cpu.max", "400000 100000") "," LIMIT("/a", "cpu.max", "75000 50000")),
		      "cpu-quota", 50, "its quota was 1.5 of 8 CPUs, by cpu.max of cgroup /a");
}

/* Each of the job's cgroups whose quota was used up has its line; one that has a quota and did not reach it has none.
 */
static void a_used_up_quota_has_its_path(void **state)
{
	put(CGROUPS, LIFE, "0\t2000000000\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t/");
	put(CGROUPS, LIFE, "1\t2000000000\t1.500\t20\t10\t970000000\t-\t-\t-\t-\t-\t-\t-\t-\t/user.slice");
	put(CGROUPS, LIFE, "2\t2000000000\t4.000\t20\t0\t0\t-\t-\t-\t-\t-\t-\t-\t-\t/user.slice/job");
	{
		struct report *r = waits_for_quota(LIMIT("/user.slice", "cpu.max", "150000 100000"));

		assert_false(has_evidence(r, "/user.slice/job"));
		expect_answer(r, "cpu-quota", 50,
			      "cgroup /user.slice: cpu.max 1.5 CPUs, throttled 970 ms in 50.0 % of its periods");
	}
}

static void a_quota_of_v1_has_its_period_apart(void **state)
{
	expect_answer(waits_for_quota(
			      LIMIT("/a", "cpu.cfs_quota_us", "25000") "," LIMIT("/a", "cpu.cfs_period_us", "50000")),
		      "cpu-quota", 50, "its quota was 0.5 of 8 CPUs, by cpu.cfs_quota_us of cgroup /a");
}

/* What cannot be read is none. */
static void a_quota_that_is_not_known_is_not_shown(void **state)
{
	expect_answer(waits_for_quota(LIMIT("/a", "cpu.max", "max") "," LIMIT("/a", "cpu.max", "100 0")), "cpu-quota",
		      50, "CPU quota");
}

#define OF_CPUS(n, by) \
	",\"machine\":{\"cpus\":2},\"allowed\":{\"pid\":10,\"cpus\":\"0\",\"n_cpus\":" #n ",\"cpus_by\":\"" by "\"}"
static void a_job_that_may_not_use_all_cpus_is_at_that_limit(void **state)
{
	expect_answer(waits_for_cpu(OF_CPUS(1, "inherited"), "\\040cpus=1"), "cpu-limit", 50, "taskset");
}

static void a_cgroup_may_have_the_limit(void **state)
{
	expect_answer(waits_for_cpu(OF_CPUS(1, "cgroup"), ""), "cpu-limit", 50, "cpuset of its cgroup");
}

static void a_thread_may_have_limited_itself(void **state)
{
	struct report *r = waits_for_cpu(OF_CPUS(2, ""), "\\040cpus=1\\040nofile=64");

	expect_part(r, "runq", "python", "1 of 2 CPUs", 1000 * MS);
	expect_answer(r, "cpu-limit", 50, "the job itself");
}

static void contention_with_all_cpus_is_no_limit(void **state)
{
	expect_answer(waits_for_cpu(OF_CPUS(2, ""), "\\040cpus=2"), "cpu-contention", 50, "waiting for a CPU");
}

static void a_cpu_that_is_offline_is_no_limit(void **state)
{
	expect_answer(waits_for_cpu(OF_CPUS(2, ""), "\\040cpus=240"), "cpu-contention", 50, "waiting for a CPU");
}

static void an_older_trace_has_no_limit(void **state)
{
	expect_answer(waits_for_cpu("", ""), "cpu-contention", 50, "waiting for a CPU");
}

/* The process of the job has 1 s of the 4 s of CPU time; others have NS of the rest. */
static struct report *beside_others(unsigned long long ns)
{
	put(SCHED, LIFE, "0\t0\t-\tother\t1\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE, ns);
	put(SCHED, LIFE, "0\t0\tswapper\tidle\t1\t-\t%llu\t1\t0\t%llu\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE,
	    3000 * MS - ns);
	return waits_for_cpu("", "");
}

static void the_part_of_others_is_shown(void **state)
{
	expect_answer(beside_others(2600 * MS), "cpu-contention", 50,
		      "processes outside the job had 65 % of the machine's CPU time, the job 25 %");
}

static void its_own_threads_may_be_too_many(void **state)
{
	struct report *r = beside_others(900 * MS);

	assert_ptr_not_equal(answer(r)->rule, &rule_cpu_others);
	expect_answer(r, "cpu-contention", 50, "waiting for a CPU");
}

static void a_stopped_job_does_not_wait_for_others(void **state)
{
	expect_answer(waits_for(1400 * MS,
				(struct put_wait){ .call = "stopped", .by = "thread", .by_pid = 77, .by_comm = "sh" }),
		      "stopped", 70, "stopped by a signal");
}

static void a_short_stop_is_no_cause(void **state)
{
	expect_not(waits_for(300 * MS, (struct put_wait){ .call = "stopped", .by = "thread", .by_pid = 77 }),
		   "stopped");
}

#define OF_OTHERS .by = "thread", .by_pid = 77, .by_comm = "holder"
static void a_lock_of_others_has_its_holder(void **state)
{
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "flock", OF_OTHERS }), "lock-wait", 50, "holder");
}

static void a_process_that_holds_opens_up_has_its_name(void **state)
{
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "openat", .state = "blocked", OF_OTHERS }),
		      "held-by", 50, "holder");
}

static void an_open_from_a_slow_disk_is_held_up_by_nobody(void **state)
{
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "openat", .state = "disk", .by = "disk" }),
		      "open-metadata", 50, "names of files");
}

static void a_pipe_of_others_is_no_lock(void **state)
{
	expect_not(waits_for(1000 * MS, (struct put_wait){ .call = "read", OF_OTHERS }), "lock-wait");
}

/* The first process waits for a lock that its child holds while it sleeps. */
static void a_lock_of_a_child_is_a_lock(void **state)
{
	put_process(20, 10, "python", 50 * MS, 1500 * MS);
	put_wait(.pid = 20, .from = 90 * MS, .to = 1100 * MS, .call = "clock_nanosleep", .by = "timer");
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "fcntl", .by = "thread", .by_pid = 20 }),
		      "lock-wait", 50, "sleeping");
}

static void a_terminal_is_no_network(void **state)
{
	put(FILES, 0, "5\t0:24\t3\tchr\tdevpts\t0\tok\t/dev/pts/0");
	expect_answer(waits_for(1000 * MS, (struct put_wait){ .call = "read",
							      .by = "kernel",
							      .by_pid = 99,
							      .by_comm = "kworker",
							      .fid = 5,
							      .file = "0" }),
		      "terminal", 50, "terminal");
}

/* An event loop waits in epoll_wait while a thread of its own computes. */
static void a_loop_whose_thread_computes_is_bound_by_the_cpu(void **state)
{
	put_event(20 * MS, "thread", 10, 11, 1, "python", NULL);
	put(SCHED, LIFE, "10\t11\tpython\ttarget\t0\t-\t%llu\t1\t0\t1800000000\t0\t-\t-\t-\t-\t-\t-\t-\t-", LIFE);
	put(SCHED, LIFE,
	    "10\t10\tpython\ttarget\t-\tepoll_wait\t%llu\t1\t-\t-\t-\t0\t0\t1700000000\t1700000000\tthread"
	    "\t10\t11\t-",
	    LIFE);
	expect_answer(waits_for(1700 * MS,
				(struct put_wait){ .call = "epoll_wait", .by = "thread", .by_pid = 10, .by_tid = 11 }),
		      "cpu-bound", 100, "python's thread");
}

/* The same, but the thread asks a server. */
static void a_loop_whose_thread_waits_for_a_server_waits_for_it(void **state)
{
	put_event(20 * MS, "thread", 10, 11, 1, "python", NULL);
	put_wait(.pid = 10, .tid = 11, .from = 90 * MS, .to = 1750 * MS, FROM_SERVER);
	expect_answer(waits_for(1700 * MS,
				(struct put_wait){ .call = "epoll_wait", .by = "thread", .by_pid = 10, .by_tid = 11 }),
		      "network-read", 83, "10.0.0.5:9000");
}

/* A script that starts the job and ends: the answer is about the job, which nobody waits for. */
static void a_first_process_that_ends_early_is_not_the_job(void **state)
{
	struct report *r;

	put_root(10, "sh", 300 * MS);
	put_process(20, 10, "python", 50 * MS, LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 10, .from = 10 * MS, .to = 290 * MS, .call = "nanosleep", .by = "timer");
	put_wait(.pid = 20, .from = 50 * MS, .to = LIFE - 10 * MS, FROM_SERVER);
	r = path_loaded();
	assert_string_equal(answer(r)->rule->code, "network-read");
	assert_true(has_evidence(r, "process 20 (python)"));
	report_free(r);
}

/* Nobody of the job is there for the rest. */
static void a_first_process_that_is_all_there_is_and_ends_early_says_too_little(void **state)
{
	struct report *r;

	put_root(10, "sh", 300 * MS);
	put_workload(10, LIFE);
	put_wait(.pid = 10, .from = 10 * MS, .to = 290 * MS, .call = "nanosleep", .by = "timer");
	r = path_loaded();
	assert_string_equal(answer(r)->rule->code, "unknown");
	assert_true(has_evidence(r, "process 10, the first one, was there for 300 ms of 2.00 s"));
	report_free(r);
}

/* The data set that had the most of what the cause is about; a file that was written has not. */
static void waits_for_reads_name_the_data(void **state)
{
	struct report *r;

	put_file(1, "/data/a.bin");
	put_file(2, "/out/model.pt");
	put_read(.from = 100 * MS, .to = 1100 * MS, .pid = 10, .bytes = 4096, .fid = 1, .file = "a.bin");
	put_write(.from = 1200 * MS, .to = 1900 * MS, .pid = 10, .bytes = 4096, .fid = 2, .file = "model.pt");
	r = waits_for(1000 * MS,
		      (struct put_wait){ .call = "read", .state = "disk", .by = "disk", .fid = 1, .file = "a.bin" });
	expect_answer(r, "storage-read", 50, "most time went to: /data/a.bin: 1 file, 4.00 KiB read");
}

/* It waits in an ioctl of DEVICE. */
static struct report *waits_for_device(const char *device)
{
	autofree char *path = util_fmt("/dev/%s", device), *row = util_fmt("5\t0:5\t3\tchr\tdevtmpfs\t0\tok\t%s", path);

	put(FILES, 0, "%s", row);
	return waits_for(1500 * MS, (struct put_wait){ .call = "ioctl", .by = "interrupt", .fid = 5, .file = device });
}

static void a_job_that_waits_for_a_gpu_trains(void **state)
{
	expect_answer(waits_for_device("nvidia0"), "trainer-bound", 100, "waiting for a device: nvidia#");
}

static void a_job_that_waits_for_a_device_waits_for_the_outside(void **state)
{
	expect_answer(waits_for_device("video0"), "outside-wait", 75, "waiting for a device: video#");
}

/* The end of the trace, or a signal, finds it waiting for a message. */
static void a_message_that_never_comes(void **state)
{
	expect_answer(waits_for(1900 * MS, (struct put_wait){ .call = "read", .by = "end" }), "no-answer", 95,
		      "waiting, until a signal or the end: read (python): 1.90 s");
}

static void a_signal_that_is_waited_for_comes(void **state)
{
	expect_not(waits_for(1900 * MS, (struct put_wait){ .call = "pause", .by = "signal", .by_pid = 77 }),
		   "no-answer");
}

/* --- loading programs --------------------------------------------------------------------------------------- */

/* PID opens programs every 100 ms until TO. */
static void put_imports(unsigned int pid, uint64_t to)
{
	put_file(2, "/usr/lib/python3/os.py");
	for (uint64_t at = 100 * MS; at <= to; at += 100 * MS)
		put_open(.pid = pid, .from = at - MS, .to = at, .fid = 2, .file = "os.py");
}

static struct report *imports_until(uint64_t to)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 99, .from = 0, .to = MS);
	put_imports(10, to);
	return path_loaded();
}

static void a_job_that_loads_its_program(void **state)
{
	expect_answer(imports_until(1400 * MS), "import", 70, "on a CPU (python): 1.3");
}

/* For 900 ms it loads its program, then it waits for a disk for WAIT, computes, and sleeps as long. */
static struct report *loads_and_reads(uint64_t wait)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_imports(10, 900 * MS);
	put_wait(.pid = 10, .from = 910 * MS, .to = 910 * MS + wait, .call = "pread64", .state = "disk", .by = "disk",
		 .fid = 1, .file = "a.bin");
	put_wait(.pid = 10, .from = LIFE - (1090 * MS - wait) / 2, .to = LIFE, .call = "clock_nanosleep",
		 .by = "timer");
	return path_loaded();
}

static void what_happens_once_gives_way_to_what_goes_on(void **state)
{
	expect_answer(loads_and_reads(700 * MS), "storage-read", 35, "another cause is about as large: import");
}

static void what_happens_once_may_be_nearly_all(void **state)
{
	expect_answer(loads_and_reads(400 * MS), "import", 45, "without it");
}

static void a_job_that_has_loaded_its_program_computes(void **state)
{
	expect_answer(imports_until(600 * MS), "cpu-bound", 70, "on a CPU (python): 1.40 s");
}

/* The trainer waits N times for its loader, from 200 to 1800, which opens programs until TO. */
static struct report *loader_starts(unsigned int n, uint64_t to)
{
	put_root(10, "python", LIFE);
	put_process(20, 10, "loader", 100 * MS, LIFE);
	put_workload(10, LIFE);
	for (unsigned int i = 0; i < n; i++)
		put_wait(.pid = 10, .from = (200 + 1600 * i / n) * MS, .to = (200 + 1600 * (i + 1) / n) * MS,
			 .by = "thread", .by_pid = 20);
	put_imports(20, to);
	return path_loaded();
}

static void a_loader_that_starts_is_waited_for(void **state)
{
	expect_answer(loader_starts(4, 1600 * MS), "worker-startup", 70, "(loader)");
}

/* It ends two waits of the first process, and so does not serve it. */
static void a_process_in_charge_that_starts_imports(void **state)
{
	expect_answer(loader_starts(2, 1600 * MS), "import", 70, "(loader)");
}

/* --- loaders ------------------------------------------------------------------------------------------------ */

static void a_loader_that_computes(void **state)
{
	expect_answer(loader_starts(4, 400 * MS), "decode-cpu", 70, "on a CPU (loader): 1.40 s");
}

static void a_process_in_charge_that_computes_is_no_loader(void **state)
{
	expect_not(loader_starts(2, 400 * MS), "decode-cpu");
}

/* The trainer waits for its loader in each of ten steps of 200 ms for WAIT. */
static struct report *trains(uint64_t wait)
{
	put_root(10, "python", LIFE);
	put_process(20, 10, "loader", 0, LIFE);
	put_workload(10, LIFE);
	for (uint64_t at = 0; at < LIFE; at += 200 * MS)
		put_wait(.pid = 10, .from = at + 200 * MS - wait, .to = at + 200 * MS, .by = "thread", .by_pid = 20);
	return path_loaded();
}

static void a_job_with_loaders_trains_when_it_computes(void **state)
{
	expect_answer(trains(40 * MS), "trainer-bound", 80, "on a CPU (python): 1.60 s");
}

static void a_trainer_that_waits_for_most_of_the_time_is_not_bound(void **state)
{
	expect_answer(trains(160 * MS), "decode-cpu", 80, "on a CPU (loader): 1.60 s");
}

/* --- what the job says that it does -------------------------------------------------------------------------- */

/* A first process that computes for 2 s, and says for 140 of each 200 ms that it does NAME. */
static struct report *says(const char *cat, const char *name)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 99, .from = 0, .to = MS);
	for (uint64_t at = 0; at < LIFE; at += 200 * MS)
		put_region(10, at, at + 140 * MS, cat, name);
	return path_loaded();
}

static void a_trainer_that_makes_its_batches(void **state)
{
	expect_answer(says("data", "batch"), "decode-cpu", 70, "making a batch): 1.40 s");
}

static void a_trainer_that_takes_them_apart(void **state)
{
	expect_answer(says("dataloader", "fetch"), "collate-main", 70, "fetching a batch): 1.40 s");
}

static void a_trainer_in_its_steps(void **state)
{
	expect_answer(says("compute", "step"), "cpu-bound", 100, "on a CPU (python, in a step): 1.40 s");
}

static void a_trainer_that_packs_its_checkpoints(void **state)
{
	expect_answer(says("checkpoint", "save"), "checkpoint-write", 70, "saving a checkpoint): 1.40 s");
}

static void a_trainer_that_forks_its_loaders(void **state)
{
	expect_answer(says("dataloader", "start"), "worker-startup", 70, "starting its loaders): 1.40 s");
}

static void a_region_of_another_name_says_nothing(void **state)
{
	expect_answer(says("my", "shuffle"), "cpu-bound", 100, "on a CPU (python): 2.00 s");
}

/* What a loader says of its batches is what it is waited for. */
static void a_loader_that_makes_batches_decodes(void **state)
{
	put_root(10, "python", LIFE);
	put_process(20, 10, "loader", 0, LIFE);
	put_workload(10, LIFE);
	for (uint64_t at = 0; at < LIFE; at += 200 * MS) {
		put_wait(.pid = 10, .from = at + 40 * MS, .to = at + 200 * MS, .by = "thread", .by_pid = 20);
		put_region(20, at, at + 190 * MS, "data", "batch");
		put_region(10, at + 39 * MS, at + 200 * MS, "dataloader", "fetch");
	}
	expect_answer(path_loaded(), "decode-cpu", 80, "on a CPU (loader, making a batch): 1.50 s");
}

/* A trainer reads its samples itself, from a disk. */
static void a_trainer_that_waits_for_its_samples_reads(void **state)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_file(1, "/data/x.bin");
	for (uint64_t at = 0; at < LIFE; at += 200 * MS) {
		put_wait(.pid = 10, .from = at + 20 * MS, .to = at + 160 * MS, .call = "read", .state = "disk",
			 .by = "disk", .fid = 1, .file = "x.bin");
		put_region(10, at + 10 * MS, at + 190 * MS, "data", "batch");
	}
	expect_answer(path_loaded(), "storage-read", 70, "x.bin (python, making a batch): 1.40 s");
}

/* --- one that spins ------------------------------------------------------------------------------------------- */

#define OF_DISK .call = "read", .state = "disk", .by = "disk", .fid = 1, .file = "x.bin"

/*
 * A process that computes for 2 s, and takes something from a pipe in each 20 ms. One that it started waits for a disk
 * in each 20 ms for 18, and then as W says, for 1 ms.
 */
static struct report *spins(struct put_wait w)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_process(20, 10, "loader", 50 * MS, LIFE - MS);
	put_file(1, "/data/x.bin");
	put(FILES, 0, "2\t0:13\t1\tfifo\tpipefs\t0\tok\tpipe:[1]");
	for (uint64_t at = 60 * MS; at < LIFE - 40 * MS; at += 20 * MS) {
		put_wait(.pid = 20, .from = at, .to = at + 18 * MS, OF_DISK);
		w.pid = 20;
		w.from = at + 18 * MS;
		w.to = at + 19 * MS;
		put_wait_row(&w);
		put_read(.pid = 10, .fid = 2, .file = "pipe:[1]", .from = at + 18 * MS, .to = at + 18 * MS + 1000,
			 .bytes = 9);
	}
	return path_loaded();
}

static void a_process_that_spins_waits_for_what_its_loader_does(void **state)
{
	expect_answer(spins((struct put_wait){ OF_DISK }), "storage-read", 90, "never waited for it");
}

static void a_loader_that_waits_is_ahead_of_its_trainer(void **state)
{
	expect_not(spins((struct put_wait){ .by = "thread", .by_pid = 10 }), "storage-read");
}

static void a_process_that_says_that_it_computes_does_not_spin(void **state)
{
	put_region(10, 0, 1900 * MS, "compute", "step");
	expect_not(spins((struct put_wait){ OF_DISK }), "storage-read");
}

/* A monitor looks at something now and then. */
static void a_helper_that_sleeps_is_no_loader(void **state)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_process(20, 10, "monitor", 50 * MS, LIFE - MS);
	put(FILES, 0, "2\t0:13\t1\tfifo\tpipefs\t0\tok\tpipe:[1]");
	for (uint64_t at = 60 * MS; at < LIFE - 40 * MS; at += 20 * MS) {
		put_wait(.pid = 20, .from = at, .to = at + 15 * MS, .call = "clock_nanosleep", .by = "timer");
		put_read(.pid = 10, .fid = 2, .file = "pipe:[1]", .from = at, .to = at + 1000, .bytes = 9);
	}
	expect_answer(path_loaded(), "cpu-bound", 100, "on a CPU (python)");
}

/* One that takes nothing from others has nothing to wait for. */
static void a_busy_child_beside_it_is_no_loader(void **state)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_process(20, 10, "packer", 50 * MS, LIFE - MS);
	put_file(1, "/data/x.bin");
	for (uint64_t at = 60 * MS; at < LIFE - 40 * MS; at += 20 * MS)
		put_wait(.pid = 20, .from = at, .to = at + 19 * MS, OF_DISK);
	expect_answer(path_loaded(), "cpu-bound", 100, "on a CPU (python)");
}

/* Process PID sleeps in each of ten steps of 200 ms for 150; the trainer waits for the loader to the end of each. */
static struct report *sleeps(unsigned int pid)
{
	put_root(10, "python", LIFE);
	put_process(20, 10, "loader", 0, LIFE);
	put_workload(10, LIFE);
	for (uint64_t at = 0; at < LIFE; at += 200 * MS) {
		put_wait(.pid = pid, .from = at + 10 * MS, .to = at + 160 * MS, .call = "clock_nanosleep",
			 .by = "timer");
		put_wait(.pid = 10, .from = at + (pid == 10 ? 160 : 10) * MS, .to = at + 170 * MS, .by = "thread",
			 .by_pid = 20);
	}
	return path_loaded();
}

static void a_loader_that_sleeps_keeps_a_limit(void **state)
{
	expect_answer(sleeps(20), "rate-limit", 75, "sleeping for a given time (loader): 1.50 s");
}

/* A helper ends three waits of the first process at its start; then that computes alone. */
static void a_helper_of_the_start_makes_no_trainer(void **state)
{
	put_process(20, 10, "helper", 0, 90 * MS);
	for (uint64_t at = 10 * MS; at < 70 * MS; at += 20 * MS)
		put_wait(.pid = 10, .from = at, .to = at + 10 * MS, .by = "thread", .by_pid = 20);
	expect_answer(waits_for(100 * MS, (struct put_wait){ .call = "pause", .by = "signal", .by_pid = 77 }),
		      "cpu-bound", 94, "on a CPU (python)");
}

/* In place of a GPU. */
static void a_trainer_that_sleeps_trains(void **state)
{
	struct report *r = sleeps(10);

	assert_string_equal(answer(r)->rule->code, "trainer-bound");
	report_free(r);
}

/* --- ranks, children and threads --------------------------------------------------------------------------------- */

/* Of two ranks, the one that the launcher waits for waits in each of ten steps of 200 ms for WAIT. */
static void put_ranks(uint64_t wait)
{
	put_root(10, "torchrun", LIFE);
	put_process(20, 10, "python", 0, LIFE);
	put_process(30, 10, "python", 0, LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 10, .from = MS, .to = LIFE, .call = "wait4", .by = "exit", .by_pid = 20);
	for (uint64_t at = 0; at < LIFE; at += 200 * MS)
		put_wait(.pid = 20, .from = at + 200 * MS - wait, .to = at + 200 * MS, .by = "thread", .by_pid = 30);
}

static void a_slow_rank_has_its_pid(void **state)
{
	put_ranks(120 * MS);
	expect_answer(path_loaded(), "slow-rank", 60,
		      "the slow one is process 30: another rank waited 1.20 s for it, on average");
}

/* All of the launcher's time is the slow rank's, for which the other one waits from 500 to 1700. */
static void put_late_rank(void)
{
	put_root(10, "torchrun", LIFE);
	put_process(20, 10, "python", 0, LIFE);
	put_process(30, 10, "python", 0, LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 10, .from = MS, .to = LIFE, .call = "wait4", .by = "exit", .by_pid = 30);
	put_wait(.pid = 20, .from = 500 * MS, .to = 1700 * MS, .by = "thread", .by_pid = 30);
}

/* What it did while nobody waited is work as that of the others. */
static void a_slow_rank_counts_while_others_wait(void **state)
{
	put_late_rank();
	expect_answer(path_loaded(), "slow-rank", 60, "another cause is about as large: cpu-bound, 40.0 %");
}

static void ranks_that_hardly_wait_are_none(void **state)
{
	put_ranks(20 * MS);
	expect_not(path_loaded(), "slow-rank");
}

/* A shell runs N programs, one after the other, for 1200 ms in all. */
static struct report *programs(unsigned int n)
{
	put_root(10, "sh", LIFE);
	put_workload(10, LIFE);
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t from = (100 + 1500 * i / n) * MS, to = from + 1200 * MS / n;

		put_process(20 + i, 10, "gzip", from, to);
		put_wait(.pid = 10, .from = from, .to = to, .call = "wait4", .by = "exit", .by_pid = 20 + i);
	}
	return path_loaded();
}

static void many_short_programs_are_an_answer(void **state)
{
	expect_answer(programs(12), "child-process", 60, "on a CPU (gzip): 1.20 s");
}

/* Most of a short program is its own start, which goes when nobody runs it. */
static void short_programs_that_load_themselves_are_one_too(void **state)
{
	put_file(2, "/usr/lib/python3/os.py");
	for (unsigned int i = 0; i < 12; i++)
		put_open(.pid = 20 + i, .from = (190 + 125 * i) * MS, .to = (195 + 125 * i) * MS, .fid = 2,
			 .file = "os.py");
	expect_answer(programs(12), "child-process", 60, "on a CPU (gzip): 1.");
}

/* Each has more than a 20th of the time. */
static void some_long_programs_are_none(void **state)
{
	expect_not(programs(6), "child-process");
}

/* Thread 10 waits in turns of NS, from 100 to 1300, for its thread 11. */
static struct report *turns(uint64_t ns)
{
	put_root(10, "python", LIFE);
	put_event(MS, "thread", 10, 11, 1, "python", NULL);
	put_workload(10, LIFE);
	for (uint64_t at = 100 * MS; at < 1300 * MS; at += ns)
		put_wait(.pid = 10, .from = at, .to = at + ns, .call = "futex",
			 .by = at + ns < 1300 * MS ? "timer" : "thread", .by_pid = at + ns < 1300 * MS ? 0 : 10,
			 .by_tid = at + ns < 1300 * MS ? 0 : 11);
	return path_loaded();
}

static void threads_that_wait_for_the_lock_of_python(void **state)
{
	expect_answer(turns(5 * MS), "gil", 60, "on a CPU (python's thread): 1.20 s");
}

static void threads_that_wait_in_longer_turns_compute(void **state)
{
	expect_answer(turns(50 * MS), "cpu-bound", 100, "python's thread");
}

/* --- storage ------------------------------------------------------------------------------------------------------ */

/* Each of N lines of BYTES is written and synced; all syncs take 1200 ms together. CALL: the rows are of that one. */
static struct report *syncs(unsigned int n, uint64_t bytes, const char *call)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_file(2, "/out/log.txt");
	for (unsigned int i = 0; i < n; i++) {
		const uint64_t from = (200 + 1500 * i / n) * MS, to = from + 1200 * MS / n;

		put_write(.pid = 10, .from = from - MS / 10, .to = from, .fid = 2, .file = "log.txt", .bytes = bytes);
		put_sync(.pid = 10, .from = from, .to = to, .fid = 2, .file = "log.txt", .func = call);
		put_wait(.pid = 10, .from = from, .to = to, .call = "fsync", .state = "disk", .by = "disk", .fid = 2,
			 .file = "log.txt");
	}
	return path_loaded();
}

static void a_log_that_is_synced_line_by_line(void **state)
{
	expect_answer(syncs(25, 100, "fsync"), "log-sync", 60, "syncing to disk: log.txt (python): 1.20 s");
}

/* 13 files are written in all, and N times one is synced. */
static void expect_files(unsigned int n, const char *title)
{
	struct report *r;

	for (unsigned int i = 0; i < 12; i++)
		put_write(.pid = 10, .from = 100 * MS, .to = 101 * MS, .fid = 10 + i, .file = "part", .bytes = 100);
	r = syncs(n, 100, "fsync");
	assert_string_equal(answer(r)->rule->code, "log-sync");
	assert_string_equal(answer(r)->rule->title, title);
	report_free(r);
}

static void files_that_are_synced_one_by_one(void **state)
{
	expect_files(26, "The job waited for many small files to reach the disk, one by one");
}

static void a_few_files_beside_a_log(void **state)
{
	expect_files(27, "The job waited for small writes to reach the disk, one by one");
}

static void a_few_syncs_are_no_log(void **state)
{
	expect_answer(syncs(15, 100, "fsync"), "checkpoint-write", 60, "syncing to disk");
}

/* How much of the time went to syncs is the answer already; beside another answer it is to be mended. */
static bool mends(const struct report *r, const char *code)
{
	for (unsigned int i = 0; i < r->why->rules->n; i++)
		if (strcmp(r->why->rules->found[i].rule->code, code) == 0)
			return true;
	return false;
}

static void an_answer_is_not_repeated(void **state)
{
	struct report *r = syncs(25, 100, "fsync");

	assert_string_equal(answer(r)->rule->code, "log-sync");
	assert_false(mends(r, "sync-often"));
	report_free(r);
}

static void what_is_not_the_answer_stays_a_finding(void **state)
{
	struct report *r = syncs(15, 100, "fsync");

	assert_string_equal(answer(r)->rule->code, "checkpoint-write");
	assert_true(mends(r, "sync-often"));
	report_free(r);
}

static void large_writes_are_no_log(void **state)
{
	expect_answer(syncs(25, 1 << 20, "fsync"), "checkpoint-write", 60, "syncing to disk");
}

/* A checkpoint is synced once. Loaders set the sizes of files in shared memory: these calls sync nothing. */
static void sizes_are_no_syncs(void **state)
{
	for (unsigned int i = 0; i < 100; i++)
		put_sync(.pid = 10, .from = (100 + i) * MS, .to = (100 + i) * MS, .fid = 2, .file = "log.txt",
			 .func = i % 2 ? "fallocate" : "ftruncate");
	expect_answer(syncs(1, 1 << 20, "fsync"), "checkpoint-write", 60, "syncing to disk");
}

/* What goes to a pipe is in no file. */
static void bytes_of_a_pipe_are_not_synced(void **state)
{
	put(FILES, 0, "3\t0:13\t1\tfifo\tpipefs\t0\tok\tpipe:[1]");
	put_write(.pid = 10, .from = 100 * MS, .to = 101 * MS, .fid = 3, .file = "pipe:[1]", .bytes = 1 << 30);
	expect_answer(syncs(25, 100, "fsync"), "log-sync", 60, "syncing to disk");
}

/* A request to the disk ON: PID reads or writes the file FID; it takes 200 ms. */
static void put_request(const char *on, char type, unsigned int i, unsigned int pid, unsigned int fid, uint64_t bytes)
{
	put(BIO, (300 + 150 * i) * MS,
	    "%u\t%u\tx\t0\tswapper/0\t%s\t%c\t%u\t%llu\t200000000\t1000000\t-\t0\tdata\t%u\t0\t1\t%u\t%u\tx\t1\tx", pid,
	    pid, on, type, 4096 * i, (unsigned long long)bytes, fid, pid, pid);
}

/* The job reads for 1200 ms from a disk to which PID writes BYTES to the file FID for each MiB that the job reads. */
static struct report *reads_beside_writes(unsigned int pid, unsigned int fid, uint64_t bytes)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_file(2, "/data/x.bin");
	put_file(3, "/out/model.ckpt");
	put_file(4, "/var/log/other");
	for (unsigned int i = 0; i < 10; i++) {
		put_request("sda", 'R', i, 10, 2, 1 << 20);
		put_request("sda", 'W', i, pid, fid, bytes);
	}
	put_write(.pid = 10, .from = 50 * MS, .to = 51 * MS, .fid = 3, .file = "model.ckpt", .bytes = 10 << 20);
	put_read(.pid = 10, .from = 90 * MS, .to = 1310 * MS, .fid = 2, .file = "x.bin", .bytes = 10 << 20);
	put_wait(.pid = 10, .from = 100 * MS, .to = 1300 * MS, .call = "read", .state = "disk", .by = "disk", .fid = 2,
		 .file = "x.bin");
	return path_loaded();
}

static void reads_wait_behind_writes_of_the_job(void **state)
{
	expect_answer(reads_beside_writes(10, 3, 1 << 20), "own-writes", 61,
		      "the job wrote 10.0 MiB to /out/model.ckpt");
}

/* Another program of the machine reads from another disk for longer than the job. */
static void reads_of_others_hide_no_writes(void **state)
{
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int n = 0; n < 10; n++)
			put_request("sdb", 'R', i, 77, 4, 1 << 20);
	}
	reads_wait_behind_writes_of_the_job(state);
}

static void a_few_bytes_keep_no_disk_busy(void **state)
{
	expect_answer(reads_beside_writes(10, 3, 4096), "storage-read", 61, "x.bin");
}

/* A file of 1 MiB comes from the disk 20 times, which takes 60 % of the time; RECLAIMS times KIND makes pages free. */
static struct report *reads_again(unsigned int reclaims, const char *kind)
{
	put_file(2, "/data/x.bin");
	for (unsigned int i = 0; i < 20; i++)
		put(RW, (101 + 60 * i) * MS,
		    "10\t10\tx\tR\tread\t900000\t1048576\t1048576\t0\t1048576\t5\t-\t2\tx.bin");
	for (unsigned int i = 0; i < reclaims; i++)
		put(RECLAIM, (200 + i) * MS, "10\t10\tx\t%s\t100000\t64", kind);
	return waits_for(1200 * MS, (struct put_wait){ .call = "read", .state = "disk", .by = "disk" });
}

/* 19 of 20 reads would not be there. */
static void a_limit_of_memory_makes_it_read_again(void **state)
{
	expect_answer(reads_again(30, "cgroup"), "memory-limit", 57, "free pages 30 times, 1920 pages");
}

static void a_limit_of_memory_has_its_path(void **state)
{
	put(CGROUPS, LIFE, "1\t2000000000\t-\t-\t-\t-\t50331648\t52428800\t1000\t3\t-\t-\t-\t-\t/job");
	expect_answer(reads_again(30, "cgroup"), "memory-limit", 57,
		      "cgroup /job: 96 % of memory.max (50.0 MiB), 500 refaults/s");
}

static bool has_fact(const struct report *r, const char *code, const char *text)
{
	const struct rules *rules = r->why->rules;

	for (unsigned int i = rules->n; i < rules->n + rules->n_facts; i++)
		if (!strcmp(rules->found[i].rule->code, code))
			return rules->found[i].n && strstr(rules->found[i].evidence[0], text);
	return false;
}

/* Above a tenth of the time, of the job's cgroup; the machine's is no matter. */
static void pressure_is_a_fact(void **state)
{
	struct report *r;

	put(CGROUPS, LIFE, "0\t2000000000\t-\t-\t-\t-\t-\t-\t-\t-\t900000000\t900000000\t900000000\t900000000\t/");
	put(CGROUPS, LIFE, "1\t2000000000\t-\t-\t-\t-\t-\t-\t-\t-\t300000000\t220000000\t190000000\t190000000\t/job");
	r = waits_for(1200 * MS, (struct put_wait){ NET });
	assert_true(has_fact(r, "memory-pressure",
			     "cgroup /job: a thread of it waited in 15.0 % of the time, all that could "
			     "run in 11.0 %"));
	assert_false(has_fact(r, "io-pressure", ""));
	report_free(r);
}

static void the_machines_pressure_is_no_fact(void **state)
{
	struct report *r;

	put(CGROUPS, LIFE, "0\t2000000000\t-\t-\t-\t-\t-\t-\t-\t-\t900000000\t900000000\t900000000\t900000000\t/");
	put(CGROUPS, LIFE, "1\t2000000000\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t-\t/job");
	r = waits_for(1200 * MS, (struct put_wait){ NET });
	assert_false(has_fact(r, "memory-pressure", ""));
	assert_false(has_fact(r, "io-pressure", ""));
	report_free(r);
}

static void a_full_machine_is_no_limit(void **state)
{
	expect_answer(reads_again(30, "machine"), "storage-read", 60, "reading from disk");
}

static void a_few_pages_are_no_limit(void **state)
{
	expect_answer(reads_again(5, "cgroup"), "storage-read", 60, "reading from disk");
}

/* A loader computes for 70 % of the time; a disk reads two requests of PID, EACH long, one after the other, ten times.
 */
static struct report *decodes_beside_a_disk(unsigned int pid, uint64_t each)
{
	put_file(2, "/data/x.bin");
	for (uint64_t i = 0, at = 30 * MS; i < 20; i++, at += i % 2 ? each : 195 * MS - each)
		put(BIO, at + each,
		    "%u\t20\tx\t0\tswapper/0\tsda\tR\t%llu\t65536\t%llu\t0\t-\t0\tdata\t2\t0\t1\t20\t20\tx\t1\tx", pid,
		    (unsigned long long)(i * 4096), (unsigned long long)(i % 2 ? each + MS : each));
	return loader_starts(4, 400 * MS);
}

static void a_disk_at_its_limit_sets_the_pace(void **state)
{
	expect_answer(decodes_beside_a_disk(20, 90 * MS), "disk-saturated", 90, "the disk sda had requests for 1.8");
}

static void a_disk_of_others_does_not(void **state)
{
	expect_answer(decodes_beside_a_disk(77, 90 * MS), "decode-cpu", 70, "on a CPU (loader)");
}

static void a_disk_with_time_to_spare_does_not(void **state)
{
	expect_answer(decodes_beside_a_disk(20, 50 * MS), "decode-cpu", 70, "on a CPU (loader)");
}

static void writes_of_others_are_not_of_the_job(void **state)
{
	expect_answer(reads_beside_writes(77, 4, 1 << 20), "storage-read", 61, "x.bin");
}

#define OPENS .call = "openat", .state = "disk", .by = "disk", .fid = 2, .file = "a.jpg"

/* An open waits for 600 ms, and is as long on a CPU. */
static void names_of_files_from_a_disk(void **state)
{
	put_file(2, "/data/a.jpg");
	put_open(.pid = 10, .from = 100 * MS, .to = 1300 * MS, .fid = 2, .file = "a.jpg");
	expect_answer(waits_for(600 * MS, (struct put_wait){ OPENS }), "open-metadata", 60,
		      "names of files from disk: a.jpg (python): 600 ms");
}

static void a_read_of_the_file_is_no_open(void **state)
{
	expect_not(waits_for(1200 * MS, (struct put_wait){ .call = "read", .state = "disk", .by = "disk" }),
		   "open-metadata");
}

/* A read that waits for a disk for WAIT, and was on a CPU for CACHED then. */
static struct report *reads(uint64_t wait, uint64_t cached)
{
	put_file(2, "/data/x.bin");
	put_read(.pid = 10, .from = 100 * MS, .to = 100 * MS + wait + cached, .fid = 2, .file = "x.bin",
		 .bytes = 1 << 20);
	return waits_for(wait,
			 (struct put_wait){ .call = "read", .state = "disk", .by = "disk", .fid = 2, .file = "x.bin" });
}

/* A quarter of the time of reads was the disk's: all of it is the reads'. */
static void cpu_time_in_cold_reads_is_of_the_reads(void **state)
{
	expect_answer(reads(360 * MS, 1040 * MS), "storage-read", 70, "on a CPU, in reads of files: x.bin (python)");
}

static void cpu_time_in_cached_reads_is_of_the_job(void **state)
{
	expect_answer(reads(300 * MS, 1100 * MS), "cpu-bound", 85, "on a CPU, in reads of files: x.bin (python)");
}

/* --- evidence ----------------------------------------------------------------------------------------------------- */

/* The job waits for a server for 1200 ms, and sleeps for NS. */
static struct report *waits_and_sleeps(uint64_t ns)
{
	put_wait(.pid = 10, .from = 1400 * MS, .to = 1400 * MS + ns, .call = "nanosleep", .by = "timer");
	return waits_for(1200 * MS, (struct put_wait){ FROM_SERVER });
}

static void a_cause_half_as_large_is_named(void **state)
{
	expect_answer(waits_and_sleeps(600 * MS), "network-read", 60, "another cause is about as large: idle, 30.0 %");
}

static void a_smaller_cause_is_not(void **state)
{
	struct report *r = waits_and_sleeps(590 * MS);

	assert_false(has_evidence(r, "second cause"));
	report_free(r);
}

/* Two epochs, whose first one ends at END; the first begins at BEGINS. */
static struct report *with_epochs(uint64_t begins, uint64_t end)
{
	struct report *r;

	put(MARKS, begins, "10\tepoch_start");
	put(MARKS, end, "10\tepoch_stop");
	put(MARKS, end, "10\tepoch_start");
	put(MARKS, 1990 * MS, "10\tepoch_stop");
	r = path_loaded_with(&(struct report_options){ .timed = true });
	assert_int_equal(r->path->epochs, 2);
	return r;
}

/* The job waits for a server from 100 to 1400. */
static void put_server(void)
{
	put_root(10, "python", LIFE);
	put_workload(10, LIFE);
	put_wait(.pid = 10, .from = 100 * MS, .to = 1400 * MS, FROM_SERVER);
}

static void a_cause_may_be_in_the_first_epoch(void **state)
{
	put_server();
	expect_answer(with_epochs(10 * MS, 1500 * MS), "network-read", 65,
		      "1.30 s of it in the first epoch: later ones hardly have any");
}

static void a_cause_may_be_before_the_first_epoch(void **state)
{
	put_server();
	expect_answer(with_epochs(1500 * MS, 1700 * MS), "network-read", 65, "1.30 s of it before the first epoch");
}

static void a_cause_in_two_epochs_is_in_none_of_them(void **state)
{
	struct report *r;

	put_server();
	r = with_epochs(10 * MS, 750 * MS);
	assert_string_equal(answer(r)->rule->code, "network-read");
	assert_false(has_evidence(r, "epoch"));
	report_free(r);
}

/* Others waited for the slow rank for 1.2 s; all of its time, of which they waited for a part, is in both epochs. */
static void a_slow_rank_in_two_epochs_is_in_none_of_them(void **state)
{
	struct report *r;

	put_late_rank();
	r = with_epochs(10 * MS, 1600 * MS);
	assert_string_equal(answer(r)->rule->code, "slow-rank");
	assert_false(has_evidence(r, "epoch"));
	report_free(r);
}

/* What is shown of the epoch is a part of the answer. */
static void a_slow_rank_may_be_in_the_first_epoch(void **state)
{
	put_late_rank();
	expect_answer(with_epochs(10 * MS, 1980 * MS), "slow-rank", 60, "1.18 s of it in the first epoch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(a_server_has_its_name),
		IN_TREE(a_server_beside_the_job_has_its_address),
		IN_TREE(a_loop_that_serves_waits_for_clients),
		IN_TREE(a_server_may_wait_for_another_one),
		IN_TREE(what_is_sent_is_no_data_to_prefetch),
		IN_TREE(an_answer_to_an_upload_is_awaited),
		IN_TREE(three_times_as_much_sent_is_no_upload),
		IN_TREE(a_server_waits_for_clients),
		IN_TREE(a_few_packets_are_no_cause),
		IN_TREE(a_quota_is_no_contention),
		IN_TREE(a_quota_of_v1_has_its_period_apart),
		IN_TREE(a_quota_that_is_not_known_is_not_shown),
		IN_TREE(a_used_up_quota_has_its_path),
		IN_TREE(the_smallest_quota_is_shown),
		IN_TREE(a_thread_that_loses_its_cpu_has_no_quota),
		IN_TREE(a_job_that_may_not_use_all_cpus_is_at_that_limit),
		IN_TREE(a_cgroup_may_have_the_limit),
		IN_TREE(a_thread_may_have_limited_itself),
		IN_TREE(contention_with_all_cpus_is_no_limit),
		IN_TREE(a_cpu_that_is_offline_is_no_limit),
		IN_TREE(an_older_trace_has_no_limit),
		IN_TREE(the_part_of_others_is_shown),
		IN_TREE(its_own_threads_may_be_too_many),
		IN_TREE(a_stopped_job_does_not_wait_for_others),
		IN_TREE(a_short_stop_is_no_cause),
		IN_TREE(a_lock_of_others_has_its_holder),
		IN_TREE(a_process_that_holds_opens_up_has_its_name),
		IN_TREE(an_open_from_a_slow_disk_is_held_up_by_nobody),
		IN_TREE(a_pipe_of_others_is_no_lock),
		IN_TREE(a_lock_of_a_child_is_a_lock),
		IN_TREE(a_terminal_is_no_network),
		IN_TREE(a_loop_whose_thread_computes_is_bound_by_the_cpu),
		IN_TREE(a_loop_whose_thread_waits_for_a_server_waits_for_it),
		IN_TREE(waits_for_reads_name_the_data),
		IN_TREE(a_first_process_that_ends_early_is_not_the_job),
		IN_TREE(a_first_process_that_is_all_there_is_and_ends_early_says_too_little),
		IN_TREE(a_job_that_loads_its_program),
		IN_TREE(a_job_that_waits_for_a_gpu_trains),
		IN_TREE(a_job_that_waits_for_a_device_waits_for_the_outside),
		IN_TREE(a_message_that_never_comes),
		IN_TREE(a_signal_that_is_waited_for_comes),
		IN_TREE(what_happens_once_gives_way_to_what_goes_on),
		IN_TREE(what_happens_once_may_be_nearly_all),
		IN_TREE(a_job_that_has_loaded_its_program_computes),
		IN_TREE(a_loader_that_starts_is_waited_for),
		IN_TREE(a_process_in_charge_that_starts_imports),
		IN_TREE(a_loader_that_computes),
		IN_TREE(a_process_in_charge_that_computes_is_no_loader),
		IN_TREE(a_job_with_loaders_trains_when_it_computes),
		IN_TREE(a_trainer_that_waits_for_most_of_the_time_is_not_bound),
		IN_TREE(a_trainer_that_makes_its_batches),
		IN_TREE(a_trainer_that_takes_them_apart),
		IN_TREE(a_trainer_in_its_steps),
		IN_TREE(a_trainer_that_packs_its_checkpoints),
		IN_TREE(a_trainer_that_forks_its_loaders),
		IN_TREE(a_region_of_another_name_says_nothing),
		IN_TREE(a_loader_that_makes_batches_decodes),
		IN_TREE(a_trainer_that_waits_for_its_samples_reads),
		IN_TREE(a_process_that_spins_waits_for_what_its_loader_does),
		IN_TREE(a_loader_that_waits_is_ahead_of_its_trainer),
		IN_TREE(a_process_that_says_that_it_computes_does_not_spin),
		IN_TREE(a_helper_that_sleeps_is_no_loader),
		IN_TREE(a_busy_child_beside_it_is_no_loader),
		IN_TREE(a_loader_that_sleeps_keeps_a_limit),
		IN_TREE(a_helper_of_the_start_makes_no_trainer),
		IN_TREE(a_trainer_that_sleeps_trains),
		IN_TREE(a_slow_rank_has_its_pid),
		IN_TREE(a_slow_rank_counts_while_others_wait),
		IN_TREE(ranks_that_hardly_wait_are_none),
		IN_TREE(many_short_programs_are_an_answer),
		IN_TREE(short_programs_that_load_themselves_are_one_too),
		IN_TREE(some_long_programs_are_none),
		IN_TREE(threads_that_wait_for_the_lock_of_python),
		IN_TREE(threads_that_wait_in_longer_turns_compute),
		IN_TREE(a_log_that_is_synced_line_by_line),
		IN_TREE(files_that_are_synced_one_by_one),
		IN_TREE(a_few_files_beside_a_log),
		IN_TREE(a_few_syncs_are_no_log),
		IN_TREE(an_answer_is_not_repeated),
		IN_TREE(what_is_not_the_answer_stays_a_finding),
		IN_TREE(large_writes_are_no_log),
		IN_TREE(sizes_are_no_syncs),
		IN_TREE(bytes_of_a_pipe_are_not_synced),
		IN_TREE(reads_of_others_hide_no_writes),
		IN_TREE(reads_wait_behind_writes_of_the_job),
		IN_TREE(a_few_bytes_keep_no_disk_busy),
		IN_TREE(a_limit_of_memory_makes_it_read_again),
		IN_TREE(a_limit_of_memory_has_its_path),
		IN_TREE(pressure_is_a_fact),
		IN_TREE(the_machines_pressure_is_no_fact),
		IN_TREE(a_full_machine_is_no_limit),
		IN_TREE(a_few_pages_are_no_limit),
		IN_TREE(a_disk_at_its_limit_sets_the_pace),
		IN_TREE(a_disk_of_others_does_not),
		IN_TREE(a_disk_with_time_to_spare_does_not),
		IN_TREE(writes_of_others_are_not_of_the_job),
		IN_TREE(names_of_files_from_a_disk),
		IN_TREE(a_read_of_the_file_is_no_open),
		IN_TREE(cpu_time_in_cold_reads_is_of_the_reads),
		IN_TREE(cpu_time_in_cached_reads_is_of_the_job),
		IN_TREE(a_cause_half_as_large_is_named),
		IN_TREE(a_smaller_cause_is_not),
		IN_TREE(a_cause_may_be_in_the_first_epoch),
		IN_TREE(a_cause_may_be_before_the_first_epoch),
		IN_TREE(a_cause_in_two_epochs_is_in_none_of_them),
		IN_TREE(a_slow_rank_in_two_epochs_is_in_none_of_them),
		IN_TREE(a_slow_rank_may_be_in_the_first_epoch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
