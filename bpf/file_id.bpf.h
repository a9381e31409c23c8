/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which file an inode is: its device, its number, and a generation that another life of the number does
 * not have. On most file systems the inode says all of it. Where it does not is here:
 *
 *   anonymous inodes   one inode serves many: the generation is a hash of the name
 *   btrfs              a subvolume numbers its own inodes, and a snapshot's have the generations, too: its
 *                      number is mixed in. Its device, which stat(2) has, is another's when it is deleted
 *   FUSE, virtiofs     the inode's number is what a server says, and may be that of many files: the server's node is
 *                      mixed in, by which the kernel itself goes
 *   NFS                has no generations on this side: the server's file handle, which has them, is hashed
 *   overlayfs          its inodes have the numbers of those below and no generation: it is that of the inode below that
 *                      stays the same when the file is copied up, with a hash of the number and device of that one
 *
 * btrfs, FUSE, NFS and overlayfs may be modules, and loaded after us: then nobody has their types, and what the
 * inode says must do.
 */
#ifndef FILE_ID_BPF_H
#define FILE_ID_BPF_H

#include "scratch.bpf.h"

/* linux/magic.h */
#define ANON_INODE_FS_MAGIC 0x09041934
#define BTRFS_SUPER_MAGIC 0x9123683e
#define FUSE_SUPER_MAGIC 0x65735546
#define NFS_SUPER_MAGIC 0x6969
#define OVERLAYFS_SUPER_MAGIC 0x794c7630

/* fs/btrfs/btrfs_inode.h, ctree.h */
struct btrfs_key___dlt {
	__u64 objectid;
} __attribute__((preserve_access_index));
struct btrfs_root___dlt {
	struct btrfs_key___dlt root_key;
	__u32 anon_dev;
} __attribute__((preserve_access_index));
struct btrfs_inode___dlt {
	struct btrfs_root___dlt *root;
	struct inode vfs_inode;
} __attribute__((preserve_access_index));

/* fs/fuse/fuse_i.h */
struct fuse_inode___dlt {
	struct inode inode;
	__u64 nodeid;
} __attribute__((preserve_access_index));

/* linux/nfs.h, nfs_fs.h */
#define NFS_MAXFHSIZE 128
struct nfs_fh___dlt {
	unsigned short size;
	unsigned char data[NFS_MAXFHSIZE];
} __attribute__((preserve_access_index));
struct nfs_inode___dlt {
	struct nfs_fh___dlt fh;
	struct inode vfs_inode;
} __attribute__((preserve_access_index));

/*
 * fs/overlayfs/ovl_entry.h, overlayfs.h. The lower layer: an inode until 5.19, its path since 6.0 (commit
 * ffa5723c6d25), the stack of all layers since 6.5 (commit 0af950f57fef).
 */
struct ovl_path___dlt {
	struct dentry *dentry;
} __attribute__((preserve_access_index));
struct ovl_entry___dlt {
	unsigned int __numlower;
	struct ovl_path___dlt __lowerstack[0];
} __attribute__((preserve_access_index));
struct ovl_inode___dlt {
	unsigned long flags;
	struct inode vfs_inode;
	struct dentry *__upperdentry;
	struct ovl_entry___dlt *oe;
} __attribute__((preserve_access_index));
struct ovl_inode___v6_0 {
	struct ovl_path___dlt lowerpath;
} __attribute__((preserve_access_index));
struct ovl_inode___v5_19 {
	struct inode *lower;
} __attribute__((preserve_access_index));
enum ovl_inode_flag___dlt {
	OVL_UPPERDATA___dlt = 3,
	OVL_CONST_INO___dlt = 4,
};

static __always_inline __u32 hash32(__u64 a, __u64 b)
{
	a = a * 0x9e3779b97f4a7c15ULL ^ b;
	return (a ^ a >> 29) * 0xbf58476d1ce4e5b9ULL >> 32;
}

/* Returns a stand-in for the generation where one inode serves many files: a hash of the name's first bytes. */
static __always_inline __u32 anon_gen(struct dentry *d)
{
	__u64 name[2] = {};

	bpf_probe_read_kernel_str(name, sizeof(name), (void *)KLOAD(d, d_name.name));
	return (__u32)((name[0] ^ name[1] >> 3) * 0x9e3779b97f4a7c15ULL >> 32);
}

