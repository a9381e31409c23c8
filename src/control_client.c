/* SPDX-License-Identifier: BSD-2-Clause */
#include "control_client.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control.h"
#include "log.h"
#include "text.h"
#include "util.h"

int trace_ask(const struct trace *t, const char *verb, const char *text, char **answer_ret)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	autofree char *request = text ? util_fmt("%s %s", verb, text) : strdup(verb);
	autofree char *answer = malloc(CONTROL_ANSWER_MAX + 1);
	ssize_t n;
	bool ok;

	*answer_ret = NULL;
	if (fd < 0)
		return -errno;
	if (!request || !answer)
		return -ENOMEM;
	memcpy(addr.sun_path, t->socket, sizeof(addr.sun_path));
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    send(fd, request, strlen(request), MSG_NOSIGNAL) < 0)
		return -errno;
	n = recv(fd, answer, CONTROL_ANSWER_MAX, 0);
	if (n <= 0)
		return n < 0 ? -errno : -ECONNRESET; /* it ended meanwhile */
	answer[n] = '\0';
	ok = !strncmp(answer, "ok\n", 3);
	*answer_ret = strdup(answer + strcspn(answer, "\n") + (strchr(answer, '\n') != NULL));
	return ok ? 0 : -EPROTO;
}

/* --- who is there ---------------------------------------------------------------------------------- */

static bool words_take(struct trace *t)
{
	const char **const words[] = { &t->name, &t->pid, &t->phase, &t->elapsed_s, &t->rows, &t->lost, &t->bytes,
				       &t->free_bytes, &t->dir };
	char *rest, *line = strtok_r(t->words, "\n", &rest);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!(*words[i] = strtok_r(i ? NULL : line, "\t", &rest)))
			return false;
	return true;
}

static void trace_look(struct traces *ts, const char *path)
{
	struct trace *t = &ts->t[ts->n];
	int r;

	*t = (struct trace){};
	if (ts->n == TRACES_MAX || strlen(path) >= sizeof(t->socket))
		return;
	strcpy(t->socket, path);
	r = trace_ask(t, "status", NULL, &t->words);
	if (r == -ECONNREFUSED)
		unlink(path); /* it was killed */
	ts->hidden += r == -EACCES || r == -ECONNRESET;
	if (r || !t->words || !words_take(t))
		free(t->words);
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

		if (path && len > 5 && !strcmp(names[i]->d_name + len - 5, ".sock"))
			trace_look(ts, path);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

void traces_find(struct traces *ts)
{
	*ts = (struct traces){};
	folder_look(ts, 0);
	if (geteuid())
		folder_look(ts, geteuid());
}

void traces_free(struct traces *ts)
{
	for (unsigned int i = 0; i < ts->n; i++)
		free(ts->t[i].words);
}

/* As a trace tells its folder: absolute, in the text files' way of writing. */
static void as_told(const char *which, char *buf)
{
	char path[PATH_MAX];
	const char *folder = realpath(which, path) ? path : which;

	*text_put_str(buf, folder, strnlen(folder, PATH_MAX)) = '\0';
}

const struct trace *traces_pick(const struct traces *ts, const char *which)
{
	char told[TEXT_ESCAPED_MAX(PATH_MAX) + 1];
	const struct trace *found = NULL;
	unsigned int n = 0;

	if (which)
		as_told(which, told);
	for (unsigned int i = 0; i < ts->n; i++) {
		const struct trace *t = &ts->t[i];

		if (which ? strcmp(which, t->name) && strcmp(which, t->pid) && strcmp(told, t->dir) :
			    !strcmp(t->phase, "untraced"))
			continue;
		found = t;
		n++;
	}
	if (n == 1)
		return found;
	if (n)
		log_err("%u traces are running: say which, by its name, folder or process (`dltraced status' lists them)", n);
	else if (which)
		log_err("no trace '%s' is running (`dltraced status' lists those that are)", which);
	else if (ts->n)
		log_err("no trace is running: those there are have ended, and their workloads go on");
	else
		log_err("no trace of yours is running%s", ts->hidden ? "; those of others are root's to ask" : "");
	return NULL;
}
