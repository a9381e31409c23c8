/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/probe.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cmocka.h>

#include "base/util.h"
#include "dlt/bio.h"
#include "dlt/close.h"
#include "dlt/create_del.h"
#include "dlt/files.h"
#include "dlt/marks.h"
#include "dlt/mmap.h"
#include "dlt/net.h"
#include "dlt/open.h"
#include "dlt/pids.h"
#include "dlt/printed.h"
#include "dlt/rollup.h"
#include "dlt/sched.h"
#include "dlt/sched_switch.h"
#include "dlt/sockets.h"
#include "dlt/sync.h"
#include "dlt/time_align.h"
#include "dlt/vfs_rw.h"
#include "dlt/waits.h"
#include "dlt/workload.h"
#include "kernel/btf.h"
#include "trace/probe_mask.h"
#include "trace/record.h"

#define OF_TARGET (PROBE_SELECTABLE | PROBE_OF_TARGET)
#define CALLS (OF_TARGET | PROBE_OF_CALLS)
#define ON_DEMAND (PROBE_SELECTABLE | PROBE_ON_DEMAND)

/* docs/traces: the columns for users and other programs. */
static const struct {
	const char *name, *columns;
	size_t rec_size;
	unsigned int flags;
} format[DLT_PROBES] = {
	[DLT_bio] = { "bio",
		      "TIMESTAMP TIME PID TID COMM DONEPID DONECOMM DISK T SECTOR BYTES LAT_NS QLAT_NS "
		      "FLAGS STATUS KIND FID FOFF EXTENTS WPID WTID WCOMM WN FILE",
		      sizeof(struct dlt_bio),
		      PROBE_SELECTABLE | PROBE_SHOWS_WRITES | PROBE_OWN_SCRATCH | PROBE_OWN_SEEN },
	[DLT_close] = { "close", "TIMESTAMP TIME PID TID COMM FUNC LAT_NS RET FD LAST FID FILE",
			sizeof(struct dlt_close), CALLS },
	[DLT_create_del] = { "create_del",
			     "TIMESTAMP TIME PID TID COMM FUNC LAT_NS RET MODE FLAGS FID PATH PATH2 FID_BY",
			     sizeof(struct dlt_create_del), CALLS | PROBE_MORE_ROWS },
	[DLT_files] = { "files", "TIMESTAMP TIME FID DEV INO TYPE FSTYPE SIZE STATE REALPATH REALDEV REALINO",
			sizeof(struct dlt_files), PROBE_REFERENCE | PROBE_WHOLE | PROBE_NEVER_PAUSED },
	[DLT_marks] = { "marks", "TIMESTAMP TIME PID TEXT", sizeof(struct dlt_marks), PROBE_REFERENCE },
	[DLT_mmap] = { "mmap",
		       "TIMESTAMP TIME PID TID COMM FUNC LAT_NS RET ADDR LEN PROT FLAGS FD OFFSET "
		       "OLD_ADDR OLD_LEN FID FILE",
		       sizeof(struct dlt_mmap), CALLS },
	[DLT_net] = { "net",
		      "TIMESTAMP TIME PID TID COMM CALL RW SPAN_NS COUNT BYTES AGAIN FAILED TIME_NS MAX_NS RET FID",
		      sizeof(struct dlt_net), PROBE_SELECTABLE | PROBE_OF_TARGET | PROBE_MAY_LACK },
	[DLT_open] = { "open",
		       "TIMESTAMP TIME PID TID COMM FUNC LAT_NS VFS_LAT_NS RET FLAGS MODE FID FILE PATH "
		       "REALPATH",
		       sizeof(struct dlt_open), CALLS },
	[DLT_pids] = { "pids", "TIMESTAMP TIME PID TID PPID COMM EVENT STATUS NSPID UID CGROUP RANK ARGS",
		       sizeof(struct dlt_pids), PROBE_REFERENCE | PROBE_WHOLE | PROBE_LIFE | PROBE_OWN_SCRATCH },
	[DLT_printed] = { "printed", "TIMESTAMP TIME PID TID COMM FD TEXT", sizeof(struct dlt_printed),
			  PROBE_SELECTABLE | PROBE_REFERENCE },
	[DLT_rollup] = { "rollup",
			 "TIMESTAMP TIME MINUTE PROBE PID COMM RW ROWS FAILED BYTES LAT_NS MAX_LAT_NS SEGMENT",
			 sizeof(struct dlt_rollup), PROBE_NEVER_PAUSED },
	[DLT_sched] = { "sched",
			"TIMESTAMP TIME PID TID COMM KIND CPU CALL SPAN_NS COUNT PREEMPTED RUN_NS RUNQ_NS DISK_NS "
			"BLOCKED_NS SLEEP_NS MAX_NS BY BY_PID BY_TID THROTTLED_NS",
			sizeof(struct dlt_sched), PROBE_SELECTABLE | PROBE_MAY_LACK | PROBE_OWN_SCRATCH },
	[DLT_sched_switch] = { "sched_switch",
			       "TIMESTAMP TIME CPU PREV_PID PREV_TID PREV_COMM PREV_STATE NEXT_PID NEXT_TID NEXT_COMM "
			       "RUN_NS WAIT_NS",
			       sizeof(struct dlt_sched_switch), ON_DEMAND },
	[DLT_sockets] = { "sockets",
			  "TIMESTAMP TIME PID TID COMM FID STATE FAMILY TYPE PROTO LOCAL PEER PATH PEER_PID SPAN_NS "
			  "RECEIVED SENT CONNECT_NS FIRST_NS RESENT PEER_HOST",
			  sizeof(struct dlt_sockets),
			  PROBE_SELECTABLE | PROBE_MAY_LACK | PROBE_REFERENCE | PROBE_WHOLE },
	[DLT_sync] = { "sync", "TIMESTAMP TIME PID TID COMM FUNC LAT_NS RET FD OFFSET LEN FID FILE",
		       sizeof(struct dlt_sync), CALLS },
	[DLT_time_align] = { "time_align", "TIMESTAMP TIME REALTIME_NS BOOTTIME_NS ERROR_NS EVENT",
			     sizeof(struct dlt_time_align), PROBE_SELECTABLE | PROBE_REFERENCE | PROBE_WHOLE },
	[DLT_vfs_rw] = { "vfs_rw",
			 "TIMESTAMP TIME PID TID COMM RW FUNC LAT_NS REQUESTED RETURNED OFFSET DISK_BYTES "
			 "FD FLAGS FID FILE",
			 sizeof(struct dlt_vfs_rw), CALLS | PROBE_MORE_ROWS },
	[DLT_waits] = { "waits",
			"TIMESTAMP TIME PID TID COMM CALL STATE LAT_NS RUNQ_NS BY BY_PID BY_TID BY_COMM PEER FID FILE "
			"THROTTLED_NS BY_CALL",
			sizeof(struct dlt_waits), PROBE_SELECTABLE | PROBE_MAY_LACK },
	[DLT_workload] = { "workload", "TIMESTAMP TIME TEXT", sizeof(struct dlt_workload), 0 },
};

