/* SPDX-License-Identifier: BSD-2-Clause */
/* Open the generated skeleton STEM_bpf with CFG in its constants: 0 or -errno. */
#ifndef PROBES_SKEL_H
#define PROBES_SKEL_H

#include <errno.h>

#include "probe.h"

#define SKEL_OPEN(stem, o, cfg)                                                                     \
	({                                                                                          \
		struct stem##_bpf *skel_ = stem##_bpf__open();                                      \
		int r_ = skel_ ? 0 : -errno;                                                        \
                                                                                                    \
		if (skel_) {                                                                        \
			skel_->rodata->dlt_cfg = *(cfg);                                            \
			*(o) = (struct probe_object){ skel_->obj, skel_->skeleton, skel_ };         \
		}                                                                                   \
		r_;                                                                                 \
	})

#endif
