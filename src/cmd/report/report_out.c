/* SPDX-License-Identifier: BSD-2-Clause */
/* See report_out.h. */
#include "cmd/report/report_out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/log.h"
#include "base/util.h"
#include "os/folder.h"
#include "os/new_file.h"
#include "report/options.h"
#include "report/show/page.h"
#include "report/show/show.h"
#include "trace/outdir.h"

/* --- JSON and the page ------------------------------------------------------------------------------------ */

/* Logs that new_file_open() has returned RES for the file NAME. Returns RES. */
static int log_not_made(int res, const char *name)
{
	if (res == -ELOOP)
		log_err("%s is a symbolic link: name the file itself, or - for standard output", name);
	else if (res == -EEXIST)
		log_err("%s exists and is not a regular file: name another, or - for standard output", name);
	else if (res == -EISDIR)
		log_err("%s is a folder: name a file in it", name);
	else
		log_err_r(res, "%s: cannot be made", name);
	return res;
}

/* Writes the page with JSON as the file NAME, which is replaced as a whole or not at all. Frees JSON. WHOSE is for
 * messages. */
static int html_file(struct json *json, const char *whose, const char *name)
{
	struct new_file f = NEW_FILE_NONE;
	int res = new_file_open(&f, name);

	if (res < 0) {
		json_free(json);
		return log_not_made(res, name);
	}
	res = report_page(json, f.stream);
	if (res < 0) {
		new_file_drop(&f);
		return log_err_r(res, "%s: no page", whose);
	}
	if (res > 0)
		log_warn("%s is larger than %u MiB: a browser may be slow", name, PAGE_BYTES_MAX >> 20);
	res = new_file_commit(&f);
	return res < 0 ? log_err_r(res, "%s: cannot be written", name) : 0;
}

int report_out_svg(const char *file, void (*draw)(const void *of, FILE *out), const void *of)
{
	struct new_file f = NEW_FILE_NONE;
	int r;

	if (!strcmp(file, "-")) {
		draw(of, stdout);
		return 0;
	}
	r = new_file_open(&f, file);
	if (r < 0)
		return log_not_made(r, file);
	draw(of, f.stream);
	r = new_file_commit(&f);
	return r < 0 ? log_err_r(r, "%s: cannot be written", file) : 0;
}

bool report_out_is_of_trace(const struct report_args *o, const char *file)
{
	const char *name;
	autofree char *folder = new_file_folder(file, &name);
	bool is = outdir_owns(file);
	struct stat in, dir;

	/* a trace that is reported on may have lost its manifest */
	if (folder && outdir_is_name(name) && stat(folder, &in) == 0)
		for (int i = 0; i < o->n_dirs && !is; i++)
			is = stat(o->dirs[i], &dir) == 0 && dir.st_dev == in.st_dev && dir.st_ino == in.st_ino;
	if (is)
		log_err("%s is a name of the trace's own files: choose another one, for example %sreport.%s", file,
			folder ? folder : "", o->html ? "html" : "svg");
	return is;
}

int report_out(struct json *j, const char *whose, const struct report_args *o)
{
	int res;

	if (o->html && strcmp(o->html, "-") != 0)
		return html_file(j, whose, o->html);
	res = o->html ? report_page(j, stdout) : json_write(j, stdout);
	if (res < 0)
		return log_err_r(res, "%s: no %s", whose, o->html ? "page" : "JSON");
	return 0;
}

/* --- CSV files -------------------------------------------------------------------------------------------- */

/* Returns the last component of DIR, with or without a slash after it. */
static char *name_of(const char *dir)
{
	autofree char *real = realpath(dir, NULL);
	const char *slash = strrchr(real ? real : dir, '/');

	return strdup(slash && slash[1] ? slash + 1 : "trace");
}

/*
 * Returns the folder for the CSV files of the I-th trace. A single trace has the folder of --csv itself; of several,
 * each has a folder in it, named after the trace, with a number where names are equal. Returns NULL with errno on an
 * error.
 */
static char *csv_folder(const struct report_args *args, int i)
{
	autofree char *name = args->n_dirs > 1 ? name_of(args->dirs[i]) : NULL;
	unsigned int same = 1;

	if (!name)
		return args->n_dirs > 1 ? NULL : strdup(args->csv);
	for (int k = 0; k < i; k++) {
		autofree char *other = name_of(args->dirs[k]);

		same += other && strcmp(other, name) == 0;
	}
	autoclose int top = folder_open(args->csv, 0777);

	if (top < 0) {
		errno = -top;
		return NULL;
	}
	return same > 1 ? util_fmt("%s/%s-%u", args->csv, name, same) : util_fmt("%s/%s", args->csv, name);
}

int report_out_csv(const struct report_args *o, int i, const struct report *r, const struct report_cpu *cpu)
{
	autofree char *dir = NULL;
	int res;

	if (!o->csv)
		return 0;
	dir = csv_folder(o, i);
	if (!dir)
		res = -errno;
	else
		res = cpu ? report_cpu_csv(cpu, dir) : report_csv(r, dir);
	return res < 0 ? log_err_r(res, "%s: CSV files cannot be written", o->csv) : 0;
}
