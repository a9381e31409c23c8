/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment variables that a manifest shows. Pure. */
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "os/env.h"
#include "session/manifest.h"

#define VARIABLES_MAX 512
#define VALUE_MAX 4096

/* Ranks, launchers, and settings of libraries that training jobs use. */
static const char *const prefixes[] = {
	"CUDA_", "DALI_",     "KMP_",     "LOCAL_RANK", "MASTER_", "MKL_", "NCCL_",  "OMPI_COMM_WORLD_",
	"OMP_",  "OPENBLAS_", "PYTORCH_", "RANK",       "SLURM_",  "TF_",  "TORCH_", "WORLD_SIZE",
};

static const char *const secrets[] = { "AUTH", "COOKIE",  "CRED",   "JWT",   "KEY",
				       "PASS", "PRIVATE", "SECRET", "SPANK", "TOKEN" };

bool manifest_shows(const char *entry)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (strncmp(entry, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

static bool is_secret(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(secrets); i++)
		if (strcasestr(name, secrets[i]))
			return true;
	return false;
}

/* Whether VALUE has a part such as "scheme://user:password@host". */
static bool has_password(const char *value)
{
	const char *at = strstr(value, "://");
	size_t len = at ? strcspn(at + 3, "/ ") : 0;

	return at && memchr(at + 3, '@', len);
}

void manifest_put_environ(struct json *json, char *const *env)
{
	unsigned int n = 0;

	for (char *const *entry = env; entry && *entry && n < VARIABLES_MAX; entry++) {
		size_t len = strcspn(*entry, "=");
		autofree char *name = util_fmt("%.*s", (int)len, *entry);
		const char *value = *entry + len;

		/* of several entries with one name the first counts, as in getenv() */
		if (!name || !*value || !manifest_shows(name) || env_find(env, *entry) != *entry)
			continue;
		value++;
		if (is_secret(name) || has_password(value))
			value = "(hidden)";
		json_strn(json, name, value, strnlen(value, VALUE_MAX));
		n++;
	}
}
