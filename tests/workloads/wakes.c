// SPDX-License-Identifier: BSD-2-Clause
/*
 * wakes: waits of some milliseconds, each of which ends for a known reason, and a protocol of them.
 *
 *   wakes [-n ROUNDS] PROTOCOL DIR                      all kinds, on this machine; DIR is where files are made
 *   wakes [-n ROUNDS] --peer HOST:PORT PROTOCOL DIR     only waits for a peer in another network namespace
 *   wakes --serve PORT                                  that peer, on PORT and PORT + 1, until killed
 *
 * A waiter notes the time and waits; a waker looks at it until the kernel has it off its CPU, in the right call, for
 * some milliseconds without a break; then the waker notes the time and ends the wait. So, however slow the machine is,
 * the thread was off its CPU from ASLEEP to WAKE at least, and not before BEGIN or after END. Waits for a timer have a
 * waker that only looks.
 *
 * The protocol has these lines, with TABs; times are CLOCK_MONOTONIC, ns; A|B: one of them; -: none; *: any:
 *
 *   kind NAME              the kinds that follow
 *   skip NAME REASON       no waits of this kind here
 *   wait NAME PID TID CALL STATE BY BY_PID BY_TID BEGIN ASLEEP WAKE END PEER
 *                          ASLEEP -: whether and how long the thread slept is not known
 *   spin NAME PID TID BEGIN END RUNQ_NS SWITCHES
 *                          a thread that computes: the kernel's account of its time without a CPU, and how often it had
 * none
 *
 * Threads that wait are called "waiter", those that wake "waker".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "uring.h"

#define US 1000LL
#define MS 1000000LL
#define TIMER_NS (5 * MS)
#define SURE_NS (1300 * US) /* a wait of a timer counts if it was seen that long before its end */
#define PEER_DELAY_NS (3 * MS)
#define SPIN_NS (100 * MS)
#define BULK 200000
#define DISK_BYTES (8 << 20)
#define HANGS_S 240

static struct {
	int rounds, protocol;
	const char *dir, *host;
	in_port_t port;
} opt = { .rounds = 10 };

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (write(opt.protocol, line, (size_t)len) != len) /* O_APPEND: lines are never mixed */
		die("the protocol");
}

static void sleep_ns(int64_t ns)
{
	struct timespec ts = { ns / 1000000000, ns % 1000000000 };

	while (nanosleep(&ts, &ts) < 0)
		;
}

static void named(const char *name)
{
	prctl(PR_SET_NAME, name);
}

static void *shared(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		die("mmap");
	return at;
}

/* --- is it asleep? -------------------------------------------------------------------------------- */

/* What a waker knows of a wait. It goes over sockets, too. */
struct note {
	pid_t pid, tid; /* the waker's */
	int64_t asleep_ns, wake_ns;
	char call[24], state[16];
};

/* A thread, and the calls in which it may wait: futex or poll|ppoll. */
struct watched {
	pid_t pid, tid;
	char calls[64];
};

static const struct {
	const char *name;
	long nr;
} calls[] = {
	{ "accept", SYS_accept },
	{ "accept4", SYS_accept4 },
	{ "clock_nanosleep", SYS_clock_nanosleep },
	{ "clone", SYS_clone },
	{ "epoll_pwait", SYS_epoll_pwait },
#ifdef SYS_epoll_wait
	{ "epoll_wait", SYS_epoll_wait },
#endif
	{ "fcntl", SYS_fcntl },
	{ "flock", SYS_flock },
	{ "futex", SYS_futex },
	{ "io_uring_enter", URING_ENTER },
	{ "nanosleep", SYS_nanosleep },
#ifdef SYS_pause
	{ "pause", SYS_pause },
#endif
#ifdef SYS_poll
	{ "poll", SYS_poll },
#endif
	{ "ppoll", SYS_ppoll },
	{ "pselect6", SYS_pselect6 },
	{ "read", SYS_read },
	{ "recvfrom", SYS_recvfrom },
	{ "rt_sigtimedwait", SYS_rt_sigtimedwait },
#ifdef SYS_select
	{ "select", SYS_select },
#endif
#ifdef SYS_vfork
	{ "vfork", SYS_vfork },
#endif
	{ "wait4", SYS_wait4 },
	{ "waitid", SYS_waitid },
	{ "write", SYS_write },
};

static const char *call_name(long nr)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].nr == nr)
			return calls[i].name;
	return NULL;
}

static bool in_set(const char *set, const char *name)
{
	size_t len = strlen(name);

	for (; set; set = strchr(set, '|'), set += set != NULL)
		if (!strncmp(set, name, len) && (set[len] == '\0' || set[len] == '|'))
			return true;
	return false;
}

static void read_proc(char *text, size_t size, const struct watched *w, const char *name)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", w->pid, w->tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n < 0)
		die("%s", path);
	text[n] = '\0';
	close(fd);
}

/* Returns how often the thread has left its CPU to wait, and its state as a letter. */
static long switches(const struct watched *w, char *state)
{
	char text[4096], *at;
	long n;

	read_proc(text, sizeof(text), w, "status");
	at = strstr(text, "\nState:");
	if (!at || sscanf(at, "\nState: %c", state) != 1)
		die("State");
	at = strstr(at, "\nvoluntary_ctxt_switches:");
	if (!at || sscanf(at, "\nvoluntary_ctxt_switches: %ld", &n) != 1)
		die("voluntary_ctxt_switches");
	return n;
}

/*
 * Returns whether the thread has left its CPU in one of its calls; then *n has which, and the state. "syscall" has a
 * number only if the kernel has found the thread off its CPU; a letter in "status" is there before it leaves the CPU.
 */
static bool asleep(const struct watched *w, struct note *n)
{
	const char *name;
	char text[256], state;
	long nr;

	read_proc(text, sizeof(text), w, "syscall");
	if (sscanf(text, "%ld", &nr) != 1)
		return false;
	switches(w, &state);
	name = strchr("Tt", state) ? "stopped" : call_name(nr);
	if (!name || !strchr("DSTt", state) || !in_set(w->calls, name))
		return false;
	snprintf(n->call, sizeof(n->call), "%s", name);
	snprintf(n->state, sizeof(n->state), "%s", state == 'D' ? "disk|blocked" : "sleep");
	return true;
}

