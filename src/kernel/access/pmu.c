/* SPDX-License-Identifier: BSD-2-Clause */
#include "kernel/access/pmu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"

#define DEVICES "/sys/bus/event_source/devices/"

/* The PMUs and their events. CPUs of several kinds have a PMU for each. */
static const struct kind {
	const char *name;
	const char *pmu, *event; /* EVENT NULL: the PMU has only one */
	const char *beside; /* an event that this one needs, if the PMU has it; else NULL */
	const char *terms; /* more of the description, where the PMU knows them; else NULL */
} kinds[] = {
	{ "cpu/mem-loads", "cpu", "mem-loads", "mem-loads-aux", NULL },
	{ "cpu/mem-stores", "cpu", "mem-stores", NULL, NULL },
	{ "cpu_atom/mem-loads", "cpu_atom", "mem-loads", "mem-loads-aux", NULL },
	{ "cpu_atom/mem-stores", "cpu_atom", "mem-stores", NULL, NULL },
	{ "cpu_core/mem-loads", "cpu_core", "mem-loads", "mem-loads-aux", NULL },
	{ "cpu_core/mem-stores", "cpu_core", "mem-stores", NULL, NULL },
	{ "cpu_lowpower/mem-loads", "cpu_lowpower", "mem-loads", "mem-loads-aux", NULL },
	{ "cpu_lowpower/mem-stores", "cpu_lowpower", "mem-stores", NULL, NULL },
	{ "ibs_op", "ibs_op", NULL, NULL,
	  "cnt_ctl=1" }, /* each operation counts, not each cycle, which prefers slow ones */
};
_Static_assert(ARRAY_SIZE(kinds) <= PMU_EVENTS, "PMU_EVENTS");

/* Reads a line of the PMU's folder; 0 or -errno. */
static int pmu_line(const char *root, const struct kind *k, const char *folder, const char *name, char line[256])
{
	autofree char *path = util_fmt("%s" DEVICES "%s/%s%s", root, k->pmu, folder, name);

	return path ? util_read_line(path, line, 256) : -ENOMEM;
}

/* Puts VALUE into the bits of *WORD that LIST ("0-7,32-35") names, the lowest first. 0 or -errno. */
static int bits_put(__u64 *word, const char *list, uint64_t value)
{
	for (;; list++) {
		char *end;
		const unsigned long first = strtoul(list, &end, 10),
				    last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

		if (end == list || last > 63 || first > last || (*end && *end != ','))
			return -EINVAL;
		for (unsigned long bit = first; bit <= last; bit++, value >>= 1)
			*word = (*word & ~(1ULL << bit)) | (value & 1) << bit;
		list = end;
		if (!*end)
			return value ? -EINVAL : 0;
	}
}

/* Puts the term NAME by the PMU's format of it, such as "config1:0-15". 0 or -errno; -ENOENT: the PMU has no such term.
 */
static int term_put(struct perf_event_attr *attr, const char *root, const struct kind *kind, const char *name,
		    uint64_t value)
{
	const struct {
		const char *name;
		__u64 *word;
	} words[] = { { "config:", &attr->config }, { "config1:", &attr->config1 }, { "config2:", &attr->config2 } };
	char format[256];
	int r = pmu_line(root, kind, "format/", name, format);

	for (size_t i = 0; !r && i < ARRAY_SIZE(words); i++) {
		const size_t len = strlen(words[i].name);

		if (!strncmp(format, words[i].name, len))
			return bits_put(words[i].word, format + len, value);
	}
	return r < 0 ? r : -EINVAL;
}

/* Puts all of TERMS, "event=0xcd,umask=0x1,ldlat=3": a term without a value is 1. 0 or -errno. */
static int terms_put(struct perf_event_attr *attr, const char *root, const struct kind *kind, char *terms)
{
	int r = 0;

	for (char *save, *term = strtok_r(terms, ",", &save); !r && term; term = strtok_r(NULL, ",", &save)) {
		char *value = strchr(term, '='), *end = NULL;
		uint64_t n = 1;

		if (value) {
			*value++ = '\0';
			n = strtoull(value, &end, 0);
			if (end == value || *end)
				return -EINVAL;
		}
		r = term_put(attr, root, kind, term, n);
	}
	return r;
}

