/* SPDX-License-Identifier: BSD-2-Clause */
/* See python_path.h. The folder has a sitecustomize.py, which Python imports at its start (python/dltraced/site). */
#include "session/python_path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/env.h"
#include "base/log.h"
#include "base/util.h"
#include "host/rights/workload_user.h"
#include "trace/config.h"

/* Relative to the folder of the program: the first as installed, the others as built. */
static const char *const places[] = { "../share/dltraced/python", "../python", "../../python" };

/* Returns the folder, or NULL. */
static char *folder_find(void)
{
	autofree char *self = realpath("/proc/self/exe", NULL);
	char *slash = self ? strrchr(self, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		autofree char *path = util_fmt("%s/%s/dltraced/site", self, places[i]);
		autofree char *file = path ? util_fmt("%s/sitecustomize.py", path) : NULL;

		if (file && access(file, R_OK) == 0)
			return realpath(path, NULL);
	}
	return NULL;
}

/* Puts ENTRY in the place of the variable of its name. */
static int environ_put(struct workload_user *u, char *entry)
{
	char *const over[] = { entry, NULL };
	char **env = env_merge(u->environ ?: environ, over);

	if (!env)
		return -ENOMEM;
	free(u->environ);
	u->environ = env;
	return 0;
}

int python_path_set(const struct config *cfg, struct workload_user *u)
{
	autofree char *folder = NULL, *entry = NULL;
	const char *before;
	int r;

	if (!cfg->regions_auto)
		return 0;
	folder = folder_find();
	if (!folder) {
		log_err("--regions auto: share/dltraced/python is not beside this program: install it (make install), "
			"or run the job by `python -m dltraced' from a package of its own");
		return -ENOENT;
	}
	before = env_find(u->environ ?: environ, "PYTHONPATH=");
	before = before ? before + strcspn(before, "=") : "";
	before += *before == '=';
	entry = util_fmt("PYTHONPATH=%s%s%s", folder, *before ? ":" : "", before);
	r = entry ? environ_put(u, entry) : -ENOMEM;
	if (r < 0)
		log_err_r(r, "--regions auto");
	return r;
}
