/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the config. The library inih parses it, but gets its lines from a reader of ours, which counts them, refuses
 * lines that inih would cut, and sees sections without a key, which inih does not report. Logs mistakes, and has no
 * other effect.
 */
#include "service/daemon_conf.h"

#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <ini.h>

#include "base/options.h"
#include "base/similar.h"
#include "base/units.h"
#include "base/util.h"
#include "service/protocol.h"
#include "session/start_options.h"
#include "trace/config.h"
#include "trace/outdir.h"

/* --- the keys ------------------------------------------------------------------------------------------ */

static const char *keep(void *member, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return strerror(ENOMEM);
	free(*(char **)member);
	*(char **)member = copy;
	return NULL;
}

static const char *set_path(struct option_parse *p, void *member, char *value)
{
	if (*value != '/' || strlen(value) >= 100) /* sun_path has 108 */
		return "not an absolute path of less than 100 bytes";
	return keep(member, value);
}

static const char *set_name(struct option_parse *p, void *member, char *value)
{
	char safe[33];

	return outdir_part(safe, sizeof(safe), value) ? keep(member, value) :
							"not a name of letters, digits, '_', '.' and '-'";
}

static const char *set_number(struct option_parse *p, void *member, char *value)
{
	char *end;
	unsigned long n = strtoul(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || n < 1 || n > DAEMON_USERS_MAX)
		return "not a number from 1 to 32";
	*(uint64_t *)member = n;
	return NULL;
}

static const char *set_buffer(struct option_parse *p, void *member, char *value)
{
	uint64_t bytes;

	if (units_parse_size(value, &bytes) < 0 || bytes < 65536)
		return "not a size from 64K on (256M)";
	*(uint64_t *)member = bytes;
	return NULL;
}

static const char *set_level(struct option_parse *parse, void *member, char *value)
{
	static const char *const names[] = {
		[LOG_LEVEL_ERR] = "error",
		[LOG_LEVEL_WARN] = "warning",
		[LOG_LEVEL_INFO] = "info",
		[LOG_LEVEL_DEBUG] = "debug",
	};
	const unsigned int i = option_word(names, ARRAY_SIZE(names), value);

	*(enum log_level *)member = i;
	return i < ARRAY_SIZE(names) ? NULL : "not error, warning, info or debug";
}

#define TO(m) offsetof(struct daemon_conf, m) /* NOLINT(bugprone-macro-parentheses): a member */

static const struct option_row service_keys[] = {
	{ "group", 0, "NAME", "Group whose members may trace their own processes. It must exist.", set_name, TO(group),
	  0, SERVICE_GROUP },
	{ "keep-bytes", 0, "SIZE",
	  "Bytes of finished traces to keep in the state folder: once a minute the oldest beyond that are removed. A "
	  "trace that runs does not count, and has its own limit in keep. 0: no limit.",
	  option_size, TO(keep_bytes), 0, "0" },
	{ "keep-time", 0, "TIME", "How long a trace stays there after its end; looked at once a minute. 0: no limit.",
	  option_time, TO(keep_ns), 0, "0" },
	{ "log", 0, "LEVEL", "What is logged: error, warning, info or debug.", set_level, TO(log_level), 0, "info" },
	{ "max-buffer", 0, "SIZE", "Memory that the rings of a user's trace may take.", set_buffer,
	  TO(max_buffer_bytes), 0, "256M" },
	{ "max-traces", 0, "N", "Traces of all users at the same time, up to 32.", set_number, TO(max_traces), 0,
	  "16" },
	{ "max-traces-per-user", 0, "N", "Traces of one user at the same time.", set_number, TO(max_traces_per_user), 0,
	  "4" },
	{ "socket", 0, "PATH", "Socket on which users' requests arrive.", set_path, TO(socket), 0, SERVICE_SOCKET },
	{ "state", 0, "PATH",
	  "The state folder: always-on traces are PATH/NAME/STAMP_PID, the UTC time of their start, as 20261129041600, "
	  "and their process.",
	  set_path, TO(state), 0, "/var/lib/dltraced" },
	{ "users", 0, "BOOL", "Whether users may trace through the service.", option_bool, TO(users), 0, "yes" },
	{ 0 },
};

/* Returns the option of `dltraced start' that is a key of [trace NAME], or NULL. */
static const struct option_row *trace_key(const char *name)
{
	const struct option_row *o = option_find(start_options, name);

	return o && o->flags & START_IN_CONFIG ? o : NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp((*(const struct option_row *const *)a)->name, (*(const struct option_row *const *)b)->name);
}

static void put_key(FILE *out, const char *name, const char *arg, const char *def, const char *help)
{
	fprintf(out, ".TP\n.BI \"%s = \" %s\n%s\n", name, arg, help);
	if (def)
		fprintf(out, "Default: %s.\n", def);
}