/* Returns when the thread has been in one wait for at least DELAY_NS, and still is. */
static void watch(const struct watched *w, struct note *n, int64_t delay_ns)
{
	char state;
	long before;

	for (;; sleep_ns(100 * US)) {
		before = switches(w, &state);
		if (!asleep(w, n))
			continue;
		n->asleep_ns = now_ns();
		sleep_ns(delay_ns);
		if (asleep(w, n) && switches(w, &state) == before)
			return;
	}
}

/* --- a waiter and its waker ----------------------------------------------------------------------- */

enum waker {
	NOBODY, /* whether it sleeps is not known */
	WATCHER, /* a thread looks, a timer ends the wait */
	THREAD,
	PROCESS,
	EACH, /* prepare() or wait() makes one for each wait */
	PEER, /* a process in another network namespace, which sends its note */
};

struct pair {
	const struct kind *kind;
	struct watched waiter;
	const char *by; /* if not the kind's */
	_Atomic int armed; /* the round whose wait the waiter is about to begin, or is in; 0: none */
	_Atomic int shown; /* the round of the note */
	struct note note;
	_Atomic bool over;
	pthread_t thread;
	pid_t child;
	int round;
	/* of the kinds: the waiter's and the waker's descriptor, and what is in memory */
	int in, out, epoll;
	struct sockaddr_in6 at;
	pthread_mutex_t lock;
	pthread_cond_t cond;
	_Atomic uint32_t word;
	bool flag;
	char peer[80];
	struct ring *ring;
	char *buf;
	aio_context_t aio;
};

struct kind {
	const char *name, *calls, *state, *by;
	enum waker waker;
	const char *(*setup)(struct pair *p); /* returns why this kind cannot be here, or NULL */
	void (*prepare)(struct pair *p); /* before each wait */
	void (*wait)(struct pair *p);
	void (*after)(struct pair *p);
	void (*wake)(struct pair *p);
};

/* The waker's part of one wait. */
static void wake_once(struct pair *p, int round)
{
	struct note n = { .pid = getpid(), .tid = (pid_t)syscall(SYS_gettid) };

	named("waker");
	while (p->armed != round && !p->over)
		sleep_ns(100 * US);
	if (p->over)
		return;
	watch(&p->waiter, &n, 2 * MS + round % 4 * MS);
	n.wake_ns = now_ns();
	p->note = n;
	p->shown = round;
	p->kind->wake(p);
}

/* Notes of each wait that the thread has been asleep in it, if it is seen in time. */
static void *looks(void *arg)
{
	struct pair *p = arg;
	struct note n = {};
	int round;

	named("waker");
	for (; !p->over; sleep_ns(100 * US)) {
		round = p->armed;
		if (!round || p->shown == round || !asleep(&p->waiter, &n))
			continue;
		n.asleep_ns = now_ns();
		if (p->armed == round) {
			p->note = n;
			p->shown = round;
		}
	}
	return NULL;
}

static void *wakes_all(void *arg)
{
	struct pair *p = arg;

	for (int round = 1; !p->over; round++)
		wake_once(p, round);
	return NULL;
}

static void *wakes_one(void *arg)
{
	struct pair *p = arg;

	wake_once(p, p->round);
	return NULL;
}

static pthread_t thread(void *(*fn)(void *arg), void *arg)
{
	pthread_t t;

	errno = pthread_create(&t, NULL, fn, arg);
	if (errno)
		die("pthread_create");
	return t;
}

static pid_t process(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		die("fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return pid;
}

static void reap(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, 0) < 0)
		die("waitpid");
	if (status)
		die("child %d ended with status %#x", pid, status);
}

/* Returns whether the wait is certain to have a row. */
static bool wait_once(struct pair *p, int round)
{
	const struct kind *k = p->kind;
	int64_t begin, end, wake;
	struct note n;
	char asleep_at[24] = "-", wake_at[24] = "-", by[2][24] = { "-", "-" };
	bool seen, wakes = k->waker >= THREAD;

	p->round = round;
	if (k->prepare)
		k->prepare(p);
	begin = now_ns();
	p->armed = round;
	do
		k->wait(p);
	while (wakes && p->shown != round);
	end = now_ns();
	seen = p->shown == round;
	p->armed = 0;
	if (k->after)
		k->after(p);
	n = p->note;

	wake = k->waker == WATCHER ? begin + TIMER_NS : n.wake_ns;
	if (seen)
		snprintf(asleep_at, sizeof(asleep_at), "%lld", (long long)n.asleep_ns);
	if (k->waker != NOBODY)
		snprintf(wake_at, sizeof(wake_at), "%lld", (long long)wake);
	if (wakes && k->waker != PEER) {
		snprintf(by[0], sizeof(by[0]), "%d", n.pid);
		snprintf(by[1], sizeof(by[1]), "%d", n.tid);
	} else if (k->waker == NOBODY) {
		by[0][0] = by[1][0] = '*';
	}
	say("wait\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%lld\t%s\t%s\t%lld\t%s\n", k->name, p->waiter.pid, p->waiter.tid,
	    seen ? n.call : k->calls,
	    k->state     ?:
		    seen ? n.state :
			   "sleep",
	    p->by ?: k->by, by[0], by[1], (long long)begin, asleep_at, wake_at, (long long)end,
	    *p->peer ? p->peer : "-");
	return k->waker == WATCHER ? seen && wake - n.asleep_ns >= SURE_NS : true;
}