/* --- the registry ----------------------------------------------------------------------------- */

static void columns_are_those_of_the_format(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		char columns[1024] = "", *end = columns;

		for (unsigned int j = 0; j < probes[i]->n_fields; j++)
			end = stpcpy(stpcpy(end, j ? " " : ""), probes[i]->fields[j].name);
		if (!format[i].name) /* it has a test of its own, in tests/unit/probes */
			continue;
		assert_string_equal(probes[i]->name, format[i].name);
		assert_string_equal(columns, format[i].columns);
	}
}

static void header_is_two_lines_that_fit_the_drains_buffer(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		char header[4096], want[4096], *end = record_put_header(header, probes[i]);

		*end = '\0';
		if (!format[i].name)
			continue;
		end = want + snprintf(want, sizeof(want), "# dltraced %s 1\n", format[i].name);
		for (const char *c = format[i].columns; *c; c++)
			*end++ = *c == ' ' ? '\t' : *c;
		strcpy(end, "\n");
		assert_string_equal(header, want);
	}
}

static void probes_are_in_the_order_of_their_names(void **state)
{
	assert_null(probes[DLT_NO_PROBE]);
	for (unsigned int i = 2; i < DLT_PROBES; i++)
		assert_true(strcmp(probes[i - 1]->name, probes[i]->name) < 0);
}

