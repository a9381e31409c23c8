/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of syscall_fuzz share: a worker, its descriptors, and the record that each call leaves in the
 * tally. main.c says what the program does.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "ring.h"

_Static_assert(sizeof(long) == 8, "64-bit only: positions are passed in one register");

/* Old calls that newer architectures do not have. */
#define ABSENT -1
#ifndef SYS_creat
#define SYS_creat ABSENT
#endif
#ifndef SYS_link
#define SYS_link ABSENT
#endif
#ifndef SYS_mkdir
#define SYS_mkdir ABSENT
#endif
#ifndef SYS_mknod
#define SYS_mknod ABSENT
#endif
#ifndef SYS_open
#define SYS_open ABSENT
#endif
#ifndef SYS_rename
#define SYS_rename ABSENT
#endif
#ifndef SYS_renameat
#define SYS_renameat ABSENT
#endif
#ifndef SYS_rmdir
#define SYS_rmdir ABSENT
#endif
#ifndef SYS_symlink
#define SYS_symlink ABSENT
#endif
#ifndef SYS_sync_file_range
#define SYS_sync_file_range ABSENT
#endif
#ifndef SYS_unlink
#define SYS_unlink ABSENT
#endif

/* Each call, and which of its arguments are descriptors: of its file, and of a second one; -1: none. */
/* clang-format off */
#define CALLS(X) \
	X(brk, -1, -1) X(close, 0, -1) X(close_range, -1, -1) X(copy_file_range, 0, 2) X(creat, -1, -1) \
	X(fallocate, 0, -1) X(fdatasync, 0, -1) X(fsync, 0, -1) X(ftruncate, 0, -1) X(io_submit, -1, -1) \
	X(link, -1, -1) X(linkat, 0, 2) X(madvise, -1, -1) X(mkdir, -1, -1) X(mkdirat, 0, -1) X(mknod, -1, -1) X(mknodat, 0, -1) X(mmap, 4, -1) \
	X(mremap, -1, -1) X(msync, -1, -1) X(munmap, -1, -1) X(open, -1, -1) X(openat, -1, 0) \
	X(openat2, -1, 0) X(pread64, 0, -1) X(preadv, 0, -1) X(preadv2, 0, -1) X(pwrite64, 0, -1) \
	X(pwritev, 0, -1) X(pwritev2, 0, -1) X(read, 0, -1) X(readv, 0, -1) X(rename, -1, -1) \
	X(renameat, 0, 2) X(renameat2, 0, 2) X(rmdir, -1, -1) X(sendfile, 1, 0) X(splice, 0, 2) \
	X(symlink, -1, -1) X(symlinkat, 1, -1) X(sync_file_range, 0, -1) X(syncfs, 0, -1) X(truncate, -1, -1) \
	X(unlink, -1, -1) X(unlinkat, 0, -1) X(write, 0, -1) X(writev, 0, -1)

/* As above, each request of io_uring, with its operation, and each of libaio, with its IOCB_CMD_*. */
#define RING_OPS(X) \
	X(close, OP_CLOSE, 0, -1) X(fallocate, OP_FALLOCATE, 0, -1) X(fdatasync, OP_FSYNC, 0, -1) \
	X(fsync, OP_FSYNC, 0, -1) X(ftruncate, OP_FTRUNCATE, 0, -1) X(linkat, OP_LINKAT, 0, 2) \
	X(mkdirat, OP_MKDIRAT, 0, -1) X(openat, OP_OPENAT, -1, 0) X(openat2, OP_OPENAT2, -1, 0) \
	X(read, OP_READ, 0, -1) X(read_fixed, OP_READ_FIXED, 0, -1) \
	X(read_multishot, OP_READ_MULTISHOT, 0, -1) X(readv, OP_READV, 0, -1) \
	X(readv_fixed, OP_READV_FIXED, 0, -1) X(renameat, OP_RENAMEAT, 0, 2) X(splice, OP_SPLICE, 0, 2) \
	X(symlinkat, OP_SYMLINKAT, 1, -1) X(sync_file_range, OP_SYNC_FILE_RANGE, 0, -1) \
	X(tee, OP_TEE, 0, 2) X(unlinkat, OP_UNLINKAT, 0, -1) X(write, OP_WRITE, 0, -1) \
	X(write_fixed, OP_WRITE_FIXED, 0, -1) X(writev, OP_WRITEV, 0, -1) \
	X(writev_fixed, OP_WRITEV_FIXED, 0, -1)
