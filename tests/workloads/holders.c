/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holders hold KIND US PLACE: a process that others wait for, each time for US microseconds:
 *   lease    it has leases on the files PLACE.0, PLACE.1, ..., each of which it gives back when somebody opens it
 *   memory   it fills pages of a job's memory (userfaultfd), which the job hands over at the socket PLACE
 *   calls    it decides whether calls of a job may go on (seccomp), whose listener comes by the socket PLACE
 *   stops    it stops, as a debugger does, the process whose PID is in the file PLACE
 * holders job KIND N PLACE: a job that has N such waits (of stops: that lasts for N seconds), and prints by its own
 * clock how long they took, in ns. The holder makes the file PLACE.ready when it waits for jobs. Ends with 77 where the
 * kernel does not allow that.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define SKIP 77

static _Noreturn void end(const char *what, int status)
{
	perror(what);
	exit(status);
}

static int may(int res, const char *what)
{
	if (res < 0)
		end(what, 1);
	return res;
}

static int must_have(int res, const char *what)
{
	if (res < 0)
		end(what, SKIP);
	return res;
}

static void pause_us(long us)
{
	const struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void ready(const char *place)
{
	char path[256];

	snprintf(path, sizeof(path), "%s.ready", place);
	may(close(open(path, O_CREAT | O_WRONLY, 0644)), path);
}

/* --- descriptors by a socket ------------------------------------------------------------------------------- */

static struct sockaddr_un address_of(const char *place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", place);
	return address;
}

union control {
	char buf[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void hand_over(const char *place, int fd)
{
	const struct sockaddr_un address = address_of(place);
	union control control = { .buf = { 0 } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf)
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	const int end = may(socket(AF_UNIX, SOCK_STREAM, 0), "socket");

	may(connect(end, (const struct sockaddr *)&address, sizeof(address)), "connect");
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(head), &fd, sizeof(fd));
	may((int)sendmsg(end, &message, 0), "sendmsg");
	may((int)read(end, &byte, 1), "read");
	close(end);
}

/* Waits for a job, and returns the descriptor that it hands over. */
static int taken_over(const char *place)
{
	const struct sockaddr_un address = address_of(place);
	const int listener = may(socket(AF_UNIX, SOCK_STREAM, 0), "socket");
	union control control;
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.buf, .msg_controllen = sizeof(control.buf)
	};
	int end, fd;

	may(bind(listener, (const struct sockaddr *)&address, sizeof(address)), place);
	may(listen(listener, 1), "listen");
	ready(place);
	end = may(accept(listener, NULL, NULL), "accept");
	may((int)recvmsg(end, &message, 0), "recvmsg");
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	may((int)write(end, "", 1), "write");
	close(end);
	close(listener);
	return fd;
}

/* --- a lease ----------------------------------------------------------------------------------------------- */

/* Files, of which each is opened once: who takes a lease again may do so before the open goes on. */
#define LEASES 400

static char *file_of(const char *place, long i)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s.%ld", place, i);
	return path;
}

static void hold_lease(long us, const char *place)
{
	siginfo_t broken;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	for (long i = 0; i < LEASES; i++) {
		const int fd = may(open(file_of(place, i), O_RDWR | O_CREAT, 0644), place);

		may(fcntl(fd, F_SETSIG, SIGRTMIN), "F_SETSIG");
		must_have(fcntl(fd, F_SETLEASE, F_WRLCK), "F_SETLEASE");
	}
	ready(place);
	while (sigwaitinfo(&signals, &broken) > 0) {
		pause_us(us);
		may(fcntl(broken.si_fd, F_SETLEASE, F_UNLCK), "F_SETLEASE");
	}
}

static void wait_for_lease(long n, const char *place)
{
	const int64_t begin_ns = now_ns();

	for (long i = 0; i < n && i < LEASES; i++)
		close(may(open(file_of(place, i), O_RDONLY), place));
	printf("%" PRId64 "\n", now_ns() - begin_ns);
}

/* --- pages of memory --------------------------------------------------------------------------------------- */

