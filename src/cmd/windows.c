/* SPDX-License-Identifier: BSD-2-Clause */
/* See windows.h. */
#include "cmd/windows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "export/times.h"

struct window *windows_of(const struct moment *from, const struct moment *to, char *const *dirs, unsigned int n)
{
	const struct times_options o = { .from = *from, .to = *to };
	struct window *window = calloc(n, sizeof(*window));
	struct export_times times;

	if (!window) {
		log_err_r(-ENOMEM, "--from and --to");
		return NULL;
	}
	if (times_init(&times, &o, dirs, n) < 0) {
		free(window);
		return NULL;
	}
	for (unsigned int i = 0; i < times.n_hosts; i++)
		window[i] = (struct window){ times.host[i].v[0].begin_ns, times.host[i].v[0].end_ns };
	times_free(&times);
	return window;
}
