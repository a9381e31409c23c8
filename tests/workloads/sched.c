// SPDX-License-Identifier: BSD-2-Clause
/*
 * sched: threads that have a CPU, wait for one, and wait for other things, in all the ways that matter.
 *
 *   sched [-q] [-k] TALLY DIR       (-q: less of everything; -k: run and sleep until killed)
 *
 * Each thread writes a line of "key value" pairs to TALLY with what it knows of itself: its numbers, clock readings
 * before it was made, at its begin and at its end, how often it waited in which call, how long by its own clock
 * (waited_ns), the longest of these times (longest_ns), the time that it requested (wanted_ns); and the kernel's
 * numbers in its schedstat and rusage at that moment. For each process that has ended, its parent writes the kernel's
 * numbers before it reaps it, when they no longer change. DIR is where files are made and read. CLOCK_MONOTONIC, ns.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "die.h"

#define BLOCK 4096
#define BLOCKS 64
#define MS 1000000LL

struct own {
	const char *what;
	int64_t before, begin;
	long waits;
	int64_t waited_ns, longest_ns, wanted_ns;
	const char *call;
};

static struct {
	int tally;
	char *tally_path, *dir;
	bool quick;
} opt;

static long times(long n)
{
	return opt.quick ? (n + 4) / 5 : n;
}

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (write(opt.tally, line, (size_t)len) != len) /* O_APPEND: lines are never mixed */
		die("the tally");
}

/* --- the kernel's numbers ------------------------------------------------------------------------- */

struct kernel {
	long long run_ns, runq_ns, slices;
	long voluntary, involuntary;
};

static void read_text(char *text, size_t size, const char *fmt, int pid, int tid)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), fmt, pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n < 0)
		die("%s", path);
	text[n] = '\0';
	close(fd);
}

static void kernel_read(struct kernel *k, int pid, int tid)
{
	char text[4096], *at;

	read_text(text, sizeof(text), "/proc/%d/task/%d/schedstat", pid, tid);
	if (sscanf(text, "%lld %lld %lld", &k->run_ns, &k->runq_ns, &k->slices) != 3)
		die("schedstat");
	read_text(text, sizeof(text), "/proc/%d/task/%d/status", pid, tid);
	at = strstr(text, "\nvoluntary_ctxt_switches:");
	if (!at || sscanf(at, " voluntary_ctxt_switches: %ld nonvoluntary_ctxt_switches: %ld", &k->voluntary,
			  &k->involuntary) != 2)
		die("status");
}

static void kernel_say(const char *role, int pid, int tid, const struct kernel *k)
{
	say("role %s pid %d tid %d now %lld run %lld runq %lld slices %lld voluntary %ld involuntary %ld\n", role, pid,
	    tid, (long long)now_ns(), k->run_ns, k->runq_ns, k->slices, k->voluntary, k->involuntary);
}

/* --- a thread's own numbers ----------------------------------------------------------------------- */

static void own_begin(struct own *o)
{
	o->begin = now_ns();
}

static void own_waited(struct own *o, int64_t since, int64_t wanted_ns)
{
	int64_t ns = now_ns() - since;

	o->waits++;
	o->waited_ns += ns;
	o->wanted_ns += wanted_ns;
	if (ns > o->longest_ns)
		o->longest_ns = ns;
}

static void own_end(const struct own *o)
{
	say("role own what %s pid %d tid %d before %lld begin %lld end %lld call %s waits %ld waited_ns %lld"
	    " longest_ns %lld wanted_ns %lld\n",
	    o->what, getpid(), gettid(), (long long)o->before, (long long)o->begin, (long long)now_ns(),
	    o->call ?: "none", o->waits, (long long)o->waited_ns, (long long)o->longest_ns, (long long)o->wanted_ns);
}

/* A thread's numbers cannot be read once it has ended. The tally omits what it does from here on. */
static void thread_end(const struct own *o)
{
	struct kernel k;

	own_end(o);
	clock_ns(CLOCK_THREAD_CPUTIME_ID); /* makes the kernel update the following numbers */
	kernel_read(&k, getpid(), gettid());
	kernel_say("thread", getpid(), gettid(), &k);
}

/* --- starting and ending -------------------------------------------------------------------------- */

static pid_t start(const char *what, void (*fn)(struct own *o))
{
	struct own o = { .what = what, .before = now_ns() };
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		own_begin(&o);
		fn(&o);
		own_end(&o);
		_exit(0);
	}
	return pid;
}

/*
 * Reads the kernel's numbers of one child that has ended, PID or any for 0, and reaps it. Returns false where there is
 * none.
 */
