/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See functions.h. A process is found in the target, its libraries in /proc/PID/maps, and their files are opened by
 * /proc/PID/map_files: that is the mapped file itself, also where it has been removed or replaced. A uprobe of one
 * process does not follow its forks (a child that meets the copied breakpoint has it removed by the kernel), so a child
 * is one more process here.
 */
#include "kernel/uprobe/functions.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/util.h"
#include "host/mapping.h"
#include "host/process.h"
#include "host/rights/creds.h"
#include "host/stall/async_call.h"
#include "kernel/tracer.h"
#include "kernel/uprobe/uprobe.h"
#include "os/thread.h"

#define PROCESSES_MAX 256 /* at a time */
#define LIBRARIES_MAX 32 /* of all processes, files that have such functions */
#define LIBRARY_FUNCTIONS 16
#define SEEN_MAX 16 /* of a process */
#define LINKS_MAX 768 /* of two descriptors each */
#define LINES_MAX 64
#define MAPS_BYTES_MAX (32UL << 20)
#define BEGIN_MS 10000 /* a file system may not answer */
#define END_MS 20000
#define MAPS_MS 500
#define NEW_MS 50 /* new processes are looked for so often, */
#define AGAIN_NS NSEC_PER_SEC /* and new libraries of old ones */
#define CLOSERS 8 /* threads that detach: the kernel waits each time */

/* To attach (a uprobe needs CAP_SYS_ADMIN, perf_uprobe_event_init()) and to open files of map_files; to read /proc/PID.
 */
#define CAPS                                                                                          \
	(CAP_BIT(CAP_BPF) | CAP_BIT(CAP_PERFMON) | CAP_BIT(CAP_SYS_ADMIN) | CAP_BIT(CAP_SYS_PTRACE) | \
	 CAP_BIT(CAP_DAC_READ_SEARCH))

/* A file that has functions of the table. */
struct library {
	dev_t dev;
	ino_t ino;
	int fd;
	unsigned int n;
	struct library_function {
		const struct probe_function *is;
		const struct probe_object *object;
		uint64_t offset;
	} v[LIBRARY_FUNCTIONS];
};

struct attached {
	pid_t pid; /* 0: a free place */
	uint64_t start_ticks;
	uint64_t looked_ns; /* CLOCK_MONOTONIC */
	bool refused; /* it must have no probes */
	unsigned int n_seen, n_ends;
	struct {
		uint32_t major, minor;
		uint64_t ino;
	} seen[SEEN_MAX]; /* mappings that need no second look */
};

struct link {
	struct bpf_link *link;
	pid_t pid;
};

struct functions {
	const struct tracer *t;
	pid_t but;
	int stop_fd, ready_fd, done_fd;
	bool abandoned; /* nobody waits for the thread any more, and T is gone; atomic */
	int ready; /* the result of the beginning */
	char error[256];
	struct library libraries[LIBRARIES_MAX];
	unsigned int n_libraries;
	struct attached processes[PROCESSES_MAX];
	bool full; /* a process has found no place */
	bool began; /* a new process must be a child of one that is here */
	struct link links[LINKS_MAX];
	unsigned int n_links;
	char *lines[LINES_MAX];
	unsigned int n_lines;
	struct functions_counts counts; /* relaxed */
};

/* --- libraries ------------------------------------------------------------------------------------------ */

/* To be called after what may have taken any time. */
static void end_if_abandoned(const struct functions *f)
{
	if (__atomic_load_n(&f->abandoned, __ATOMIC_SEQ_CST))
		pthread_exit(NULL);
}

/* Whether NAME begins with one of PREFIXES. */
static bool begins_with_one(const char *name, const char *prefixes)
{
	for (const char *p = prefixes; *p;) {
		size_t len = strcspn(p, "|");

		if (!strncmp(name, p, len))
			return true;
		p += len + (p[len] == '|');
	}
	return false;
}

