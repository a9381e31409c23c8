/* SPDX-License-Identifier: BSD-2-Clause */
/* The phases of the job, as the report finds them in its output and its marks: a track for each kind. */
#include <errno.h>

#include "export/perfetto/perfetto.h"
#include "export/phases.h"

static void put_kind(struct export *export, const struct phases *phases, enum phase_kind kind)
{
	struct perfetto *perfetto = export->state;
	char name[64], label[PHASE_LABEL_MAX];
	const int len = snprintf(name, sizeof(name), "phase %s", phase_kind_names[kind]);
	uint32_t track, lane;

	if (!phases_count(phases, kind))
		return;
	track = perfetto_track(export, perfetto_key(perfetto, 'f', name, (size_t)len), TRACK_PLAIN,
			       perfetto->host_track, (struct reader_field){ name, (size_t)len });
	for (uint32_t i = 0; i < phases_count(phases, kind) && track != TRACKS_NONE; i++) {
		const struct phase *p = phases_get(phases, kind, i);

		if (p->end_ns < p->begin_ns ||
		    !times_overlap(&export->times, export_host_index(export), p->begin_ns, p->end_ns))
			continue;
		lane = lanes_put(&tracks_at(&perfetto->tracks, track)->lanes, p->begin_ns, p->end_ns);
		if (lane != LANES_NONE)
			perfetto_slice(export, track, lane, phases_label(phases, p, label), p->begin_ns, p->end_ns);
	}
}

int perfetto_phases(struct export *x)
{
	struct phases *phases;

	if (export_phases(&phases, x->host->dirfd) < 0)
		return -ENOMEM;
	for (enum phase_kind kind = 0; kind < PHASE_KINDS; kind++)
		put_kind(x, phases, kind);
	phases_free(phases);
	return out_record(&x->out);
}
