/* SPDX-License-Identifier: BSD-2-Clause */
/* See experiment.h. A guess for convenience: only the name depends on it. */
#include "host/experiment.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "trace/config.h"
#include "trace/outdir.h"

#define WORD_MAX 4096
#define DEPTH_MAX 4

static const char *const script_suffixes[] = { ".bash", ".jl", ".lua", ".pl", ".py", ".R", ".rb", ".sh", ".zsh" };

/*
 * Parses the next word of the shell text *S, cut at WORD_MAX: with the shell's quotes and backslashes, more
 * or less, and without expansions.
 */
static bool next_word(const char **s, char word[WORD_MAX])
{
	static const char separators[] = " \t\n;&|()<>`";
	char quote = '\0';
	size_t len = 0;

	*s += strspn(*s, separators);
	if (!**s)
		return false;
	for (char c; (c = **s) && (quote || !strchr(separators, c)); (*s)++) {
		if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? '\0' : c;
			continue;
		}
		if (c == '\\' && quote != '\'' && (*s)[1])
			c = *++*s;
		if (len + 1 < WORD_MAX)
			word[len++] = c;
	}
	word[len] = '\0';
	return true;
}

/* The last component of PATH, whose trailing slashes it cuts off. */
static const char *base_name(char *path)
{
	char *end = path + strlen(path);
	const char *slash;

	while (end > path && end[-1] == '/')
		*--end = '\0';
	slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* Cut a script's suffix from NAME; false when it has none. */
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

struct naming {
	char *name; /* after the first word that looks like a script, else after the first that is a program */
	size_t size;
	bool text_next; /* the last word was -c or the like */
	int depth; /* depth of shell text in shell text */
};

static bool take_word(struct naming *naming, char *word);

static bool take_text(struct naming *naming, const char *text)
{
	char word[WORD_MAX];
	bool found = false;

	naming->depth++;
	naming->text_next = false;
	while (!found && next_word(&text, word))
		found = take_word(naming, word);
	naming->depth--;
	return found;
}

/* Returns true when it is a script. The word after an option that ends in c (sh -lc) is shell text again. */
static bool take_word(struct naming *naming, char *word)
{
	bool text = (naming->text_next || strpbrk(word, ";&|\n")) && naming->depth < DEPTH_MAX, script;

	naming->text_next = *word == '-' && word[strlen(word) - 1] == 'c';
	if (text)
		return take_text(naming, word);
	if (is_no_file(word))
		return false;
	script = cut_suffix(word);
	if (script || !*naming->name)
		outdir_part(naming->name, naming->size, base_name(word));
	return script;
}

static void name_command(char *const *argv, char *name, size_t size)
{
	struct naming n = { .name = name, .size = size };
	char word[WORD_MAX];

	*name = '\0';
	for (bool found = false; *argv && !found; argv++) {
		snprintf(word, sizeof(word), "%s", *argv);
		found = take_word(&n, word);
	}
}

void experiment_name(const struct config *cfg, char *name, size_t size)
{
	char *const shell[] = { "-c", cfg->shell_cmd, NULL };
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