static void each_function(struct functions *f,
			  void (*fn)(struct functions *f, const struct probe_object *o, const struct probe_function *is,
				     void *ctx),
			  void *ctx)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		for (unsigned int k = 0; f->t->loaded >> i & 1 && k < probes[i]->n_functions; k++)
			fn(f, &f->t->objects[i], &probes[i]->functions[k], ctx);
}

struct wanted {
	const char *name;
	bool yes;
};

static void is_wanted(struct functions *f, const struct probe_object *o, const struct probe_function *is, void *ctx)
{
	struct wanted *w = ctx;

	w->yes |= begins_with_one(w->name, is->modules);
}

static void add_message(struct functions *f, char *line)
{
	if (line && f->n_lines < LINES_MAX && !f->began)
		f->lines[f->n_lines++] = line;
	else
		free(line);
}

struct looking {
	struct library *library;
	const char *name;
	char probed[256];
};

static bool has_offset(const struct library *l, uint64_t offset)
{
	for (unsigned int i = 0; i < l->n; i++)
		if (l->v[i].offset == offset)
			return true;
	return false;
}

/* Where in the library is this function? One that has two names counts once. */
static void look_for(struct functions *functions, const struct probe_object *object, const struct probe_function *is,
		     void *ctx)
{
	/* registers of arguments, in order */
	static const unsigned int args[] = { PROLOGUE_ARG1, PROLOGUE_ARG2, PROLOGUE_ARG3, PROLOGUE_ARG4 };
	struct prologue_need need = { .returns = is->ends };
	struct looking *looking = ctx;
	struct uprobe_point point;
	size_t len = strlen(looking->probed);
	int r;

	if (!begins_with_one(looking->name, is->modules) || looking->library->n == LIBRARY_FUNCTIONS)
		return;
	for (unsigned int i = 0; i < is->n_args && i < ARRAY_SIZE(args); i++)
		need.args |= args[i];
	r = uprobe_find(looking->library->fd, is->symbol, &need, &point);
	end_if_abandoned(functions);
	if (r == -ENOTSUP) {
		util_count(&functions->counts.refused, 1);
		add_message(functions, util_fmt("%s of %s has no probe: %s", is->name, looking->name, point.why));
	}
	if (r < 0 || has_offset(looking->library, point.offset))
		return;
	looking->library->v[looking->library->n++] = (struct library_function){ is, object, point.offset };
	snprintf(looking->probed + len, sizeof(looking->probed) - len, "%s%s", len ? ", " : "", is->name);
}

/* Returns the library that process PID has mapped as MAPPING, NULL: none, or it cannot be opened. */
static struct library *library_get(struct functions *functions, pid_t pid, const struct mapping *mapping)
{
	autoclose int fd = -1;
	struct looking looking = { .name = mapping_name(mapping) };
	struct library *library;
	char path[96];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid, (unsigned long long)mapping->begin,
		 (unsigned long long)mapping->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	end_if_abandoned(functions);
	if (fd < 0 || fstat(fd, &st) < 0) {
		util_count(&functions->counts.failed, 1);
		add_message(functions,
			    util_fmt("%s of process %d cannot be opened: %s", looking.name, pid, strerror(errno)));
		return NULL;
	}
	for (unsigned int i = 0; i < functions->n_libraries; i++)
		if (functions->libraries[i].dev == st.st_dev && functions->libraries[i].ino == st.st_ino)
			return &functions->libraries[i];
	if (functions->n_libraries == LIBRARIES_MAX) {
		util_count(&functions->counts.failed, 1);
		return NULL;
	}
	library = looking.library = &functions->libraries[functions->n_libraries++];
	*library = (struct library){ .dev = st.st_dev, .ino = st.st_ino, .fd = TAKE_FD(fd) };
	each_function(functions, look_for, &looking);
	if (library->n)
		add_message(functions, util_fmt("%s has probes on %s: each call takes about 1 us longer, and one with "
						"a result and a stack another 2 us",
						looking.name, looking.probed));
	return library;
}

/* --- processes ------------------------------------------------------------------------------------------ */

