/* SPDX-License-Identifier: BSD-2-Clause */
/* Open generated skeletons. */
#ifndef KERNEL_SKEL_H
#define KERNEL_SKEL_H

#include <errno.h>

#include <bpf/libbpf.h>

#include "kernel/btf.h"
#include "trace/probe.h"

/*
 * Opens a struct STEM_bpf to be loaded with KERNEL's excerpt: NULL with errno. Compiled twice (see
 * compat.bpf.h), and both have equal maps, programs and constants.
 */
#define SKEL_OPEN_ONLY(stem, kernel)                                                                  \
	({                                                                                            \
		LIBBPF_OPTS(bpf_object_open_opts, opts_,                                              \
			    .btf_custom_path = (kernel)->excerpt[0] ? (kernel)->excerpt : NULL);      \
                                                                                                      \
		_Static_assert(sizeof(struct stem##_bpf) == sizeof(struct stem##_probed_bpf), #stem); \
		(kernel)->casts ? stem##_bpf__open_opts(&opts_) :                                     \
				  (struct stem##_bpf *)stem##_probed_bpf__open_opts(&opts_);          \
	})

/* Opens a probe's, with CFG in its constants: 0 or -errno. */
#define SKEL_OPEN(stem, o, cfg, kernel)                                                     \
	({                                                                                  \
		struct stem##_bpf *skel_ = SKEL_OPEN_ONLY(stem, kernel);                    \
		int r_ = skel_ ? 0 : -errno;                                                \
                                                                                            \
		if (skel_) {                                                                \
			skel_->rodata->dlt_cfg = *(cfg);                                    \
			*(o) = (struct probe_object){ skel_->obj, skel_->skeleton, skel_ }; \
		}                                                                           \
		r_;                                                                         \
	})

/* probe.open of a simple probe: STEM_open(). */
#define SKEL_OPENER(stem)                                                                                             \
	static int stem##_open(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel) \
	{                                                                                                             \
		return SKEL_OPEN(stem, o, cfg, kernel);                                                               \
	}

#endif