static void probes_say_what_they_are(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];
		bool ends = false;

		for (unsigned int j = 0; j < p->n_calls; j++)
			ends |= p->calls[j].exit != NULL;
		assert_true(p->help && *p->help && !strchr(p->help, '\n'));
		if (format[i].name) {
			assert_int_equal(p->rec_size, format[i].rec_size);
			assert_int_equal(p->flags, format[i].flags);
		}
		assert_true(p->needs < DLT_PROBES && p->needs != i);
		if (p->needs)
			assert_non_null(probes[p->needs]->open);
		/* a call in flight at the end is a row, whichever probe's, unless it ended at its start */
		assert_int_equal(p->running != NULL, ends);
	}
}

/* Returns how many bytes of the record a field of KIND reads at its offset. */
static size_t width_of(const struct field *f)
{
	switch (f->kind) {
	case FIELD_U16:
	case FIELD_FUNC:
		return 2;
	case FIELD_U32:
	case FIELD_S32:
	case FIELD_NAME:
	case FIELD_BITS:
		return 4;
	case FIELD_COMM:
		return DLT_COMM_LEN;
	case FIELD_STR:
		return f->arg;
	case FIELD_LOG2:
		return 4 * (size_t)f->arg;
	case FIELD_FID:
	case FIELD_FILE:
		return sizeof(struct dlt_file_id);
	case FIELD_USTR:
	case FIELD_STACK:
	case FIELD_ABS:
		return sizeof(struct dlt_segs);
	case FIELD_FILEDEV:
	case FIELD_FILESTATE:
		return sizeof(struct dlt_file);
	case FIELD_REALDEV:
	case FIELD_REALINO:
		return sizeof(struct dlt_file_at);
	case FIELD_PEER:
		return sizeof(struct dlt_peer);
	case FIELD_FILETYPE: /* looks at the path as well */
	case FIELD_REALPATH:
		return sizeof(struct dlt_file) + sizeof(struct dlt_segs);
	default:
		return 8;
	}
}

static size_t alignment_of(const struct field *f)
{
	switch (f->kind) {
	case FIELD_COMM:
	case FIELD_STR:
		return 1;
	case FIELD_USTR:
	case FIELD_STACK:
	case FIELD_ABS:
	case FIELD_PEER:
		return 2;
	case FIELD_LOG2:
		return 4;
	case FIELD_FID:
	case FIELD_FILE:
		return 8;
	default:
		return MIN(width_of(f), 8);
	}
}

static void fields_lie_inside_of_their_record(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];

		for (unsigned int j = 0; j < p->n_fields; j++) {
			const struct field *f = &p->fields[j];

			assert_true(width_of(f) > 0);
			assert_true(f->offset + width_of(f) <= MAX(p->rec_size, p->seg_at));
			assert_int_equal(f->offset % alignment_of(f), 0);
		}
	}
}

static void fields_say_what_they_are(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		for (unsigned int j = 0; j < probes[i]->n_fields; j++) {
			const struct field *f = &probes[i]->fields[j];
			enum field_kind k = f->kind;
			bool named = k == FIELD_NAME || k == FIELD_FLAGS || k == FIELD_BITS;
			bool strings = k == FIELD_USTR || k == FIELD_STACK || k == FIELD_ABS || k == FIELD_REALPATH;

			assert_true(f->help && *f->help && !strpbrk(f->help, "\n\t"));
			for (const char *c = f->name; *c; c++)
				assert_true((*c >= 'A' && *c <= 'Z') || *c == '_' || *c == '2');
			for (unsigned int l = 0; l < j; l++)
				assert_string_not_equal(f->name, probes[i]->fields[l].name);
			assert_int_equal(f->names != NULL, named);
			if (strings)
				assert_true(f->arg < 4 && f->arg2 < 4);
		}
	}
}

/* Names go out unescaped. Bits that an earlier name took are gone, yet each name must show. */
static void expect_names(const struct field *f)
{
	for (const struct field_name *n = f->names; n && n->name; n++) {
		assert_null(strpbrk(n->name, " \t\n\"#\\|"));
		for (const struct field_name *m = f->names; m < n; m++) {
			uint64_t mask = m->mask ? m->mask : m->value;

			if (f->kind == FIELD_NAME)
				assert_int_not_equal(m->value, n->value);
			else if (m->value)
				assert_int_not_equal(n->value & mask, m->value);
		}
	}
}