static bool link_add(struct functions *functions, const struct library *library, const struct library_function *fn,
		     const char *program, bool returns, pid_t pid)
{
	const struct uprobe_on on = { .fd = library->fd, .offset = fn->offset, .returns = returns, .pid = pid };
	const struct bpf_program *prog = bpf_object__find_program_by_name(fn->object->obj, program);
	struct bpf_link *link = prog && functions->n_links < LINKS_MAX ? uprobe_attach(prog, &on) : NULL;

	end_if_abandoned(functions);
	if (!link) {
		util_count(&functions->counts.failed, 1);
		return false;
	}
	functions->links[functions->n_links++] = (struct link){ link, pid };
	return true;
}

/* The return first: what has begun with a probe ends with one. */
static void library_attach(struct functions *functions, struct attached *attached, const struct library *library,
			   bool needs_ends)
{
	for (unsigned int i = 0; i < library->n; i++) {
		const struct probe_function *is = library->v[i].is;

		if (is->needs_ends != needs_ends || (needs_ends && !attached->n_ends))
			continue;
		if (is->ends && !link_add(functions, library, &library->v[i], is->ends, true, attached->pid))
			continue;
		attached->n_ends +=
			link_add(functions, library, &library->v[i], is->begins, false, attached->pid) && is->ends;
	}
}

static bool is_seen(struct attached *attached, const struct mapping *mapping)
{
	for (unsigned int i = 0; i < attached->n_seen; i++)
		if (attached->seen[i].ino == mapping->ino && attached->seen[i].major == mapping->major &&
		    attached->seen[i].minor == mapping->minor)
			return true;
	if (attached->n_seen == SEEN_MAX)
		return true;
	attached->seen[attached->n_seen].ino = mapping->ino;
	attached->seen[attached->n_seen].major = mapping->major;
	attached->seen[attached->n_seen++].minor = mapping->minor;
	return false;
}

/* A process can lock its memory map, and the kernel then lets nobody read it: so a thread of its own reads. */
struct maps_read {
	struct async_call call;
	pid_t pid;
	char *text;
	int r;
};

static void maps_read(void *ctx)
{
	struct maps_read *m = ctx;

	m->r = process_text(m->pid, "maps", MAPS_BYTES_MAX, &m->text, NULL);
}

/* Reads the mappings of PID. Returns 0 or -errno; -ETIMEDOUT: it does not let us, and the thread is left alone. */
static int maps_get(pid_t pid, char **ret)
{
	struct maps_read *read = calloc(1, sizeof(*read));
	int r;

	if (!read)
		return -ENOMEM;
	*read = (struct maps_read){ .call = ASYNC_CALL_NONE, .pid = pid };
	r = async_call_begin(&read->call, maps_read, read);
	if (!r && !async_call_wait_unheld(&read->call, MAPS_MS))
		return -ETIMEDOUT;
	*ret = read->text;
	r = r ?: read->r;
	async_call_free(&read->call);
	free(read);
	return r;
}

/* It has no probes. */
static void process_locked(struct functions *f, struct attached *a)
{
	a->refused = true;
	util_count(&f->counts.failed, 1);
	add_message(f,
		    util_fmt("process %d has no probes: its mappings cannot be read, as its memory is locked", a->pid));
}

/* Attaches to what ATTACHED has mapped since the last look. */
static void process_look(struct functions *functions, struct attached *attached)
{
	struct library *found[SEEN_MAX];
	unsigned int before = functions->n_links, n = 0;
	autofree char *maps = NULL;
	char *line, *next;
	int r;

	r = maps_get(attached->pid, &maps);
	end_if_abandoned(functions);
	if (r == -ETIMEDOUT)
		process_locked(functions, attached);
	if (r < 0)
		return;
	for (line = maps; n < SEEN_MAX && line && *line; line = next) {
		struct wanted w = { 0 };
		struct mapping m;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!mapping_parse(line, &m) || !m.code || !m.ino || *m.path != '/')
			continue;
		w.name = mapping_name(&m);
		each_function(functions, is_wanted, &w);
		if (!w.yes || is_seen(attached, &m))
			continue;
		found[n] = library_get(functions, attached->pid, &m);
		n += found[n] != NULL;
	}
	for (unsigned int i = 0; i < n; i++)
		library_attach(functions, attached, found[i], false);
	for (unsigned int i = 0; i < n; i++)
		library_attach(functions, attached, found[i], true);
	if (!before && !functions->n_links && !*functions->error)
		snprintf(functions->error, sizeof(functions->error),
			 "process %d has no library with one of the functions that can have probes", attached->pid);
}

