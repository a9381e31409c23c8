/* SPDX-License-Identifier: BSD-2-Clause */
/* Major page faults: the record of bpf/memory/fault.bpf.c. */
#ifndef DLT_FAULT_H
#define DLT_FAULT_H

#include "dlt/dlt.h"

enum dlt_fault_func {
	DLT_FAULT_USER, /* the program's own instruction touched the page */
	DLT_FAULT_KERNEL, /* the kernel touched it, for a call of the program */
};

enum dlt_fault_kind {
	DLT_FAULT_OTHER, /* its begin was not seen: the file system has another way, or there is no hook for begins */
	DLT_FAULT_FILE, /* a page of a mapped file */
	DLT_FAULT_SWAP, /* a page of anonymous memory that was swapped out */
};

struct dlt_fault {
	struct dlt_hdr hdr;
	struct dlt_file_id id;
	__u32 func; /* enum dlt_fault_func */
	__u32 kind; /* enum dlt_fault_kind */
	__s64 lat_ns; /* DLT_NONE: its begin was not seen */
	__u64 addr;
	__s64 ip; /* DLT_NONE: the kernel's */
	__s64 offset;
	__s64 disk_bytes;
};

DLT_ASSERT_SIZE(dlt_fault, 112);

#define DLT_FAULT_NO_PAGE (~0ULL) /* dlt_fault_slot.page: not known */

/*
 * A thread's last fault that could become a major one, by tid & slot_mask. Most do not, without any event: the thread's
 * next fault then takes the slot over.
 */
struct dlt_fault_slot {
	__u64 begin_ns; /* 0: none */
	__u64 page; /* the page's address >> the page shift, or DLT_FAULT_NO_PAGE */
	__u64 of; /* struct file *; with the tracepoint struct inode *; 0: none */
	__u64 pgoff; /* in the file, in pages */
	__u64 disk_bytes; /* task->ioac.read_bytes at the begin */
	__u64 faults; /* of the thread, major and minor, that had ended by the begin */
	__u64 majors; /* of the thread: those with a row or a count */
	__u32 tid; /* 0: free */
	__u32 kind;
	/* with the tracepoint: the last inode that was looked up, and the identity of its file */
	__u64 known_of;
	__u64 known_ino;
	struct dlt_file_id known_id;
	__u32 known_gen;
	__u32 pad;
};

DLT_ASSERT_SIZE(dlt_fault_slot, 104);

#endif