static bool reap(pid_t pid)
{
	siginfo_t si = {};
	struct kernel k;
	int status;

	if (waitid(pid ? P_PID : P_ALL, (id_t)pid, &si, WEXITED | WNOWAIT) < 0) {
		if (errno != ECHILD)
			die("waitid");
		return false;
	}
	kernel_read(&k, si.si_pid, si.si_pid);
	kernel_say("zombie", si.si_pid, si.si_pid, &k);
	if (waitpid(si.si_pid, &status, 0) < 0)
		die("waitpid");
	if (status && status != SIGKILL)
		die("child %d ended with status %d", si.si_pid, status);
	return true;
}

static pthread_t thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, fn, arg);
	if (errno)
		die("pthread_create");
	return t;
}

static void spin(int64_t ns)
{
	int64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

static void sleep_ns(struct own *o, int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };
	int64_t since = now_ns();

	while (nanosleep(&ts, &ts) < 0)
		;
	if (o)
		own_waited(o, since, ns);
}

static void pin(int nth)
{
	cpu_set_t may, one;
	int n;

	sched_getaffinity(0, sizeof(may), &may);
	n = CPU_COUNT(&may);
	CPU_ZERO(&one);
	for (int cpu = 0, i = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &may) && i++ == nth % n)
			CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		die("sched_setaffinity");
}

/* --- the threads' work ---------------------------------------------------------------------------- */

static void hog(struct own *o)
{
	(void)o;
	pin(1);
	spin(300 * MS);
}

static void yields(struct own *o)
{
	(void)o;
	pin(1);
	for (long i = 0; i < times(500); i++)
		sched_yield();
}

static void sleeper(struct own *o)
{
	o->call = "nanosleep";
	for (long i = 0; i < times(20); i++)
		sleep_ns(o, 7 * MS);
	sleep_ns(o, 150 * MS);
}

static void poller(struct own *o)
{
	int64_t since;

	o->call = "poll";
	for (long i = 0; i < times(10); i++) {
		since = now_ns();
		poll(NULL, 0, 15);
		own_waited(o, since, 15 * MS);
	}
}

static _Atomic uint32_t word;

static void *waker(void *arg)
{
	struct own o = { .what = "waker", .before = *(int64_t *)arg, .call = "nanosleep" };

	own_begin(&o);
	for (long i = 0; i < times(20); i++) {
		sleep_ns(&o, 5 * MS);
		word++;
		syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	}
	thread_end(&o);
	return NULL;
}

static void futexes(struct own *o)
{
	int64_t before = now_ns(), since;
	pthread_t t = thread(waker, &before);
	uint32_t seen = 0;

	o->call = "futex";
	while (seen < times(20)) {
		since = now_ns();
		if (syscall(SYS_futex, &word, FUTEX_WAIT, seen, NULL, NULL, 0) == 0)
			own_waited(o, since, 0);
		seen = word;
	}
	since = now_ns();
	pthread_join(t, NULL); /* waits by futex as well */
	own_waited(o, since, 0);
}

static int ping[2], pong[2];

static void pass(int from, int to, bool first)
{
	char c = 'x';

	for (long i = 0; i < times(500); i++) {
		if (first && write(to, &c, 1) != 1)
			die("write");
		if (read(from, &c, 1) != 1)
			die("read");
		if (!first && write(to, &c, 1) != 1)
			die("write");
	}
}

static void pinger(struct own *o)
{
	(void)o;
	pass(pong[0], ping[1], true);
}

static void ponger(struct own *o)
{
	(void)o;
	pass(ping[0], pong[1], false);
}

static void migrator(struct own *o)
{
	cpu_set_t may;

	(void)o;
	sched_getaffinity(0, sizeof(may), &may);
	for (int i = 0; i < times(100); i++) {
		if (sched_setaffinity(0, sizeof(may), &may) < 0)
			die("sched_setaffinity");
		pin(i);
		spin(MS / 2);
	}
}

/* Mostly without a switch in between. No name may damage a row. */
static void renamer(struct own *o)
{
	char name[16];

	(void)o;
	for (int64_t i = 0, end = now_ns() + 1300 * MS; now_ns() < end; i++) {
		snprintf(name, sizeof(name), "re\t%d\n# \"", (int)(i % 5));
		prctl(PR_SET_NAME, name);
		spin(MS);
	}
}

static void reexec(const char *what, int64_t before)
{
	char before_text[24],
		*argv[] = { "sched", "-x", (char *)what, "-b", before_text, opt.tally_path, opt.dir, NULL };

	snprintf(before_text, sizeof(before_text), "%lld", (long long)before);
	execv("/proc/self/exe", argv);
	die("exec");
}

static void execs(struct own *o)
{
	spin(20 * MS);
	reexec("exec", o->before);
}

