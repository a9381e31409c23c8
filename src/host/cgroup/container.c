/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/cgroup/container.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/util.h"
#include "host/helper.h"
#include "host/process.h"

#define ID_LEN 64
#define ID_MIN 12 /* what docker ps shows */
#define HEX "0123456789abcdef"
#define NAME_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"
#define SCOPE ".scope" /* systemd's unit around it */
#define MONITOR "conmon-" /* before the id: podman's process beside the container */
#define DEADLINE_NS (5 * NSEC_PER_SEC)

static const char *const runtimes[] = { "docker", "podman", "nerdctl" };

const char *container_id_in(const char *name)
{
	size_t len = strlen(name), scope = strlen(SCOPE), monitor = strlen(MONITOR);

	if (len > scope && !strcmp(name + len - scope, SCOPE))
		len -= scope;
	if (len < ID_LEN || strspn(name + len - ID_LEN, HEX) < ID_LEN)
		return NULL;
	if (len >= ID_LEN + monitor && !strncmp(name + len - ID_LEN - monitor, MONITOR, monitor))
		return NULL;
	return name + len - ID_LEN;
}

static bool is_id(const char *name)
{
	size_t len = strlen(name);

	return len >= ID_MIN && len <= ID_LEN && strspn(name, HEX) == len;
}

/* --- by id ------------------------------------------------------------------------------------ */

struct search {
	const char *id; /* or a prefix of it */
	const struct cgroup_mount *mount;
	struct cgroup_list *list;
	char found[ID_LEN];
	bool ambiguous;
};

static int search_dir(void *ctx, const char *dir)
{
	struct search *s = ctx;
	const char *id = container_id_in(strrchr(dir, '/') + 1);

	if (!id || strncmp(id, s->id, strlen(s->id)))
		return 0;
	s->ambiguous |= s->found[0] && memcmp(s->found, id, ID_LEN);
	memcpy(s->found, id, ID_LEN);
	return cgroup_append_dir(s->list, s->mount, dir);
}

/* Needs no runtime, and finds containers unknown to the runtimes here (Kubernetes, other users'). */
static int find_by_id(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *id, char *error,
		      size_t size)
{
	struct search s = { .id = id, .list = list };
	int r = 0;

	for (unsigned int i = 0; !r && i < mounts->n; i++) {
		s.mount = &mounts->items[i];
		r = cgroup_walk(s.mount->dir, search_dir, &s);
	}
	if (r < 0)
		snprintf(error, size, "--container %s: %s", id, strerror(-r));
	if (!s.ambiguous)
		return r;
	snprintf(error, size, "--container %s: more than one container's id begins with it", id);
	return -EINVAL;
}

/* --- by name ---------------------------------------------------------------------------------- */

/*
 * Of our environment only the variables that locate a runtime of this machine. No HOME, since the context
 * configured there may be another machine's, whose pids mean nothing here.
 */
static const char *const runtime_environ[] = {
	"CONTAINERD_ADDRESS=", "CONTAINERD_NAMESPACE=", "CONTAINER_HOST=unix:", "DOCKER_HOST=unix:", NULL,
};

/* "PID ID" of a runtime; the ID may be missing. 0 or -EPROTO. */
static int parse_answer(const char *text, pid_t *pid, char id[ID_LEN + 1])
{
	char *end;
	long n = strtol(text, &end, 10);
	size_t len;

	*id = '\0';
	if (end == text || n < 0 || n > INT32_MAX)
		return -EPROTO;
	*pid = (pid_t)n;
	if (*end == ' ') {
		len = strspn(++end, HEX);
		if (len != ID_LEN)
			return -EPROTO;
		memcpy(id, end, len);
		id[len] = '\0';
		end += len;
	}
	return *end == '\n' || !*end ? 0 : -EPROTO;
}

/* Finds the ID of the container NAME in RUNTIME, and its first process, 0 when it does not run. Returns 0 or -errno. */
static int inspect(const char *runtime, const char *name, int stop_fd, pid_t *pid_ret, char id[ID_LEN + 1])
{
	const char *const argv[] = { runtime,  "inspect",   "-f", "{{.State.Pid}} {{.Id}}",
				     "--type", "container", name, NULL };
	char text[128];
	int status, r = helper_output(argv, runtime_environ, HELPER_STDOUT, DEADLINE_NS, stop_fd, text, sizeof(text),
				      &status);

	if (r < 0)
		return r;
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return -ESRCH;
	return parse_answer(text, pid_ret, id);
}

/* Returns the length of PATH up to and including the component that is a container's, or 0. */
static size_t container_end(const char *path)
{
	size_t best = 0;

	for (const char *s = path; *s;) {
		char name[256];
		size_t slash = strspn(s, "/"), len = strcspn(s + slash, "/");

		snprintf(name, sizeof(name), "%.*s", (int)len, s + slash);
		s += slash + len;
		if (container_id_in(name))
			best = (size_t)(s - path);
	}
	return best;
}