/* clang-format on */

#define AIO_OPS(X) X(pread, 0) X(pwrite, 1) X(fsync, 2) X(fdsync, 3) X(preadv, 7) X(pwritev, 8)

enum func {
#define X(name, fd, fd2) F_##name,
	CALLS(X)
#undef X
#define X(name, op, fd, fd2) F_ring_##name,
		RING_OPS(X)
#undef X
#define X(name, op) F_aio_##name,
			AIO_OPS(X)
#undef X
				F_NR,
};

extern const struct func_info {
	const char *name;
	int nr; /* of the call, or of the request's operation */
	int fd, fd2;
} funcs[F_NR];

/* One file, from its creation to its end. HANDLE contains the generation, on file systems that have one. */
struct life {
	uint64_t dev, ino, handle;
	uint32_t mode;
	uint32_t f_flags; /* flags of the descriptor, fcntl(2) */
};

#define TEXT 64 /* bytes of a path that are kept; a longer path repeats its last byte */
#define NOTHING INT64_MIN /* no number */

struct text {
	char head[TEXT];
	int32_t len; /* -1: none, or not readable */
};

/*
 * Does a request have a completion? One without has the RET 0 or -ECANCELED; or the kernel's reason for refusing the
 * chain.
 */
enum silent { REPORTED, SILENT, SILENT_OR_REFUSED };

struct record {
	int32_t func, pid, tid;
	uint32_t interrupts; /* of the call, by a signal handler */
	uint64_t start_ns, end_ns;
	int64_t ret; /* or -errno */
	int64_t args[6];
	int64_t bytes; /* sum of a vector's lengths */
	int64_t how[2]; /* flags and mode of openat2; of brk the heap's end before it, and whether no other thread moves
			   it */
	int64_t before[2]; /* positions of the files before the call, by pointer or lseek(2) */
	int64_t after[2];
	struct life lives[2];
	struct text texts[2];
	const char *dir; /* the worker's folder */
	const char *ring; /* the kind of ring of a request, or - */
	bool shared; /* another process may move the position */
	enum silent silent;
};

/* Facts about the next call beside its arguments. */
struct notes {
	const char *paths[2];
	int64_t bytes, how[2];
	const int64_t *pos[2]; /* readable positions */
};

#define PROCESSES 3
#define THREADS_MAX 3
#define FDS 28
#define PATHS 16 /* two for each request of a batch, at least */

/* A descriptor of this worker alone; no other thread with the same table uses the number. */
struct fd {
	int fd; /* -1: free */
	bool kept; /* is never closed: the worker's folder, pipes */
	bool shared; /* another process has the same open file */
	struct life life;
};

struct worker {
	unsigned int nr, kin; /* kin: how many workers of the process share this table of descriptors */
	pid_t pid, tid;
	uint64_t random;
	char dir[16]; /* "/p0/t1" */
	struct fd fds[FDS];
	int dir_fd, sock[2];
	struct notes notes;
	struct record *running; /* the call in flight */
	struct worker *spare; /* for a child */
	bool apart; /* its table differs from the one of its process's first thread */
	unsigned int depth; /* level of its process below the first one */
	unsigned int made; /* number of calls */
	char *arena; /* for mappings */
	long heap; /* the end of its process's heap before its calls: below it lies what libc uses */
	bool sole; /* no other thread has its memory */
	char *stack; /* STACK bytes for its thread, and as many for a child */
	char *buf; /* BUF bytes; the memory after them is not readable */
	struct iovec vector[128];
	char path_bufs[PATHS][5120];
	unsigned int next_path;
	bool batching; /* requests are being put together: reads may overwrite buf before the kernel has seen all
			* of them */
	struct ring *rings[RING_KINDS]; /* NULL: the kernel has none of the kind */
	struct ring *ring; /* the one in use; NULL: there are none */
	unsigned long aio; /* libaio's context, 0: none */
};

