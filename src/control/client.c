/* SPDX-License-Identifier: BSD-2-Clause */
#include "control/client.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/util.h"
#include "control/control.h"
#include "host/rights/user_name.h"
#include "trace/outdir.h"

#define ANSWER_S 3 /* for one that is stopped, or held by its disk: the others are asked all the same */

/* How long each step with a question of this kind may take; 0: as long as it does. */
static time_t patience_s(const char *verb)
{
	static const char *const at_once[] = { "json", "mark", "status" };

	for (size_t i = 0; i < ARRAY_SIZE(at_once); i++)
		if (!strcmp(verb, at_once[i]))
			return ANSWER_S;
	return 0;
}

int trace_connect(const struct trace *trace, const char *verb, const char *text)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct timeval wait = { .tv_sec = patience_s(verb) };
	autofree char *request = text ? util_fmt("%s %s", verb, text) : strdup(verb);

	if (fd < 0)
		return -errno;
	if (!request)
		return -ENOMEM;
	memcpy(addr.sun_path, trace->socket, sizeof(addr.sun_path));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int trace_folder(const struct trace *t, char path[PATH_MAX])
{
	size_t len = strlen(t->dir);

	if (t->dir[0] != '/' || len >= TEXT_ESCAPED_MAX(PATH_MAX))
		return -ENOENT;
	len = text_unescape(path, t->dir, MIN(len, (size_t)PATH_MAX - 1));
	path[len] = '\0';
	return 0;
}

ssize_t answer_more(struct answer *answer, int fd)
{
	ssize_t n;

	if (answer->size - answer->len <= CONTROL_PACKET_MAX) {
		char *more = answer->size > CONTROL_ANSWER_MAX ?
				     NULL :
				     realloc(answer->text, 2 * (answer->size + CONTROL_PACKET_MAX));

		if (!more)
			return -ENOMEM;
		answer->text = more;
		answer->size = 2 * (answer->size + CONTROL_PACKET_MAX);
	}
	n = recv(fd, answer->text + answer->len, answer->size - answer->len - 1, 0);
	if (n < 0)
		return -errno;
	answer->len += (size_t)n;
	answer->text[answer->len] = '\0';
	return n;
}

int answer_begin(struct answer *a)
{
	bool ok = !strncmp(a->text, "ok\n", 3);

	answer_drop(a, strcspn(a->text, "\n") + 1);
	return ok ? 0 : -EPROTO;
}

void answer_drop(struct answer *a, size_t n)
{
	n = MIN(n, a->len);
	a->len -= n;
	memmove(a->text, a->text + n, a->len + 1);
}

/* All that comes until the other end closes. 0 or -errno. */
static int receive(int fd, struct answer *a)
{
	ssize_t n;

	do
		n = answer_more(a, fd);
	while (n > 0 || n == -EINTR);
	if (n < 0 && (n != -ECONNRESET || !a->len))
		return (int)n;
	return a->len ? 0 : -ECONNRESET; /* it ended meanwhile */
}

int trace_request(const struct trace *trace, const char *verb, const char *text, char **answer_ret)
{
	autoclose int fd = trace_connect(trace, verb, text);
	struct answer a = {};
	int r;

	*answer_ret = NULL;
	if (fd < 0)
		return fd;
	r = receive(fd, &a);
	if (r < 0) {
		free(a.text);
		return r;
	}
	r = answer_begin(&a);
	*answer_ret = a.text;
	return r;
}

/* --- who is there ---------------------------------------------------------------------------------- */

static bool words_take(struct trace *t)
{
	const char **const words[] = { &t->name,   &t->pid,        &t->phase, &t->elapsed_s,  &t->rows,   &t->lost,
				       &t->bytes,  &t->free_bytes, &t->dir,   &t->experiment, &t->rows_s, &t->bytes_s,
				       &t->target, &t->collectors, &t->owner, &t->session };
	char *rest, *line = strtok_r(t->words, "\n", &rest);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++, line = NULL)
		*words[i] = strtok_r(line, "\t", &rest) ?: "?";
	return t->experiment[0] != '?' || t->silent; /* those behind it are newer */
}

/* It does not answer: what is known is its number, of its socket's name. */
static void words_of_silent(struct trace *t)
{
	const char *name = strrchr(t->socket, '/') + 1;

	free(t->words);
	t->words = util_fmt("?\t%.*s\tsilent\t?\t?\t?\t?\t?\t?\t?\n", (int)strcspn(name, "."), name);
	t->silent = true;
}