/* A process whose first thread waits. */
static void waiter(const struct kind *k)
{
	struct pair *p = shared(sizeof(*p));
	const char *why;
	int sure = 0;

	named("waiter");
	p->kind = k;
	p->waiter = (struct watched){ .pid = getpid(), .tid = getpid() };
	snprintf(p->waiter.calls, sizeof(p->waiter.calls), "%s", k->calls);
	why = k->setup ? k->setup(p) : NULL;
	if (why) {
		say("skip\t%s\t%s\n", k->name, why);
		return;
	}
	if (k->waker == THREAD || k->waker == WATCHER)
		p->thread = thread(k->waker == THREAD ? wakes_all : looks, p);
	if (k->waker == PROCESS) {
		const pid_t pid = process();

		if (pid == 0) {
			wakes_all(p);
			_exit(0);
		}
		p->child = pid;
	}
	for (int round = 1; sure < opt.rounds && round <= 20 * opt.rounds; round++)
		sure += wait_once(p, round);
	p->over = true;
	if (k->waker == THREAD || k->waker == WATCHER)
		pthread_join(p->thread, NULL);
	if (k->waker == PROCESS)
		reap(p->child);
}

/* --- futexes -------------------------------------------------------------------------------------- */

static const char *cond_setup(struct pair *p)
{
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->cond, NULL);
	return NULL;
}

static void cond_wait(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	while (!p->flag)
		pthread_cond_wait(&p->cond, &p->lock);
	p->flag = false;
	pthread_mutex_unlock(&p->lock);
}

static void cond_wake(struct pair *p)
{
	pthread_mutex_lock(&p->lock);
	p->flag = true;
	pthread_mutex_unlock(&p->lock);
	pthread_cond_signal(&p->cond);
}

static void futex_wait(struct pair *p)
{
	while (p->word < (uint32_t)p->round)
		syscall(SYS_futex, &p->word, FUTEX_WAIT, p->round - 1, NULL, NULL, 0);
}

static void futex_wake(struct pair *p)
{
	p->word++;
	syscall(SYS_futex, &p->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* --- pipes, eventfds and sockets ------------------------------------------------------------------ */

static void watched_by_epoll(struct pair *p, int fd)
{
	struct epoll_event e = { .events = EPOLLIN, .data.fd = fd };

	p->epoll = p->epoll ?: epoll_create1(EPOLL_CLOEXEC);
	if (p->epoll < 0 || epoll_ctl(p->epoll, EPOLL_CTL_ADD, fd, &e) < 0)
		die("epoll");
}

static const char *pipe_setup(struct pair *p)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	p->in = fds[0];
	p->out = fds[1];
	watched_by_epoll(p, p->in);
	return NULL;
}

static const char *full_setup(struct pair *p)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		die("pipe");
	p->in = fds[1];
	p->out = fds[0];
	p->buf = shared(1 << 20);
	return NULL;
}

static const char *eventfd_setup(struct pair *p)
{
	p->in = p->out = eventfd(0, EFD_CLOEXEC);
	if (p->in < 0)
		die("eventfd");
	watched_by_epoll(p, p->in);
	return NULL;
}

static const char *unix_setup(struct pair *p)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		die("socketpair");
	p->in = fds[0];
	p->out = fds[1];
	watched_by_epoll(p, p->in);
	return NULL;
}

/* Returns a socket that is bound to the loopback device, and has its address in p->at; -1: there is no such network. */
static int bound(struct pair *p, int family, int type)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(p->at);
	int fd = socket(family, type | SOCK_CLOEXEC, 0);

	p->at = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	if (family == AF_INET)
		memcpy(&p->at, &v4, sizeof(v4));
	if (fd < 0 || bind(fd, (struct sockaddr *)&p->at, family == AF_INET ? sizeof(v4) : sizeof(p->at)) < 0 ||
	    getsockname(fd, (struct sockaddr *)&p->at, &len) < 0)
		return -1;
	return fd;
}

static void peer_of(int fd, char *text, size_t size)
{
	union {
		struct sockaddr_in6 v6;
		struct sockaddr_in v4;
		struct sockaddr any;
	} at;
	socklen_t len = sizeof(at);
	char host[INET6_ADDRSTRLEN];
	bool v4;

	if (getpeername(fd, &at.any, &len) < 0)
		die("getpeername");
	v4 = at.any.sa_family == AF_INET;
	if (!inet_ntop(at.any.sa_family, v4 ? (void *)&at.v4.sin_addr : (void *)&at.v6.sin6_addr, host, sizeof(host)))
		die("inet_ntop");
	snprintf(text, size, v4 ? "%s:%d" : "[%s]:%d", host, ntohs(v4 ? at.v4.sin_port : at.v6.sin6_port));
}

static const char *connected(struct pair *p, int family)
{
	int fd = bound(p, family, SOCK_STREAM), one = 1;

	if (fd < 0)
		return family == AF_INET ? "no IPv4 on the loopback device" : "no IPv6 on the loopback device";
	p->out = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listen(fd, 1) < 0 || connect(p->out, (struct sockaddr *)&p->at,
					 family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(p->at)) < 0)
		die("connect");
	p->in = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	if (p->in < 0 || setsockopt(p->out, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		die("accept");
	close(fd);
	peer_of(p->in, p->peer, sizeof(p->peer));
	watched_by_epoll(p, p->in);
	p->buf = shared(BULK);
	return NULL;
}

static const char *tcp_setup(struct pair *p)
{
	return connected(p, AF_INET);
}

static const char *tcp6_setup(struct pair *p)
{
	return connected(p, AF_INET6);
}

static const char *udp_setup(struct pair *p)
{
	p->in = bound(p, AF_INET, SOCK_DGRAM);
	p->out = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->in < 0 || p->out < 0)
		return "no IPv4 on the loopback device";
	if (connect(p->out, (struct sockaddr *)&p->at, sizeof(struct sockaddr_in)) < 0)
		die("connect");
	return NULL;
}

static const char *accept_setup(struct pair *p)
{
	p->in = bound(p, AF_INET, SOCK_STREAM);
	if (p->in < 0)
		return "no IPv4 on the loopback device";
	if (listen(p->in, 64) < 0)
		die("listen");
	return NULL;
}

static void accept_wait(struct pair *p)
{
	int fd = accept(p->in, NULL, NULL);

	if (fd < 0)
		die("accept");
	close(fd);
}