static struct attached *process_find(struct functions *f, pid_t pid)
{
	for (unsigned int i = 0; i < PROCESSES_MAX; i++)
		if (f->processes[i].pid == pid)
			return &f->processes[i];
	return NULL;
}

/*
 * From Linux 6.11 on a probe on a return makes a system call on x86-64. Until about 6.14 a filter that does not know it
 * may refuse it, and that ends the process. Which kernels let it pass in any case is not known here.
 */
static bool returns_may_end(struct functions *f, pid_t pid)
{
	autofree char *status = NULL;
	unsigned long long mode = 0;

	if (!f->t->returns_call || process_text(pid, "status", PROCESS_TEXT_MAX, &status, NULL) < 0)
		return false;
	process_numbers(status, "\nSeccomp:\t", 10, &mode, 1);
	return mode;
}

static void process_refuse(struct functions *f, const struct attached *a)
{
	util_count(&f->counts.failed, 1);
	snprintf(f->error, sizeof(f->error),
		 "process %d has a filter of system calls (seccomp), and so no probes: from Linux 6.11 on "
		 "one on a return makes a system call, and a filter that refuses it ends the process; start the job by "
		 "dltraced",
		 a->pid);
	add_message(f, util_fmt("%s", f->error));
}

/* A process of the target: a new one, or one that was here before. */
static void process_meet(void *ctx, pid_t pid)
{
	const uint64_t now_ns = clock_now_ns(CLOCK_MONOTONIC);
	struct functions *functions = ctx;
	struct attached *attached = process_find(functions, pid);
	struct process p;
	unsigned int before;

	if (pid == functions->but || (attached && now_ns < attached->looked_ns + AGAIN_NS) || process_read(&p, pid) < 0)
		return;
	if (!attached && functions->began &&
	    !(p.ppid && process_find(functions, p.ppid))) /* 0: a parent in another PID namespace */
		return;
	if (!attached)
		attached = process_find(functions, 0);
	if (!attached) {
		util_count(&functions->counts.failed, !functions->full);
		functions->full = true;
		return;
	}
	before = attached->pid && attached->start_ticks == p.start_ticks ? attached->n_seen : 0;
	if (!attached->pid || attached->start_ticks != p.start_ticks)
		*attached = (struct attached){ .pid = pid, .start_ticks = p.start_ticks };
	attached->looked_ns = now_ns;
	if (attached->refused)
		return;
	attached->refused = returns_may_end(functions, pid);
	if (attached->refused)
		process_refuse(functions, attached);
	else
		process_look(functions, attached);
	if (!before && attached->n_seen)
		util_count(&functions->counts.processes, 1);
}

/* --- detaching ------------------------------------------------------------------------------------------- */

struct closing {
	struct functions *f;
	unsigned int next;
};

static void *links_close(void *ctx)
{
	struct closing *c = ctx;
	unsigned int i;

	while ((i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->f->n_links)
		bpf_link__destroy(c->f->links[i].link);
	return NULL;
}

/* Those of processes that are gone, and their places; and those of processes that must have none any more. */
static void forget_ended(struct functions *functions)
{
	const struct attached *attached;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < PROCESSES_MAX; i++)
		if (functions->processes[i].pid && !tracer_target_has(functions->t, functions->processes[i].pid))
			functions->processes[i].pid = 0;
	for (unsigned int i = 0; i < functions->n_links; i++) {
		attached = process_find(functions, functions->links[i].pid);
		if (attached && !attached->refused)
			functions->links[kept++] = functions->links[i];
		else
			bpf_link__destroy(functions->links[i].link);
	}
	functions->n_links = kept;
}