#define BUF 65536L
#define ARENA (64L * 4096)
#define STACK (64L << 10)
#define NO_NOTES ((struct notes){ .bytes = NOTHING, .how = { NOTHING, NOTHING } })

/* random.c */
uint64_t random_next(uint64_t *state);
unsigned int pick(struct worker *w, unsigned int n); /* below N */
#define PICK(w, ...) ((const long[]){ __VA_ARGS__ }[pick(w, sizeof((const long[]){ __VA_ARGS__ }) / sizeof(long))])
bool one_in(struct worker *w, unsigned int n);

/* tally.c */
void tally_begin(unsigned int records);
long call(struct worker *w, enum func f, const long args[6]);
struct record *record_begin(struct worker *w, enum func f, const long args[6]); /* for a call that begins now */
struct record *record_again(const struct record *r); /* for a call that began when R did */
void record_end(struct worker *w, struct record *r, long ret);
bool tally_is_full(void);
void tally_write(int fd);
#define CALL(w, name, ...) call(w, F_##name, (const long[6]){ __VA_ARGS__ })

/* cage.c */
void cage_enter(const char *dir);

/* descriptors.c */
void fd_take(struct worker *w, int fd, bool kept, bool shared);
void fd_forget(struct fd *f);
struct fd *fd_find(struct worker *w, long fd); /* NULL: not this worker's */
long fd_any(struct worker *w);
long fd_own(struct worker *w); /* may be closed; -1: none */
struct life life_of(int fd);
struct life life_at(int dirfd, const char *path, bool follow);
long address_bad(struct worker *w);
long name_any(struct worker *w, unsigned int i, long *dirfd); /* path I; DIRFD: the call has that argument */
long pipe_any(struct worker *w, int access); /* an end of an own pipe that is open for ACCESS; -1: none */

/* deeds: random calls, a file for each kind */
void deed_any(struct worker *w); /* any of these */
void deed_copy(struct worker *w);
void deed_descriptor(struct worker *w);
void deed_interrupted(struct worker *w);
void deed_map(struct worker *w);
void deed_name(struct worker *w);
void deed_open(struct worker *w);
void deed_process(struct worker *w);
void deed_rw(struct worker *w);
void deed_sync(struct worker *w);
void interrupts_begin(void);
long buffer_any(struct worker *w);
long length_any(struct worker *w);
long link_text(struct worker *w);
long offset_any(struct worker *w);
long open_flags(struct worker *w);
long size_any(struct worker *w);
long vector_any(struct worker *w, long *n);

/* ring.c */
#define PROC_FD 901 /* the folder /proc, until the rings are made */
void rings_begin(struct worker *w); /* before the first call; the tally omits its calls */
void rings_files(struct worker *w); /* once the worker has its folder and sockets */
void rings_print_lacks(FILE *f);
void rings_probe(void);
bool ring_knows(unsigned int op);
const char *ring_kind_name(const struct ring *r);
struct ring *ring_any(struct worker *w); /* NULL: there are none */

/* requests.c, multishot.c: several at once; nothing without a ring */
void aio_begin(struct worker *w); /* before the first call */
void deed_aio(struct worker *w);
void deed_multishot(struct worker *w);
void deed_ring(struct worker *w);

void __attribute__((noreturn)) die(const char *what);

#endif
