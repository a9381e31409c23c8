/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/installed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"

char *installed_find(const char *const places[], const char *file)
{
	autofree char *self = realpath("/proc/self/exe", NULL);
	char *slash = self ? strrchr(self, '/') : NULL;

	if (!slash)
		return NULL;
	*slash = '\0';
	for (; *places; places++) {
		autofree char *path = util_fmt("%s/%s/%s", self, *places, file);

		if (path && access(path, R_OK) == 0)
			return realpath(path, NULL);
	}
	return NULL;
}

char *installed_library(const char *name, const char *option)
{
	static const char *const places[] = { "../lib/dltraced", ".", NULL };
	char *library = installed_find(places, name);

	if (!library)
		log_err("%s: %s is not beside this program (lib/dltraced): install it (make install)", option, name);
	return library;
}
