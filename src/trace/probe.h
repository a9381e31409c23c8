/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registry: each trace file as const data, and typed hooks where tables do not suffice. Loading,
 * attaching, headers, text, `dltraced probes` and docs/traces.md derive from it.
 */
#ifndef TRACE_PROBE_H
#define TRACE_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/util.h" /* ARRAY_SIZE */
#include "trace/field.h"

struct bpf_object;
struct bpf_object_skeleton;
struct decode;
struct kernel_btf;

/* One system call of a probe. */
struct probe_call {
	const char *name; /* the row's FUNC */
	int nr; /* -1: this architecture lacks it, or a FUNC that is no call */
	uint8_t shape; /* for the BPF side: dlt_call.shape */
	const char *exit; /* program at its end, or NULL: nothing of the call is left by then */
	const char *entry; /* program at its start as well, or NULL */
	const char *func; /* the kernel's function, without __x64_sys_ or its like; NULL: NAME */
	bool no_row; /* no FUNC: traced only for the rows of other calls */
	bool region; /* only calls with the operation of include/dltraced.h */
};

/* A function of a library, on which a probe has programs in processes that run already: see kernel/uprobe/functions.h.
 */
struct probe_function {
	const char *name; /* the row's FUNC */
	const char *symbol;
	const char *modules; /* what the names of its library's files begin with, any of these: "libc.so.6|libc-2." */
	const char *begins; /* the program where it begins, with N_ARGS arguments */
	const char *ends; /* and where it returns to; NULL: none */
	unsigned int n_args;
	bool needs_ends; /* useless in a process without a function that has ENDS */
};

/* A probe's loaded BPF object; OBJ is NULL where it has none. */
struct probe_object {
	struct bpf_object *obj;
	struct bpf_object_skeleton *skel; /* owns obj */
	void *owner; /* the generated struct around both */
	void *state; /* of the probe's own, */
	void (*state_free)(void *state); /* and what ends it, before the object goes */
	char *why; /* why open() or emit() failed, and what to do; NULL: not known */
};

/* Unload and close it; one that was never opened is left alone. */
void probe_object_free(struct probe_object *o);

enum probe_flags {
	PROBE_SELECTABLE = 1, /* on by --probes; on by default, unless ALSO */
	PROBE_OF_TARGET = 2, /* rows are of threads of the target: --comm narrows them */
	PROBE_OF_CALLS = 128, /* rows are system calls */
	PROBE_MORE_ROWS = 256, /* a call may have several rows, or none here and one in another file */
	PROBE_ON_DEMAND = 4, /* off by default */
	PROBE_MAY_LACK = 64, /* on by default, where the kernel does not refuse it */
	PROBE_REFERENCE = 32, /* the rows of other files need it: --keep drops it last */
	PROBE_WHOLE = 512, /* rows of other files refer to rows of any time: a part of a trace has all of them */
	PROBE_NEVER_PAUSED = 1024, /* its rows are written below --min-free, too */
	PROBE_LIFE =
		2048, /* of processes: the target follows its forks by it, so it is always loaded, and hooked first */
	PROBE_OWN_SCRATCH = 4096, /* its programs preempt others, or are preempted: they have a buffer of their own */
	PROBE_OWN_SEEN = 16384, /* files that its rows have shown are not known to other probes: see bio.c */
	PROBE_SHOWS_WRITES = 8192, /* its programs note which process wrote a page: see dlt_shared.writes_shown */
};

/* The files of which no option names the probe: when a trace has them. */
enum probe_when {
	WHEN_CHOSEN, /* an option names it */
	WHEN_ALWAYS,
	WHEN_ROWS, /* unless only sums are written */
	WHEN_SUMS, /* of rows that are not written, or dropped */
	WHEN_LOG, /* the workload's output is kept */
	WHENS,
};

/* When to send the sums of a probe that adds up in the kernel. */
enum probe_emit {
	PROBE_EMIT_BEGIN, /* programs are attached, targets are in: counting starts from the present state; no rows */
	PROBE_EMIT, /* an interval has passed */
	PROBE_EMIT_STOP, /* about to be detached: counting ends at the present state; no rows */
	PROBE_EMIT_END, /* detached: send everything that has not been sent */
};