int container_cgroups(struct cgroup_list *list, const struct cgroup_mounts *mounts, const char *proc_cgroup)
{
	autofree char *text = strdup(proc_cgroup);
	char *rest = text;
	int r = text ? 0 : -ENOMEM;

	/* "ID:CONTROLLERS:PATH" (cgroups(7)) */
	for (char *line; !r && (line = strsep(&rest, "\n"));) {
		char *colon, *path;
		long id = strtol(line, &colon, 10);
		size_t len;

		path = *colon == ':' ? strchr(colon + 1, ':') : NULL;
		len = path ? container_end(++path) : 0;
		if (!len)
			continue;
		path[len] = '\0';
		for (unsigned int i = 0; i < mounts->n; i++) {
			if (mounts->items[i].hierarchy != id)
				continue;
			r = cgroup_append(list, &mounts->items[i], path);
			if (r != -ENOENT) /* another mount may show it */
				break;
			r = 0;
		}
	}
	return r;
}

/* The answer of an installed runtime, as part of a message. */
static const char *answer(int r)
{
	if (r == 0)
		return "does not run";
	if (r == -ESRCH)
		return "not known";
	if (r == -ETIMEDOUT)
		return "no answer";
	if (r == -EPROTO || r == -EMSGSIZE)
		return "an answer that cannot be understood";
	return strerror(-r);
}

/* Does RUNTIME still say that PID is the first process of the container NAME, which is ID? */
static bool is_first_of(const char *runtime, const char *name, int stop_fd, pid_t pid, const char *id)
{
	char id_now[ID_LEN + 1];
	pid_t now;

	return inspect(runtime, name, stop_fd, &now, id_now) == 0 && now == pid && !strcmp(id_now, id);
}

/*
 * RUNTIME has said that PID is the first process of container NAME, which is ID, and is asked again after the look:
 * else the container may have ended, and the number been given to another process meanwhile.
 */
static int find_by_process(struct cgroup_list *list, pid_t *pid_ret, const struct cgroup_mounts *mounts,
			   const char *runtime, pid_t pid, const char *id, const char *name, int stop_fd, char *error,
			   size_t size)
{
	unsigned int before = list->n;
	autofree char *text = NULL;
	int r = process_text(pid, "cgroup", PROCESS_TEXT_MAX, &text, NULL);

	if (!r && !is_first_of(runtime, name, stop_fd, pid, id))
		r = -ESRCH;
	if (!r)
		r = container_cgroups(list, mounts, text);
	if (r < 0)
		snprintf(error, size, "--container %s: process %d: %s", name, pid, strerror(-r));
	*pid_ret = !r && list->n == before ? pid : 0;
	return r;
}

static int find_by_name(struct cgroup_list *list, pid_t *pid_ret, const struct cgroup_mounts *mounts, const char *name,
			int stop_fd, char *error, size_t size)
{
	unsigned int before = list->n;
	char answers[128] = "", id[ID_LEN + 1];
	size_t len = 0;
	pid_t pid = 0;

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++) {
		int r = inspect(runtimes[i], name, stop_fd, &pid, id);

		if (r == -ECANCELED)
			return r;
		if (!r && pid)
			return find_by_process(list, pid_ret, mounts, runtimes[i], pid, id, name, stop_fd, error, size);
		if (!r && *id) { /* starting: no process yet, but maybe a cgroup */
			r = find_by_id(list, mounts, id, error, size);
			if (r < 0 || list->n > before)
				return r;
		}
		if (r != -ENOENT) /* the program exists */
			len += (size_t)snprintf(answers + len, sizeof(answers) - len, "%s%s: %s", len ? "; " : "",
						runtimes[i], answer(r));
		len = MIN(len, sizeof(answers) - 1);
	}
	if (len || is_id(name)) {
		snprintf(error, size, "--container %s is not there yet%s%s%s", name, len ? " (" : "", answers,
			 len ? ")" : "");
		return -ESRCH;
	}
	snprintf(error, size,
		 "--container %s: not found, and docker, podman and nerdctl are not installed; "
		 "give 12 or more digits of its ID, or `new' for containers created from now on",
		 name);
	return -ENOENT;
}

int container_find(struct cgroup_list *list, pid_t *pid_ret, const struct cgroup_mounts *mounts, const char *name,
		   int stop_fd, char *error, size_t size)
{
	size_t len = strlen(name);
	unsigned int before = list->n;
	int r;

	*pid_ret = 0;
	/* the rule of docker, podman and nerdctl; also keeps it from being an option */
	if (!len || strspn(name, NAME_CHARS) < len || strchr("_.-", name[0])) {
		snprintf(error, size, "--container: not a container's name or id");
		return -EINVAL;
	}
	if (is_id(name)) {
		r = find_by_id(list, mounts, name, error, size);
		if (r < 0 || list->n > before)
			return r;
	}
	return find_by_name(list, pid_ret, mounts, name, stop_fd, error, size);
}