static void accept_wake(struct pair *p)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&p->at, sizeof(struct sockaddr_in)) < 0)
		die("connect");
	close(fd);
}

/* Eight bytes, for an eventfd. */
static void take(struct pair *p)
{
	uint64_t n;

	if (read(p->in, &n, sizeof(n)) != sizeof(n))
		die("read");
}

static void give(struct pair *p)
{
	uint64_t n = 1;

	if (write(p->out, &n, sizeof(n)) != sizeof(n))
		die("write");
}

static void recv_wait(struct pair *p)
{
	uint64_t n;

	if (recv(p->in, &n, sizeof(n), 0) != sizeof(n))
		die("recv");
}

static void epoll_waits(struct pair *p)
{
	struct epoll_event e;

	if (epoll_wait(p->epoll, &e, 1, -1) != 1)
		die("epoll_wait");
}

static void poll_waits(struct pair *p)
{
	struct pollfd fd = { .fd = p->in, .events = POLLIN };

	if (poll(&fd, 1, -1) != 1)
		die("poll");
}

static void select_waits(struct pair *p)
{
	struct timeval tv = { .tv_sec = 100 };
	fd_set fds;

	FD_ZERO(&fds);
	FD_SET(p->in, &fds);
	if (select(p->in + 1, &fds, NULL, NULL, &tv) != 1)
		die("select");
}

static void bulk_wait(struct pair *p)
{
	ssize_t n = recv(p->in, p->buf, BULK, 0);

	if (n <= 0)
		die("recv");
	p->word = (uint32_t)n;
}

static void bulk_after(struct pair *p)
{
	size_t rest = BULK - p->word;

	if (rest && recv(p->in, p->buf, rest, MSG_WAITALL) != (ssize_t)rest)
		die("recv");
}

static void bulk_wake(struct pair *p)
{
	static const char zero[BULK];

	if (send(p->out, zero, BULK, 0) != BULK)
		die("send");
}

/* The pipe is filled, and then takes one byte more when another is read. */
static void full_prepare(struct pair *p)
{
	if (fcntl(p->in, F_SETFL, O_NONBLOCK) < 0)
		die("fcntl");
	while (write(p->in, p->buf, 4096) > 0)
		;
	if (errno != EAGAIN || fcntl(p->in, F_SETFL, 0) < 0)
		die("write");
}

static void full_wait(struct pair *p)
{
	if (write(p->in, p->buf, 4096) != 4096)
		die("write");
}

static void full_wake(struct pair *p)
{
	static char all[1 << 20];

	if (read(p->out, all, sizeof(all)) <= 0)
		die("read");
}

/* --- signals -------------------------------------------------------------------------------------- */

static void no_action(int sig)
{
	(void)sig;
}

static const char *signal_setup(struct pair *p)
{
	struct sigaction sa = { .sa_handler = no_action };

	(void)p;
	sigaction(SIGUSR1, &sa, NULL); /* without SA_RESTART */
	return NULL;
}

static const char *blocked_setup(struct pair *p)
{
	sigset_t set;

	(void)p;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return NULL;
}

static void sigwait_waits(struct pair *p)
{
	sigset_t set;
	int sig;

	(void)p;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	errno = sigwait(&set, &sig);
	if (errno)
		die("sigwait");
}

static void sigtimedwait_waits(struct pair *p)
{
	struct timespec ts = { .tv_sec = 100 };
	sigset_t set;

	(void)p;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (sigtimedwait(&set, NULL, &ts) != SIGUSR1)
		die("sigtimedwait");
}

static void pause_waits(struct pair *p)
{
	(void)p;
	pause();
}

static void long_sleep(struct pair *p)
{
	struct timespec ts = { .tv_sec = 100 };

	(void)p;
	if (nanosleep(&ts, NULL) == 0)
		die("nobody wakes");
}

static void kill_wakes(struct pair *p)
{
	if (kill(p->waiter.pid, SIGUSR1) < 0)
		die("kill");
}

static void itimer_waits(struct pair *p)
{
	struct itimerval in = { .it_value.tv_usec = TIMER_NS / US };
	sigset_t set;
	int sig;

	(void)p;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	if (setitimer(ITIMER_REAL, &in, NULL) < 0 || sigwait(&set, &sig))
		die("setitimer");
}

static void stop_waits(struct pair *p)
{
	(void)p;
	raise(SIGSTOP);
}

static void stop_wakes(struct pair *p)
{
	if (kill(p->waiter.pid, SIGCONT) < 0)
		die("kill");
}

/* --- ends of threads and processes ---------------------------------------------------------------- */

static void child_prepare(struct pair *p)
{
	pid_t pid = process();

	if (pid == 0) {
		wake_once(p, p->round);
		_exit(0);
	}
	p->child = pid; /* by the parent alone: both share P */
}

static void exit_wakes(struct pair *p)
{
	(void)p;
	_exit(0);
}

static void wait4_waits(struct pair *p)
{
	reap(p->child);
}

static void waitid_waits(struct pair *p)
{
	siginfo_t si;

	if (waitid(P_PID, (id_t)p->child, &si, WEXITED) < 0)
		die("waitid");
}

/* The child has the memory of its parent, which goes on when the child ends or executes a program. */
static void vfork_waits(struct pair *p)
{
	pid_t pid = vfork();

	if (pid == 0) {
		wake_once(p, p->round);
		_exit(1);
	}
	if (pid < 0)
		die("vfork");
	p->child = pid;
}

static void exec_wakes(struct pair *p)
{
	char *argv[] = { "wakes", "--leave", NULL };

	(void)p;
	execv("/proc/self/exe", argv);
	_exit(1);
}

static void join_prepare(struct pair *p)
{
	p->thread = thread(wakes_one, p);
}

static void join_waits(struct pair *p)
{
	pthread_join(p->thread, NULL);
}

static void join_wakes(struct pair *p)
{
	(void)p; /* the thread ends */
}

/* --- timers --------------------------------------------------------------------------------------- */

