/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See cxx_name.h. libstdc++ demangles. It is loaded only for a trace with symbols of C++, as the rest of the program
 * does without it.
 *
 * A symbol of 200 bytes can have a name of 100 MB, as each substitution (S_) stands for an earlier part of the name and
 * two of them double it; where conversions nest (_ZcvT_IL_Z...), parsing alone takes exponential time. A limit on the
 * symbol's length does not prevent this, nor does one on its substitutions: real names have up to 40 of
 * them, and 20 are enough for an attack. So a child process demangles, with limits of CPU time and memory that the
 * kernel keeps.
 */
#include "report/memory/cxx_name.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"

#define LIBRARY "libstdc++.so.6"
#define SYMBOL_MAX 1024 /* bytes; the library itself takes no more since GCC 8.3, before it only recursed deeper */
#define CHILDREN_MAX 3 /* each one that a symbol ended is followed by one for the symbols behind that */
#define CPU_S 1 /* of a child, which demangles some 100,000 symbols in it */
#define MEMORY_BYTES (64ULL << 20) /* likewise, above what it has at its start */
#define HASH_LEN 17 /* of Rust: the last part of a name, h and 16 digits */

typedef char *(*demangle_fn)(const char *symbol, char *buf, size_t *size, int *status);

/* --- from a declaration to a name -------------------------------------------------------------------------------- */

/* Returns the bytes at P that are the token "operator" with its sign, 0 where it is another one, or has no sign. */
static size_t operator_len(const char *p)
{
	static const char *const signs[] = { "()", "[]", "<=>", "<<=", ">>=", "->*", "->",
					     "<<", ">>", "<=",  ">=",  "<",   ">" };
	const size_t len = strlen("operator");

	if (strncmp(p, "operator", len) != 0)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (!strncmp(p + len, signs[i], strlen(signs[i])))
			return len + strlen(signs[i]);
	return 0;
}

/* Returns the end of the parentheses at P, NULL where they do not end. */
static const char *parens_end(const char *p)
{
	unsigned int depth = 0;

	for (; *p; p++) {
		depth += *p == '(';
		depth -= *p == ')';
		if (!depth)
			return p + 1;
	}
	return NULL;
}

/* Likewise of template arguments: parentheses are around each expression with other signs < and >. */
static const char *arguments_end(const char *p)
{
	unsigned int depth = 0;

	while (p && *p) {
		if (*p == '(') {
			p = parens_end(p);
			continue;
		}
		p += operator_len(p);
		depth += *p == '<';
		depth -= *p == '>';
		if (*p && *p++ == '>' && !depth)
			return p;
	}
	return NULL;
}

/* Returns P behind the qualifiers of a member function. */
static const char *behind_qualifiers(const char *p)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };

	for (size_t i = 0; i < ARRAY_SIZE(qualifiers); i++)
		if (!strncmp(p, qualifiers[i], strlen(qualifiers[i])))
			p += strlen(qualifiers[i]);
	return p;
}

/* A name while it grows. */
struct name {
	char text[CXX_NAME_MAX + 1];
	size_t len;
	bool spaces; /* are in it from here on: of "operator new" and "operator unsigned int" */
};

static bool put(struct name *name, const char *p, size_t len)
{
	if (CXX_NAME_MAX - name->len < len)
		return false;
	memcpy(name->text + name->len, p, len);
	name->len += len;
	return true;
}

static void clear(struct name *name)
{
	name->len = 0;
	name->spaces = false;
}

/* Does a token begin here? */
static bool at_token(const struct name *name)
{
	const char last = name->len ? name->text[name->len - 1] : ':';

	return last == ':' || last == ' ';
}

/* Puts a part in braces, such as {lambda(int)#1}, without its parameters. Returns its end, or NULL. */
static const char *put_braces(struct name *name, const char *p)
{
	for (; p && *p && *p != '}'; p = *p == '(' ? parens_end(p) : p + 1)
		if (*p == '<' || (*p != '(' && !put(name, p, 1)))
			return NULL;
	return p && *p && put(name, p, 1) ? p + 1 : NULL;
}

