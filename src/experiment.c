/* SPDX-License-Identifier: BSD-2-Clause */
/* See experiment.h. A guess for people's convenience: nothing but the name depends on it. */
#include "experiment.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "outdir.h"
#include "util.h"

#define WORD_MAX 4096

static const char *const script_suffixes[] = { ".bash", ".jl", ".lua", ".pl", ".py",
					       ".R",	".rb", ".sh",  ".zsh" };

/* The next word of the shell text *S, cut at WORD_MAX. Quotes separate too: near enough. */
static bool next_word(const char **s, char word[WORD_MAX])
{
	static const char separators[] = " \t\n;&|()<>\"'`";
	size_t len;

	*s += strspn(*s, separators);
	len = strcspn(*s, separators);
	snprintf(word, WORD_MAX, "%.*s", (int)MIN(len, WORD_MAX), *s);
	*s += len;
	return len;
}

/* The last component of PATH, which it cuts slashes from. */
static const char *base_name(char *path)
{
	char *end = path + strlen(path);
	const char *slash;

	while (end > path && end[-1] == '/')
		*--end = '\0';
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Cut a script's suffix from NAME; false when it is none. */
static bool cut_suffix(char *name)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(script_suffixes); i++) {
		size_t suffix = strlen(script_suffixes[i]);

		if (len > suffix && strcmp(name + len - suffix, script_suffixes[i]) == 0) {
			name[len - suffix] = '\0';
			return true;
		}
	}
	return false;
}

/* An option, or NAME=VALUE in front of a command. */
static bool is_no_file(const char *word)
{
	return *word == '-' || word[strcspn(word, "=/")] == '=';
}

/* The first word that looks like a script, else the first that is a program. */
static void name_command(char *const *argv, char *name, size_t size)
{
	char word[WORD_MAX];

	*name = '\0';
	for (; *argv; argv++)
		for (const char *s = *argv; next_word(&s, word);) {
			bool script;

			if (is_no_file(word))
				continue;
			script = cut_suffix(word);
			if (script || !*name)
				outdir_part(name, size, base_name(word));
			if (script)
				return;
		}
}

void experiment_name(const struct config *cfg, char *name, size_t size)
{
	char *const shell[] = { cfg->shell_cmd, NULL };
	char path[WORD_MAX];

	if (cfg->argv) {
		name_command(cfg->shell_cmd ? shell : cfg->argv, name, size);
	} else if (cfg->n_pids) {
		snprintf(name, size, "pid%d", cfg->pids[0]);
	} else if (cfg->cgroups.n) {
		snprintf(path, sizeof(path), "%s", cfg->cgroups.items[0]);
		outdir_part(name, size, base_name(path));
	} else {
		outdir_part(name, size, cfg->containers.n ? cfg->containers.items[0] : "all");
	}
	if (!*name)
		snprintf(name, size, "trace");
}
