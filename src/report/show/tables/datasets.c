/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of data sets, of a struct report. */
#include "report/files/datasets.h"
#include "report/show/tables/tables.h"

#define GET(name, type, row) VIEW_GET(name, struct report, r, type, row)

GET(path, struct dataset, d)
{
	cell->text = d->path;
	if (!d->path)
		snprintf(cell->shown, sizeof(cell->shown), "(others)");
}

GET(kind, struct dataset, d)
{
	cell->text = report_dataset_kind_names[d->kind];
}

GET(medium, struct dataset, d)
{
	cell->text = report_dataset_medium(d);
}

GET(fetched, struct dataset, d)
{
	cell->known = report_dataset_disk_share(d) >= 0;
	cell->n = d->sum[DATASET_DISK];
}

GET(share, struct dataset, d)
{
	cell->f = report_dataset_disk_share(d);
	cell->known = cell->f >= 0;
}

#define SUM(key, head, kind, width, flags, n) \
	{                                     \
		key, head, kind, width, flags, VIEW_AT(struct dataset, sum[n])

static const struct view_column dataset_columns[] = { SUM("files", "FILES", VIEW_COUNT, 8, 0, DATASET_FILES),
						      .what = "with calls; folders do not count" },
				SUM("opens", "OPENS", VIEW_COUNT, 8, 0, DATASET_OPENS),
				.what = "opens that succeeded, those of folders included"
}
, SUM("calls", "CALLS", VIEW_COUNT, 0, VIEW_NO_TEXT, DATASET_CALLS)
}
, SUM("read_bytes", "READ", VIEW_BYTES, 8, 0, DATASET_READ)
}
,
	{ "disk_bytes", NULL, VIEW_BYTES, .get = fetched,
	  .what = "that the kernel fetched from disk for reads, read-ahead included; not known of network file "
		  "systems" },
	{ "disk_share", "FROM DISK", VIEW_SHARE, 9, .get = share, .what = "of what was read, 1 at most" },
	SUM("write_bytes", "WRITTEN", VIEW_BYTES, 8, VIEW_DASH, DATASET_WRITTEN)
}
, SUM("mapped_bytes", "MAPPED", VIEW_BYTES, 8, VIEW_DASH, DATASET_MAPPED), .what = "the lengths of all mappings"
}
, SUM("fault_bytes", "FAULTED", VIEW_BYTES, 8, VIEW_DASH, DATASET_FAULT_BYTES),
	.what = "that the kernel fetched from disk for page faults, read-ahead included"
}
, SUM("faults", "FAULTS", VIEW_COUNT, 0, VIEW_NO_TEXT, DATASET_FAULTS), .what = "page faults that waited for a disk"
}
, SUM("time_ns", "TIME", VIEW_NS, 8, 0, DATASET_TIME_NS), .what = "in all calls, including those still running"
}
, SUM("rw_ns", "IN READS", VIEW_NS, 8, 0, DATASET_RW_NS), .what = "in reads and writes"
}
, SUM("open_ns", "IN OPENS", VIEW_NS, 8, 0, DATASET_OPEN_NS), .what = "in opens"
}
, SUM("fault_ns", "IN FAULTS", VIEW_NS, 9, VIEW_DASH, DATASET_FAULT_NS),
	.what = "in these page faults, which is not in TIME"
}
,
	{ "kind",
	  "KIND",
	  VIEW_TEXT,
	  8,
	  .get = kind,
	  .what = "data; output, which was only written; shm, in /dev/shm and read by no call; software: programs, "
		  "what they import and link, and what the system keeps of itself; others" },
	{ "medium", "ON", VIEW_TEXT, 7, .get = medium, .what = "disk, network, memory, several" },
	{ "path",
	  "DATA SET",
	  VIEW_TEXT,
	  0,
	  VIEW_EMPTY,
	  .get = path,
	  .what = "the folder, or the only file; of the others null" },
	{ 0 },
}
;

const struct view view_datasets = {
	.key = "datasets",
	.title = "Data sets",
	.note = "TIME: in all calls; IN READS: in reads and writes; MAPPED: the lengths of all mappings; FAULTED: "
		"fetched by page faults",
	.what = "files, grouped by the folders that hold many or large ones (rules.md); the 19 with the most time in "
		"calls and page faults, and the others",
	.columns = dataset_columns,
	VIEW_BEHIND(struct report, datasets),
	VIEW_ARRAY(struct report_datasets, row, n),
	.most = DATASETS_MAX,
	.least = 1,
};
