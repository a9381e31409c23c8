/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends and receives packets, writes and parses requests. Both ends use it; it trusts neither of them. */
#include "service/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/util.h"
#include "session/manifest.h"
#include "session/start_options.h"

static const char magic[] = "dltraced 1";

bool service_option_allowed(const char *name)
{
	const struct option_row *o = option_find(start_options, name);

	return o && o->flags & START_BY_SERVICE;
}

/* --- writing --------------------------------------------------------------------------------------- */

/* Puts KEY=TEXT, if that leaves room for LEAVE more bytes. */
static void put(FILE *out, const char *key, const char *text, size_t leave)
{
	long at = ftell(out);

	if (at >= 0 && (size_t)at + strlen(key) + strlen(text) + 2 + leave < SERVICE_REQUEST_MAX)
		fprintf(out, "%s=%s%c", key, text, '\0');
}

static void put_all(FILE *out, const char *key, char *const *words, size_t leave)
{
	for (; words && *words; words++)
		put(out, key, *words, leave);
}

static void put_option(FILE *out, const char *name, const char *value)
{
	autofree char *text = value ? util_fmt("%s=%s", name, value) : strdup(name);

	if (text)
		put(out, "opt", text, 0);
}

int service_request_pack(const struct config *cfg, char *const *cmdline, char *const *env, const char *cwd,
			 char **text_ret, size_t *len_ret)
{
	autofree char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return -ENOMEM;
	fwrite(magic, 1, sizeof(magic), out);
	for (unsigned int i = 0; i < cfg->n_given; i++)
		if (service_option_allowed(cfg->given[i].name) && strcmp(cfg->given[i].name, "experiment"))
			put_option(out, cfg->given[i].name, cfg->given[i].value);
	put_option(out, "experiment", cfg->experiment);
	if (cfg->log)
		put(out, "log", "1", 0);
	put(out, "cwd", cwd ? cwd : "/", 0);
	put_all(out, "arg", cfg->argv, SERVICE_REQUEST_MAX / 2);
	put_all(out, "cmd", cmdline, SERVICE_REQUEST_MAX / 4);
	for (; env && *env; env++)
		if (manifest_shows(*env))
			put(out, "env", *env, 0);
	if (fclose(out))
		return -ENOMEM;
	*text_ret = TAKE_PTR(text);
	*len_ret = len;
	return 0;
}

/* --- parsing --------------------------------------------------------------------------------------- */

static char *value_of(char *entry, const char *key)
{
	size_t n = strlen(key);

	return !strncmp(entry, key, n) && entry[n] == '=' ? entry + n + 1 : NULL;
}

/* Makes room for three vectors of at most N words, each with its NULL. */
static int vectors(struct service_request *rq, size_t n)
{
	rq->words = calloc(3 * (n + 1), sizeof(*rq->words));
	if (!rq->words)
		return -ENOMEM;
	rq->cmdline = rq->words;
	rq->argv = rq->words + n + 1;
	rq->environ = rq->words + 2 * (n + 1);
	return 0;
}

static int option_take(struct service_request *rq, char *option)
{
	char *equals = strchr(option, '=');

	if (rq->n_options == CONFIG_GIVEN_MAX)
		return -EPROTO;
	if (equals)
		*equals++ = '\0';
	rq->options[rq->n_options++] = (struct config_given){ option, equals };
	return 0;
}

int service_request_parse(struct service_request *rq, const char *text, size_t len)
{
	size_t n = 0, n_cmd = 0, n_arg = 0, n_env = 0;
	char *next, *value;
	int r;

	if (len < sizeof(magic) || len > SERVICE_REQUEST_MAX || text[len - 1])
		return -EPROTO;
	if (memcmp(text, magic, sizeof(magic)))
		return strncmp(text, "dltraced ", 9) ? -EPROTO : -EPROTONOSUPPORT;
	rq->text = malloc(len);
	if (!rq->text)
		return -ENOMEM;
	memcpy(rq->text, text, len);
	for (size_t i = 0; i < len; i++)
		n += !text[i];
	r = vectors(rq, n);
	for (char *entry = rq->text + sizeof(magic); !r && entry < rq->text + len; entry = next) {
		next = entry + strlen(entry) + 1;
		if ((value = value_of(entry, "opt")))
			r = option_take(rq, value);
		else if ((value = value_of(entry, "cmd")))
			rq->cmdline[n_cmd++] = value;
		else if ((value = value_of(entry, "arg")))
			rq->argv[n_arg++] = value;
		else if ((value = value_of(entry, "env")))
			rq->environ[n_env++] = value;
		else if ((value = value_of(entry, "cwd")))
			rq->cwd = value;
		else if ((value = value_of(entry, "log")))
			rq->log = true;
		else
			r = -EPROTO;
	}
	if (!n_arg)
		rq->argv = NULL;
	return r;
}