/* Puts the description of EVENT. 0 or -errno; -ENOENT: the PMU has no such event. */
static int event_put(struct perf_event_attr *attr, const char *root, const struct kind *k, const char *event)
{
	char terms[256];
	int r = pmu_line(root, k, "events/", event, terms);

	if (r < 0)
		return r;
	r = terms_put(attr, root, k, terms);
	return r == -ENOENT ? -EINVAL : r;
}

/* Puts the kind's event; 0 or -errno, -ENOENT: this machine has none. */
static int kind_put(struct cpu_event *ret, const char *root, const struct kind *kind)
{
	struct perf_event_attr beside = { 0 };
	char line[256], *end;
	int r = pmu_line(root, kind, "", "type", line);

	if (r < 0)
		return r;
	*ret = (struct cpu_event){ .name = kind->name };
	ret->attr.type = (uint32_t)strtoul(line, &end, 10);
	if (end == line || *end)
		return -EINVAL;
	if (kind->event)
		r = event_put(&ret->attr, root, kind, kind->event);
	if (!r && kind->terms) {
		snprintf(line, sizeof(line), "%s", kind->terms);
		r = terms_put(&ret->attr, root, kind, line);
		r = r == -ENOENT ? 0 : r;
	}
	if (!r && kind->beside) {
		r = event_put(&beside, root, kind, kind->beside);
		ret->beside = beside.config;
		r = r == -ENOENT ? 0 : r;
	}
	ret->attr.precise_ip = kind->event ? 3 : 0; /* IBS is always exact */
	return r;
}

/* A PMU whose samples are read in another way. */
static bool has_spe(const char *root)
{
	autofree char *path = util_fmt("%s" DEVICES "arm_spe_0", root);

	return path && access(path, F_OK) == 0;
}

/* The most samples a second that the kernel allows; 0: not known. */
static unsigned long rate_most(const char *root)
{
	autofree char *path = util_fmt("%s/proc/sys/kernel/perf_event_max_sample_rate", root);
	char line[32];

	return path && util_read_line(path, line, sizeof(line)) == 0 ? strtoul(line, NULL, 10) : 0;
}

int pmu_events_find(struct cpu_event ret[PMU_EVENTS], const char *root, unsigned int hz, char *why, size_t size)
{
	const unsigned long most = rate_most(root);
	int n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct cpu_event *event = &ret[n];
		int r = kind_put(event, root, &kinds[i]);

		if (r == -ENOENT)
			continue;
		if (r < 0) {
			snprintf(why, size, "sysfs describes %s in a way that is not known: " DEVICES "%s",
				 kinds[i].name, kinds[i].pmu);
			return r;
		}
		event->attr.sample_type = PERF_SAMPLE_ADDR;
		event->attr.freq = 1;
		event->attr.sample_freq = hz;
		n++;
	}
	if (n && (!most || hz <= most))
		return n;
	if (n)
		snprintf(why, size,
			 "the kernel allows %lu samples a second, not %u (kernel.perf_event_max_sample_rate)", most,
			 hz);
	else if (has_spe(root))
		snprintf(why, size, "samples of Arm's SPE are not read");
	else
		snprintf(why, size,
			 "the kernel has no PMU whose samples have data addresses (" DEVICES
			 ": neither cpu*/events/mem-loads nor ibs_op), as in most virtual machines");
	return n ? -ERANGE : -ENOENT;
}

/* Opens the event with the most exact instruction that the CPU can give. 0 or -errno. */
static int precise_open(struct cpu_event *e)
{
	int r = cpu_events_check(e, 1);

	while ((r == -EOPNOTSUPP || r == -EINVAL) && e->attr.precise_ip > 1) {
		e->attr.precise_ip--;
		r = cpu_events_check(e, 1);
	}
	return r;
}

int pmu_events_try(struct cpu_event ret[PMU_EVENTS], unsigned int hz, char *why, size_t size)
{
	const int found = pmu_events_find(ret, "", hz, why, size);
	int n = 0, r = found;

	for (int i = 0; i < found; i++) {
		r = precise_open(&ret[i]);
		if (r < 0)
			snprintf(why, size, "%s cannot be sampled: %s", ret[i].name, strerror(-r));
		else
			ret[n++] = ret[i];
	}
	return n ? n : r;
}