static const struct timespec timer = { .tv_nsec = TIMER_NS };

static void nanosleep_times_out(struct pair *p)
{
	(void)p;
	nanosleep(&timer, NULL);
}

static void select_times_out(struct pair *p)
{
	struct timeval tv = { .tv_usec = TIMER_NS / US };

	(void)p;
	select(0, NULL, NULL, NULL, &tv);
}

static void poll_times_out(struct pair *p)
{
	struct pollfd fd = { .fd = p->in, .events = POLLIN };

	poll(&fd, 1, TIMER_NS / MS);
}

static void epoll_times_out(struct pair *p)
{
	struct epoll_event e;

	epoll_wait(p->epoll, &e, 1, TIMER_NS / MS);
}

static void futex_times_out(struct pair *p)
{
	syscall(SYS_futex, &p->word, FUTEX_WAIT, 0, &timer, NULL, 0);
}

static void sigtimedwait_times_out(struct pair *p)
{
	sigset_t set;

	(void)p;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigtimedwait(&set, NULL, &timer);
}

/* --- locks of files ------------------------------------------------------------------------------- */

static int file(const char *name, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", opt.dir, name);
	fd = open(path, flags | O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EINVAL) /* O_DIRECT */
		die("%s", path);
	return fd;
}

/* Each side opens the file itself: the locks belong to what was opened (flock), or to the process (fcntl). */
static const char *lock_setup(struct pair *p)
{
	p->in = file("lock", 0);
	p->out = file("lock", 0);
	return NULL;
}

/* The waker takes the lock while the waiter has not begun. */
static void flock_prepare(struct pair *p)
{
	if (flock(p->out, LOCK_EX) < 0) /* the description is shared by both processes */
		die("flock");
}

static void flock_waits(struct pair *p)
{
	if (flock(p->in, LOCK_EX) < 0 || flock(p->in, LOCK_UN) < 0)
		die("flock");
}

static void flock_wakes(struct pair *p)
{
	if (flock(p->out, LOCK_UN) < 0)
		die("flock");
}

static void lock_fcntl(int fd, short type)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLKW, &l) < 0)
		die("F_SETLKW");
}

/* A child for each wait, as a lock of fcntl is the process's. */
static void fcntl_prepare(struct pair *p)
{
	pid_t pid;

	p->word = 0;
	pid = process();
	if (pid == 0) {
		lock_fcntl(p->out, F_WRLCK);
		p->word = 1;
		wake_once(p, p->round);
		_exit(0);
	}
	p->child = pid;
	while (!p->word)
		sleep_ns(100 * US);
}

static void fcntl_waits(struct pair *p)
{
	lock_fcntl(p->in, F_WRLCK);
}

static void fcntl_wakes(struct pair *p)
{
	lock_fcntl(p->out, F_UNLCK);
}

static void fcntl_after(struct pair *p)
{
	lock_fcntl(p->in, F_UNLCK);
	reap(p->child);
}

static void reap_after(struct pair *p)
{
	reap(p->child);
}

/* --- disks ---------------------------------------------------------------------------------------- */

static const char *disk_setup(struct pair *p, const char *name, int flags)
{
	void *at;

	if (posix_memalign(&at, 4096, DISK_BYTES))
		die("memory");
	p->buf = memset(at, 'x', DISK_BYTES);
	p->in = file(name, 0);
	if (pwrite(p->in, p->buf, DISK_BYTES, 0) != DISK_BYTES || fsync(p->in) < 0)
		die("%s", name);
	if (flags) {
		close(p->in);
		p->in = file(name, flags);
	}
	if (p->in < 0 || pread(p->in, p->buf, 4096, 0) != 4096)
		return "a file system with O_DIRECT";
	return NULL;
}

static const char *fsync_setup(struct pair *p)
{
	return disk_setup(p, "synced", 0);
}

static const char *cached_setup(struct pair *p)
{
	return disk_setup(p, "cached", 0);
}

static const char *direct_setup(struct pair *p)
{
	return disk_setup(p, "direct", O_DIRECT);
}

static void fsync_prepare(struct pair *p)
{
	if (pwrite(p->in, p->buf, DISK_BYTES / 4, p->round % 4 * (DISK_BYTES / 4)) < 0 ||
	    pwrite(p->in, p->buf, 4096, DISK_BYTES + p->round * 4096L) < 0) /* the file grows */
		die("write");
}

static void fsync_waits(struct pair *p)
{
	if (fsync(p->in) < 0)
		die("fsync");
}

static void cached_prepare(struct pair *p)
{
	posix_fadvise(p->in, 0, 0, POSIX_FADV_DONTNEED);
}

static void pread_waits(struct pair *p)
{
	if (pread(p->in, p->buf, DISK_BYTES, 0) != DISK_BYTES)
		die("pread");
}

static const char *aio_setup(struct pair *p)
{
	if (syscall(SYS_io_setup, 1, &p->aio) < 0)
		return "io_setup()";
	return disk_setup(p, "aio", O_DIRECT);
}

static void aio_prepare(struct pair *p)
{
	struct iocb cb = { .aio_lio_opcode = IOCB_CMD_PREAD,
			   .aio_fildes = (uint32_t)p->in,
			   .aio_buf = (uintptr_t)p->buf,
			   .aio_nbytes = DISK_BYTES },
		    *cbs[] = { &cb };

	if (syscall(SYS_io_submit, p->aio, 1L, cbs) != 1)
		die("io_submit");
}

static void aio_waits(struct pair *p)
{
	struct io_event e;

	if (syscall(SYS_io_getevents, p->aio, 1L, 1L, &e, NULL) != 1 || e.res != DISK_BYTES)
		die("io_getevents");
}

/* --- io_uring ------------------------------------------------------------------------------------- */

enum { OP_NOP = 0, OP_TIMEOUT = 11, FEAT_EXT_ARG = 1 << 8 /* 5.11 */ };

struct ring {
	int fd;
	struct params p;
	char *sq, *cq;
	struct sqe *sqes;
};

