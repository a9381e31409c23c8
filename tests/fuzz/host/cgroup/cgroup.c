/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * /proc/PID/mountinfo, /proc/PID/cgroup and the path that --cgroup names, each behind a line "===".
 * What is mounted where, and what cgroups are called, is also other users' choice.
 */
#include "fuzz.h"

#include "host/cgroup/cgroup.h"
#include "host/cgroup/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	autofree char *mountinfo = fuzz_piece(&data, &size, "===\n");
	autofree char *proc_cgroup = fuzz_piece(&data, &size, "===\n");
	autofree char *path = fuzz_piece(&data, &size, "\n");
	struct cgroup_list list = { 0 };
	struct cgroup_mounts m;

	if (cgroup_mounts_parse(&m, mountinfo, proc_cgroup) < 0)
		return 0;
	cgroup_find(&list, &m, path);
	container_cgroups(&list, &m, proc_cgroup);
	for (unsigned int i = 0; i < list.n; i++)
		EXPECT(list.items[i].dir &&
		       strnlen(list.items[i].path.path, DLT_CGROUP_PATH_MAX) < DLT_CGROUP_PATH_MAX);
	cgroup_list_free(&list);
	cgroup_mounts_free(&m);
	return 0;
}