static void names_of_values_can_all_appear(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		for (unsigned int j = 0; j < probes[i]->n_fields; j++)
			expect_names(&probes[i]->fields[j]);
}

static void calls_have_names_of_their_own(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct probe *p = probes[i];

		for (unsigned int j = 0; j < p->n_calls; j++) {
			const struct probe_call *c = &p->calls[j];

			assert_null(strpbrk(c->name, " \t\n\"#\\-?"));
			for (unsigned int k = 0; k < j; k++) {
				assert_string_not_equal(c->name, p->calls[k].name);
				assert_true(c->nr < 0 || c->nr != p->calls[k].nr);
			}
			assert_true(c->nr < DLT_SYSCALLS);
		}
	}
}

/* One number leads to one probe: the dispatcher's table has room for no more. */
static void no_call_belongs_to_two_probes(void **state)
{
	unsigned int owner[DLT_SYSCALLS] = {};

	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		for (unsigned int j = 0; j < probes[i]->n_calls; j++) {
			int nr = probes[i]->calls[j].nr;

			if (nr < 0)
				continue;
			assert_int_equal(owner[nr], 0);
			owner[nr] = i;
		}
	}
}

static void expect_program(const struct probe_object *o, const char *name)
{
	if (!bpf_object__find_program_by_name(o->obj, name))
		fail_msg("no program %s", name);
}

/* In the objects for KERNEL. */
static void expect_programs(const struct kernel_btf *kernel)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		const struct dlt_config cfg = { .n_rings = 1 };
		const struct probe *p = probes[i];
		struct probe_object o = {};

		if (!p->n_calls)
			continue;
		assert_non_null(p->open);
		assert_int_equal(p->open(&o, &cfg, kernel), 0);
		for (unsigned int j = 0; j < p->n_calls; j++) {
			const struct probe_call *c = &p->calls[j];

			if (c->nr >= 0)
				assert_true(c->exit || c->entry);
			if (c->exit)
				expect_program(&o, c->exit);
			if (c->entry)
				expect_program(&o, c->entry);
		}
		bpf_object__destroy_skeleton(o.skel);
		free(o.owner);
	}
}

static void calls_name_programs_that_are_there(void **state)
{
	struct btf *none = btf__new_empty();

	assert_non_null(none);
	expect_programs(&(struct kernel_btf){ .btf = none, .casts = false });
	expect_programs(&(struct kernel_btf){ .btf = none, .casts = true });
	btf__free(none);
}

static void every_probe_has_golden_rows(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++) {
		char path[64];

		snprintf(path, sizeof(path), "tests/golden/%s.txt", probes[i]->name);
		if (access(path, R_OK) < 0)
			fail_msg("%s is missing", path);
	}
}

static void finds_probes_by_their_whole_name(void **state)
{
	for (unsigned int i = 1; i < DLT_PROBES; i++)
		assert_int_equal(probe_find(probes[i]->name), i);
	assert_int_equal(probe_find(""), DLT_NO_PROBE);
	assert_int_equal(probe_find("ope"), DLT_NO_PROBE);
	assert_int_equal(probe_find("openat"), DLT_NO_PROBE);
	assert_int_equal(probe_find("OPEN"), DLT_NO_PROBE);
}

/* --- lists of the user's ---------------------------------------------------------------------- */

#define BIT(name) (PROBE_BIT(DLT_##name))

/* Returns the probes that are on where no list names others. */
static probe_mask all(void)
{
	probe_mask mask = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_SELECTABLE && !(probes[i]->flags & PROBE_ON_DEMAND))
			mask |= PROBE_BIT(i);
	return mask;
}
#define ALL all()

static void expect_mask(const char *list, probe_mask want)
{
	char bad[64] = "untouched";
	probe_mask mask = 0, named;

	assert_int_equal(probe_parse_list(list, &mask, &named, bad), 0);
	assert_int_equal(mask, want);
	assert_string_equal(bad, "untouched");
}

static void expect_bad(const char *list, const char *name)
{
	probe_mask mask = 12345, named;
	char bad[64];

	memset(bad, 'x', sizeof(bad));
	assert_int_equal(probe_parse_list(list, &mask, &named, bad), -EINVAL);
	assert_int_equal(mask, 12345);
	assert_string_equal(bad, name);
}

