/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/report/report_picture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "cmd/report/report_out.h"
#include "report/options.h"
#include "report/scan/model.h"
#include "report/show/svg/memory.h"

static const struct picture {
	const char *name, *needs;
	bool (*has)(const struct report *r);
	void (*draw)(const struct report *r, FILE *out);
} pictures[] = {
	{ "memory", "neither alloc.out nor access.out with rows (--probes +alloc,+access)", report_has_memory,
	  report_memory_svg },
};

static const struct picture *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(pictures); i++)
		if (!strcmp(pictures[i].name, name))
			return &pictures[i];
	return NULL;
}

bool report_picture_is(const struct report_args *o)
{
	if (!find(o->picture)) {
		log_err("there is no picture of %s: --svg memory FILE draws memory", o->picture);
		return false;
	}
	return !strcmp(o->svg, "-") || !report_out_is_of_trace(o, o->svg);
}

struct drawing {
	const struct picture *picture;
	const struct report *report;
};

static void draw(const void *of, FILE *out)
{
	const struct drawing *d = of;

	d->picture->draw(d->report, out);
}

int report_picture(const struct report *r, const struct report_args *o)
{
	const struct drawing d = { find(o->picture), r };

	if (d.picture->has(r))
		return report_out_svg(o->svg, draw, &d);
	log_err("%s has %s: there is nothing to draw", r->dir, d.picture->needs);
	return -ENODATA;
}