static void trace_look(struct traces *ts, const char *path)
{
	struct trace *trace = &ts->t[ts->n];
	int r;

	*trace = (struct trace){};
	if (ts->n == TRACES_MAX || strlen(path) >= sizeof(trace->socket))
		return;
	strcpy(trace->socket, path);
	r = trace_request(trace, "status", NULL, &trace->words);
	if (r == -EAGAIN) {
		words_of_silent(trace);
		r = 0;
	}
	if (r == -ECONNREFUSED)
		unlink(path); /* it was killed */
	ts->hidden += r == -EACCES || r == -ECONNRESET;
	if (r || !trace->words || !words_take(trace))
		free(trace->words);
	else
		ts->n++;
}

static void folder_look(struct traces *ts, uid_t uid)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct dirent **names;
	int n;

	if (!control_folder(uid, folder, sizeof(folder)))
		return;
	n = scandir(folder, &names, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		size_t len = strlen(names[i]->d_name);
		autofree char *path = util_fmt("%s/%s", folder, names[i]->d_name);

		/* what is not a number is the service's own */
		if (path && len > 5 && *names[i]->d_name >= '0' && *names[i]->d_name <= '9' &&
		    !strcmp(names[i]->d_name + len - 5, ".sock"))
			trace_look(ts, path);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void traces_find(struct traces *ts)
{
	char folder[sizeof(((struct sockaddr_un *)0)->sun_path)];

	*ts = (struct traces){};
	caller_find(&ts->caller);
	folder_look(ts, 0);
	if (geteuid())
		folder_look(ts, geteuid());
	ts->deaf = !control_folder(geteuid(), folder, sizeof(folder));
}

void traces_free(struct traces *ts)
{
	for (unsigned int i = 0; i < ts->n; i++)
		free(ts->t[i].words);
}

/* The one whose folder this is, or NULL: as a trace tells it, in the text files' way of writing. */
static const struct trace *in_folder(const struct traces *ts, const char *folder)
{
	char escaped[TEXT_ESCAPED_MAX(PATH_MAX) + 1];

	*text_put_str(escaped, folder, strnlen(folder, PATH_MAX)) = '\0';
	for (unsigned int i = 0; i < ts->n; i++)
		if (!strcmp(escaped, ts->t[i].dir))
			return &ts->t[i];
	return NULL;
}

/* Of N with the same name those that have not ended, if there are any: how many are left. */
static unsigned int those_tracing(const struct trace **found, unsigned int n)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < n; i++)
		if (strcmp(found[i]->phase, "untraced") != 0)
			found[left++] = found[i];
	return left ? left : n;
}

bool trace_is_of_service(const struct trace *t)
{
	return !strcmp(t->owner, "service");
}

const char *trace_called(const struct trace *t)
{
	return trace_is_of_service(t) ? t->experiment : t->name;
}

const char *trace_user(const struct trace *t, char buf[TRACE_USER_MAX])
{
	char *end;
	unsigned long uid = strtoul(t->owner, &end, 10);

	if (end != t->owner && uid < UINT_MAX)
		return user_name((uid_t)uid, buf);
	snprintf(buf, TRACE_USER_MAX, "%.*s", (int)strcspn(t->owner, ","), t->owner);
	return buf;
}

/* Prints what one can choose TRACE by: whose it is, its name, number and folder. */
static void list_one(const struct trace *trace)
{
	autofree char *folder = NULL;
	char user[TRACE_USER_MAX];
	size_t len = 0;
	FILE *out = open_memstream(&folder, &len);

	if (!out)
		return;
	fmt_text(out, trace->dir, 0);
	if (fclose(out) != 0)
		return;
	if (trace_is_of_service(trace))
		log_err("  %s of the service, process %s, folder %s", trace_called(trace), trace->pid, folder);
	else
		log_err("  %s of user %s, experiment %s, process %s, folder %s", trace->name, trace_user(trace, user),
			trace->experiment, trace->pid, folder);
}

static void list(const struct trace *const *found, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		list_one(found[i]);
}

static void log_several(const struct trace *const *found, unsigned int n, const char *which)
{
	if (which)
		log_err("%u traces are called '%s': name one by its process or its folder", n, which);
	else
		log_err("%u traces are running: name one by its name, its process or its folder", n);
	list(found, n);
}