/* The thread takes the leader's number, and with it the leader's account. */
static void *exec_main(void *arg)
{
	const struct own *o = arg;
	struct kernel k;

	poll(NULL, 0, 20);
	spin(20 * MS);
	kernel_read(&k, getpid(), getpid());
	say("role taken pid %d tid %d\n", getpid(), gettid());
	kernel_say("leader", getpid(), getpid(), &k);
	reexec("threadexec", o->before);
	return NULL;
}

static void thread_execs(struct own *o)
{
	thread(exec_main, o);
	for (;;)
		pause();
}

static void *late_main(void *arg)
{
	struct own o = { .what = "late", .before = *(int64_t *)arg, .call = "nanosleep" };

	own_begin(&o);
	sleep_ns(&o, 50 * MS);
	spin(50 * MS);
	sleep_ns(&o, 50 * MS);
	thread_end(&o);
	_exit(0);
}

static void leader_ends(struct own *o)
{
	static int64_t before;

	before = now_ns();
	thread(late_main, &before);
	own_end(o);
	pthread_exit(NULL);
}

static void *short_main(void *arg)
{
	struct own o = { .what = "shortthread", .before = *(int64_t *)arg };

	own_begin(&o);
	thread_end(&o);
	return NULL;
}

static void short_threads(struct own *o)
{
	pthread_t threads[8];
	int64_t before;

	(void)o;
	for (long i = 0; i < times(30); i++) {
		before = now_ns();
		for (int j = 0; j < 8; j++)
			threads[j] = thread(short_main, &before);
		for (int j = 0; j < 8; j++)
			pthread_join(threads[j], NULL);
	}
}

static void short_one(struct own *o)
{
	(void)o;
}

static void short_processes(struct own *o)
{
	(void)o;
	for (long i = 0; i < times(50); i++) {
		for (int j = 0; j < 4; j++)
			start("short", short_one);
		while (reap(0))
			;
	}
}

/* The parent waits in vfork until its child, in the parent's memory, has ended. */
static void vforker(struct own *o)
{
	struct timespec ts = { 0, 60 * MS };
	int64_t since = now_ns();
	pid_t pid;

#ifdef SYS_vfork
	o->call = "vfork";
#else
	o->call = "clone"; /* how the C library does it where there is no such call, as on arm64 */
#endif
	pid = vfork();
	if (pid == 0) {
		syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &ts, NULL);
		_exit(0);
	}
	if (pid < 0)
		die("vfork");
	own_waited(o, since, 60 * MS);
	reap(pid);
}

