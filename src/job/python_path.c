/* SPDX-License-Identifier: BSD-2-Clause */
/* See python_path.h. The folder has a sitecustomize.py, which Python imports at its start (python/dltraced/site). */
#include "job/python_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "dlt/dlt.h"
#include "host/installed.h"
#include "host/rights/workload_user.h"
#include "trace/config.h"

/* As installed; as built. */
static const char *const places[] = { "../share/dltraced/python", ".", NULL };

/* Returns the folder, or NULL. */
static char *folder_find(void)
{
	char *file = installed_find(places, "site/sitecustomize.py"), *slash = file ? strrchr(file, '/') : NULL;

	if (slash)
		*slash = '\0';
	return file;
}

bool python_path_is_set(const struct config *cfg)
{
	return cfg->argv && cfg->regions_auto && (cfg->regions_named || cfg->probes >> DLT_regions & 1);
}

int python_path_set(const struct config *cfg, struct workload_user *user)
{
	autofree char *folder = NULL;
	int r;

	if (!python_path_is_set(cfg))
		return 0;
	folder = folder_find();
	if (!folder && !cfg->regions_named)
		return 0;
	if (!folder) {
		log_err("--regions auto: share/dltraced/python is not beside this program: install it (make install), "
			"or run the job by `python -m dltraced' from a package of its own");
		return -ENOENT;
	}
	r = workload_user_prepend(user, "PYTHONPATH=", folder);
	if (r == 0 && cfg->regions_named) /* however short the steps are (python/dltraced/auto.py) */
		r = workload_user_setenv(user, "DLTRACED_REGIONS=all");
	if (r < 0)
		log_err_r(r, "--regions auto");
	return r;
}
