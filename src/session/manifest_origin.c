/* SPDX-License-Identifier: BSD-2-Clause */
/* The constant members of manifest.json: what was started, where, and by which program. */
#include <sys/utsname.h>

#include "base/version.h"
#include "dlt/dlt.h"
#include "host/git.h"
#include "host/machine/machine.h"
#include "host/stall/guard.h"
#include "session/manifest.h"
#include "session/manifest_members.h"
#include "job/python_path.h"
#include "session/state.h"
#include "trace/config.h"

static void put_list(struct json *j, const char *key, char *const *items)
{
	json_array(j, key);
	for (; items && *items; items++)
		json_str(j, NULL, *items);
	json_end(j);
}

/* Stands in place of what --no-args hides. */
static const char hidden[] = "(hidden)";

/* Puts dltraced's own command line, which ends with the workload's. */
static void put_cmdline(struct json *json, const struct session *session)
{
	const struct config *cfg = session->cfg;

	json_array(json, "cmdline");
	for (char *const *arg = session->argv; arg && *arg; arg++) {
		const char *shell = cfg->no_args ? cfg->shell_cmd : NULL;

		/* the text of --workload, alone or in "--workload=TEXT" */
		if (shell && *arg <= shell && shell <= *arg + strlen(*arg)) {
			json_str(json, NULL, hidden);
		} else if (cfg->no_args && cfg->argv && *arg == cfg->argv[0] && arg[1]) {
			json_str(json, NULL, *arg);
			json_str(json, NULL, hidden);
			break;
		} else {
			json_str(json, NULL, *arg);
		}
	}
	json_end(json);
}

void manifest_put_argv(struct json *j, const struct config *cfg)
{
	char *program[] = { cfg->argv[0], (char *)hidden, NULL };

	put_list(j, "argv", cfg->no_args && cfg->argv[1] ? program : cfg->argv);
}

static void put_config_list(struct json *j, const char *key, const struct config_list *list)
{
	json_array(j, key);
	for (unsigned int i = 0; i < list->n; i++)
		json_str(j, NULL, list->items[i]);
	json_end(j);
}

static void put_kernel(struct json *j)
{
	struct utsname u;
	autofree char *kernel = NULL;

	uname(&u); /* fails only for a bad address */
	kernel = util_fmt("%s %s %s", u.sysname, u.release, u.machine);
	json_str(j, "host", u.nodename);
	json_str(j, "kernel", kernel);
	json_str(j, "kernel_version", u.version);
}

/* Reads as the user: a link in the folder leads only where the user may go. */
static int read_git(struct git_head *head, const struct session *session)
{
	int r;

	stall_guard_begin(session->cwd, STALL_GUARD_BY_SIGNAL);
	r = privileges_as_user(&session->user);
	if (r == 0)
		r = git_head_read(head, session->cwd);
	privileges_as_root();
	stall_guard_end();
	return r;
}

static void put_git(struct json *json, const struct session *session)
{
	struct git_head h;

	if (!session->cwd || read_git(&h, session) < 0)
		return;
	json_object(json, "git");
	json_str(json, "folder", h.top);
	if (h.ref[0])
		json_str(json, "ref", h.ref);
	if (h.commit[0])
		json_str(json, "commit", h.commit);
	json_end(json);
}

void manifest_put_target(struct json *json, const struct config *cfg)
{
	json_object(json, "target");
	json_bool(json, "all", cfg->all);
	json_bool(json, "workload", cfg->argv);
	json_array(json, "pids");
	for (unsigned int i = 0; i < cfg->n_pids; i++)
		json_u64(json, NULL, (uint64_t)cfg->pids[i]);
	json_end(json);
	put_config_list(json, "cgroups", &cfg->cgroups);
	put_config_list(json, "containers", &cfg->containers);
	put_config_list(json, "comm", &cfg->comm);
	put_config_list(json, "exclude_comm", &cfg->exclude_comm);
	put_config_list(json, "disks", &cfg->disks);
	json_end(json);
}

int manifest_begin(struct session *session)
{
	struct json *json = &session->manifest.head;

	json_object(json, NULL);
	json_str(json, "tool", "dltraced");
	json_str(json, "version", version_text);
	json_u64(json, "schema", DLT_SCHEMA);
	put_cmdline(json, session);
	json_str(json, "cwd", session->cwd);
	json_str(json, "experiment", session->cfg->experiment);
	if (python_path_is_set(session->cfg))
		json_str(json, "regions", "auto");
	if (session->cfg->nvtx)
		json_bool(json, "nvtx", true);
	manifest_put_target(json, session->cfg);
	put_git(json, session);
	json_object(json, "environment");
	manifest_put_environ(json, session->environ);
	json_end(json);
	put_kernel(json);
	json_object(json, "machine");
	machine_put(json, "");
	json_end(json);
	json_object(json, "clock");
	machine_put_clock(json, "");
	json_end(json);
	return json->error;
}
