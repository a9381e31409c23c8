/* SPDX-License-Identifier: BSD-2-Clause */
/* Who a file is of which only the inode is known. */
#ifndef BIO_INODE_BPF_H
#define BIO_INODE_BPF_H

#include "bio/bio_look.bpf.h"

/* Sets LOOK->id to the file of the inode at ADDR, and sends its name once: that of the open file at OPEN; 0: any name.
 */
__noinline int inode_note(__u64 addr, __u64 open)
{
	struct bio_look *l = look_get();
	struct inode *inode = KCAST(inode, addr);
	struct file *file = KCAST(file, open);
	struct file_where w = { inode, NULL, 0, NULL };
	struct task_struct *task = task_current();
	struct dlt_call none = {};

	if (!l || !where_is_new(&w, &l->id))
		return 0;
	if (open) {
		/*
		 * a loop device's thread, which uses the file, has not opened it, and its root may be in another mount
		 * namespace
		 */
		if (!(KLOAD(task, flags) & PF_KTHREAD))
			w.file = file;
		w.dentry = KLOAD(file, f_path.dentry);
		w.mnt = (__u64)KLOAD(file, f_path.mnt);
	} else {
		w.dentry = KCAST(dentry, inode_dentry(inode));
		w.mnt = inode_mount(inode);
	}
	if (w.dentry && w.mnt)
		where_emit(task, &w, &none, (__u32)bpf_get_current_pid_tgid());
	return 0;
}

#endif
