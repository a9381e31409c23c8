/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd/report/report_matrix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/util.h"
#include "cmd/report/report_out.h"
#include "cmd/traces/not_read.h"
#include "os/terminal.h"
#include "report/matrix.h"
#include "report/options.h"
#include "report/show/svg/matrix.h"
#include "trace/outdir.h"

static int read_folder(struct matrix *m, const char *dir)
{
	autoclose int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const int r = fd < 0 ? -errno : matrix_read(m, fd);

	if (fd < 0)
		return log_not_read(r, dir);
	return r < 0 ? matrix_log(r, dir) : 0;
}

static void draw(const void *m, FILE *out)
{
	matrix_svg(m, out);
}

static int put(const struct matrix *matrix, const struct report_args *args)
{
	const bool svg_out = args->svg && !strcmp(args->svg, "-");
	struct json j = { 0 };
	int r = 0;

	if (svg_out) {
		draw(matrix, stdout);
	} else if (args->json) {
		matrix_json(matrix, &j);
		r = json_write(&j, stdout);
	} else {
		terminal_fold();
		matrix_text(matrix, stdout);
		terminal_unfold();
	}
	if (r < 0)
		log_err_r(r, "%s: no JSON", args->matrix);
	if (r == 0 && args->svg && !svg_out)
		r = report_out_svg(args->svg, draw, matrix);
	if (r == 0 && args->csv) {
		r = matrix_csv(matrix, args->csv);
		if (r < 0)
			log_err_r(r, "%s: CSV files cannot be written", args->csv);
	}
	return r;
}

int report_matrix(const struct report_args *args)
{
	struct matrix m;
	int r;

	if (args->svg && outdir_owns(args->svg)) {
		log_err("%s is a name of a trace's own files: choose another one for the picture", args->svg);
		return -EEXIST;
	}
	r = read_folder(&m, args->matrix);
	if (r < 0)
		return r;
	r = put(&m, args);
	matrix_free(&m);
	return r;
}
