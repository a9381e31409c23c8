/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dltraced.h - regions of your program, in the trace: epochs, steps, fetches, checkpoints, whatever you name.
 *
 * One header, no library: C99 and C++11, gcc and clang, 64-bit Linux. A region is sent by one prctl(2) with an
 * operation that no kernel has: it fails with EINVAL, and a running dltraced reads its arguments on the way in
 * (regions.out). Where nobody traces, that failed call is all that a region costs. It reaches the tracer from static
 * programs, chroots and containers, from the first region on, and a process that is killed loses no region that had
 * ended. Safe in signal handlers; errno stays as it is. DLTRACED_REGIONS=0 in the environment switches all of it off.
 *
 *	void step(int i)
 *	{
 *		DLTRACED_REGION(r, "ai.compute.step");	// until the block is left, however it is left
 *
 *		r.step = i;
 *		dltraced_update_int(&r, "samples", 32);
 *		...
 *	}
 *
 *	dltraced_region r;				// or with a begin and an end of your own
 *
 *	dltraced_begin(&r, "ai.checkpoint.save");
 *	...
 *	dltraced_end(&r);
 *
 * Names are "category.name". Those that start with "ai." are known to `dltraced report`:
 *	ai.pipeline.{epoch,train,evaluate,test}	ai.dataloader.fetch	ai.data.{item,batch,preprocess}
 *	ai.compute.{forward,backward,step}	ai.checkpoint.{save,load}	ai.device.transfer
 *	ai.comm.ANY
 */