void service_request_free(struct service_request *rq)
{
	while (rq->n_fds)
		util_close(&rq->fds[--rq->n_fds]);
	free(rq->text);
	free(rq->words);
	*rq = (struct service_request){};
}

/* --- packets --------------------------------------------------------------------------------------- */

int service_send(int fd, const void *packet, size_t len, const int *fds, unsigned int n)
{
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE((SERVICE_PIDS_MAX + 1) * sizeof(int))];
	} control = {};
	struct iovec iov = { (void *)packet, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n > SERVICE_PIDS_MAX + 1)
		return -E2BIG;
	if (n) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.hdr = (struct cmsghdr){ CMSG_LEN(n * sizeof(int)), SOL_SOCKET, SCM_RIGHTS };
		memcpy(CMSG_DATA(&control.hdr), fds, n * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Takes the descriptors of a packet. If there are more than MAX, closes the rest, and the packet is invalid. */
static int take_fds(struct msghdr *msg, int *fds, unsigned int max, unsigned int *n_ret)
{
	bool many = msg->msg_flags & MSG_CTRUNC;

	for (struct cmsghdr *cmsghdr = CMSG_FIRSTHDR(msg); cmsghdr; cmsghdr = CMSG_NXTHDR(msg, cmsghdr)) {
		size_t n = (cmsghdr->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		if (cmsghdr->cmsg_level != SOL_SOCKET || cmsghdr->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < n; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(cmsghdr) + i * sizeof(fd), sizeof(fd));
			if (*n_ret < max)
				fds[(*n_ret)++] = fd;
			else
				many = close(fd) == 0 || many;
		}
	}
	return many ? -E2BIG : 0;
}

ssize_t service_recv(int fd, void *packet, size_t size, int *fds, unsigned int max, unsigned int *n_ret)
{
	union {
		struct cmsghdr hdr;
		char room[CMSG_SPACE((SERVICE_PIDS_MAX + 1) * sizeof(int))];
	} control;
	struct iovec iov = { packet, size };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)
	};
	unsigned int none = 0;
	bool reset = false;
	ssize_t n;
	int r;

	if (!n_ret)
		n_ret = &none;
	*n_ret = 0;
	/*
	 * A peer that closes with packets of ours unread resets the connection, and recv(2) returns that error before
	 * the packets that the peer has sent (net/unix/af_unix.c, unix_release_sock), which are still there.
	 */
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || (errno == ECONNRESET && !reset && (reset = true))));
	if (n < 0)
		return -errno;
	r = take_fds(&msg, fds, fds ? max : 0, n_ret);
	if (msg.msg_flags & MSG_TRUNC)
		r = -EMSGSIZE;
	if (r < 0)
		return r;
	return n ? n : -ECONNRESET;
}

void service_end_put(char word[SERVICE_WORD_MAX], int status, uint64_t lost, const uint64_t usage[USAGES])
{
	int len = snprintf(word, SERVICE_WORD_MAX, "exit %d %" PRIu64, status, lost);

	for (enum usage i = USAGE_WALL_NS + 1; i < USAGES; i++)
		len += snprintf(word + len, (size_t)(SERVICE_WORD_MAX - len), " %" PRIu64, usage[i]);
}

bool service_end_parse(struct service_end *end, const char *word)
{
	enum usage i = USAGE_WALL_NS + 1;
	int n;

	*end = (struct service_end){ .status = 0 };
	if (sscanf(word, "exit %d%n %" SCNu64 "%n", &end->status, &n, &end->lost, &n) < 1)
		return false;
	for (word += n; i < USAGES && sscanf(word, " %" SCNu64 "%n", &end->usage[i], &n) == 1; i++)
		word += n;
	end->has_usage = i == USAGES;
	return true;
}