/* The file system's own object around INODE, a number. */
#define INODE_OF(type, inode) ((__u64)(inode)-bpf_core_field_offset(struct type, vfs_inode))

/*
 * The 8 bytes at FIELD of the struct TYPE at ADDR, which is a file system's own: those of modules have no type for the
 * verifier, but words at their addresses can be loaded, where the kernel allows it, which costs less than a probe read.
 */
#define FS_WORD(type, addr, field) load_u64((addr) + bpf_core_field_offset(struct type, field))
/* The same for a field of 4 bytes: they are the lower ones (all CPUs that there are programs for are little-endian). */
#define FS_HALF(type, addr, field) ((__u32)FS_WORD(type, addr, field))

/* A subvolume's number is never used again. Returns st_dev of btrfs_getattr(), 0: not known. */
static __always_inline __u32 btrfs_look(struct inode *inode, struct dlt_file_id *id)
{
	__u64 root;

	if (!bpf_core_field_exists(struct btrfs_inode___dlt, root) ||
	    !bpf_core_field_exists(struct btrfs_root___dlt, anon_dev))
		return 0;
	root = FS_WORD(btrfs_inode___dlt, INODE_OF(btrfs_inode___dlt, inode), root);
	id->gen ^= FS_HALF(btrfs_root___dlt, root, root_key.objectid) * 0x9e3779b1;
	return FS_HALF(btrfs_root___dlt, root, anon_dev);
}

/* A node is one file until the kernel forgets it; a later node with that number has another generation. */
static __always_inline __u32 fuse_gen(struct inode *inode, __u32 gen)
{
	__u64 fi;

	if (!bpf_core_field_exists(struct fuse_inode___dlt, nodeid))
		return gen;
	fi = (__u64)inode - bpf_core_field_offset(struct fuse_inode___dlt, inode);
	return hash32(FS_WORD(fuse_inode___dlt, fi, nodeid), gen);
}

