/* SPDX-License-Identifier: BSD-2-Clause */
/* The facts that an argument list shows of its process. Pure; texts are escaped as in the files. */
#include "report/why/names.h"

#include <string.h>

#include "base/util.h"
#include "stats/table.h"

static bool has(struct reader_field f, const char *part)
{
	return memmem(f.p, f.len, part, strlen(part)) != NULL;
}

static bool begins(struct reader_field f, const char *with)
{
	return f.len >= strlen(with) && memcmp(f.p, with, strlen(with)) == 0;
}

/* Returns the last component of the program's name, without the dash before a login shell's. */
static struct reader_field base_of(struct reader_field args)
{
	const char *nul = memmem(args.p, args.len, "\\000", 4), *slash;
	struct reader_field f = { args.p, nul ? (size_t)(nul - args.p) : args.len };

	slash = memrchr(f.p, '/', f.len);
	if (slash)
		f = (struct reader_field){ slash + 1, f.len - (size_t)(slash + 1 - f.p) };
	if (f.len && f.p[0] == '-')
		f = (struct reader_field){ f.p + 1, f.len - 1 };
	return f;
}

#define CONTAINER_ID 64 /* hex digits */
#define MONITOR "conmon-" /* podman's process beside a container, in a cgroup of its own */

static bool is_hex(struct reader_field f)
{
	for (size_t i = 0; i < f.len; i++)
		if (!strchr("0123456789abcdef", f.p[i]))
			return false;
	return true;
}

static bool ends(struct reader_field f, const char *with)
{
	const size_t len = strlen(with);

	return f.len >= len && memcmp(f.p + f.len - len, with, len) == 0;
}

/* Whether NAME, of a cgroup, is a container's: <id>, docker-<id>.scope, libpod-<id> and so on. */
static bool is_container(struct reader_field name)
{
	const struct reader_field id = { name.p + name.len - CONTAINER_ID, CONTAINER_ID };

	if (ends(name, ".scope"))
		return is_container((struct reader_field){ name.p, name.len - strlen(".scope") });
	return name.len >= CONTAINER_ID && is_hex(id) &&
	       !ends((struct reader_field){ name.p, name.len - CONTAINER_ID }, MONITOR);
}

unsigned int why_containers_of(struct reader_field path)
{
	unsigned int n = 0;

	for (const char *p = path.p, *end = path.p + path.len, *next; p < end; p = next + 1) {
		next = memchr(p, '/', (size_t)(end - p));
		next = next ? next : end;
		n += is_container((struct reader_field){ p, (size_t)(next - p) });
	}
	return MIN(n, UINT8_MAX);
}

bool why_is_runtime(struct reader_field name)
{
	static const char *const runtimes[] = {
		"aardvark-dns", "buildah",      "conmon",  "containerd",     "containerd-shim", "crun",     "ctr",
		"docker",       "docker-proxy", "dockerd", "fuse-overlayfs", "kubelet",         "netavark", "nerdctl",
		"pasta",        "podman",       "runc",    "slirp4netns",    "youki",
	};

	for (size_t i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (reader_is(name, runtimes[i]))
			return true;
	return begins(name, "containerd-shim") || begins(name, "runc:["); /* a part of a name; runc's stages */
}

bool why_is_shell(struct reader_field name)
{
	static const char *const shells[] = { "sh",   "bash", "dash",    "ksh", "zsh",     "tmux",
					      "sudo", "time", "timeout", "env", "dltraced" };

	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		if (reader_is(name, shells[i]))
			return true;
	return false;
}

bool why_is_interpreter(struct reader_field name)
{
	static const char *const interpreters[] = { "R",    "Rscript", "java", "julia",  "lua", "node",
						    "perl", "php",     "pypy", "python", "ruby" };
	struct reader_field bare = name;

	/* as in python3.12 */
	while (bare.len > 1 &&
	       (bare.p[bare.len - 1] == '.' || (bare.p[bare.len - 1] >= '0' && bare.p[bare.len - 1] <= '9')))
		bare.len--;
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (reader_is(bare, interpreters[i]))
			return true;
	return false;
}

void why_program(struct report_proc *p, struct reader_field args)
{
	p->shell = why_is_shell(base_of(args));
	p->interpreter = why_is_interpreter(base_of(args));
	/* a worker that is spawned, not forked, runs the program anew; a resource tracker only tidies up */
	p->spawned = has(args, "multiprocessing") && !has(args, "resource_tracker");
	p->args = args.len > 1 ? table_key(args.p, args.len) : 0;
}
