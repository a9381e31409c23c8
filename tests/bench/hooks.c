// SPDX-License-Identifier: BSD-2-Clause
/*
 * hooks empty|row [CMD ARG...]: attach the pair of programs of hooks.bpf.c, and run CMD, which is the
 * process that rows are of; without it say "ready" and wait until stdin ends.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.skel.h"

static struct hooks_bpf *attached(bool row)
{
	struct hooks_bpf *skel = hooks_bpf__open();

	if (!skel)
		return NULL;
	bpf_program__set_autoload(skel->progs.empty_enter, !row);
	bpf_program__set_autoload(skel->progs.empty_exit, !row);
	bpf_program__set_autoload(skel->progs.row_enter, row);
	bpf_program__set_autoload(skel->progs.row_exit, row);
	*(__u8 *)&skel->rodata->traced[SYS_pread64] = 1;
	return hooks_bpf__load(skel) || hooks_bpf__attach(skel) ? NULL : skel;
}

/* Runs a command, with the selection of processes set before its first instruction. Returns its status. */
static int run(struct hooks_bpf *skel, char **argv)
{
	int go[2], status = 1;
	pid_t pid;
	char c;

	if (pipe2(go, O_CLOEXEC) < 0)
		return 1;
	pid = fork();
	if (pid == 0) {
		if (read(go[0], &c, 1) == 1)
			execvp(argv[0], argv);
		_exit(127);
	}
	skel->bss->pids[pid / 64] |= 1ULL << pid % 64;
	if (write(go[1], "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	struct hooks_bpf *skel;
	int status = 0;

	if (argc < 2 || (strcmp(argv[1], "empty") && strcmp(argv[1], "row"))) {
		fputs("usage: hooks empty|row [CMD ARG...]\n", stderr);
		return 2;
	}
	skel = attached(!strcmp(argv[1], "row"));
	if (!skel) {
		fputs("hooks: cannot load and attach the BPF programs\n", stderr);
		return 1;
	}
	if (argc > 2) {
		status = run(skel, argv + 2);
	} else {
		puts("ready");
		fflush(stdout);
		while (getchar() != EOF)
			;
	}
	hooks_bpf__destroy(skel);
	return status;
}
