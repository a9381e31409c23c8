/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace while it lives: what session.c (start and end) and session_loop.c (in between) share. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <limits.h>
#include <stdbool.h>

#include "base/loop.h"
#include "base/new_file.h"
#include "collectors/collectors.h"
#include "control/control.h"
#include "drain/archiver.h"
#include "drain/drain.h"
#include "host/rights/caller.h"
#include "host/rights/privileges.h"
#include "host/rights/workload_user.h"
#include "host/stall/folder_watch.h"
#include "job/workload.h"
#include "kernel/tracer.h"
#include "session/command.h"
#include "session/left_running.h"
#include "session/manifest.h"
#include "session/status.h"
#include "session/target.h"
#include "trace/outdir.h"

struct config;
struct session_kind;

enum session_phase {
	PHASE_DELAY,	/* the workload runs, tracing begins later */
	PHASE_TRACING,
	PHASE_LINGER,	/* the targets have ended */
	PHASE_UNTRACED, /* the trace has ended, the workload goes on */
	PHASE_OVER,
};

/* What has become of the trace's files, whatever phase the job is in. */
enum session_files {
	FILES_GROWING,
	FILES_ENDING, /* hooks off: rows that are there are being written */
	FILES_STUCK,  /* so, and their file system does not answer */
	FILES_CLOSED, /* the drain's and the collectors': all but the last manifest */
	FILES_CLOSED_STUCK,
};

struct session {
	const struct config *cfg;
	const struct session_kind *kind;
	void *of; /* the kind's own */
	char **argv; /* dltraced's own */
	char *const *environ; /* the workload's; chosen variables of it, where it is another process's */
	char *cwd;
	struct workload_user user;
	struct caller caller;
	struct workload_user nobody; /* who the collectors run as, where the user is root */
	struct privileges privileges;
	bool gave_up; /* the main thread, what privileges says */
	struct outdir dir;
	struct targets targets;
	struct tracer tracer;
	struct collectors collectors;
	struct drain drain;
	struct archiver archiver; /* made where files are split */
	bool split;
	uint64_t manifest_ns; /* CLOCK_MONOTONIC when the manifest was written last */
	struct workload workload;
	int workload_log_fd; /* -1: no --log */
	struct manifest manifest;
	struct left_running left; /* at the end */
	struct status status;
	struct folder_watch folder_watch; /* of the trace folder */
	struct session_writing { /* manifest.json */
		struct async_call call;
		char *text; /* the thread's while it is busy */
		size_t len;
		int r;
	} writing;

	struct metrics *metrics; /* --metrics-file, else NULL */
	struct new_file metrics_file;
	struct session_writing metrics_writing; /* it may lie on a server of its own */
	uint64_t metrics_ns; /* CLOCK_MONOTONIC when it was written last */
	int metrics_said;    /* what came of that, as it was said */

	struct session_watcher {
		struct live *live; /* NULL: none; the drain's too, until it has let go */
		unsigned int client;
		bool here; /* CLIENT still listens */
	} watchers[LIVE_PLACES];
	bool live_fd_added;

	struct loop loop;
	struct control control;
	int signal_fd, tick_fd;
	int tell_fd; /* each --interval; 0: none */
	int phase_fd; /* --delay, --duration, --linger: one after the other */
	enum session_phase phase;
	bool traced; /* false where nothing can be traced: --best-effort, or the end of --delay */
	char why_not[1024];
	enum session_files files;
	struct {
		bool gone;   /* somebody has removed it: nothing is written any more */
		bool paused; /* below --min-free */
		int refused; /* by its server: as it was said, 0 or -errno */
	} folder;
	struct {
		bool awaited; /* for by somebody who waits: by a signal, stop, --duration */
		struct command_interrupts by;
		unsigned int ticks; /* seconds since the first ^C or TERM */
	} end;
};

/* Hooks off; its files may be whole, or stuck. */
static inline bool session_has_ended(const struct session *s)
{
	return s->files != FILES_GROWING;
}

/* Ended, but its files are not whole: their file system does not answer. */
static inline bool session_is_stuck(const struct session *s)
{
	return s->files == FILES_STUCK || s->files == FILES_CLOSED_STUCK;
}

