/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every difference between kernels that the BPF side handles, in one small function each, with the commit that made it.
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
#define HELD_PROG(name, args...)                                                 \
	name(unsigned long long *ctx);                                           \
	static __always_inline int held_##name(unsigned long long *ctx, ##args); \
	int name(unsigned long long *ctx)                                        \
	{                                                                        \
		int ret_;                                                        \
                                                                                 \
		cpu_hold();                                                      \
		ret_ = held_##name(___bpf_ctx_cast(args));                       \
		cpu_release();                                                   \
		return ret_;                                                     \
	}                                                                        \
	static __always_inline int held_##name(unsigned long long *ctx, ##args)

/*
 * KLOAD(p, field): reads a field of a kernel object. Where the verifier allows it (DLT_DIRECT) this is one load, else a
 * probe read; a load takes a third of the time, measured over a chain of three.
 */
#define KLOAD(p, f)                                                                      \
	({                                                                               \
		typeof(((void)0, (p)->f)) v_; /* an rvalue: without the field's const */ \
		if (DLT_DIRECT)                                                          \
			v_ = (p)->f;                                                     \
		else                                                                     \
			bpf_core_read(&v_, sizeof(v_), &(p)->f);                         \
		v_;                                                                      \
	})

/*
 * Makes a pointer from a probe read or a map readable by KLOAD, as a struct NAME of the DLT_CAST_TYPES. KCAST_AS: as
 * dltraced's own view of that struct.
 */