static void detach_all(struct functions *functions)
{
	struct closing c = { functions, 0 };
	pthread_t threads[CLOSERS];
	unsigned int n = 0;

	while (n < CLOSERS && n < functions->n_links && thread_start(&threads[n], links_close, &c) == 0)
		n++;
	links_close(&c);
	while (n)
		pthread_join(threads[--n], NULL);
	functions->n_links = 0;
}

/* --- the thread ------------------------------------------------------------------------------------------ */

static bool stops_within(const struct functions *f, int ms)
{
	struct pollfd p = { .fd = f->stop_fd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

static void signal_fd(int fd)
{
	uint64_t one = 1;

	(void)!write(fd, &one, sizeof(one));
}

static void *functions_main(void *ctx)
{
	struct functions *functions = ctx;

	creds_caps(CAPS, CAPS, 0);
	tracer_each_live(functions->t, process_meet, functions);
	functions->began = true;
	functions->ready = functions->n_links ? 0 : -ENOENT;
	signal_fd(functions->ready_fd);
	while (!stops_within(functions, NEW_MS)) {
		forget_ended(functions);
		tracer_each_live(functions->t, process_meet, functions);
	}
	detach_all(functions);
	signal_fd(functions->done_fd); /* F is not ours any more */
	return NULL;
}

static bool await(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return TEMP_FAILURE_RETRY(poll(&p, 1, ms)) > 0;
}

static void functions_free(struct functions *f)
{
	for (unsigned int i = 0; i < f->n_libraries; i++)
		close(f->libraries[i].fd);
	for (unsigned int i = 0; i < f->n_lines; i++)
		free(f->lines[i]);
	util_close(&f->stop_fd);
	util_close(&f->ready_fd);
	util_close(&f->done_fd);
	free(f);
}

int functions_begin(struct functions **ret, const struct tracer *tracer, pid_t but, char *error, size_t size)
{
	struct functions *functions = calloc(1, sizeof(*functions));
	int r;

	if (!functions)
		return -ENOMEM;
	functions->t = tracer;
	functions->but = but;
	functions->stop_fd = eventfd(0, EFD_CLOEXEC);
	functions->ready_fd = eventfd(0, EFD_CLOEXEC);
	functions->done_fd = eventfd(0, EFD_CLOEXEC);
	r = functions->stop_fd < 0 || functions->ready_fd < 0 || functions->done_fd < 0 ?
		    -EMFILE :
		    thread_start(NULL, functions_main, functions);
	if (r < 0) {
		functions_free(functions);
		snprintf(error, size, "%s", strerror(-r));
		return r;
	}
	*ret = functions;
	r = await(functions->ready_fd, BEGIN_MS) ? functions->ready : -ETIMEDOUT;
	if (r == -ETIMEDOUT)
		snprintf(error, size, "the file system of a library does not answer");
	else if (r < 0)
		snprintf(error, size, "%s", *functions->error ? functions->error : "no probe could be attached");
	return r;
}

void functions_each_line(const struct functions *f, void (*fn)(void *ctx, const char *line), void *ctx)
{
	for (unsigned int i = 0; f && i < f->n_lines; i++)
		fn(ctx, f->lines[i]);
}

void functions_count(const struct functions *f, struct functions_counts *ret)
{
	*ret = (struct functions_counts){ 0 };
	if (!f)
		return;
	ret->processes = util_counted(&f->counts.processes);
	ret->refused = util_counted(&f->counts.refused);
	ret->failed = util_counted(&f->counts.failed);
}

/* A thread that waits for a file system is left alone, with all that it uses. */
void functions_end(struct functions *f)
{
	if (!f)
		return;
	signal_fd(f->stop_fd);
	if (await(f->done_fd, END_MS))
		functions_free(f);
	else
		__atomic_store_n(&f->abandoned, true, __ATOMIC_SEQ_CST);
}