/*
 * Takes the parentheses at P: the parameters of a function, within which there may be the named one ("::" follows), or
 * a part of a type. Returns where to go on, "" at the end of the name, or NULL.
 */
static const char *take_parens(struct name *name, const char *p)
{
	static const char unnamed[] = "(anonymous namespace)";

	if (!strncmp(p, unnamed, sizeof(unnamed) - 1))
		return put(name, p, sizeof(unnamed) - 1) ? p + sizeof(unnamed) - 1 : NULL;
	p = parens_end(p);
	if (!p)
		return NULL;
	p = behind_qualifiers(p);
	name->spaces = false;
	if (!*p || !strncmp(p, " [", 2) || !strncmp(p, " requires ", 10))
		return "";
	if (strncmp(p, "::", 2) != 0)
		clear(name);
	return p;
}

/* Takes what P begins with. Returns where to go on, "" at the end of the name, or NULL. */
static const char *take(struct name *name, const char *p)
{
	const size_t sign = at_token(name) ? operator_len(p) : 0;

	if (sign)
		return put(name, p, sign) ? p + sign : NULL;
	if (at_token(name) && !strncmp(p, "operator", 8) && (p[8] == ' ' || p[8] == '"')) {
		name->spaces = true;
		return put(name, p, 8) ? p + 8 : NULL;
	}
	if (*p == '<')
		return arguments_end(p);
	if (*p == '(')
		return take_parens(name, p);
	if (*p == '{')
		return put_braces(name, p);
	if (!strncmp(p, "[abi:", 5))
		return (p = strchr(p, ']')) ? p + 1 : NULL;
	if (!strncmp(p, " [", 2)) /* a clone */
		return "";
	if (!strncmp(p, " <", 2)) /* of operator< <int> */
		return p + 1;
	if (*p == ' ' && !name->spaces) { /* it was a type */
		clear(name);
		return p + 1;
	}
	return put(name, p, 1) ? p + 1 : NULL;
}

static void drop_hash(struct name *name)
{
	const size_t len = HASH_LEN + strlen("::");
	const char *hash = name->text + name->len - len;

	if (name->len > len && !strncmp(hash, "::h", 3) && strspn(hash + 3, "0123456789abcdef") >= HASH_LEN - 1)
		name->len -= len;
}

/* Puts TEXT escaped, but for what names have: the spaces of "operator new" and the number sign of {lambda#1}. */
static void put_escaped(char *to, const char *text)
{
	while (*text) {
		const size_t len = strcspn(text, " #");

		to = text_put_piece(to, text, len);
		text += len;
		if (*text)
			*to++ = *text++;
	}
	*to = '\0';
}

bool cxx_name_plain(char ret[TEXT_ESCAPED_MAX(CXX_NAME_MAX)], const char *demangled)
{
	struct name name = { .len = 0 };
	const char *p = demangled;

	while (p && *p)
		p = take(&name, p);
	while (name.len && name.text[name.len - 1] == ' ')
		name.len--;
	drop_hash(&name);
	name.text[name.len] = '\0';
	if (p)
		put_escaped(ret, name.text);
	return p && name.len;
}

/* --- from symbols to declarations --------------------------------------------------------------------------------- */

/* Is it a function's? (_ZT and _ZG are tables, guards and the like.) */
static bool is_mangled(const char *symbol)
{
	return !strncmp(symbol, "_Z", 2) && symbol[2] != 'T' && symbol[2] != 'G' && strlen(symbol) < SYMBOL_MAX;
}