#define KCAST_AS(name, view, addr)                                    \
	({                                                            \
		void *a_ = (void *)(addr);                            \
		struct view *c_ = a_;                                 \
		if (DLT_DIRECT)                                       \
			c_ = kfunc_rdonly_cast(a_, dlt_cfg.ids.name); \
		c_;                                                   \
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
#define CALL_ARGS(REG) REG(0, orig_x0) REG(1, regs[1]) REG(2, regs[2]) REG(3, regs[3]) REG(4, regs[4]) REG(5, regs[5])
#define CALL_NR syscallno
#else
#error "this architecture's registers are not known yet"
#endif

/* Whether a thread's call came by the 32-bit entry, whose numbers mean other calls: a bit of its thread_info. */
#ifdef __TARGET_ARCH_x86
#define COMPAT_IN status
#define COMPAT_BIT 2 /* TS_COMPAT, asm/thread_info.h: of this call */
#else
#define COMPAT_IN flags
#define COMPAT_BIT (1U << 22) /* TIF_32BIT, asm/thread_info.h: of all calls of the program */
#endif

/*
 * For functions of a program that makes tail calls. On arm64 the kernel accepts these only from 6.0 on (commit
 * d4609a5d8c70), of which its BTF says nothing; kernels with loads through casts are newer than that.
 */
#if defined(__TARGET_ARCH_x86) || DLT_DIRECT
#define BESIDE_TAIL_CALLS __noinline
#else
#define BESIDE_TAIL_CALLS __always_inline
#endif

/* REGS is a typed pointer (fentry, tp_btf): plain loads on every kernel. */
static __always_inline void call_args(__u64 args[6], const struct pt_regs *regs)
{
#define REG(i, reg) args[i] = regs->reg;
	CALL_ARGS(REG)
#undef REG
}

static __always_inline __u64 call_arg0(const struct pt_regs *regs)
{
#define REG(i, reg) \
	if (i == 0) \
		return regs->reg;
	CALL_ARGS(REG)
#undef REG
	return 0;
}

static __always_inline __u64 call_arg0_of(const struct pt_regs *regs)
{
#define REG(i, reg) \
	if (i == 0) \
		return KLOAD(regs, reg);
	CALL_ARGS(REG)
#undef REG
	return 0;
}

/* REGS is a number to the verifier (kprobe). */
static __always_inline void call_args_of(__u64 args[6], const struct pt_regs *regs)
{
#define REG(i, reg) args[i] = KLOAD(regs, reg);
	CALL_ARGS(REG)
#undef REG
}

/*
 * The context of a program on a perf event (struct bpf_perf_event_data, linux/bpf_perf_event.h), whose registers
 * are user space's layout of them: plain words, not relocated, as the verifier takes no smaller loads and the
 * kernel's own struct pt_regs has some since 6.9.
 */
#if defined(__TARGET_ARCH_x86)
#define PERF_EVENT_REGS 21 /* asm/ptrace.h: 15 general ones and orig_ax, then ip, cs, flags, sp, ss */
#define PERF_EVENT_IP 16
#else
#define PERF_EVENT_REGS 34 /* asm/ptrace.h: 31 general ones, sp, pc, pstate */
#define PERF_EVENT_IP 32
#endif
struct perf_event_ctx {
	__u64 regs[PERF_EVENT_REGS];
	__u64 sample_period;
	__u64 addr;
};

static __always_inline __u64 perf_event_ip(const struct perf_event_ctx *ctx)
{
	return ctx->regs[PERF_EVENT_IP];
}

/* Whether the thread was in user mode. */
static __always_inline bool perf_event_is_user(const struct perf_event_ctx *ctx)
{
	__u64 mode = ctx->regs[PERF_EVENT_IP + 1];

#ifdef __TARGET_ARCH_x86
	return mode & 3; /* cs: the privilege level */
#else
	return !(mode & 15); /* pstate: EL0 */
#endif
}

/* The flags of a process's memory: a word, and in 6.18 a bitmap. */
struct mm_struct___bits {
	struct {
		unsigned long __mm_flags[1];
	} flags;
} __attribute__((preserve_access_index));
struct mm_struct___word {
	unsigned long flags;
} __attribute__((preserve_access_index));

/* Whether a process's owner may look into its memory (PR_SET_DUMPABLE). The value is in the two lowest of its flags. */
static __always_inline bool mm_is_dumpable(struct mm_struct *mm)
{
	struct mm_struct___bits *bits = (void *)mm;
	struct mm_struct___word *word = (void *)mm;
	unsigned long flags = 0;

	if (bpf_core_field_exists(bits->flags.__mm_flags))
		bpf_core_read(&flags, sizeof(flags), &bits->flags.__mm_flags);
	else
		bpf_core_read(&flags, sizeof(flags), &word->flags);
	return (flags & 3) == 1; /* MMF_DUMPABLE_MASK, SUID_DUMP_USER */
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

static __always_inline __u64 load_u64(__u64 addr)
{
	__u64 v = 0;

	if (DLT_DIRECT) /* any struct will do that begins with a number of 64 bits */
		return KCAST(timespec64, addr)->tv_sec;
	bpf_probe_read_kernel(&v, sizeof(v), (void *)addr);
	return v;
}

/*
 * The users of a block device: a file system, md and others that claim it hold it; it also has a count of its opens.
 * That count is atomic since 6.0.
 */
struct block_device___dlt {
	__u64 bd_start_sect;
	void *bd_holder;
} __attribute__((preserve_access_index));
struct block_device___v5_19 {
	int bd_openers;
} __attribute__((preserve_access_index));
struct block_device___v6_0 {
	atomic_t bd_openers;
} __attribute__((preserve_access_index));

/* True where it cannot be read. */
static __always_inline bool bdev_is_held(__u64 bdev)
{
	return !bpf_core_field_exists(struct block_device___dlt, bd_holder) ||
	       load_u64(bdev + bpf_core_field_offset(struct block_device___dlt, bd_holder));
}

static __always_inline bool bdev_is_open(__u64 bdev)
{
	__u32 at, n = 0;

	if (bpf_core_field_exists(struct block_device___v6_0, bd_openers))
		at = bpf_core_field_offset(struct block_device___v6_0, bd_openers);
	else if (bpf_core_field_exists(struct block_device___v5_19, bd_openers))
		at = bpf_core_field_offset(struct block_device___v5_19, bd_openers);
	else
		return false;
	bpf_probe_read_kernel(&n, sizeof(n), (void *)(bdev + at));
	return n;
}

/*
 * Returns the first sector of the block device that was opened for the bio at ADDR; all ones: not known. The bio names
 * that device until an upper disk passes it on to a lower one, which only the upper disk has open. Until 5.11 it names
 * only the whole disk.
 */
static __always_inline __u64 bio_opened_at(__u64 addr)
{
	__u64 bdev;

	if (!bpf_core_field_exists(struct bio___v5_12, bi_bdev))
		return ~0ULL;
	bdev = load_u64(addr + bpf_core_field_offset(struct bio___v5_12, bi_bdev));
	if (!bdev || bdev_is_held(bdev) || !bdev_is_open(bdev) ||
	    !bpf_core_field_exists(struct block_device___dlt, bd_start_sect))
		return ~0ULL;
	return load_u64(bdev + bpf_core_field_offset(struct block_device___dlt, bd_start_sect));
}

/*
 * Pages, as numbers: their fields are unions, of which the verifier sees only the first type. A page's mapping and
 * index are those of the first page of its compound: since 5.16 its folio's.
 */
struct page___v5_15 {
	struct address_space *mapping;
	unsigned long index;
} __attribute__((preserve_access_index));
struct folio___dlt {
	struct address_space *mapping;
	unsigned long index;
} __attribute__((preserve_access_index));
struct page___v7_1 {
	unsigned long compound_head;
} __attribute__((preserve_access_index));
struct page___v7_2 {
	unsigned long compound_info;
} __attribute__((preserve_access_index));

/*
 * Returns the first page of PAGE's compound. Since 7.2, a tail may have a mask for its address instead of the head's
 * address.
 */
static __always_inline __u64 page_head(__u64 page)
{
	__u64 info;

	if (bpf_core_field_exists(struct page___v7_2, compound_info))
		info = load_u64(page + bpf_core_field_offset(struct page___v7_2, compound_info));
	else
		info = load_u64(page + bpf_core_field_offset(struct page___v7_1, compound_head));
	if (!(info & 1))
		return page;
	return info >> 32 == 0xffffffff ? page & info : info - 1;
}

static __always_inline __u64 head_mapping(__u64 head)
{
	if (bpf_core_field_exists(struct folio___dlt, mapping))
		return load_u64(head + bpf_core_field_offset(struct folio___dlt, mapping));
	return load_u64(head + bpf_core_field_offset(struct page___v5_15, mapping));
}

static __always_inline __u64 head_index(__u64 head)
{
	if (bpf_core_field_exists(struct folio___dlt, index))
		return load_u64(head + bpf_core_field_offset(struct folio___dlt, index));
	return load_u64(head + bpf_core_field_offset(struct page___v5_15, index));
}

/* The flags are the first field in all kernels (a struct since 6.18). Their bits move. */
#define PAGE_HAS(flags, name) ((flags) >> (bpf_core_enum_value(enum pageflags, PG_##name) & 63) & 1)

/* A compound's number of pages: in the second page until 5.16, then in the folio, under two names. */
struct page___v5_9 {
	unsigned int compound_nr;
} __attribute__((preserve_access_index));
struct folio___v6_13 {
	unsigned int _folio_nr_pages;
} __attribute__((preserve_access_index));
struct folio___v6_14 {
	unsigned int _nr_pages;
} __attribute__((preserve_access_index));

static __always_inline __u32 head_pages(__u64 head)
{
	__u32 n = 1;
	__u64 at;

	if (!PAGE_HAS(load_u64(head), head))
		return 1;
	if (bpf_core_field_exists(struct folio___v6_14, _nr_pages))
		at = head + bpf_core_field_offset(struct folio___v6_14, _nr_pages);
	else if (bpf_core_field_exists(struct folio___v6_13, _folio_nr_pages))
		at = head + bpf_core_field_offset(struct folio___v6_13, _folio_nr_pages);
	else if (bpf_core_field_exists(struct page___v5_9, compound_nr))
		at = head + bpf_core_type_size(struct page) + bpf_core_field_offset(struct page___v5_9, compound_nr);
	else
		return 1;
	bpf_probe_read_kernel(&n, sizeof(n), (void *)at);
	return n ?: 1;
}

/* As above, for a folio from a tracepoint: plain loads, where the verifier knows its type. Until 5.16 it is a page. */
static __always_inline __u64 folio_index(__u64 *ctx)
{
	if (DLT_DIRECT)
		return ((struct folio___dlt *)ctx[0])->index;
	return head_index(ctx[0]);
}

static __always_inline __u64 folio_mapping(__u64 *ctx)
{
	if (DLT_DIRECT)
		return (__u64)((struct folio___dlt *)ctx[0])->mapping;
	return head_mapping(ctx[0]);
}

static __always_inline __u32 folio_pages(__u64 *ctx)
{
	__u64 *flags = (__u64 *)ctx[0];

	if (!DLT_DIRECT)
		return head_pages(ctx[0]);
	if (!PAGE_HAS(*flags, head))
		return 1;
	if (bpf_core_field_exists(struct folio___v6_14, _nr_pages))
		return ((struct folio___v6_14 *)ctx[0])->_nr_pages;
	return ((struct folio___v6_13 *)ctx[0])->_folio_nr_pages;
}

/* Not by KLOAD, which takes the field's address: it is packed. */
static __always_inline __u64 bio_sector(struct bio *bio)
{
	if (DLT_DIRECT)
		return bio->bi_iter.bi_sector;
	return load_u64((__u64)bio + bpf_core_field_offset(struct bio, bi_iter.bi_sector));
}

/* A dentry in its inode's list: no longer in the union d_u on 7.2. */
struct dentry___v7_0 {
	union {
		struct hlist_node d_alias;
	} d_u;
} __attribute__((preserve_access_index));
struct dentry___v7_1 {
	struct hlist_node d_alias;
} __attribute__((preserve_access_index));

/* Returns one of INODE's names, a struct dentry *; 0: none is in memory. */
static __always_inline __u64 inode_dentry(struct inode *inode)
{
	__u64 node = (__u64)BPF_CORE_READ(inode, i_dentry.first);

	if (!node)
		return 0;
	if (bpf_core_field_exists(struct dentry___v7_1, d_alias))
		return node - bpf_core_field_offset(struct dentry___v7_1, d_alias);
	return node - bpf_core_field_offset(struct dentry___v7_0, d_u);
}

/* A file system's mounts, the oldest first: linked by pointers since 6.18. */
struct super_block___v6_17 {
	struct list_head s_mounts;
} __attribute__((preserve_access_index));
struct super_block___v6_18 {
	struct mount *s_mounts;
} __attribute__((preserve_access_index));
struct mount___v6_17 {
	struct list_head mnt_instance;
} __attribute__((preserve_access_index));
struct mount___v6_18 {
	struct mount *mnt_next_for_sb;
} __attribute__((preserve_access_index));

#define MOUNTS_LOOKED_AT 16

/*
 * Returns a mount of the whole file system of INODE, a struct vfsmount *; 0: it is not mounted. A bind mount shows only
 * a part of it, and since 6.18 may be the first in the list, which begins with the newest; it is returned only where
 * there is no other.
 */
static __always_inline __u64 inode_mount(struct inode *inode)
{
	__u64 sb = (__u64)BPF_CORE_READ(inode, i_sb), root = (__u64)BPF_CORE_READ(inode, i_sb, s_root), first = 0,
	      at = 0, next;
	__u64 list, link, end = 0, back = 0;

	/* the asm keeps clang from computing both and choosing, as the verifier would refuse the one that does not
	 * exist */
	if (bpf_core_field_exists(struct mount___v6_18, mnt_next_for_sb)) {
		list = sb + bpf_core_field_offset(struct super_block___v6_18, s_mounts);
		link = bpf_core_field_offset(struct mount___v6_18, mnt_next_for_sb);
		asm volatile("" : "+r"(list), "+r"(link));
	} else {
		list = end = sb + bpf_core_field_offset(struct super_block___v6_17, s_mounts);
		link = back = bpf_core_field_offset(struct mount___v6_17, mnt_instance);
		asm volatile("" : "+r"(list), "+r"(link), "+r"(end), "+r"(back));
	}
	for (int i = 0; i < MOUNTS_LOOKED_AT; i++) {
		next = load_u64(i ? at + link : list);
		if (!next || next == end)
			break;
		at = next - back;
		if (!first)
			first = at;
		if (load_u64(at + bpf_core_field_offset(struct mount, mnt.mnt_root)) == root) {
			first = at;
			break;
		}
	}
	return first ? first + bpf_core_field_offset(struct mount, mnt) : 0;
}

#endif
