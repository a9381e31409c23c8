/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/exec_error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/util.h"
#include "host/path_search.h"

#define LINE_MAX_BYTES 256 /* the kernel reads as much of a script's first line */
#define BLANKS " \t\n"

/* --- words that only a shell understands --------------------------------------------------------------- */

/* A word that is no file, and what begins a line with it. */
static const struct shell_word {
	const char *word, *by;
} shell_words[] = {
#define BY_SH "--workload \""
#define BY_BASH "-- bash -c \""
#define BY_LOGIN "-- bash -lc \"" /* a function of the files that a login shell reads */
	{ ".", BY_SH },         { ":", BY_SH },          { "alias", BY_SH },     { "bg", BY_BASH },
	{ "break", BY_SH },     { "builtin", BY_BASH },  { "case", BY_SH },      { "cd", BY_SH },
	{ "command", BY_SH },   { "continue", BY_SH },   { "declare", BY_BASH }, { "eval", BY_SH },
	{ "exec", BY_SH },      { "exit", BY_SH },       { "export", BY_SH },    { "fg", BY_BASH },
	{ "for", BY_SH },       { "function", BY_BASH }, { "if", BY_SH },        { "jobs", BY_BASH },
	{ "let", BY_BASH },     { "local", BY_BASH },    { "ml", BY_LOGIN },     { "module", BY_LOGIN },
	{ "popd", BY_BASH },    { "pushd", BY_BASH },    { "read", BY_SH },      { "return", BY_SH },
	{ "set", BY_SH },       { "shift", BY_SH },      { "shopt", BY_BASH },   { "source", BY_BASH },
	{ "time", BY_BASH },    { "times", BY_SH },      { "trap", BY_SH },      { "type", BY_SH },
	{ "typeset", BY_BASH }, { "ulimit", BY_SH },     { "umask", BY_SH },     { "unset", BY_SH },
	{ "until", BY_SH },     { "wait", BY_SH },       { "while", BY_SH },
};

/* Explains WORD if it is a word of shells. */
static bool explain_shell_word(const char *word, char *buf, size_t size)
{
	for (size_t i = 0; i < ARRAY_SIZE(shell_words); i++) {
		if (strcmp(word, shell_words[i].word))
			continue;
		snprintf(buf, size, "a word of the shell, not a program: give the whole line to a shell, by %s%s ...\"",
			 shell_words[i].by, word);
		return true;
	}
	return false;
}

static bool is_assignment(const char *word)
{
	size_t len = 0;

	while (isalnum((unsigned char)word[len]) || word[len] == '_')
		len++;
	return len && !isdigit((unsigned char)*word) && word[len] == '=';
}

/* --- a file that cannot be executed -------------------------------------------------------------------- */

/* Reads the first line of PATH, if it is a regular file. Returns how many bytes it has without its end. */
static size_t first_line(const char *path, char line[LINE_MAX_BYTES + 1])
{
	autoclose int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t n = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, line, LINE_MAX_BYTES) : 0;

	line[MAX(n, 0)] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return strlen(line);
}

/* PATH is there, but its interpreter or loader is not (ENOENT), or may not be executed (EACCES). */
static void explain_interpreter(const char *path, int r, char *buf, size_t size)
{
	char line[LINE_MAX_BYTES + 1], *name = line + 2;
	size_t len = first_line(path, line);

	if (len < 2 || strncmp(line, "#!", 2)) {
		snprintf(buf, size, "%s",
			 r == -EACCES ? strerror(EACCES) :
					"the file is there, but not the loader that it was built for (readelf -l names "
					"it): it belongs to another system, or lacks its C library");
		return;
	}
	if (line[len - 1] == '\r') {
		snprintf(buf, size,
			 "a script whose first line ends with a carriage return, as on Windows: sed -i 's/\\r$//' %s",
			 path);
		return;
	}
	name += strspn(name, BLANKS);
	name[strcspn(name, BLANKS)] = '\0';
	snprintf(buf, size,
		 "a script whose interpreter %s: its first line names %s: correct that line, or name the interpreter, "
		 "as in -- python3 %s",
		 r == -ENOENT ? "does not exist" : "cannot be executed", *name ? name : "none", path);
}

static void explain_denied(const char *path, const struct stat *st, char *buf, size_t size)
{
	struct statvfs fs;

	if (S_ISDIR(st->st_mode))
		snprintf(buf, size, "a folder, not a program");
	else if (!S_ISREG(st->st_mode))
		snprintf(buf, size, "not a file with a program");
	else if (statvfs(path, &fs) == 0 && fs.f_flag & ST_NOEXEC)
		snprintf(buf, size,
			 "on a file system that is mounted with noexec: move it, or name its interpreter, as in -- "
			 "python3 %s",
			 path);
	else if (access(path, X_OK) < 0 && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0)
		snprintf(buf, size,
			 "not executable by this user: chmod +x %s, or name its interpreter, as in -- python3 %s", path,
			 path);
	else
		explain_interpreter(path, -EACCES, buf, size);
}

/* --- a name that leads to no file ------------------------------------------------------------------------ */

static void explain_not_found(const char *name, char *buf, size_t size)
{
	struct stat st;

	if (!*name)
		snprintf(buf, size, "the command is an empty word");
	else if (is_assignment(name))
		snprintf(buf, size,
			 "an assignment, which only a shell understands: -- env %s ..., or --workload \"%s ...\"", name,
			 name);
	else if (explain_shell_word(name, buf, size))
		;
	else if (name[strcspn(name, BLANKS)])
		snprintf(buf, size,
			 "one word with blanks: give its words without quotes, as in -- python3 train.py, or the line "
			 "by --workload");
	else if (!strchr(name, '/') && stat(name, &st) == 0 && S_ISREG(st.st_mode))
		snprintf(buf, size,
			 "not a program in PATH; the file in this folder is ./%s, or by its interpreter, as in -- "
			 "python3 %s",
			 name, name);
	else if (!strchr(name, '/'))
		snprintf(buf, size,
			 "no such program in PATH: correct its name, give its path, or activate the environment that "
			 "has it");
	else if (lstat(name, &st) == 0 && S_ISLNK(st.st_mode))
		snprintf(buf, size, "a symbolic link to a file that does not exist");
	else
		snprintf(buf, size, "%s", strerror(ENOENT));
}

void exec_error_text(const char *name, const char *path_env, int r, char *buf, size_t size)
{
	char path[PATH_MAX];
	const int found = path_search(name, path_env, path, sizeof(path));
	struct stat st;

	if (r == -ENOENT && found == -ENOENT)
		explain_not_found(name, buf, size);
	else if (r == -ENOENT && !found)
		explain_interpreter(path, r, buf, size);
	else if (r == -EACCES && (!found || strchr(name, '/')) && stat(path, &st) == 0)
		explain_denied(path, &st, buf, size);
	else if (r == -EAGAIN)
		snprintf(buf, size, "the user has as many processes as the limit allows (ulimit -u)");
	else if (r == -E2BIG)
		snprintf(buf, size,
			 "its arguments and its environment are longer than the kernel takes (getconf ARG_MAX)");
	else
		snprintf(buf, size, "%s", strerror(-r));
}
