/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every kernel drift that the BPF side handles, one small function each, with the commit that made it.
 * Chosen by BTF at load time, never by version numbers.
 */
#ifndef COMPAT_BPF_H
#define COMPAT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "dlt/dlt.h"

extern const volatile struct dlt_config dlt_cfg;

/*
 * Each object is compiled twice: with DLT_DIRECT it reads the kernel by plain loads through
 * bpf_rdonly_cast, without it by probe reads. A single object with a constant to choose between both would
 * pay a load of that constant at each read, and the verifier would have to remove the other half.
 */
#ifndef DLT_DIRECT
#error "DLT_DIRECT is given by the Makefile: 1 or 0"
#endif

/* A kernel function; not an extern of type __ksym, see src/kernel/object.h. */
#define KFUNC(name) ((void *)(long)(DLT_KFUNC_BASE + DLT_KFUNC_##name))

/* 6.2 (commit a35b9af4ec2c): view any kernel address as a BTF type, without probe reads. */
static void *(*const kfunc_rdonly_cast)(const void *obj, __u32 btf_id) = KFUNC(bpf_rdonly_cast);

/*
 * 6.10 (commit fc7566ad0a82): preemption off, so that a program does not share its CPU's scratch buffer
 * with one that preempts it. This does not keep the kernel from skipping another thread's run meanwhile: it
 * switches as soon as this ends, still inside the program. Until 6.15 the verifier takes no global
 * functions under it: the daemon then loads without it.
 */
static void (*const kfunc_preempt_disable)(void) = KFUNC(bpf_preempt_disable);
static void (*const kfunc_preempt_enable)(void) = KFUNC(bpf_preempt_enable);

static __always_inline void cpu_hold(void)
{
	if (dlt_cfg.hold)
		kfunc_preempt_disable();
}

static __always_inline void cpu_release(void)
{
	if (dlt_cfg.hold)
		kfunc_preempt_enable();
}

/* BPF_PROG (bpf/bpf_tracing.h) that keeps its CPU. */
#define HELD_PROG(name, args...)                                                                    \
	name(unsigned long long *ctx);                                                              \
	static __always_inline int held_##name(unsigned long long *ctx, ##args);                    \
	int name(unsigned long long *ctx)                                                           \
	{                                                                                           \
		int ret_;                                                                           \
                                                                                                    \
		cpu_hold();                                                                         \
		ret_ = held_##name(___bpf_ctx_cast(args));                                          \
		cpu_release();                                                                      \
		return ret_;                                                                        \
	}                                                                                           \
	static __always_inline int held_##name(unsigned long long *ctx, ##args)

/*
 * KLOAD(p, field): a field of a kernel object. Where the verifier allows it (DLT_DIRECT) this is one load,
 * else a probe read; measured at a third of the cost over a chain of three.
 */
#define KLOAD(p, f)                                                                                 \
	({                                                                                          \
		typeof(((void)0, (p)->f)) v_; /* an rvalue: without the field's const */            \
		if (DLT_DIRECT)                                                                     \
			v_ = (p)->f;                                                                \
		else                                                                                \
			bpf_core_read(&v_, sizeof(v_), &(p)->f);                                    \
		v_;                                                                                 \
	})

/*
 * Makes a pointer that came out of a probe read or a map readable by KLOAD, as a struct NAME of the
 * DLT_CAST_TYPES. KCAST_AS: as a view of our own.
 */
#define KCAST_AS(name, view, addr)                                                                  \
	({                                                                                          \
		void *a_ = (void *)(addr);                                                          \
		struct view *c_ = a_;                                                               \
		if (DLT_DIRECT)                                                                     \
			c_ = kfunc_rdonly_cast(a_, dlt_cfg.ids.name);                                 \
		c_;                                                                                 \
	})
#define KCAST(name, addr) KCAST_AS(name, name, addr)

/* bpf_get_current_task_btf came in 5.11 (commit 3ca1032ab7ab). */
static __always_inline struct task_struct *task_current(void)
{
	/* cast although typed: each load through a trusted pointer makes the verifier search all BTF */
	if (DLT_DIRECT)
		return KCAST(task_struct, bpf_get_current_task_btf());
	return (struct task_struct *)bpf_get_current_task();
}

/* The context of iter/task_vma, added in 5.12 (commit 3a7b35b899de): plain words, not relocated. */
struct task_vma_ctx {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
	struct vm_area_struct *vma;
};

/* i_ino is u64 in 7.2, unsigned long before: equally wide on the architectures that we support. */
static __always_inline __u64 inode_ino(struct inode *inode)
{
	return (__u64)KLOAD(inode, i_ino);
}

/*
 * A system call's number and arguments, from the registers that its function is called with. By KLOAD,
 * since libbpf's PT_REGS_*_CORE_SYSCALL cost a probe read each.
 */
#if defined(__TARGET_ARCH_x86)
#define CALL_ARGS(REG) REG(0, di) REG(1, si) REG(2, dx) REG(3, r10) REG(4, r8) REG(5, r9)
#define CALL_NR orig_ax
#elif defined(__TARGET_ARCH_arm64)
#define CALL_ARGS(REG) REG(0, orig_x0) REG(1, regs[1]) REG(2, regs[2]) REG(3, regs[3]) \
	REG(4, regs[4]) REG(5, regs[5])
#define CALL_NR syscallno
#else
#error "this architecture's registers are not known yet"
#endif

/* REGS is a typed pointer (fentry, tp_btf): plain loads on every kernel. */
static __always_inline void call_args(__u64 args[6], const struct pt_regs *regs)
{
#define REG(i, reg) args[i] = regs->reg;
	CALL_ARGS(REG)
#undef REG
}

/* REGS is a number to the verifier (kprobe). */
static __always_inline void call_args_of(__u64 args[6], const struct pt_regs *regs)
{
#define REG(i, reg) args[i] = KLOAD(regs, reg);
	CALL_ARGS(REG)
#undef REG
}

/*
 * Block structures, from the typed pointers that tp_btf hands over: plain loads on every kernel.
 * A request's disk: rq_disk until 5.17 (commit f3fa33acca9f), the queue's from 5.15 (d152c682f03c).
 */
struct request___v5_16 {
	struct gendisk *rq_disk;
} __attribute__((preserve_access_index));
struct request_queue___v5_15 {
	struct gendisk *disk;
} __attribute__((preserve_access_index));

static __always_inline struct gendisk *rq_disk(struct request *rq)
{
	struct request_queue___v5_15 *q = (void *)rq->q;

	if (bpf_core_field_exists(q->disk))
		return q->disk;
	return ((struct request___v5_16 *)rq)->rq_disk;
}

/* A bio's whole disk: bi_bdev replaced bi_disk in 5.12 (commit 309dca309fc3). */
struct bio___v5_11 {
	struct gendisk *bi_disk;
} __attribute__((preserve_access_index));
struct bio___v5_12 {
	struct block_device *bi_bdev;
} __attribute__((preserve_access_index));

static __always_inline struct gendisk *bio_disk(struct bio *bio)
{
	struct bio___v5_12 *with_bdev = (void *)bio;

	if (bpf_core_field_exists(with_bdev->bi_bdev))
		return with_bdev->bi_bdev->bd_disk;
	return ((struct bio___v5_11 *)bio)->bi_disk;
}

#endif