#ifndef DLTRACED_H
#define DLTRACED_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#ifdef __cplusplus
#include <exception>
extern "C" {
#endif

#define DLTRACED_PRCTL 0x444c5431 /* "DLT1": prctl(DLTRACED_PRCTL, &message, its size, 0, 0) */

#define DLTRACED_NAME_MAX 64
#define DLTRACED_ARGS_MAX 128
#define DLTRACED_NONE (-INT64_C(0x7fffffffffffffff) - 1) /* not given */

enum dltraced_op {
	DLTRACED_OP_BEGIN = 1, /* of a live region: shown before it ends, and if it never does */
	DLTRACED_OP_END, /* of a region that was begun by a message with the same ID */
	DLTRACED_OP_WHOLE, /* a region from START_NS until now */
	DLTRACED_OP_MARK, /* an instant */
	DLTRACED_OP_META, /* a fact about the process: NAME is the key, ARGS the value */
};

enum dltraced_flag {
	DLTRACED_FAILED = 1, /* left by an exception */
};

enum dltraced_source {
	DLTRACED_SOURCE_API, /* the program's own calls */
	DLTRACED_SOURCE_TORCH, /* calls that were added to PyTorch and its loaders */
	DLTRACED_SOURCE_NVTX,
};

/* The message: these fields, then NAME_LEN and ARGS_LEN bytes of text without NULs. */
struct dltraced_msg {
	uint8_t op, flags, source;
	uint8_t name_len; /* at most DLTRACED_NAME_MAX */
	uint8_t args_len; /* at most DLTRACED_ARGS_MAX: "key=value", a line each */
	uint8_t pad[3];
	uint64_t start_ns; /* CLOCK_MONOTONIC */
	uint64_t id; /* of BEGIN and END: unique among the process's regions */
	int64_t epoch, step, bytes; /* DLTRACED_NONE: not given */
	int64_t lane; /* an asyncio task, a CUDA stream ...; DLTRACED_NONE: the thread */
	char text[DLTRACED_NAME_MAX + DLTRACED_ARGS_MAX];
};

/* A region in progress. Set EPOCH, STEP, BYTES and LANE as you like, until its end. */
typedef struct dltraced_region {
	uint64_t start_ns;
	const char *name;
	int64_t epoch, step, bytes, lane;
	uint8_t live, flags, source, args_len;
	char args[DLTRACED_ARGS_MAX];
} dltraced_region;

/* --- details ---------------------------------------------------------------------------------------------- */

/* clock_gettime(2), which <time.h> hides from strict C99. */
struct dltraced_timespec_ {
	long sec, nsec;
};
extern int dltraced_clock_gettime_(int clock, struct dltraced_timespec_ *ret) __asm__("clock_gettime");

static inline uint64_t dltraced_now_(void)
{
	struct dltraced_timespec_ t;

	dltraced_clock_gettime_(1 /* CLOCK_MONOTONIC */, &t);
	return (uint64_t)t.sec * 1000000000u + (uint64_t)t.nsec;
}

static int dltraced_state_; /* 0: not looked at; 1: on; 2: off */

static inline int dltraced_on_(void)
{
	int state = __atomic_load_n(&dltraced_state_, __ATOMIC_RELAXED);

	if (!state) {
		const char *env = getenv("DLTRACED_REGIONS");

		state = env && env[0] == '0' && !env[1] ? 2 : 1;
		__atomic_store_n(&dltraced_state_, state, __ATOMIC_RELAXED);
	}
	return state == 1;
}

static inline void dltraced_send_(int op, const dltraced_region *r, const char *args, size_t args_len)
{
	size_t name_len = strlen(r->name);
	struct dltraced_msg m;
	int error = errno;

	if (name_len > DLTRACED_NAME_MAX)
		name_len = DLTRACED_NAME_MAX;
	if (args_len > DLTRACED_ARGS_MAX)
		args_len = DLTRACED_ARGS_MAX;
	m.op = (uint8_t)op;
	m.flags = r->flags;
	m.source = r->source;
	m.name_len = (uint8_t)name_len;
	m.args_len = (uint8_t)args_len;
	m.pad[0] = m.pad[1] = m.pad[2] = 0;
	m.start_ns = r->start_ns;
	/* regions that live at the same time have different addresses; one after the other, different starts */
	m.id = r->live ? r->start_ns ^ (uint64_t)(uintptr_t)r << 16 : 0;
	m.epoch = r->epoch;
	m.step = r->step;
	m.bytes = r->bytes;
	m.lane = r->lane;
	memcpy(m.text, r->name, name_len); /* a page that was never read is not there for the tracer: so copied */
	memcpy(m.text + name_len, args, args_len);
	prctl(DLTRACED_PRCTL, (unsigned long)&m, sizeof(m) - sizeof(m.text) + name_len + args_len, 0, 0);
	errno = error;
}

static inline void dltraced_init_(dltraced_region *r, const char *name)
{
	r->name = name;
	r->epoch = r->step = r->bytes = r->lane = DLTRACED_NONE;
	r->live = r->flags = r->source = r->args_len = 0;
	r->start_ns = dltraced_now_();
}

static inline void dltraced_update_(dltraced_region *r, const char *key, const char *value, size_t value_len)
{
	size_t key_len = strlen(key), len = r->args_len;

	if (len + (len > 0) + key_len + 1 + value_len > DLTRACED_ARGS_MAX)
		return; /* whole pairs only */
	if (len)
		r->args[len++] = '\n';
	memcpy(r->args + len, key, key_len);
	len += key_len;
	r->args[len++] = '=';
	memcpy(r->args + len, value, value_len);
	r->args_len = (uint8_t)(len + value_len);
}

/* --- for your program ------------------------------------------------------------------------------------- */

/* A region begins now. NAME must live until its end. */
static inline void dltraced_begin(dltraced_region *r, const char *name)
{
	dltraced_init_(r, name);
}

/*
 * The same for a long one, such as an epoch or a checkpoint: sent at its begin too (twice the cost), so that it is
 * seen while it lasts, and after a process that was killed in it.
 */
static inline void dltraced_begin_live(dltraced_region *r, const char *name)
{
	dltraced_init_(r, name);
	r->live = 1;
	if (dltraced_on_())
		dltraced_send_(DLTRACED_OP_BEGIN, r, r->args, 0);
}

/* It ends now, once: a second call does nothing. */
static inline void dltraced_end(dltraced_region *r)
{
	if (r->name && dltraced_on_())
		dltraced_send_(r->live ? DLTRACED_OP_END : DLTRACED_OP_WHOLE, r, r->args, r->args_len);
	r->name = NULL;
}

/* More about a region, until its end: KEY without '='. A pair that does not fit into DLTRACED_ARGS_MAX is left out. */
static inline void dltraced_update_str(dltraced_region *r, const char *key, const char *value)
{
	dltraced_update_(r, key, value, strlen(value));
}

static inline void dltraced_update_int(dltraced_region *r, const char *key, int64_t value)
{
	uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	char digits[20];
	size_t at = sizeof(digits);

	do
		digits[--at] = (char)('0' + left % 10);
	while (left /= 10);
	if (value < 0)
		digits[--at] = '-';
	dltraced_update_(r, key, digits + at, sizeof(digits) - at);
}

/* An instant. */
static inline void dltraced_mark(const char *name)
{
	dltraced_region r;

	if (!dltraced_on_())
		return;
	dltraced_init_(&r, name);
	dltraced_send_(DLTRACED_OP_MARK, &r, r.args, 0);
}

/* A fact about this process, such as "batch_size", "32". */
static inline void dltraced_meta(const char *key, const char *value)
{
	dltraced_region r;

	if (!dltraced_on_())
		return;
	dltraced_init_(&r, key);
	dltraced_send_(DLTRACED_OP_META, &r, value, strlen(value));
}

/* DLTRACED_REGION(VAR, NAME): a region VAR from here to the end of the block. */
#ifndef __cplusplus
#define DLTRACED_REGION(var, name)                                  \
	__attribute__((cleanup(dltraced_end))) dltraced_region var; \
	dltraced_begin(&var, name)
#else
#define DLTRACED_REGION(var, name) ::dltraced::region var(name)
} /* extern "C" */

namespace dltraced
{

/* The same as an object: ends with its scope, also by an exception, which the row then says (RET -1). */
class region : public dltraced_region
{
      public:
	explicit region(const char *name_, bool live_ = false) : unwinding(count())
	{
		if (live_)
			dltraced_begin_live(this, name_);
		else
			dltraced_begin(this, name_);
	}
	~region()
	{
		if (count() > unwinding)
			flags |= DLTRACED_FAILED;
		dltraced_end(this);
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;

	void update(const char *key, const char *value)
	{
		dltraced_update_str(this, key, value);
	}
	void update(const char *key, int64_t value)
	{
		dltraced_update_int(this, key, value);
	}
	void end()
	{
		dltraced_end(this);
	}

      private:
	static int count()
	{
#if __cplusplus >= 201703L
		return std::uncaught_exceptions();
#else
		return std::uncaught_exception();
#endif
	}
	int unwinding;
};

} /* namespace dltraced */
#endif

#endif