/* Returns a hash of the handle by which the server knows the file at ADDR; GEN where it cannot be read. */
static __noinline __u32 nfs_gen(struct scratch *s, __u64 addr, __u32 gen)
{
	struct nfs_inode___dlt *ni = (void *)INODE_OF(nfs_inode___dlt, addr);
	__u64 hash = gen;
	__u32 size;

	if (!bpf_core_field_exists(struct nfs_inode___dlt, fh))
		return gen;
	size = BPF_CORE_READ(ni, fh.size);
	if (size > NFS_MAXFHSIZE)
		size = NFS_MAXFHSIZE;
	__builtin_memset(s->handle, 0, sizeof(s->handle));
	if (bpf_probe_read_kernel(s->handle, size & (2 * NFS_MAXFHSIZE - 1), &ni->fh.data))
		return gen;
	for (int i = 0; i < NFS_MAXFHSIZE / 8; i++) {
		hash = (hash ^ s->handle[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return hash * 0xbf58476d1ce4e5b9ULL >> 32;
}

/* --- overlayfs ---------------------------------------------------------------------------------- */

static __always_inline bool ovl_is_known(void)
{
	return bpf_core_field_exists(struct ovl_inode___dlt, vfs_inode) &&
	       bpf_core_field_exists(struct ovl_inode___dlt, __upperdentry);
}

/* Addresses are numbers here, for the same reason. */
static __always_inline __u64 dentry_inode(__u64 addr)
{
	struct dentry *d = KCAST(dentry, addr);

	return addr ? (__u64)KLOAD(d, d_inode) : 0;
}

/* OI: a struct ovl_inode. */
static __always_inline __u64 ovl_lower(__u64 oi)
{
	__u64 oe;

	if (bpf_core_field_exists(struct ovl_inode___dlt, oe)) {
		oe = FS_WORD(ovl_inode___dlt, oi, oe);
		if (!FS_HALF(ovl_entry___dlt, oe, __numlower))
			return 0;
		return dentry_inode(FS_WORD(ovl_entry___dlt, oe, __lowerstack[0].dentry));
	}
	if (bpf_core_field_exists(struct ovl_inode___v6_0, lowerpath))
		return dentry_inode(FS_WORD(ovl_inode___v6_0, oi, lowerpath.dentry));
	if (bpf_core_field_exists(struct ovl_inode___v5_19, lower))
		return FS_WORD(ovl_inode___v5_19, oi, lower);
	return 0;
}

/* Whether FLAG is set, or not known to this kernel. */
#define OVL_HAS(flags, flag)                                             \
	(!bpf_core_enum_value_exists(enum ovl_inode_flag___dlt, flag) || \
	 (flags) >> (bpf_core_enum_value(enum ovl_inode_flag___dlt, flag) & 63) & 1)

/*
 * Finds the inodes below the one at ADDR: s->origin identifies the file, copied up or not; s->data has its data now.
 * Results are left in scratch: the stack of 512 bytes includes the callers', and some of them need most of it.
 */
static __noinline int ovl_below(struct scratch *s, __u64 addr)
{
	struct inode *inode = KCAST(inode, addr);
	__u64 oi = INODE_OF(ovl_inode___dlt, addr), flags;
	__u64 lower = ovl_lower(oi), upper = dentry_inode(FS_WORD(ovl_inode___dlt, oi, __upperdentry));

	s->origin = s->data = upper ?: lower;
	if (!lower || !upper)
		return 0;
	flags = FS_WORD(ovl_inode___dlt, oi, flags);
	/* otherwise copying it up made another file of it: a hard link without index=on (ovl_hash_bylower()) */
	if (OVL_HAS(flags, OVL_CONST_INO___dlt))
		s->origin = lower;
	/* with metacopy=on only its attributes are copied up, until its data is needed there */
	if (!OVL_HAS(flags, OVL_UPPERDATA___dlt) && (KLOAD(inode, i_mode) & MODE_FMT) == MODE_REG)
		s->data = lower;
	return 0;
}

/* Sets s->below to the identity of the inode at ADDR, with the device of stat(2). Returns s_magic. */
static __noinline __u32 id_below(struct scratch *s, __u64 addr)
{
	struct inode *inode = KCAST(inode, addr);
	struct super_block *sb = KLOAD(inode, i_sb);
	__u32 magic = KLOAD(sb, s_magic);

	s->below.ino = inode_ino(inode);
	s->below.gen = KLOAD(inode, i_generation);
	s->below.dev = KLOAD(sb, s_dev);
	if (magic == BTRFS_SUPER_MAGIC)
		s->below.dev = btrfs_look(inode, &s->below) ?: s->below.dev;
	else if (magic == FUSE_SUPER_MAGIC)
		s->below.gen = fuse_gen(inode, s->below.gen);
	return magic;
}

/* An overlay may lie on another one; deeper stacks do not exist (FILESYSTEM_MAX_STACK_DEPTH, linux/fs.h). */
static __always_inline void ovl_look(struct scratch *s)
{
	__u64 data;
	bool one;

	ovl_below(s, s->id_inode);
	data = s->data;
	one = s->origin == data;
	if (id_below(s, s->origin) == OVERLAYFS_SUPER_MAGIC) {
		one = false;
		ovl_below(s, s->origin);
		id_below(s, s->origin);
	}
	/* so that lives of the same inode below differ as their generations do */
	s->id.gen = s->below.gen ^ hash32(s->below.ino, s->below.dev);
	if (!one && id_below(s, data) == OVERLAYFS_SUPER_MAGIC) {
		ovl_below(s, data);
		id_below(s, s->data);
	}
	s->at.real_dev = s->below.dev;
	s->at.real_ino = s->below.ino;
}

/* --- all ---------------------------------------------------------------------------------------- */

/* The sources of a file's identity and of its name; inlined, so that it costs no stack. */
struct file_where {
	struct inode *inode;
	struct dentry *dentry;
	__u64 mnt; /* struct vfsmount *; 0: the mount of FILE's path, which is read when it is needed */
	struct file *file; /* NULL: of no process, so that its path begins at the root of the mount's own namespace */
};

static __always_inline struct file_where file_where(struct file *file)
{
	return (struct file_where){ KLOAD(file, f_inode), KLOAD(file, f_path.dentry), 0, file };
}

/* Locals here and below: KLOAD would have our own struct relocated, too. */
static __always_inline __u64 where_mnt(const struct file_where *w)
{
	struct file *file = w->file;

	return w->mnt ?: (__u64)KLOAD(file, f_path.mnt);
}

/*
 * For a mapping's file. On overlayfs that is a file of the kernel's own, with the inode below; the path of the mapped
 * file is its f_path, since 6.7 (commit def3ae83da02) it is beside it. FMODE_BACKING has had two bits, FMODE_NOACCOUNT
 * one: such files have both, and no process's own file has either.
 */
struct backing_file___dlt {
	struct path user_path;
} __attribute__((preserve_access_index));
#define FMODE_NOACCOUNT 0x20000000 /* linux/fs.h */

static __always_inline struct file_where file_where_mapped(struct file *file)
{
	struct backing_file___dlt *backing = (void *)file;
	struct dentry *dentry = KLOAD(file, f_path.dentry);
	__u64 mnt = 0;

	if (bpf_core_field_exists(backing->user_path) && KLOAD(file, f_mode) & FMODE_NOACCOUNT) {
		dentry = KCAST(dentry, BPF_CORE_READ(backing, user_path.dentry));
		mnt = (__u64)BPF_CORE_READ(backing, user_path.mnt);
	}
	return (struct file_where){ KLOAD(dentry, d_inode), dentry, mnt, file };
}

/*
 * In scratch, the identity of a file is what its inode says: this corrects the parts that the file system MAGIC has
 * elsewhere. A global function: it is verified once for each object, not at each use.
 */
__noinline int file_id_special(__u32 magic)
{
	struct scratch *s = scratch_get();

	if (!s)
		return 0;
	if (magic == ANON_INODE_FS_MAGIC)
		s->id.gen = anon_gen(KCAST(dentry, s->id_dentry));
	else if (magic == BTRFS_SUPER_MAGIC)
		s->at.dev = btrfs_look(KCAST(inode, s->id_inode), &s->id);
	else if (magic == FUSE_SUPER_MAGIC)
		s->id.gen = fuse_gen(KCAST(inode, s->id_inode), s->id.gen);
	else if (magic == NFS_SUPER_MAGIC)
		s->id.gen = nfs_gen(s, s->id_inode, s->id.gen);
	else if (ovl_is_known())
		ovl_look(s);
	return 0;
}

/* Fills ID from INODE. Returns s_magic. */
static __always_inline __u32 id_begin(struct inode *inode, struct dlt_file_id *id)
{
	struct super_block *sb = KLOAD(inode, i_sb);

	id->ino = inode_ino(inode);
	id->gen = KLOAD(inode, i_generation);
	id->dev = KLOAD(sb, s_dev);
	return KLOAD(sb, s_magic);
}

static __always_inline bool id_is_elsewhere(__u32 magic)
{
	return magic == ANON_INODE_FS_MAGIC || magic == BTRFS_SUPER_MAGIC || magic == FUSE_SUPER_MAGIC ||
	       magic == NFS_SUPER_MAGIC || magic == OVERLAYFS_SUPER_MAGIC;
}

/* Completes ID. What is not part of the identity goes to s->at. */
static __always_inline void id_end(struct scratch *s, struct inode *inode, struct dentry *dentry, __u32 magic,
				   struct dlt_file_id *id)
{
	s->id_inode = (__u64)inode;
	s->id_dentry = (__u64)dentry;
	s->id = *id;
	s->at = (struct dlt_file_at){};
	file_id_special(magic);
	*id = s->id;
}

static __always_inline void file_id(struct file *file, struct dlt_file_id *id)
{
	struct inode *inode = KLOAD(file, f_inode);
	__u32 magic = id_begin(inode, id);
	struct scratch *s = id_is_elsewhere(magic) ? scratch_get() : NULL;

	if (s)
		id_end(s, inode, KLOAD(file, f_path.dentry), magic, id);
}

#endif
