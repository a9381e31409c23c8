/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace while it lives: shared by session.c (start and end) and session_loop.c (in between). */
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

/* The state of the trace's files, whatever phase the job is in. */
enum session_files {
	FILES_GROWING,
	FILES_ENDING, /* hooks off: rows that exist are being written */
	FILES_STUCK,  /* likewise, and the file system does not answer */
	FILES_CLOSED, /* closed by drain and collectors: all but the last manifest are whole */
	FILES_CLOSED_STUCK,
};

struct session {
	const struct config *cfg;
	const struct session_kind *kind;
	void *of; /* of the kind */
	char **argv; /* dltraced's own arguments */
	char *const *environ; /* the workload's; where it is another process's, selected variables */
	char *cwd;
	struct workload_user user;
	struct caller caller;
	struct workload_user nobody; /* the user of collectors, where the trace's user is root */
	struct privileges privileges;
	bool gave_up; /* the main thread has given up what privileges says */
	struct outdir dir;
	struct targets targets;
	struct tracer tracer;
	struct collectors collectors;
	struct drain drain;
	struct archiver archiver; /* zero where files are not split */
	bool split;
	uint64_t manifest_ns; /* CLOCK_MONOTONIC when the manifest was last written */
	struct workload workload;
	int workload_log_fd; /* -1: no --log */
	struct manifest manifest;
	struct left_running left; /* set at the end */
	struct status status;
	struct folder_watch folder_watch; /* of the trace folder */
	struct session_writing { /* manifest.json */
		struct async_call call;
		char *text; /* owned by the thread while it is busy */
		size_t len;
		int r;
	} writing;

	struct metrics *metrics; /* --metrics-file, else NULL */
	struct new_file metrics_file;
	struct session_writing metrics_writing; /* on a server of its own, maybe */
	uint64_t metrics_ns; /* CLOCK_MONOTONIC when it was last written */
	int metrics_logged;    /* the last result that was logged */

	struct session_watcher {
		struct live *live; /* NULL: none; shared with the drain until it releases it */
		unsigned int client;
		bool here; /* CLIENT still listens */
	} watchers[LIVE_PLACES];
	bool live_fd_added;

	struct loop loop;
	struct control control;
	int signal_fd, tick_fd;
	int interval_fd; /* each --interval; 0: none */
	int phase_fd; /* --delay, --duration, --linger: one at a time */
	enum session_phase phase;
	bool traced; /* false where tracing is not possible: --best-effort, or the end of --delay */
	char why_not[1024];
	enum session_files files;
	struct {
		bool gone;   /* removed: nothing is written any more */
		bool paused; /* below --min-free */
		int refused; /* by its server: the error that was logged, 0 or -errno */
	} folder;
	struct {
		bool awaited; /* something waits for the end: by a signal, stop, --duration */
		struct command_interrupts by;
		unsigned int ticks; /* seconds since the first ^C or TERM */
	} end;
};

/* Whether hooks are off; the files may be whole, or stuck. */
static inline bool session_has_ended(const struct session *s)
{
	return s->files != FILES_GROWING;
}

/* Whether the trace has ended, but its file system does not answer, so its files are not whole. */
static inline bool session_is_stuck(const struct session *s)
{
	return s->files == FILES_STUCK || s->files == FILES_CLOSED_STUCK;
}

/* Sets up signals, timers and descriptors of the loop. Returns 0 or -errno. */
int watch_setup(struct session *s);
/* Waits for the end of the workload, which has been let go. Returns 0 or -errno. */
int watch_workload(struct session *s);
/* Stops writing below --min-free, and resumes when there is space. Called every second, and at the start. */
void watch_space(struct session *s);
/* Ends the trace, not the workload; WHY is logged when that goes on. */
void watch_stop(struct session *s, const char *why);
/* To be called when something has ended: ends the trace, if that was the last. */
void watch_advance(struct session *s);
/* Emits the kernel's sums each interval, if a probe has any. Returns 0 or -errno. */
int watch_interval(struct session *s);
/* Sets the timer of the next phase; 0 ns: none. */
int watch_arm(struct session *s, uint64_t ns);