bool trace_is_own(const struct traces *ts, const struct trace *t)
{
	const char *user = strchr(t->owner, ',');
	char uid[16];
	size_t len = (size_t)snprintf(uid, sizeof(uid), "%u", ts->caller.uid);

	return *t->owner == '?' || (strcspn(t->owner, ",") == len && !strncmp(t->owner, uid, len)) ||
	       (user && !strcmp(user + 1, uid));
}

/* Where they were started, and from where we were called. */
static bool is_of_session(const struct traces *ts, const struct trace *t)
{
	return ts->caller.session && (pid_t)strtol(t->session, NULL, 10) == ts->caller.session;
}

/* Keeps of N those that this terminal has started, if there are any. Returns how many are left. */
static unsigned int those_here(const struct traces *ts, const struct trace **found, unsigned int n)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < n; i++)
		if (is_of_session(ts, found[i]))
			found[left++] = found[i];
	return left ? left : n;
}

static bool is_over(const struct trace *t)
{
	return !strcmp(t->phase, "untraced");
}

/* Nobody has named one: of a user's own those that have not ended. */
static unsigned int find_own(const struct traces *ts, const struct trace **found)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ts->n; i++)
		if (trace_is_own(ts, &ts->t[i]) && !is_over(&ts->t[i]))
			found[n++] = &ts->t[i];
	return those_here(ts, found, n);
}

static void log_none(const struct traces *ts)
{
	const struct trace *others[TRACES_MAX];
	unsigned int n = 0, own = 0;

	for (unsigned int i = 0; i < ts->n; i++) {
		own += trace_is_own(ts, &ts->t[i]);
		if (!trace_is_own(ts, &ts->t[i]) && !is_over(&ts->t[i]))
			others[n++] = &ts->t[i];
	}
	if (n) {
		log_err("no trace of yours is running; name a trace of another user or of the service:");
		list(others, n);
	} else if (own) {
		log_err("no trace is running: yours have ended, and their workloads go on");
	} else {
		log_err("no trace of yours is running%s%s", ts->hidden ? "; only root can see those of others" : "",
			ts->deaf ? "; without XDG_RUNTIME_DIR traces that you started without root are found only by "
				   "their folders" :
				   "");
	}
}

/* FOLDER's own, of who has no other place for a socket. That of another user is not asked: it may be anybody's. */
static const struct trace *look_in_folder(struct traces *ts, const char *folder)
{
	autofree char *path = util_fmt("%s/" OUTDIR_SOCKET, folder);
	struct stat st;

	if (path && !lstat(path, &st) && S_ISSOCK(st.st_mode) && st.st_uid == geteuid())
		trace_look(ts, path);
	return in_folder(ts, folder);
}

static unsigned int find_called(const struct traces *ts, const char *which, const struct trace **found)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < ts->n; i++)
		if (!strcmp(which, ts->t[i].name) || !strcmp(which, ts->t[i].experiment))
			found[n++] = &ts->t[i];
	return n > 1 ? those_tracing(found, n) : n;
}

static const struct trace *pick_own(const struct traces *ts)
{
	const struct trace *found[TRACES_MAX];
	unsigned int n = find_own(ts, found);

	if (n > 1)
		log_several(found, n, NULL);
	else if (!n)
		log_none(ts);
	return n == 1 ? found[0] : NULL;
}

const struct trace *traces_pick(struct traces *ts, const char *which)
{
	const struct trace *found[TRACES_MAX], *there = which ? in_folder(ts, which) : NULL;
	char path[PATH_MAX];
	unsigned int n;

	if (!which)
		return pick_own(ts);
	for (unsigned int i = 0; !there && i < ts->n; i++)
		if (!strcmp(which, ts->t[i].pid))
			there = &ts->t[i]; /* no other has it */
	if (there)
		return there;
	n = find_called(ts, which, found);
	if (n == 1)
		return found[0];
	/* only now: it may lie where nobody answers */
	if (realpath(which, path) && ((there = in_folder(ts, path)) || (there = look_in_folder(ts, path))))
		return there;
	if (n)
		log_several(found, n, which);
	else
		log_err("no trace '%s' is running (`dltraced status' lists those that are)", which);
	return NULL;
}
