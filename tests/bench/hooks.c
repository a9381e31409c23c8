// SPDX-License-Identifier: BSD-2-Clause
/* hooks: attach the two programs of hooks.bpf.c, say "ready", wait until stdin ends. */
#include <stdio.h>

#include "hooks.skel.h"

int main(void)
{
	struct hooks_bpf *skel = hooks_bpf__open_and_load();

	if (!skel || hooks_bpf__attach(skel)) {
		fputs("hooks: cannot load and attach the programs\n", stderr);
		return 1;
	}
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	hooks_bpf__destroy(skel);
	return 0;
}