/* Signals, timers and descriptors of the loop. 0 or -errno. */
int watch_setup(struct session *s);
/* The workload has gone: wait for its end. 0 or -errno. */
int watch_workload(struct session *s);
/* Stop writing below --min-free, go on when there is space again. Every second, and at the start. */
void watch_space(struct session *s);
/* End the trace, not the workload; WHY is said when that goes on. */
void watch_stop(struct session *s, const char *why);
/* Something has ended: is it all over? */
void watch_advance(struct session *s);
/* Have what is added up in the kernel told each interval; nothing where no probe does. 0 or -errno. */
int watch_tell(struct session *s);
/* Set the timer of the next phase; 0 ns: none. */
int watch_arm(struct session *s, uint64_t ns);

/* Load what is to be traced; with --force the old trace goes then. 0 or an exit status. */
int session_load(struct session *s);
/* Tracing has failed before the workload runs: only with --best-effort will it. 0 or an exit status. */
int session_go_untraced(struct session *s);
/* Hooks on, targets in, clock of --duration on. 0, or -errno and s->why_not. */
int session_begin_tracing(struct session *s);
/*
 * That has failed, with R, at the end of --delay: say it; the workload goes on. -errno when there is
 * none to go on for.
 */
int session_give_up(struct session *s, int r);
/*
 * Keep only the privileges that a running trace needs, unless it does not run yet, or named containers
 * are awaited, for whose runtimes all are. Once; what fails is said, and the trace goes on. Whether it
 * was now.
 */
bool session_give_up_privileges(struct session *s);
/*
 * Hooks off, helpers stopped, rows and manifest written. Once. Where the folder's file system does not
 * answer and somebody waits for the end, S is stuck afterwards, which has been said.
 */
void session_end_tracing(struct session *s);
/* The trace has ended before the workload: what is known now, and what could not be done then. */
void session_end_again(struct session *s);
/* A stuck one: what could not be done then, if it can be now. */
void session_try_to_end(struct session *s);
/* Bring s->folder_watch up to date, waiting for WAIT_MS at most. Whether it is. */
bool session_look(struct session *s, int wait_ms);

/* Answer stop, status and mark from now on, where there can be a socket. */
void session_listen(struct session *s);

/* Where the folder is now, whatever it was called at the start; its last component: the trace's name. */
const char *session_folder(const struct session *s, char path[PATH_MAX]);
const char *session_name(const char *folder);

/*
 * At the start, files are made with the user's rights in between; where they are already, nothing changes. That
 * their file system does not answer is said meanwhile, and a signal ends it.
 */
void session_files_of_user(const struct session *s);
void session_files_done(void);

/* What it is doing, in a word. */
const char *session_phase(const struct session *s);

/* status --watch: a client asks; has left; each second, for those who were busy; the trace has ended. */
int session_live_say(struct session *s, const struct control_request *rq, FILE *out);
void session_live_gone(void *ctx, unsigned int client);
void session_live_tick(struct session *s);
void session_live_end(struct session *s);

/*
 * Look whether the file PATH can be written, in a folder that is there. 0, or -errno: -EEXIST, it is something else's;
 * -EISDIR; what a file beside it met. Replace it by LEN bytes, readable by everybody: 0, or -errno and the old one is
 * still there.
 */
int metrics_file_open(struct new_file *f, const char *path);
int metrics_file_write(struct new_file *f, const char *text, size_t len);

/* --metrics-file: can it be written? 0 or an exit status. */
int session_metrics_begin(struct session *s);
/* Write it; each second, when its time has come; no more. Nothing where it was not asked for. */
void session_metrics_write(struct session *s);
void session_metrics_tick(struct session *s);
void session_metrics_free(struct session *s);

/* manifest.json as of now; COMPLETE: the files are whole. 0 or -errno, which has been logged. */
int session_write_manifest(struct session *s, bool complete);
/* At the end, bytes of the trace that its disk has not taken; 0 before. */
uint64_t session_not_on_disk(const struct session *s);
/*
 * The same in the background: begin, unless the last one is not written yet (-EBUSY); wait up to WAIT_MS
 * (-1: for ever): 1 when it has been written or has failed, which has been logged, else 0.
 */
int session_begin_manifest(struct session *s, bool complete);
int session_await_manifest(struct session *s, int wait_ms);
/* Now and then, while the trace goes on: nobody waits for it. */
void session_note_manifest(struct session *s);
struct manifest_time session_now(void);
/* The workload's own status; without one, 0; when it goes on without us, that of the signal. */
int session_exit_code(const struct session *s);

#endif
