/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/system_files.h"

#include <string.h>

#include "base/util.h"

#define FOLDER(path, kinds)                    \
	{                                      \
		path, sizeof(path) - 1, kinds, \
	}

bool system_files_has(enum system_folder kind, const char *path, size_t len)
{
	static const struct {
		const char *path;
		size_t len;
		unsigned int kinds;
	} folders[] = {
		FOLDER("/bin/", SYSTEM_SOFTWARE | SYSTEM_DISK),
		FOLDER("/boot/", SYSTEM_SOFTWARE),
		FOLDER("/dev/", SYSTEM_SOFTWARE),
		FOLDER("/etc/", SYSTEM_SOFTWARE | SYSTEM_DISK),
		FOLDER("/lib/", SYSTEM_SOFTWARE | SYSTEM_DISK),
		FOLDER("/lib32/", SYSTEM_SOFTWARE | SYSTEM_DISK),
		FOLDER("/lib64/", SYSTEM_SOFTWARE | SYSTEM_DISK),
		FOLDER("/libx32/", SYSTEM_DISK),
		FOLDER("/opt/", SYSTEM_DISK),
		FOLDER("/proc/", SYSTEM_SOFTWARE),
		FOLDER("/run/", SYSTEM_SOFTWARE),
		FOLDER("/sbin/", SYSTEM_SOFTWARE),
		FOLDER("/sys/", SYSTEM_SOFTWARE),
		FOLDER("/usr/", SYSTEM_DISK),
		FOLDER("/usr/bin/", SYSTEM_SOFTWARE),
		FOLDER("/usr/include/", SYSTEM_SOFTWARE),
		FOLDER("/usr/lib/", SYSTEM_SOFTWARE),
		FOLDER("/usr/lib32/", SYSTEM_SOFTWARE),
		FOLDER("/usr/lib64/", SYSTEM_SOFTWARE),
		FOLDER("/usr/libexec/", SYSTEM_SOFTWARE),
		FOLDER("/usr/local/bin/", SYSTEM_SOFTWARE),
		FOLDER("/usr/local/lib/", SYSTEM_SOFTWARE),
		FOLDER("/usr/local/sbin/", SYSTEM_SOFTWARE),
		FOLDER("/usr/sbin/", SYSTEM_SOFTWARE),
		FOLDER("/usr/share/", SYSTEM_SOFTWARE),
	};

	/* called for a million files: one byte is compared first */
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (folders[i].kinds & kind && len >= folders[i].len && path[1] == folders[i].path[1] &&
		    memcmp(path, folders[i].path, folders[i].len) == 0)
			return true;
	return false;
}
