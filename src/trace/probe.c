/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

const struct probe *const probes[DLT_PROBES] = {
#define PROBE(name) [DLT_##name] = &name##_probe,
#include "trace/probe_mask.h"
#include "trace/probes.def"
#undef PROBE
};

void probe_object_free(struct probe_object *o)
{
	if (o->state)
		o->state_free(o->state);
	bpf_object__destroy_skeleton(o->skel);
	free(o->owner);
	free(o->why);
	*o = (struct probe_object){};
}

unsigned int probe_find(const char *name)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (!strcmp(probes[i]->name, name))
			return i;
	return DLT_NO_PROBE;
}

probe_mask probe_mask_of(unsigned int with, unsigned int without)
{
	probe_mask mask = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if ((probes[i]->flags & (with | without)) == with)
			mask |= PROBE_BIT(i);
	return mask;
}

probe_mask probe_mask_when(const bool when[WHENS])
{
	probe_mask mask = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (when[probes[i]->when])
			mask |= PROBE_BIT(i);
	return mask;
}

int probe_parse_list(const char *list, probe_mask *mask_ret, probe_mask *named_ret, char bad_ret[64])
{
	probe_mask mask = PROBES_DEFAULT, named = 0;
	bool first = true;

	for (const char *s = list; *s || first; first = false) {
		size_t len = strcspn(s, ",");
		char sign = len && strchr("+-", *s) ? *s : '\0', name[64];
		unsigned int i;

		snprintf(name, sizeof(name), "%.*s", (int)(len - !!sign), s + !!sign);
		i = probe_find(name);
		if (!i || !(probes[i]->flags & PROBE_SELECTABLE)) {
			memcpy(bad_ret, name, sizeof(name));
			return -EINVAL;
		}
		if (first && !sign)
			mask = 0;
		if (sign == '-') {
			mask &= ~PROBE_BIT(i);
		} else {
			mask |= PROBE_BIT(i);
			named |= PROBE_BIT(i);
		}
		s += len;
		s += *s == ',';
	}
	*mask_ret = mask;
	*named_ret = named;
	return 0;
}

void probe_silence(struct dlt_hdr *rec)
{
	const struct probe *p = probes[rec->probe];

	for (unsigned int i = 0; i < p->n_fields; i++) {
		int64_t *v = (int64_t *)((char *)rec + p->fields[i].offset);

		if (p->fields[i].kind == FIELD_S64 && *v == DLT_UNKNOWN)
			*v = DLT_NONE;
	}
}