void daemon_conf_keys(FILE *out)
{
	const struct option_row *keys[OPTIONS_MAX];
	size_t n = 0;

	fputs(".SS [service]\n", out);
	for (const struct option_row *o = service_keys; o->name; o++)
		put_key(out, o->name, o->arg, o->def, o->help);
	fputs(".SS [trace NAME]\n", out);
	put_key(out, "enabled", "BOOL", "yes", "Whether it runs.");
	for (const struct option_row *o = start_options; o->help; o++)
		if (o->flags & START_IN_CONFIG)
			keys[n++] = o;
	qsort(keys, n, sizeof(keys[0]), by_name);
	for (size_t i = 0; i < n; i++) {
		const struct option_row *o = keys[i];
		autofree char *help =
			util_fmt("%s.%s", o->help, o->flags & START_LIST ? " May be given more than once." : "");

		put_key(out, o->name, o->arg ? o->arg : "BOOL", NULL, help ? help : "");
	}
}

/* --- reading ------------------------------------------------------------------------------------------- */

#define SECTION_MAX 49 /* inih's MAX_SECTION: it cuts longer ones */

struct reading {
	struct daemon_conf *conf;
	struct daemon_trace *trace; /* of the section */
	const char *file;
	char section[SECTION_MAX + 1];
	FILE *in;
	unsigned int line, mistakes;
};

#define complain(rd, ...)                                                         \
	({                                                                        \
		autofree char *what_ = util_fmt(__VA_ARGS__);                     \
		log_err("%s:%u: %s", (rd)->file, (rd)->line, what_ ? what_ : ""); \
		(rd)->mistakes++;                                                 \
		if ((rd)->trace)                                                  \
			(rd)->trace->flawed = true;                               \
		1;                                                                \
	})

static int enter_trace(struct reading *rd, const char *name)
{
	struct daemon_conf *conf = rd->conf;
	char safe[DAEMON_NAME_MAX];
	unsigned int i;

	rd->trace = NULL;
	if (!outdir_part(safe, sizeof(safe), name))
		return complain(rd, "[trace %s]: a name has up to %d letters, digits, '_', '.' and '-'", name,
				DAEMON_NAME_MAX - 1);
	for (i = 0; i < conf->n_traces && strcmp(conf->traces[i].name, name); i++)
		;
	if (i == DAEMON_TRACES_MAX)
		return complain(rd, "[trace %s]: more than %d traces", name, DAEMON_TRACES_MAX);
	rd->trace = &conf->traces[i];
	if (i == conf->n_traces) {
		conf->n_traces++;
		rd->trace->line = rd->line;
		rd->trace->enabled = true;
		strcpy(rd->trace->name, safe);
	}
	return 1;
}

static int enter(struct reading *rd, const char *section)
{
	rd->trace = NULL;
	snprintf(rd->section, sizeof(rd->section), "%s", section);
	if (!strncmp(section, "trace ", 6))
		return enter_trace(rd, section + 6 + strspn(section + 6, " "));
	if (strcmp(section, "service"))
		return complain(rd,
				*section ? "[%s]: a section is [service] or [trace NAME]" :
					   "%sa line before the first section, [service] or [trace NAME]",
				section);
	return 1;
}

/* Returns the text of LINE; in the first line, after a byte order mark if there is one. */
static const char *text_of(const struct reading *rd, const char *line)
{
	static const char bom[] = "\xef\xbb\xbf";

	return rd->line == 1 && !strncmp(line, bom, strlen(bom)) ? line + strlen(bom) : line;
}

/* Enters the section NAME if LINE is [NAME]. NAME must fit inih's buffer. */
static void look_for_section(struct reading *rd, const char *line)
{
	char name[sizeof(rd->section)];
	size_t len;

	if (*line != '[')
		return;
	len = strcspn(++line, "]\n");
	if (line[len] != ']')
		return; /* inih reports the error */
	snprintf(name, sizeof(name), "%.*s", (int)len, line);
	if (len <= SECTION_MAX) {
		enter(rd, name);
		return;
	}
	complain(rd, "a section's name of more than %d bytes", SECTION_MAX);
	rd->trace = NULL;
	strcpy(rd->section, name);
}

/* Whether LINE is neither a section nor a key. Checked here, as inih reports only the first such line. */
static bool is_nothing(const char *line)
{
	const char *text = line + strspn(line, " \t\r\n");

	/* an indented line continues the line before */
	if (!*text || *text == ';' || *text == '#' || (text > line && *line != '\n'))
		return false;
	return *text == '[' ? !strchr(text, ']') : !strpbrk(text, "=:");
}