static int data(const char *name, int flags)
{
	static const char block[BLOCK] = "x";
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", opt.dir, name);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; fd >= 0 && i < BLOCKS; i++)
		if (write(fd, block, BLOCK) != BLOCK)
			die("%s", path);
	if (fd < 0 || fdatasync(fd) < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		die("%s", path);
	close(fd);
	fd = open(path, O_RDONLY | O_CLOEXEC | flags);
	if (fd < 0)
		die("%s", path);
	return fd;
}

/* Returns how often the thread has left its CPU by itself since the last call. */
static long voluntary(void)
{
	static long last;
	struct rusage ru;
	long n;

	getrusage(RUSAGE_THREAD, &ru);
	n = ru.ru_nvcsw - last;
	last = ru.ru_nvcsw;
	return n;
}

static void faults(struct own *o)
{
	int fd = data("faults", 0);
	volatile char *at = mmap(NULL, BLOCKS * BLOCK, PROT_READ, MAP_PRIVATE, fd, 0);
	struct stat st;
	int64_t since;

	if (at == MAP_FAILED || fstat(fd, &st) < 0)
		die("mmap");
	madvise((char *)at, BLOCKS * BLOCK, MADV_RANDOM);
	o->call = major(st.st_dev) ? "fault" : "none"; /* only a file system with a disk waits for one */
	voluntary();
	since = now_ns();
	for (int i = 0; i < BLOCKS; i++)
		(void)at[i * BLOCK];
	o->waited_ns = now_ns() - since;
	o->longest_ns = o->waited_ns;
	o->waits = voluntary();
}

static void directs(struct own *o)
{
	int fd = data("directs", O_DIRECT);
	int64_t since;
	struct stat st;
	char *buf;

	if (fstat(fd, &st) < 0 || posix_memalign((void **)&buf, BLOCK, BLOCK))
		die("directs");
	o->call = major(st.st_dev) ? "pread64" : "none";
	voluntary();
	since = now_ns();
	for (int i = 0; i < BLOCKS; i++)
		if (pread(fd, buf, BLOCK, i * BLOCK) != BLOCK)
			die("pread O_DIRECT");
	o->waited_ns = now_ns() - since;
	o->longest_ns = o->waited_ns;
	o->waits = voluntary();
}

static void forever(struct own *o)
{
	(void)o;
	for (;;)
		pause();
}

static void hog_forever(struct own *o)
{
	(void)o;
	for (;;)
		;
}

static void stopped(pid_t pid)
{
	siginfo_t si;

	if (kill(pid, SIGSTOP) < 0 || waitid(P_PID, (id_t)pid, &si, WSTOPPED) < 0)
		die("SIGSTOP");
}

/* Writes the facts of a process that cannot do so itself. */
static void say_of(const char *what, pid_t pid, int64_t before, const char *call, long waits, int64_t waited_ns)
{
	int64_t now = now_ns();

	say("role own what %s pid %d tid %d before %lld begin %lld end %lld call %s waits %ld waited_ns %lld"
	    " longest_ns %lld wanted_ns %lld\n",
	    what, pid, pid, (long long)before, (long long)now, (long long)before, call, waits, 1000000 * MS,
	    1000000 * MS, (long long)waited_ns);
}

static void stop_some(void)
{
	int64_t before = now_ns(), since, ns;
	pid_t hogs = start("hogstopped", hog_forever), sleeps = start("stopped", forever);

	sleep_ns(NULL, 20 * MS);
	stopped(hogs);
	stopped(sleeps);
	since = now_ns();
	sleep_ns(NULL, 100 * MS);
	ns = now_ns() - since;
	kill(hogs, SIGCONT);
	kill(sleeps, SIGCONT);
	sleep_ns(NULL, 20 * MS);
	say_of("hogstopped", hogs, before, "stopped", 1, ns);
	say_of("stopped", sleeps, before, "stopped", 1, ns);
	kill(hogs, SIGKILL);
	kill(sleeps, SIGKILL);
	reap(hogs);
	reap(sleeps);
}

static const struct {
	const char *name;
	void (*fn)(struct own *o);
} actors[] = {
	{ "hog", hog },
	{ "hog", hog },
	{ "yield", yields },
	{ "sleeper", sleeper },
	{ "poller", poller },
	{ "futex", futexes },
	{ "ping", pinger },
	{ "pong", ponger },
	{ "migrator", migrator },
	{ "renamer", renamer },
	{ "execs", execs },
	{ "threadexecs", thread_execs },
	{ "leader", leader_ends },
	{ "shortthreads", short_threads },
	{ "shorts", short_processes },
	{ "vfork", vforker },
	{ "faults", faults },
	{ "directs", directs },
};

/* --- the command line ----------------------------------------------------------------------------- */

/* The rest of a thread's life, after its exec. */
static int after_exec(const char *what, int64_t before)
{
	struct own o = { .what = what, .before = before, .call = "nanosleep" };

	o.begin = now_ns();
	spin(20 * MS);
	sleep_ns(&o, 20 * MS);
	own_end(&o);
	return 0;
}

/* Threads that run and threads that sleep, until killed: for a trace that begins later and ends earlier. */
static int go_on(void)
{
	struct own o = { .what = "forever" };
	pid_t pids[2];

	pids[0] = start("hogforever", hog_forever);
	pids[1] = start("forever", forever);
	say("role running pid %d hog %d sleeper %d now %lld\n", getpid(), pids[0], pids[1], (long long)now_ns());
	forever(&o);
	return 1;
}

int main(int argc, char **argv)
{
	struct own o = { .what = "main", .before = now_ns(), .begin = now_ns() };
	bool until_killed = false;
	const char *exec = NULL;
	int c;

	while ((c = getopt(argc, argv, "qkx:b:")) != -1)
		switch (c) {
		case 'q':
			opt.quick = true;
			break;
		case 'k':
			until_killed = true;
			break;
		case 'x':
			exec = optarg;
			break;
		case 'b':
			o.before = strtoll(optarg, NULL, 10);
			break;
		default:
			optind = argc;
		}
	if (argc - optind != 2) {
		fputs("usage: sched [-q] [-k] TALLY DIR\n", stderr);
		return 2;
	}
	opt.tally_path = argv[optind];
	opt.dir = argv[optind + 1];
	opt.tally = open(opt.tally_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (opt.tally < 0 || pipe2(ping, O_CLOEXEC) < 0 || pipe2(pong, O_CLOEXEC) < 0)
		die("%s", opt.tally_path);
	if (exec)
		return after_exec(exec, o.before);
	if (until_killed)
		return go_on();
	for (size_t i = 0; i < sizeof(actors) / sizeof(*actors); i++)
		start(actors[i].name, actors[i].fn);
	stop_some();
	while (reap(0))
		;
	own_end(&o);
	return 0;
}