#define AT(base, offset) ((_Atomic uint32_t *)(void *)((base) + (offset)))

static const char *ring_setup(struct pair *p)
{
	struct ring *r = shared(sizeof(*r));
	size_t sq_bytes, cq_bytes;

	r->fd = (int)syscall(URING_SETUP, 4, &r->p);
	if (r->fd < 0)
		return "io_uring_setup()";
	sq_bytes = r->p.sq.array + r->p.sq_entries * sizeof(uint32_t);
	cq_bytes = r->p.cq.word[1] + r->p.cq_entries * sizeof(struct cqe);
	r->sq = mmap(NULL, sq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	r->cq = mmap(NULL, cq_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, OFF_CQ);
	r->sqes = mmap(NULL, r->p.sq_entries * sizeof(struct sqe), PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, OFF_SQES);
	if (r->sq == MAP_FAILED || r->cq == MAP_FAILED || (void *)r->sqes == MAP_FAILED)
		die("mmap of a ring");
	p->ring = r;
	return NULL;
}

/* Adds an entry to the ring. Only one thread at a time does so. */
static void ring_add(const struct ring *r, struct sqe sqe)
{
	uint32_t tail = *AT(r->sq, r->p.sq.tail), i = tail & *AT(r->sq, r->p.sq.mask);

	r->sqes[i] = sqe;
	((uint32_t *)(void *)(r->sq + r->p.sq.array))[i] = i;
	*AT(r->sq, r->p.sq.tail) = tail + 1;
}

static void ring_enter(const struct ring *r, unsigned int submit, unsigned int wait)
{
	if (syscall(URING_ENTER, r->fd, submit, wait, wait ? ENTER_GETEVENTS : 0, NULL, 0) != submit)
		die("io_uring_enter");
}

/* Takes the one completion that there is. */
static void ring_take(const struct ring *r, int result)
{
	uint32_t head = *AT(r->cq, r->p.cq.head);
	const struct cqe *cqes = (void *)(r->cq + r->p.cq.word[1]);
	int res = cqes[head & *AT(r->cq, r->p.cq.mask)].res;

	if (*AT(r->cq, r->p.cq.tail) != head + 1)
		die("not one completion");
	*AT(r->cq, r->p.cq.head) = head + 1;
	errno = res < 0 ? -res : 0;
	if (res != result)
		die("a completion with %d", res);
}

static const char *uring_read_setup(struct pair *p)
{
	const char *why = ring_setup(p) ?: eventfd_setup(p);

	/* the kernel marks the thread as if it had a signal, and only since 5.11 in another way */
	if (!why && !(p->ring->p.features & FEAT_EXT_ARG))
		p->by = "thread|signal";
	return why;
}

static void uring_read_waits(struct pair *p)
{
	uint64_t n;

	ring_add(p->ring, (struct sqe){ .op = OP_READ, .fd = p->in, .addr = (uintptr_t)&n, .len = sizeof(n) });
	ring_enter(p->ring, 1, 1);
	ring_take(p->ring, sizeof(n));
}

static void uring_nop_waits(struct pair *p)
{
	ring_enter(p->ring, 0, 1);
	ring_take(p->ring, 0);
}

static void uring_nop_wakes(struct pair *p)
{
	ring_add(p->ring, (struct sqe){ .op = OP_NOP });
	ring_enter(p->ring, 1, 0);
}

static void uring_times_out(struct pair *p)
{
	int64_t ts[2] = { 0, TIMER_NS };

	ring_add(p->ring, (struct sqe){ .op = OP_TIMEOUT, .fd = -1, .addr = (uintptr_t)ts, .len = 1 });
	ring_enter(p->ring, 1, 1);
	ring_take(p->ring, -ETIME);
}

/* --- a busy CPU ----------------------------------------------------------------------------------- */

static void *spins(void *arg)
{
	struct watched w = { .pid = getpid(), .tid = (pid_t)syscall(SYS_gettid) };
	struct rusage before, after;
	long long delay[2];
	int64_t begin, end;
	char text[128];

	named("waiter");
	pthread_barrier_wait(arg);
	begin = now_ns();
	getrusage(RUSAGE_THREAD, &before);
	read_proc(text, sizeof(text), &w, "schedstat");
	if (sscanf(text, "%*s %lld", &delay[0]) != 1)
		die("schedstat");
	for (int64_t until = clock_ns(CLOCK_THREAD_CPUTIME_ID) + SPIN_NS; clock_ns(CLOCK_THREAD_CPUTIME_ID) < until;)
		;
	read_proc(text, sizeof(text), &w, "schedstat");
	if (sscanf(text, "%*s %lld", &delay[1]) != 1)
		die("schedstat");
	getrusage(RUSAGE_THREAD, &after);
	end = now_ns();
	say("spin\trunq\t%d\t%d\t%lld\t%lld\t%lld\t%ld\n", w.pid, w.tid, (long long)begin, (long long)end,
	    delay[1] - delay[0], after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw);
	return NULL;
}

static const char *spin_setup(struct pair *p)
{
	pthread_barrier_t both;
	pthread_t threads[2];
	cpu_set_t may, one;
	int cpu = 0;

	(void)p;
	if (access("/proc/self/schedstat", R_OK) < 0)
		return "/proc/PID/schedstat";
	sched_getaffinity(0, sizeof(may), &may);
	while (!CPU_ISSET(cpu, &may))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one) < 0)
		die("sched_setaffinity");
	pthread_barrier_init(&both, NULL, 2);
	for (int i = 0; i < 2; i++)
		threads[i] = thread(spins, &both);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	exit(0);
}

/* --- a peer --------------------------------------------------------------------------------------- */

static int peer_connect(in_port_t port)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;

	if (inet_pton(AF_INET, opt.host, &to.sin_addr) != 1 || fd < 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		die("%s:%d", opt.host, port);
	return fd;
}

/* Two peers: each round asks one of them. */
static const char *peer_setup(struct pair *p)
{
	p->in = peer_connect(opt.port);
	p->out = peer_connect(opt.port + 1);
	watched_by_epoll(p, p->in);
	watched_by_epoll(p, p->out);
	return NULL;
}

