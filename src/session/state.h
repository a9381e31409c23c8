/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of one trace from start to end, and the functions that the files of this room share. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <limits.h>
#include <stdbool.h>

#include "base/json.h"
#include "collectors/collectors.h"
#include "control/control.h"
#include "drain/archiver.h"
#include "drain/drain.h"
#include "host/cgroup/allowance.h"
#include "host/cgroup/cgroup_limits.h"
#include "host/rights/caller.h"
#include "host/rights/privileges.h"
#include "host/rights/workload_user.h"
#include "host/stall/folder_watch.h"
#include "job/workload.h"
#include "kernel/tracer.h"
#include "kernel/uprobe/functions.h"
#include "os/loop.h"
#include "os/new_file.h"
#include "session/command.h"
#include "session/hung.h"
#include "job/left_running.h"
#include "session/status.h"
#include "session/target.h"
#include "trace/outdir.h"

struct config;
struct session_kind;

enum session_phase {
	PHASE_DELAY, /* the workload runs, tracing begins later */
	PHASE_TRACING,
	PHASE_LINGER, /* the targets have ended, tracing goes on for --linger */
	PHASE_UNTRACED, /* the trace has ended, the workload goes on */
	PHASE_OVER,
};

/* The state of the trace's files, whatever phase the job is in. */
enum session_files {
	FILES_GROWING,
	FILES_ENDING, /* hooks are off, the remaining rows are being written */
	FILES_STUCK, /* hooks are off, and the file system does not answer: rows remain */
	FILES_CLOSED, /* drain and collectors have closed them: all are whole, only the last manifest remains */
	FILES_CLOSED_STUCK, /* only the last manifest remains, and the file system does not answer */
};

/* One instant on both clocks; zeros: not yet. */
struct manifest_time {
	uint64_t mono_ns, utc_ns;
};

/* What only the manifest needs; the other members come from the session. */
struct manifest {
	struct json head; /* the constant members */
	struct manifest_time start, end;
	struct manifest_time workload_start, workload_end;
	struct allowance allowed; /* of the workload at its gate, else of the first process of --pid */
	struct cgroup_limits limits; /* likewise */
	bool status_unknown; /* the workload is another process's child, which has not reported its status */
	bool usage_unknown; /* nor what the workload used */
	uint64_t log_lost_bytes; /* output lost by the process that has the workload as its child */
};

struct session {
	const struct config *cfg;
	const struct session_kind *kind;
	void *of; /* the kind's own data */
	char **argv; /* dltraced's own arguments */
	char *const *environ; /* the workload's; through the service, only the variables that the client selected */
	char *cwd;
	struct workload_user user;
	struct caller caller;
	struct workload_user nobody; /* collectors run as this user where the trace's user is root */
	struct privileges privileges;
	bool gave_up; /* the main thread keeps only what PRIVILEGES plans, or has tried to */
	struct outdir dir;
	struct targets targets;
	struct tracer tracer;
	struct functions *functions; /* probes on functions of --pid; NULL: none */
	struct collectors collectors;
	struct drain drain;
	struct archiver archiver; /* all zero unless SPLIT */
	bool split;
	uint64_t manifest_ns; /* CLOCK_MONOTONIC when the manifest was last written */
	struct workload workload;
	int workload_log_fd; /* -1: no --log */
	struct manifest manifest;
	struct left_running left; /* set at the end */
	struct hung hung;
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
	struct session_writing metrics_writing; /* apart from the manifest's: this file may be on another file server */
	uint64_t metrics_ns; /* CLOCK_MONOTONIC when the metrics were last written */
	int metrics_logged; /* the last result that was logged */

	struct session_watcher {
		struct live *live; /* NULL: none; shared with the drain until the drain releases it */
		unsigned int client;
		bool here; /* CLIENT still listens */
	} watchers[LIVE_PLACES];
	bool live_fd_added;