static demangle_fn library(void)
{
	static demangle_fn demangle;
	static bool tried;
	void *handle;

	if (tried)
		return demangle;
	tried = true;
	handle = dlopen(LIBRARY, RTLD_NOW);
	if (handle)
		demangle = (demangle_fn)dlsym(handle, "__cxa_demangle");
	if (!demangle)
		log_warn("stacks: C++ functions have the names of their symbols, as " LIBRARY
			 " is not installed (libstdc++6 on Debian, libstdc++ on RHEL)");
	return demangle;
}

static bool limit(void)
{
	const struct rlimit cpu = { CPU_S, CPU_S }; /* the hard limit ends it by SIGKILL, without a core dump */
	unsigned long long pages = 0;
	struct rlimit memory = { 0 };
	FILE *statm = fopen("/proc/self/statm", "re");
	const bool good = statm && fscanf(statm, "%llu", &pages) == 1;

	if (statm)
		fclose(statm);
	memory.rlim_cur = memory.rlim_max = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + MEMORY_BYTES;
	return good && setrlimit(RLIMIT_CPU, &cpu) == 0 && setrlimit(RLIMIT_AS, &memory) == 0;
}

/* The child: writes a line for each symbol, with its name, or empty. */
static __attribute__((noreturn)) void demangle_all(demangle_fn demangle, char **const *symbols, size_t n, int fd)
{
	FILE *out = limit() ? fdopen(fd, "w") : NULL;

	for (size_t i = 0; out && i < n; i++) {
		char name[TEXT_ESCAPED_MAX(CXX_NAME_MAX)], symbol[SYMBOL_MAX];
		char *text = NULL;
		int status;

		if (is_mangled(*symbols[i])) {
			snprintf(symbol, sizeof(symbol), "%.*s", (int)strcspn(*symbols[i], "@"), *symbols[i]);
			text = demangle(symbol, NULL, NULL, &status);
		}
		fprintf(out, "%s\n", text && cxx_name_plain(name, text) ? name : "");
		if (fflush(out) != 0)
			break;
		free(text);
	}
	_exit(EXIT_SUCCESS); /* not exit(3): buffered output belongs to the parent */
}

/* Sets the names of symbols until one ends the child. Returns that one's number, or N. */
static size_t demangle_some(demangle_fn demangle, char **const *symbols, char **names, size_t n)
{
	char line[TEXT_ESCAPED_MAX(CXX_NAME_MAX) + 1];
	size_t done = 0;
	int fds[2];
	FILE *in;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return n;
	pid = fork();
	if (pid == 0)
		demangle_all(demangle, symbols, n, fds[1]);
	close(fds[1]);
	in = pid < 0 ? NULL : fdopen(fds[0], "r");
	for (; in && done < n && fgets(line, sizeof(line), in); done++) {
		line[strcspn(line, "\n")] = '\0';
		names[done] = line[0] ? strdup(line) : NULL;
	}
	if (in)
		fclose(in);
	else
		close(fds[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return in ? done : n;
}

static void demangle_symbols(char **const *symbols, char **names, size_t n)
{
	demangle_fn demangle;
	size_t at = 0;

	while (at < n && !is_mangled(*symbols[at]))
		at++;
	demangle = at < n ? library() : NULL;
	for (unsigned int i = 0; demangle && at < n && i < CHILDREN_MAX; i++)
		at += demangle_some(demangle, symbols + at, names + at, n - at) + 1;
}

static char *escaped(const char *symbol)
{
	char text[TEXT_ESCAPED_MAX(CXX_NAME_MAX)];

	*text_put_str(text, symbol, strnlen(symbol, CXX_NAME_MAX)) = '\0';
	return strdup(text);
}

void cxx_names(char **const *symbols, size_t n)
{
	autofree char **names = calloc(n ? n : 1, sizeof(*names));

	if (names)
		demangle_symbols(symbols, names, n);
	for (size_t i = 0; i < n; i++) {
		char *name = names && names[i] ? names[i] : escaped(*symbols[i]);

		free(*symbols[i]);
		*symbols[i] = name;
	}
}