static int peer_now(const struct pair *p)
{
	return p->round % 2 ? p->in : p->out;
}

static void peer_query(struct pair *p)
{
	peer_of(peer_now(p), p->peer, sizeof(p->peer));
	if (send(peer_now(p), &p->waiter, sizeof(p->waiter), 0) != sizeof(p->waiter))
		die("send");
}

static void peer_answer(struct pair *p)
{
	if (recv(peer_now(p), &p->note, sizeof(p->note), 0) != sizeof(p->note))
		die("recv");
	p->shown = p->round;
}

static void peer_recv_waits(struct pair *p)
{
	peer_answer(p);
}

static void peer_epoll_waits(struct pair *p)
{
	epoll_waits(p);
	p->shown = p->round;
}

static void *peer_serve_one(void *arg)
{
	int fd = (int)(intptr_t)arg, one = 1;
	struct watched w;
	struct note n;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	while (recv(fd, &w, sizeof(w), MSG_WAITALL) == sizeof(w)) {
		n = (struct note){ .pid = getpid(), .tid = (pid_t)syscall(SYS_gettid) };
		watch(&w, &n, PEER_DELAY_NS);
		n.wake_ns = now_ns();
		if (send(fd, &n, sizeof(n), MSG_NOSIGNAL) != sizeof(n))
			break;
	}
	close(fd);
	return NULL;
}

static void *peer_serve(void *arg)
{
	int listener = (int)(intptr_t)arg, fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		pthread_detach(thread(peer_serve_one, (void *)(intptr_t)fd));
	die("accept");
}

static int serve(in_port_t port)
{
	int fds[2], one = 1;

	for (int i = 0; i < 2; i++) {
		struct sockaddr_in at = { .sin_family = AF_INET, .sin_port = htons(port + i) };

		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fds[i] < 0 || setsockopt(fds[i], SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
		    bind(fds[i], (struct sockaddr *)&at, sizeof(at)) < 0 || listen(fds[i], 8) < 0)
			die("port %d", port + i);
	}
	puts("listening");
	fflush(stdout);
	thread(peer_serve, (void *)(intptr_t)fds[0]);
	peer_serve((void *)(intptr_t)fds[1]);
	return 1;
}

/* --- kinds ---------------------------------------------------------------------------------------- */

#define EPOLL "epoll_wait|epoll_pwait"
#define SELECT "select|pselect6"
#define POLL "poll|ppoll"
#define SLEEP "nanosleep|clock_nanosleep"

static const struct kind kinds[] = {
	{ "cond", "futex", .by = "thread", .waker = THREAD, cond_setup, .wait = cond_wait, .wake = cond_wake },
	{ "futex-process", "futex", .by = "thread", .waker = PROCESS, .wait = futex_wait, .wake = futex_wake },
	{ "pipe-thread", "read", .by = "thread", .waker = THREAD, pipe_setup, .wait = take, .wake = give },
	{ "pipe-process", "read", .by = "thread", .waker = PROCESS, pipe_setup, .wait = take, .wake = give },
	{ "pipe-full", "write", .by = "thread", .waker = PROCESS, full_setup, full_prepare, full_wait,
	  .wake = full_wake },
	{ "pipe-epoll", EPOLL, .by = "thread", .waker = THREAD, pipe_setup, NULL, epoll_waits, take, give },
	{ "pipe-poll", POLL, .by = "thread", .waker = PROCESS, pipe_setup, NULL, poll_waits, take, give },
	{ "pipe-select", SELECT, .by = "thread", .waker = THREAD, pipe_setup, NULL, select_waits, take, give },
	{ "eventfd-read", "read", .by = "thread", .waker = THREAD, eventfd_setup, .wait = take, .wake = give },
	{ "eventfd-epoll", EPOLL, .by = "thread", .waker = PROCESS, eventfd_setup, NULL, epoll_waits, take, give },
	{ "unix-recv", "recvfrom", .by = "thread", .waker = PROCESS, unix_setup, .wait = recv_wait, .wake = give },
	{ "unix-epoll", EPOLL, .by = "thread", .waker = THREAD, unix_setup, NULL, epoll_waits, take, give },
	{ "tcp-recv", "recvfrom", .by = "thread", .waker = PROCESS, tcp_setup, .wait = recv_wait, .wake = give },
	{ "tcp-epoll", EPOLL, .by = "thread", .waker = THREAD, tcp_setup, NULL, epoll_waits, take, give },
	{ "tcp-poll", POLL, .by = "thread", .waker = PROCESS, tcp_setup, NULL, poll_waits, take, give },
	{ "tcp-select", SELECT, .by = "thread", .waker = THREAD, tcp_setup, NULL, select_waits, take, give },
	{ "tcp-bulk", "recvfrom", .by = "thread", .waker = PROCESS, tcp_setup, NULL, bulk_wait, bulk_after, bulk_wake },
	{ "tcp-ipv6", "recvfrom", .by = "thread", .waker = THREAD, tcp6_setup, .wait = recv_wait, .wake = give },
	{ "tcp-accept", "accept|accept4", .by = "thread", .waker = PROCESS, accept_setup, .wait = accept_wait,
	  .wake = accept_wake },
	{ "udp-recv", "recvfrom", .by = "thread", .waker = THREAD, udp_setup, .wait = recv_wait, .wake = give },
	{ "sigwait", "rt_sigtimedwait", .by = "signal", .waker = PROCESS, blocked_setup, .wait = sigwait_waits,
	  .wake = kill_wakes },
	{ "sigtimedwait", "rt_sigtimedwait", .by = "signal", .waker = PROCESS, blocked_setup,
	  .wait = sigtimedwait_waits, .wake = kill_wakes },
	{ "pause", "pause|ppoll", .by = "signal", .waker = PROCESS, signal_setup, .wait = pause_waits,
	  .wake = kill_wakes },
	{ "sleep-signal", SLEEP, .by = "signal", .waker = PROCESS, signal_setup, .wait = long_sleep,
	  .wake = kill_wakes },
	{ "itimer", "rt_sigtimedwait", .by = "signal", .waker = WATCHER, blocked_setup, .wait = itimer_waits },
	/* the kernel wakes the thread before there is a SIGCONT, which without a handler there never is */
	{ "stop", "stopped", .by = "signal|thread", .waker = PROCESS, .wait = stop_waits, .wake = stop_wakes },
	{ "wait4", "wait4", .by = "exit", .waker = EACH, .prepare = child_prepare, .wait = wait4_waits,
	  .wake = exit_wakes },
	{ "waitid", "waitid", .by = "exit", .waker = EACH, .prepare = child_prepare, .wait = waitid_waits,
	  .wake = exit_wakes },
	{ "vfork-exit", "vfork|clone", "blocked", "exit", .waker = EACH, .wait = vfork_waits, .after = reap_after,
	  .wake = exit_wakes },
	{ "vfork-exec", "vfork|clone", "blocked", "thread", .waker = EACH, .wait = vfork_waits, .after = reap_after,
	  .wake = exec_wakes },
	{ "join", "futex", .by = "exit", .waker = EACH, .prepare = join_prepare, .wait = join_waits,
	  .wake = join_wakes },
	{ "nanosleep", SLEEP, .by = "timer", .waker = WATCHER, .wait = nanosleep_times_out },
	{ "select-timeout", SELECT, .by = "timer", .waker = WATCHER, .wait = select_times_out },
	{ "poll-timeout", POLL, .by = "timer", .waker = WATCHER, pipe_setup, .wait = poll_times_out },
	{ "epoll-timeout", EPOLL, .by = "timer", .waker = WATCHER, pipe_setup, .wait = epoll_times_out },
	{ "futex-timeout", "futex", .by = "timer", .waker = WATCHER, .wait = futex_times_out },
	{ "sigtimedwait-timeout", "rt_sigtimedwait", .by = "timer", .waker = WATCHER, blocked_setup,
	  .wait = sigtimedwait_times_out },
	{ "flock", "flock", .by = "thread", .waker = PROCESS, lock_setup, flock_prepare, flock_waits,
	  .wake = flock_wakes },
	{ "fcntl", "fcntl", .by = "thread", .waker = EACH, lock_setup, fcntl_prepare, fcntl_waits, fcntl_after,
	  fcntl_wakes },
	{ "fsync", "fsync", "disk|blocked", "disk|kernel", .waker = NOBODY, fsync_setup, fsync_prepare, fsync_waits },
	{ "read-cached", "pread64", "disk", "disk", .waker = NOBODY, cached_setup, cached_prepare, pread_waits },
	{ "read-direct", "pread64", "disk", "disk", .waker = NOBODY, direct_setup, .wait = pread_waits },
	{ "aio-read", "io_getevents", "sleep", "disk|kernel", .waker = NOBODY, aio_setup, aio_prepare, aio_waits },
	{ "uring-read", "io_uring_enter", .by = "thread", .waker = THREAD, uring_read_setup, .wait = uring_read_waits,
	  .wake = give },
	{ "uring-nop", "io_uring_enter", .by = "thread", .waker = THREAD, ring_setup, .wait = uring_nop_waits,
	  .wake = uring_nop_wakes },
	{ "uring-timeout", "io_uring_enter", .by = "timer", .waker = WATCHER, ring_setup, .wait = uring_times_out },
	{ "runq", "-", .by = "-", .setup = spin_setup },
};