static void hold_memory(long us, const char *place)
{
	const int fd = taken_over(place);
	static char page[PAGE] __attribute__((aligned(4096)));
	struct uffd_msg message;

	while (read(fd, &message, sizeof(message)) == sizeof(message)) {
		struct uffdio_copy copy = { .dst = message.arg.pagefault.address & ~(PAGE - 1),
					    .src = (unsigned long)page,
					    .len = PAGE };

		pause_us(us);
		may(ioctl(fd, UFFDIO_COPY, &copy), "UFFDIO_COPY");
	}
}

static void wait_for_memory(long n, const char *place)
{
	const size_t bytes = (size_t)n * PAGE;
	volatile char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_register range = { .range = { (unsigned long)memory, bytes },
					 .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_api api = { .api = UFFD_API };
	const int fd = must_have((int)syscall(SYS_userfaultfd, O_CLOEXEC), "userfaultfd");
	int64_t begin_ns;
	int sum = 0;

	must_have(ioctl(fd, UFFDIO_API, &api), "UFFDIO_API");
	must_have(ioctl(fd, UFFDIO_REGISTER, &range), "UFFDIO_REGISTER");
	hand_over(place, fd);
	begin_ns = now_ns();
	for (size_t at = 0; at < bytes; at += PAGE)
		sum += memory[at];
	printf("%" PRId64 "\n", now_ns() - begin_ns + sum); /* all pages are of zeros */
}

/* --- calls ------------------------------------------------------------------------------------------------- */

static void hold_calls(long us, const char *place)
{
	const int fd = taken_over(place);
	struct seccomp_notif wanted;
	struct seccomp_notif_resp answer;

	for (;;) {
		memset(&wanted, 0, sizeof(wanted));
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &wanted) < 0)
			return;
		pause_us(us);
		answer = (struct seccomp_notif_resp){ .id = wanted.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
		if (ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer) < 0)
			return;
	}
}

static void wait_for_calls(long n, const char *place)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };
	int64_t begin_ns;
	int fd;

	may(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
	fd = must_have((int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program),
		       "seccomp");
	hand_over(place, fd);
	begin_ns = now_ns();
	for (long i = 0; i < n; i++)
		close(may((int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY), "openat"));
	printf("%" PRId64 "\n", now_ns() - begin_ns);
}

/* --- stops ------------------------------------------------------------------------------------------------- */

static void hold_stopped(long us, const char *place)
{
	FILE *file;
	int pid, status;

	ready(place);
	while (!(file = fopen(place, "r")) || fscanf(file, "%d", &pid) != 1)
		pause_us(10000);
	must_have((int)ptrace(PTRACE_SEIZE, pid, NULL, NULL), "PTRACE_SEIZE");
	for (;;) {
		pause_us(us / 10);
		if (ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) < 0 || waitpid(pid, &status, __WALL) < 0 ||
		    !WIFSTOPPED(status))
			return;
		pause_us(us);
		if (ptrace(PTRACE_CONT, pid, NULL, NULL) < 0)
			return;
	}
}

static void wait_stopped(long n, const char *place)
{
	const int64_t end_ns = now_ns() + n * 1000000000;
	int64_t ns = 0, last_ns, at_ns;
	FILE *file;
	char path[256];

	snprintf(path, sizeof(path), "%s.new", place);
	file = fopen(path, "w");
	if (!file)
		end(path, 1);
	fprintf(file, "%d", getpid());
	fclose(file);
	may(rename(path, place), place);
	for (last_ns = now_ns(); last_ns < end_ns; last_ns = at_ns) {
		at_ns = now_ns();
		ns += at_ns - last_ns > 1000000 ? at_ns - last_ns : 0;
	}
	printf("%" PRId64 "\n", ns);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *kind;
		void (*hold)(long us, const char *place), (*job)(long n, const char *place);
	} kinds[] = {
		{ "calls", hold_calls, wait_for_calls },
		{ "lease", hold_lease, wait_for_lease },
		{ "memory", hold_memory, wait_for_memory },
		{ "stops", hold_stopped, wait_stopped },
	};
	long number;

	if (argc != 5)
		return 2;
	number = strtol(argv[3], NULL, 10);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].kind, argv[2]) != 0)
			continue;
		if (strcmp(argv[1], "hold") == 0)
			kinds[i].hold(number, argv[4]);
		else
			kinds[i].job(number, argv[4]);
		return 0;
	}
	return 2;
}
