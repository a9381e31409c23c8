/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * refuse_bpf NAME[,NAME...] CMD ARG...: runs CMD, and makes bpf(2) refuse it programs of these names with EACCES, as a
 * verifier does. The status is CMD's. The calls come here through a seccomp filter, which CMD's children have, too.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

#define LOW_WORD (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 4)

static void die(const char *what)
{
	perror(what);
	exit(126);
}

/* Has bpf(BPF_PROG_LOAD) go to a listener. Returns the listener's descriptor. */
static int filter_install(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]) + LOW_WORD),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, BPF_PROG_LOAD, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(*code), code };

	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
}

/* Whether NAMES contains the name of the program that PID loads with the attributes at ADDR. */
static int is_named(const char *names, pid_t pid, __u64 addr)
{
	char name[BPF_OBJ_NAME_LEN + 1] = "";
	struct iovec to = { name, BPF_OBJ_NAME_LEN };
	struct iovec from = { (void *)(addr + offsetof(union bpf_attr, prog_name)), BPF_OBJ_NAME_LEN };
	size_t len;

	if (process_vm_readv(pid, &to, 1, &from, 1, 0) != BPF_OBJ_NAME_LEN)
		return 0;
	for (; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (strlen(name) == len && !memcmp(name, names, len))
			return 1;
	}
	return 0;
}

static void answer(int listener, const char *names)
{
	struct seccomp_notif call = {};
	struct seccomp_notif_resp resp = {};

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
		return; /* the caller has ended */
	resp.id = call.id;
	if (is_named(names, (pid_t)call.pid, call.data.args[1]))
		resp.error = -EACCES;
	else
		resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
}

static void command(char **argv, int there, int go)
{
	int listener = filter_install();
	char c;

	if (listener < 0)
		die("seccomp");
	if (write(there, &listener, sizeof(listener)) != sizeof(listener) || read(go, &c, 1) != 1)
		_exit(126);
	close(listener);
	close(there);
	close(go);
	execvp(argv[0], argv);
	die(argv[0]);
}

int main(int argc, char **argv)
{
	int there[2], go[2], number, status;
	struct pollfd fds[2];
	pid_t pid;

	if (argc < 3) {
		fputs("usage: refuse_bpf NAME[,NAME...] CMD ARG...\n", stderr);
		return 2;
	}
	if (pipe(there) < 0 || pipe(go) < 0)
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(there[0]);
		close(go[1]);
		command(argv + 2, there[1], go[0]);
	}
	close(there[1]);
	close(go[0]);
	fds[1] = (struct pollfd){ (int)syscall(SYS_pidfd_open, pid, 0), POLLIN, 0 };
	if (read(there[0], &number, sizeof(number)) != sizeof(number))
		return 126;
	fds[0] = (struct pollfd){ (int)syscall(SYS_pidfd_getfd, fds[1].fd, number, 0), POLLIN, 0 };
	if (fds[0].fd < 0 || write(go[1], "", 1) != 1)
		die("pidfd_getfd");
	close(there[0]);
	close(go[1]);
	while (poll(fds, 2, -1) < 0 || !(fds[1].revents & POLLIN))
		if (fds[0].revents & POLLIN)
			answer(fds[0].fd, argv[1]);
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