static const struct kind kinds_of_peer[] = {
	{ "net-recv", "recvfrom", .by = "net", .waker = PEER, peer_setup, peer_query, peer_recv_waits },
	{ "net-epoll", EPOLL, .by = "net", .waker = PEER, peer_setup, peer_query, peer_epoll_waits, peer_answer },
};

/* --- the command line ----------------------------------------------------------------------------- */

static const char *running;

static void hangs(int sig)
{
	char line[128];
	int len = snprintf(line, sizeof(line), "wakes: kind %s does not end\n", running);

	(void)sig;
	_exit(write(2, line, (size_t)len) == len ? 1 : 2);
}

static void run_all(const struct kind *k, size_t n)
{
	signal(SIGALRM, hangs);
	alarm(HANGS_S);
	for (size_t i = 0; i < n; i++)
		say("kind\t%s\n", k[i].name);
	for (size_t i = 0; i < n; i++) {
		pid_t pid;

		running = k[i].name;
		pid = process();
		if (pid == 0) {
			signal(SIGALRM, SIG_DFL);
			waiter(&k[i]);
			exit(0);
		}
		reap(pid);
	}
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: wakes [-n ROUNDS] [--peer HOST:PORT] PROTOCOL DIR\n"
	      "       wakes --serve PORT\n",
	      stderr);
	exit(2);
}

static void peer_option(char *text)
{
	char *colon = strrchr(text, ':');

	if (!colon)
		usage();
	*colon = '\0';
	opt.host = text;
	opt.port = (in_port_t)atoi(colon + 1);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "leave", no_argument, NULL, 'l' },
		{ "peer", required_argument, NULL, 'p' },
		{ "serve", required_argument, NULL, 's' },
		{},
	};
	int c;

	while ((c = getopt_long(argc, argv, "n:", options, NULL)) != -1)
		switch (c) {
		case 'l':
			return 0;
		case 'n':
			opt.rounds = atoi(optarg);
			break;
		case 'p':
			peer_option(optarg);
			break;
		case 's':
			return serve((in_port_t)atoi(optarg));
		default:
			usage();
		}
	if (argc - optind != 2 || opt.rounds < 1)
		usage();
	opt.dir = argv[optind + 1];
	opt.protocol = open(argv[optind], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (opt.protocol < 0)
		die("%s", argv[optind]);
	if (opt.host)
		run_all(kinds_of_peer, sizeof(kinds_of_peer) / sizeof(*kinds_of_peer));
	else
		run_all(kinds, sizeof(kinds) / sizeof(*kinds));
	return 0;
}
