/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of collectors: one entry is one tool and its command line. Const data. */
#include "collectors/kinds.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define NVIDIA "0x10de"

/*
 * mpstat and iostat write unbuffered (setbuf(stdout, NULL), sysstat 9.1.5 and later) and on SIGINT
 * mpstat prints its averages and ends (sysstat 10.1.4). nvidia-smi: columns differ by driver;
 * pmon's usage text allows 10 s at most.
 */
const struct collector_kind collector_kinds[COLLECTOR_KINDS] = {
	{
		.name = "cpu",
		.file = "cpu.out",
		.help = "CPU use of the whole machine and of each CPU (mpstat)",
		.argv = { "mpstat", "-P", "ALL" },
		.own_argv = { "dltraced", "sample", "cpu" },
		.stop_signal = SIGINT,
		.loss = "CPU trace",
		.remedy = "install sysstat",
		.header_word = "%idle",
		.first_column = "CLOCK",
		.rows_are_dated = true,
		.whole_machine = "all",
	},
	{
		.name = "disk",
		.file = "disk.out",
		.help = "throughput, queue and latency of each disk (iostat)",
		.argv = { "iostat", "-dxmy" },
		.own_argv = { "dltraced", "sample", "disk" },
		.stop_signal = SIGINT,
		.loss = "disk trace",
		.remedy = "install sysstat",
		.header_word = "%util",
	},
	{
		.name = "gpu",
		.file = "gpu.out",
		.help = "GPU use and memory of each process (nvidia-smi pmon)",
		.argv = { "nvidia-smi", "pmon", "-s", "um", "-o", "DT", "-d" },
		.max_interval_s = 10,
		.stop_signal = SIGINT,
		.loss = "GPU trace",
		.remedy = "it comes with NVIDIA's driver",
		.vendor = NVIDIA,
		.header_word = "gpu",
		.header_hash = true,
		.rows_are_dated = true,
		.last_is_text = true,
	},
	{
		.name = "gpu_dev",
		.file = "gpu_dev.out",
		.help = "power, use, clocks, memory, errors and PCIe of each GPU (nvidia-smi dmon)",
		.argv = { "nvidia-smi", "dmon", "-s", "pucvmet", "-o", "DT", "-d" },
		.stop_signal = SIGINT,
		.loss = "GPU trace",
		.remedy = "it comes with NVIDIA's driver",
		.vendor = NVIDIA,
		.header_word = "gpu",
		.header_hash = true,
		.rows_are_dated = true,
	},
	{
		.name = "cgroup",
		.file = "cgroup.out",
		.help = "CPU time, memory, I/O, limits and pressure of the job's cgroup and those above it",
		.argv = { "dltraced", "sample", "cgroup" },
		.own = true,
		.stop_signal = SIGINT,
		.loss = "trace of cgroups",
		.remedy = "see dltraced check",
		.header_word = "LEVEL",
		.header_hash = true, /* so that no path can pass for a header */
		.rows_are_dated = true,
		.last_is_text = true,
	},
};

bool collectors_vendor_there(const char *root, const char *vendor)
{
	autofree char *pattern = util_fmt("%s/sys/bus/pci/devices/*/vendor", root),
		      *node = util_fmt("%s/dev/nvidiactl", root);
	bool there = node && access(node, F_OK) == 0; /* where PCI devices are not to be seen, as in a container */
	char line[16];
	glob_t found;

	if (!pattern || glob(pattern, GLOB_NOSORT, NULL, &found))
		return there;
	for (size_t i = 0; i < found.gl_pathc && !there; i++)
		there = util_read_line(found.gl_pathv[i], line, sizeof(line)) == 0 && !strcmp(line, vendor);
	globfree(&found);
	return there;
}

const char *collectors_file(unsigned int i)
{
	return i < COLLECTOR_KINDS ? collector_kinds[i].file : NULL;
}

int collectors_parse(const char *list, const char **bad)
{
	int kinds = 0;

	if (!list)
		return (1 << COLLECTOR_KINDS) - 1;
	if (!strcmp(list, "none"))
		return 0;
	for (;; list++) {
		size_t len = strcspn(list, ",");
		unsigned int i = 0;

		while (i < COLLECTOR_KINDS &&
		       (strncmp(list, collector_kinds[i].name, len) || collector_kinds[i].name[len]))
			i++;
		*bad = list;
		if (i == COLLECTOR_KINDS)
			return -EINVAL;
		kinds |= 1 << i;
		list += len;
		if (!*list)
			return kinds;
	}
}
