/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The readers of traces need nothing of the tracing code. The Makefile links this program with all objects of report/
 * and with those that they need of base/, stats/ and trace/, without libbpf: linking it is the test. It also runs once.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "report/scan/model.h"
#include "report/report.h"
#include "report/show/show.h"

static void what_reads_traces_has_no_libbpf(void **state)
{
	assert_null(dlsym(RTLD_DEFAULT, "bpf_object__load"));
	assert_null(dlsym(RTLD_DEFAULT, "bpf_map_update_elem"));
}

static void it_reads_a_trace(void **state)
{
	struct json j = { 0 };
	struct report *r = NULL;
	char *json = NULL;
	size_t len;
	FILE *out = open_memstream(&json, &len);

	assert_int_equal(report_load(&r, "tests/golden/trace-small", &(struct report_options){ .timed = true }), 0);
	assert_int_equal(r->op[REPORT_VFS_RW].rows, 16);
	report_json(r, &j);
	assert_int_equal(json_write(&j, out), 0);
	fclose(out);
	assert_non_null(strstr(json, "\"calls\""));
	free(json);
	report_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_reads_traces_has_no_libbpf),
		cmocka_unit_test(it_reads_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