/* As fgets(3), but reports and skips a line that inih would split, or take for an error. */
static char *read_line(char *buf, int size, void *ctx)
{
	struct reading *rd = ctx;
	size_t len;
	int c;

	if (!fgets(buf, size, rd->in))
		return NULL;
	rd->line++;
	len = strlen(buf);
	if (!len || buf[len - 1] == '\n' || feof(rd->in)) {
		look_for_section(rd, text_of(rd, buf));
		if (is_nothing(text_of(rd, buf))) {
			complain(rd, "neither [section] nor key = value");
			strcpy(buf, "\n");
		}
		return buf;
	}
	while ((c = fgetc(rd->in)) != EOF && c != '\n')
		;
	complain(rd, "longer than %d bytes", size - 2);
	strcpy(buf, "\n");
	return buf;
}

/* Complains of the key NAME of SECTION, and names what has replaced it, or the similar one of OPTIONS that has the
 * flags FLAGS. */
static int no_key(struct reading *rd, const char *section, const char *name, const struct option_row *options,
		  unsigned int flags)
{
	const struct option_gone *gone = options == start_options ? options_gone(start_gone, name, strlen(name)) : NULL;
	struct similar s = similar_to(name, strlen(name));
	char hint[64];

	if (gone)
		return complain(rd, "%s is gone: use %s", name, gone->use + (gone->use[0] == '-' ? 2 : 0));
	for (const struct option_row *o = options; o->name || o->help; o++)
		if (o->name && (o->flags & flags) == flags)
			similar_offer(&s, o->name);
	return complain(rd, "no such key in [%s]: '%s'%s (man dltraced.conf lists them)", section, name,
			similar_text(&s, "", hint, sizeof(hint)));
}

static int set_service(struct reading *rd, const char *name, const char *value)
{
	const struct option_row *o = option_find(service_keys, name);
	autofree char *copy = strdup(value);
	struct option_parse p = { .into = rd->conf };
	const char *why;

	if (!o || !copy)
		return no_key(rd, "service", name, service_keys, 0);
	why = option_set(&p, o, copy);
	return why ? complain(rd, "%s = %s: %s", name, value, why) : 1;
}

/* Returns NULL when `start' accepts VALUE, else why not. */
static const char *try_option(struct option_parse *p, const struct option_row *o, char *value)
{
	static struct config cfg; /* the result is not used */

	cfg = (struct config){};
	p->into = &cfg;
	return option_set(p, o, value);
}

static void drop_words(struct daemon_trace *trace, const struct option_row *row)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < trace->n_words; i++) {
		if (trace->options[i] == row) {
			free(trace->words[i]);
			continue;
		}
		trace->options[kept] = trace->options[i];
		trace->words[kept++] = trace->words[i];
	}
	trace->n_words = kept;
}

static int set_trace(struct reading *rd, const char *name, const char *value)
{
	const struct option_row *row = trace_key(name);
	struct daemon_trace *trace = rd->trace;
	autofree char *copy = strdup(value);
	char section[sizeof(trace->name) + 8];
	struct option_parse p = {};
	const char *why;
	bool yes = true;

	if (!trace || !copy) /* the section's name was refused */
		return 1;
	if (!strcmp(name, "enabled")) {
		why = option_bool(&p, &trace->enabled, copy);
		return why ? complain(rd, "%s = %s: %s", name, value, why) : 1;
	}
	if (!row) {
		snprintf(section, sizeof(section), "trace %s", trace->name);
		return no_key(rd, section, name, start_options, START_IN_CONFIG);
	}
	if (!row->arg && option_bool(&p, &yes, copy))
		return complain(rd, "%s = %s: not yes or no", name, value);
	why = try_option(&p, row, row->arg ? copy : NULL);
	if (why)
		return complain(rd, "%s = %s: %s", name, value, why);
	if (!(row->flags & START_LIST))
		drop_words(trace, row);
	if (trace->n_words == DAEMON_WORDS_MAX)
		return complain(rd, "more than %d keys in a trace", DAEMON_WORDS_MAX);
	trace->options[trace->n_words] = row;
	if (yes)
		trace->words[trace->n_words++] = row->arg ? util_fmt("--%s=%s", name, value) : util_fmt("--%s", name);
	return 1;
}

static int on_key(void *ctx, const char *section, const char *name, const char *value)
{
	struct reading *rd = ctx;

	if (!*rd->section || strcmp(rd->section, section)) /* before any section, or in one whose line is indented */
		enter(rd, section);
	if (!value)
		value = "";
	if (!strcmp(section, "service"))
		return set_service(rd, name, value);
	return rd->trace ? set_trace(rd, name, value) : 1;
}

