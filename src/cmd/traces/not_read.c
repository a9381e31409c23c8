/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/traces/not_read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/log.h"
#include "base/shell.h"
#include "base/util.h"
#include "trace/newer.h"
#include "trace/probe.h"
#include "trace/reader.h"
#include "trace/segment.h"

/* Whether NAME is an archive, such as start -o DIR.tar.gz makes, by its suffix. */
static bool is_packed(const char *name)
{
	static const char *const ends[] = { ".tar.gz", ".tgz", ".tar", ".tar.zst" };
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (len > strlen(ends[i]) && !strcmp(name + len - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

static void log_packed(const char *dir)
{
	const char *gz = strstr(dir, "gz");
	char command[PATH_MAX] = "tar";

	shell_append(command, sizeof(command), gz ? "-xzf" : "-xf");
	shell_append(command, sizeof(command), dir);
	log_err("%s is an archive: unpack it first (%s), and name the folder", dir, command);
}

int log_not_read(int res, const char *dir)
{
	if (res == -ENOENT)
		log_err("%s does not exist: name a trace folder (dltraced start prints its name when it ends)", dir);
	else if (res == -ENOTDIR && is_packed(dir))
		log_packed(dir);
	else if (res == -ENOTDIR)
		log_err("%s is a file, not a trace folder: name the folder that contains it", dir);
	else if (res == -EACCES)
		log_err("%s may not be read: report on it as its owner, or as root", dir);
	else
		log_err_r(res, "%s: cannot be reported on", dir);
	return res;
}

bool log_newer(char *const *dirs, int n)
{
	struct newer newer;

	for (int i = 0; i < n; i++) {
		autoclose int fd = open(dirs[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd < 0 || !newer_find(fd, &newer))
			continue;
		log_err("%s/%s has schema %" PRIu64 ", of a newer dltraced%s%s; this one reads up to schema %u: "
			"install a newer one",
			dirs[i], newer.file, newer.schema, newer.version[0] ? ", " : "", newer.version, READER_SCHEMA);
		return true;
	}
	return false;
}

bool log_foreign(const char *dir)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];
	bool found = false;

	/* of a probe, as --collect may have put any file there */
	for (unsigned int i = 1; fd >= 0 && !found && i < DLT_PROBES; i++)
		found = segment_find_foreign(fd, probes[i]->name, name);
	if (found)
		log_err("%s/%s must be unpacked first: files are read as text, and packed by gzip or zstd", dir, name);
	return found;
}