/* Loads the programs; with --force the old trace is removed then. Returns 0 or an exit status. */
int session_load(struct session *s);
/*
 * Decides, when tracing has failed before the workload runs, whether it runs untraced: with --best-effort. Returns 0 or an
 * exit status.
 */
int session_go_untraced(struct session *s);
/* Turns hooks on, adds targets, and starts --duration. Returns 0, or -errno and s->why_not. */
int session_begin_tracing(struct session *s);
/*
 * Logs that session_begin_tracing() failed with R at the end of --delay; the workload goes on. Returns -errno when there is
 * none.
 */
int session_give_up(struct session *s, int r);
/*
 * Keeps only the privileges that a running trace needs, unless it does not run yet, or awaits containers, whose runtimes
 * need all. Works once; failures are logged, and the trace goes on. Returns whether it did so now.
 */
bool session_give_up_privileges(struct session *s);
/*
 * Turns hooks off, stops helpers, writes rows and manifest. Works once. Where the folder's file system does not answer and
 * something waits for the end, S is stuck afterwards, after a message.
 */
void session_end_tracing(struct session *s);
/* For a trace that ended before its workload: writes what has become known since, and finishes what was stuck. */
void session_end_again(struct session *s);
/* Finishes a stuck trace, if that is possible now. */
void session_try_to_end(struct session *s);
/* Updates s->folder_watch, waiting for at most WAIT_MS. Returns whether it is up to date. */
bool session_look(struct session *s, int wait_ms);

/* Answers stop, status and mark from now on, where a socket is possible. */
void session_listen(struct session *s);

/* Returns the folder's present path, whatever it was at the start; its last component is the trace's name. */
const char *session_folder(const struct session *s, char path[PATH_MAX]);
const char *session_name(const char *folder);

/*
 * At the start, makes files with the user's rights; existing files do not change. A file system that does not answer is
 * reported meanwhile, and a signal ends the wait.
 */
void session_files_of_user(const struct session *s);
void session_files_done(void);

/* Returns the phase as a word. */
const char *session_phase(const struct session *s);

/* status --watch: a client subscribes; leaves; each second, for busy clients; the trace has ended. */
int session_live_say(struct session *s, const struct control_request *rq, FILE *out);
void session_live_gone(void *ctx, unsigned int client);
void session_live_tick(struct session *s);
void session_live_end(struct session *s);

/*
 * metrics_file_open() checks whether the file PATH can be written, in an existing folder. Returns 0; -EEXIST: it is another
 * program's; -EISDIR; or the error of a file beside it. metrics_file_write() replaces it by LEN bytes, readable by all.
 * Returns 0, or -errno, and then the old one is still there.
 */
int metrics_file_open(struct new_file *f, const char *path);
int metrics_file_write(struct new_file *f, const char *text, size_t len);

/* Checks whether --metrics-file can be written. Returns 0 or an exit status. */
int session_metrics_begin(struct session *s);
/* Writes it; each second, when an interval is over; for the last time. Without --metrics-file they do nothing. */
void session_metrics_write(struct session *s);
void session_metrics_tick(struct session *s);
void session_metrics_free(struct session *s);

/* Writes manifest.json; COMPLETE: the files are whole. Returns 0, or -errno after a message. */
int session_write_manifest(struct session *s, bool complete);
/* Returns, at the end, bytes of the trace that its disk has not accepted; 0 before. */
uint64_t session_not_on_disk(const struct session *s);
/*
 * Write it in the background: begin, unless the last one is in progress (-EBUSY); wait up to WAIT_MS (-1: without a limit).
 * The latter returns 1 when it was written, or failed with a message, else 0.
 */
int session_begin_manifest(struct session *s, bool complete);
int session_await_manifest(struct session *s, int wait_ms);
/* Writes it in the background while the trace goes on. */
void session_note_manifest(struct session *s);
struct manifest_time session_now(void);
/* Returns the workload's own status; 0 without a workload; 128+N when it outlives us after signal N. */
int session_exit_code(const struct session *s);

#endif