	struct loop loop;
	struct control control;
	int signal_fd, tick_fd;
	int interval_fd; /* a timer of --interval, for the kernel's sums; -1: none */
	int due_fd; /* a timer for sums that are due sooner; -1: none */
	int phase_fd; /* --delay, --duration, --linger: one at a time */
	enum session_phase phase;
	bool traced; /* false where tracing has failed and the workload runs all the same: --best-effort, or after
			--delay */
	char why_not[1024];
	enum session_files files;
	struct {
		bool gone; /* removed: nothing is written any more */
		bool paused; /* below --min-free */
		int refused; /* the error, as logged, with which the file server refuses the folder; 0: none */
	} folder;
	struct {
		bool awaited; /* `dltraced stop' or --duration has ended the trace, and something waits for that */
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
int watch_setup(struct session *session);
/* Waits for the end of the workload, which has been let go. Returns 0 or -errno. */
int watch_workload(struct session *s);
/* Stops writing below --min-free, and resumes when there is space. Called every second, and at the start. */
void watch_space(struct session *session);
/* Ends the trace, but not the workload. If the workload goes on, WHY is logged. */
void watch_stop(struct session *session, const char *why);
/* To be called when the workload, a target or a phase has ended: ends the trace, if nothing is left to trace. */
void watch_advance(struct session *session);
/* Emits the kernel's sums each interval, if a probe has any. Returns 0 or -errno. */
int watch_interval(struct session *session);
/* Sets the timer of the next phase; 0 ns: none. */
int watch_arm(struct session *s, uint64_t ns);

/* Loads the programs, then removes the old trace of --force. Returns 0 or an exit status. */
int session_load(struct session *session);
/*
 * To be called when tracing has failed before the workload runs. With --best-effort the workload will run untraced:
 * returns 0. Otherwise logs the reason and returns an exit status.
 */
int session_go_untraced(struct session *s);
/* Turns hooks on, adds targets, and starts --duration. Returns 0, or -errno and s->why_not. */
int session_begin_tracing(struct session *session);
/*
 * Logs that session_begin_tracing() has failed with R at the end of --delay. Returns 0, as the workload goes on;
 * without a workload R, which ends dltraced.
 */
int session_give_up(struct session *s, int r);
/*
 * Keeps only the privileges that a running trace needs. Does nothing while the trace does not run yet, or waits for
 * containers, since querying their runtimes needs all privileges; and nothing after the first time. A failure is
 * logged, and the trace goes on. Returns whether this was that time.
 */
bool session_give_up_privileges(struct session *s);
/*
 * Turns hooks off, stops helpers, writes rows and manifest; later calls do nothing. Where the folder's file system does
 * not answer and something waits for the end, logs that, and SESSION is stuck afterwards.
 */
void session_end_tracing(struct session *session);
/* For a trace that ended before its workload: finishes a stuck trace, and writes the workload's end into the manifest.
 */
void session_end_again(struct session *s);
/* Finishes a stuck trace, if that is possible now. */
void session_try_to_end(struct session *s);
/* Updates s->folder_watch, and waits for at most WAIT_MS. Returns whether it is up to date. */
bool session_look(struct session *s, int wait_ms);

/* Answers stop, status and mark from now on, if a socket can be made. */
void session_listen(struct session *s);

/* Returns the folder's present path, as it may have been renamed. Its last component is the trace's name. */
const char *session_folder(const struct session *s, char path[PATH_MAX]);
const char *session_name(const char *folder);

/*
 * Between these two calls, at the start, files are made with the user's rights. A file system that does not answer is
 * reported, and a signal ends the wait for it.
 */
void session_files_of_user(const struct session *s);
void session_files_done(void);

/* Returns the phase as a word. */
const char *session_phase(const struct session *s);

/* status --watch: a client subscribes; a client leaves; a second has passed, for busy clients; the trace has ended. */
int session_live_answer(struct session *session, const struct control_request *rq, FILE *out);
void session_live_gone(void *ctx, unsigned int client);
void session_live_tick(struct session *s);
void session_live_end(struct session *session);
/* Likewise: which threads wait (waiting.c). */
int session_waiting_answer(struct session *session, const struct control_request *rq, FILE *out);
/* Looks who waits for whom: each second, and at the end, before the hooks are off (hung_look.c). */
void session_hung_tick(struct session *session);
void session_hung_end(struct session *session);
/* status --watch: answers `open_waits' of those that last, as JSON. */
int session_hung_answer(struct session *session, const struct control_request *rq, FILE *out);

/*
 * metrics_file_open() checks whether the file PATH can be written, in an existing folder. Returns 0; -EEXIST where it
 * is another program's file; -EISDIR; or the error of making a file beside it. metrics_file_write() replaces it by LEN
 * bytes, readable by all. Returns 0, or -errno with the old file still in place.
 */
int metrics_file_open(struct new_file *file, const char *path);
int metrics_file_write(struct new_file *file, const char *text, size_t len);

/* Checks whether --metrics-file can be written. Returns 0 or an exit status. */
int session_metrics_begin(struct session *session);
/* Write the metrics; write them if an interval is over (each second); free all. Without --metrics-file they do nothing.
 */
void session_metrics_write(struct session *session);
void session_metrics_tick(struct session *s);
void session_metrics_free(struct session *s);

/* Writes manifest.json; COMPLETE: the files are whole. Returns 0, or -errno after a message. */
int session_write_manifest(struct session *s, bool complete);
/* Returns the bytes of the trace that are not on its disk yet; known at the end, 0 before. */
uint64_t session_not_on_disk(const struct session *s);
/*
 * Write manifest.json in the background. The first begins; it returns 0 or -errno, -EBUSY while the last writing is in
 * progress. The second waits up to WAIT_MS (-1: without a limit); it returns 1 when the file was written, or failed
 * with a message, else 0.
 */
int session_begin_manifest(struct session *session, bool complete);
int session_await_manifest(struct session *session, int wait_ms);
/* Writes manifest.json in the background while the trace goes on. */
void session_note_manifest(struct session *s);
struct manifest_time session_now(void);
/* Returns the workload's own status; 0 without a workload; 128+N when signal N ended the trace and the workload goes
 * on. */
int session_exit_code(const struct session *s);

#endif