/* Returns the number of mistakes in FILE, each with a message; or -errno. */
static int read_file(struct daemon_conf *conf, const char *file)
{
	struct reading rd = { .conf = conf, .file = file, .in = fopen(file, "re") };
	int r;

	if (!rd.in)
		return -errno;
	r = ini_parse_stream(read_line, &rd, on_key, &rd);
	if (r > 0 && !rd.mistakes) {
		rd.line = (unsigned int)r;
		complain(&rd, "neither [section] nor key = value");
	}
	r = ferror(rd.in) ? -EIO : (int)rd.mistakes;
	fclose(rd.in);
	return r;
}

/* --- all files ----------------------------------------------------------------------------------------- */

static int is_conf(const struct dirent *e)
{
	size_t len = strlen(e->d_name);

	return *e->d_name != '.' && len > 5 && !strcmp(e->d_name + len - 5, ".conf");
}

/* Reads conf.d beside FILE. Returns the number of mistakes, or -errno. */
static int read_folder(struct daemon_conf *conf, const char *file)
{
	const char *slash = strrchr(file, '/');
	autofree char *folder = util_fmt("%.*sconf.d", slash ? (int)(slash + 1 - file) : 0, file);
	struct dirent **names;
	int n, mistakes = 0;

	if (!folder)
		return -ENOMEM;
	n = scandir(folder, &names, is_conf, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		autofree char *path = util_fmt("%s/%s", folder, names[i]->d_name);
		int r = path ? read_file(conf, path) : -ENOMEM;

		if (r < 0)
			log_err_r(r, "%s", path ? path : folder);
		mistakes += r < 0 ? 1 : r;
		free(names[i]);
	}
	free(names);
	return mistakes;
}

static bool has_target(const struct daemon_trace *t)
{
	for (unsigned int k = 0; k < t->n_words; k++)
		if (t->options[k]->flags & START_TARGET)
			return true;
	return false;
}

/* Each key of T is valid alone. Returns how they contradict one another, in the words of `start'; NULL: they do not. */
static const char *contradiction(const struct daemon_trace *t)
{
	static struct config cfg;
	struct option_parse p = { .into = &cfg };

	start_config_defaults(&cfg);
	snprintf(cfg.experiment, sizeof(cfg.experiment), "%s", t->name);
	for (unsigned int k = 0; k < t->n_words; k++)
		option_set(&p, t->options[k], t->options[k]->arg ? strchr(t->words[k], '=') + 1 : NULL);
	return start_config_finish(&cfg);
}

static int check_traces(const struct daemon_conf *conf, const char *file)
{
	int mistakes = 0;

	for (unsigned int i = 0; i < conf->n_traces; i++) {
		const struct daemon_trace *t = &conf->traces[i];
		const char *why;

		if (!t->enabled || t->flawed)
			continue;
		why = has_target(t) ? contradiction(t) :
				      "names nothing to trace: set all = yes, cgroup = PATH or container = NAME";
		if (!why)
			continue;
		log_err("%s:%u: [trace %s] %s", file, t->line, t->name, why);
		mistakes++;
	}
	return mistakes;
}

static int defaults(struct daemon_conf *conf)
{
	struct option_parse p = { .into = conf };

	for (const struct option_row *o = service_keys; o->name; o++) {
		autofree char *value = strdup(o->def);

		if (!value || option_set(&p, o, value))
			return -ENOMEM;
	}
	return 0;
}

int daemon_conf_load(struct daemon_conf *conf, const char *file, bool may_lack)
{
	int r, mistakes;

	*conf = (struct daemon_conf){};
	r = defaults(conf);
	mistakes = r < 0 ? r : read_file(conf, file);
	if (mistakes == -ENOENT && may_lack)
		mistakes = 0;
	if (mistakes < 0)
		return log_err_r(mistakes, "%s", file);
	r = read_folder(conf, file);
	return mistakes + (r < 0 ? 1 : r) + check_traces(conf, file);
}

int daemon_conf_read(struct daemon_conf *c, const char *file, bool may_lack)
{
	int mistakes = daemon_conf_load(c, file, may_lack);

	if (!mistakes)
		return 0;
	daemon_conf_free(c);
	return mistakes < 0 ? mistakes : -EINVAL;
}

bool daemon_trace_same(const struct daemon_trace *a, const struct daemon_trace *b)
{
	if (strcmp(a->name, b->name) || a->enabled != b->enabled || a->n_words != b->n_words)
		return false;
	for (unsigned int i = 0; i < a->n_words; i++)
		if (strcmp(a->words[i], b->words[i]))
			return false;
	return true;
}

void daemon_conf_free(struct daemon_conf *c)
{
	free(c->socket);
	free(c->group);
	free(c->state);
	for (unsigned int i = 0; i < c->n_traces; i++)
		for (unsigned int k = 0; k < c->traces[i].n_words; k++)
			free(c->traces[i].words[k]);
	*c = (struct daemon_conf){};
}