struct probe {
	const char *name, *help;
	const struct field *fields;
	unsigned int n_fields;
	const struct probe_call *calls;
	unsigned int n_calls;
	const struct probe_function *functions;
	unsigned int n_functions;
	size_t rec_size; /* size of the kernel's fixed part: shorter records are refused */
	size_t seg_at; /* offset of the strings in what the table describes; 0: at rec_size */
	unsigned int needs; /* a probe whose object must also be loaded, 0: none */
	unsigned int flags;
	const char *option; /* the option of `start' without which it has no rows, whatever --probes says; NULL: none */
	enum probe_when when;
	/*
	 * Disk space that its file has allocated ahead, bytes: on a full disk, too, each FID of the other files must be
	 * found in files.out and each process in pids.out, and sums are all that is left of many rows. 0: none.
	 */
	unsigned int ahead_bytes;
	/*
	 * Open the skeleton with CFG in its constants and, where hooks differ between kernels (BTF),
	 * choose programs (bpf_program__set_autoload). 0 or -errno, with O->why if it knows that. NULL: no BPF object.
	 */
	int (*open)(struct probe_object *o, const struct dlt_config *cfg, const struct kernel_btf *kernel);
	/* Turn one record into rows, where the table does not suffice for that. */
	void (*decode)(struct decode *d, const struct dlt_hdr *rec);
	/*
	 * Make the record of a call that was still running at the end: fill what follows the header in REC
	 * (zeroed, IN_FLIGHT_REC_MAX bytes); running_str() appends strings.
	 */
	void (*running)(const struct dlt_call *call, struct dlt_hdr *rec);
	/*
	 * For a probe that keeps its operations in flight in maps of its own: a record of each as of
	 * NOW_NS, once its programs are detached; before that at most MAX, some of them perhaps twice.
	 */
	void (*in_flight)(struct probe_object *o, void (*emit)(void *ctx, const struct dlt_hdr *rec), void *ctx,
			  uint64_t now_ns, unsigned int max);
	/*
	 * A program whose skipped runs (by the kernel) are all accounted for: what it leaves behind is
	 * counted as lost when the next run comes upon it, or becomes a row without an end when the trace
	 * ends. NULL: none.
	 */
	const char *skips_show;
	/*
	 * A phrase for what its rows lack where the kernel refuses its programs, and takes them with dlt_config.plain;
	 * NULL: it has no such form.
	 */
	const char *plain;
	/* Whether a trace of a user without rights may show REC; NULL: every record, as all are of the user's
	 * processes.
	 */
	bool (*is_owned)(const struct dlt_hdr *rec);
	/* Send records of the sums through the rings. 0 or -errno. */
	int (*emit)(struct probe_object *o, enum probe_emit when);
	/* Likewise send what cannot wait for the end of the interval, if there is any: called some times a second.
	 * NULL: never. */
	int (*emit_due)(struct probe_object *o);
};

/* In a struct probe: all calls of the table. */
#define PROBE_FIELDS(table) .fields = (table), .n_fields = ARRAY_SIZE(table)
#define PROBE_CALLS(table) .calls = (table), .n_calls = ARRAY_SIZE(table)

#define IN_FLIGHT_REC_MAX 24576
/* Append the string at ADDR in the memory of REC's process as segment I (in rising order). */
void running_str(struct dlt_hdr *rec, struct dlt_segs *segs, uint64_t addr, unsigned int i);

#define PROBE(name) extern const struct probe name##_probe;
#include "trace/probe_mask.h"
#include "trace/probes.def"
#undef PROBE

/* Indexed by enum dlt_probe; [0] is NULL. */
extern const struct probe *const probes[DLT_PROBES];

/* Returns the probe in whose table of calls a FIELD_FUNC of P has its index. */
static inline const struct probe *probe_of_calls(const struct probe *p, const struct field *field)
{
	return field->arg ? probes[field->arg] : p;
}

/* Returns the enum dlt_probe of NAME, 0 when there is none. */
unsigned int probe_find(const char *name);

/*
 * "bio,open", "-mmap", "+sync,-bio" to a mask of 1 << enum dlt_probe. A list whose first name has a
 * sign starts from all. Those that it names, with + or without a sign, go into *NAMED_RET. On an unknown name -EINVAL
 * and the name in *BAD_RET.
 */
int probe_parse_list(const char *list, probe_mask *mask_ret, probe_mask *named_ret, char bad_ret[64]);
/* Returns the probes that have all of WITH and none of WITHOUT among their flags. */
probe_mask probe_mask_of(unsigned int with, unsigned int without);
/* Returns the probes of the kinds of files that are true in WHEN. */
probe_mask probe_mask_when(const bool when[WHENS]);
#define PROBES_DEFAULT probe_mask_of(PROBE_SELECTABLE, PROBE_ON_DEMAND)

/* The call of REC may have ended unseen: turn its "?" into "-". */
void probe_silence(struct dlt_hdr *rec);

#endif