static void all_are_on_by_default_but_those_on_demand(void **state)
{
	probe_mask demanded = 0;

	for (unsigned int i = 1; i < DLT_PROBES; i++)
		if (probes[i]->flags & PROBE_ON_DEMAND)
			demanded |= PROBE_BIT(i);
	assert_int_equal(ALL & (BIT(bio) | BIT(open) | BIT(files) | BIT(workload)), BIT(bio) | BIT(open));
	assert_int_equal(demanded & (BIT(sched) | BIT(sched_switch)), BIT(sched_switch));
	assert_int_equal(PROBES_DEFAULT, ALL);
	assert_int_equal(probe_mask_of(PROBE_SELECTABLE, 0), ALL | demanded);
	expect_mask("+sched_switch", ALL | BIT(sched_switch));
	expect_mask("sched", BIT(sched));
}

static void names_alone_are_the_whole_list(void **state)
{
	expect_mask("bio", BIT(bio));
	expect_mask("bio,open", BIT(bio) | BIT(open));
	expect_mask("vfs_rw,vfs_rw", BIT(vfs_rw));
}

static void signs_start_from_all(void **state)
{
	expect_mask("-mmap", ALL & ~BIT(mmap));
	expect_mask("+sync,-bio", ALL & ~BIT(bio));
	expect_mask("-bio,-close", ALL & ~BIT(bio) & ~BIT(close));
}

static void signs_behind_a_name_change_its_list(void **state)
{
	expect_mask("bio,+open", BIT(bio) | BIT(open));
	expect_mask("bio,open,-bio", BIT(open));
	expect_mask("bio,-bio", 0);
}

static void later_ones_win(void **state)
{
	expect_mask("-bio,+bio", ALL);
	expect_mask("+bio,-bio", ALL & ~BIT(bio));
	expect_mask("-bio,bio", ALL);
}

static void one_comma_at_the_end_is_no_name(void **state)
{
	expect_mask("bio,", BIT(bio));
	expect_mask("-bio,", ALL & ~BIT(bio));
}

static void unknown_names_are_reported(void **state)
{
	expect_bad("", "");
	expect_bad(",", "");
	expect_bad("bio,,open", "");
	expect_bad("-", "");
	expect_bad("bio,+", "");
	expect_bad("bio,nfs,open", "nfs");
	expect_bad("-nfs", "nfs");
	expect_bad("--bio", "-bio");
	expect_bad("bio open", "bio open");
	expect_bad(" bio", " bio");
	expect_bad("BIO", "BIO");
}

static void what_cannot_be_chosen_is_no_name(void **state)
{
	expect_bad("files", "files");
	expect_bad("-pids", "pids");
}

static void a_name_too_long_is_cut_and_still_unknown(void **state)
{
	char list[200], name[64];

	memset(list, 'a', sizeof(list) - 1);
	list[sizeof(list) - 1] = '\0';
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	expect_bad(list, name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_too_long_is_cut_and_still_unknown),
		cmocka_unit_test(all_are_on_by_default_but_those_on_demand),
		cmocka_unit_test(calls_have_names_of_their_own),
		cmocka_unit_test(calls_name_programs_that_are_there),
		cmocka_unit_test(columns_are_those_of_the_format),
		cmocka_unit_test(every_probe_has_golden_rows),
		cmocka_unit_test(fields_lie_inside_of_their_record),
		cmocka_unit_test(fields_say_what_they_are),
		cmocka_unit_test(finds_probes_by_their_whole_name),
		cmocka_unit_test(header_is_two_lines_that_fit_the_drains_buffer),
		cmocka_unit_test(later_ones_win),
		cmocka_unit_test(names_alone_are_the_whole_list),
		cmocka_unit_test(names_of_values_can_all_appear),
		cmocka_unit_test(no_call_belongs_to_two_probes),
		cmocka_unit_test(one_comma_at_the_end_is_no_name),
		cmocka_unit_test(probes_are_in_the_order_of_their_names),
		cmocka_unit_test(probes_say_what_they_are),
		cmocka_unit_test(signs_behind_a_name_change_its_list),
		cmocka_unit_test(signs_start_from_all),
		cmocka_unit_test(unknown_names_are_reported),
		cmocka_unit_test(what_cannot_be_chosen_is_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
