/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of a report, described once: names, kinds and places of its columns. There is one renderer for text, one for
 * JSON and one for CSV, and one that describes tables for the page and `dltraced report --columns'. So a new table is a
 * struct view and an entry in its report's list of sections.
 */
#ifndef REPORT_SHOW_VIEW_VIEW_H
#define REPORT_SHOW_VIEW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv;
struct json;
struct view;

/* The kind of a column's values, which determines how they are written. */
enum view_kind {
	VIEW_END, /* after the last column */
	VIEW_COUNT,
	VIEW_ID, /* a number that is no amount: a PID, a FID */
	VIEW_BYTES, /* text: 1.50 KiB */
	VIEW_NS, /* text: 1.50 us; CSV: seconds with nine decimals, and _s in place of _ns in the column's name */
	VIEW_SIGNED_NS,
	VIEW_SHARE, /* a part of one; text: percent */
	VIEW_NUMBER, /* a double */
	VIEW_TEXT, /* escaped as in the .out files */
	VIEW_FLAG, /* CSV: 1 or 0 */
	VIEW_ROWS, /* JSON: an array of the rows of `list' that belong to this row */
	VIEW_JSON, /* JSON only: members that `json' writes */
};

/* The type of the value: VIEW_AT() finds it. */
enum view_as {
	VIEW_AS_U64,
	VIEW_AS_S64,
	VIEW_AS_U32,
	VIEW_AS_U8,
	VIEW_AS_BOOL,
	VIEW_AS_F64,
	VIEW_AS_POINTER,
	VIEW_AS_CHARS
};

struct view_cell {
	bool known; /* false: null in JSON, empty in CSV, - in text */
	uint64_t n;
	int64_t s;
	double f;
	const char *text;
	char shown[224]; /* the text for a terminal in place of the value, known or not; "": the value */
};

enum view_flag {
	VIEW_DASH = 1, /* text: 0 is shown as - */
	VIEW_OPTIONAL = 2, /* JSON: no member when it is not known */
	VIEW_SUM = 4, /* can be added up: the line for rows that are not shown has it, too */
	VIEW_FOOT = 512, /* as VIEW_SUM, but not in JSON */
	/* identifies the row to rows that belong to it: in text, CSV and on the page these begin with it */
	VIEW_KEY = 8,
	VIEW_NO_CSV = 16,
	VIEW_EMPTY = 32, /* an empty text is known */
	VIEW_PART = 64, /* parts of a row have it, too */
	VIEW_NO_TEXT = 128,
	VIEW_NO_JSON = 256, /* JSON has it elsewhere: a.b is b in the object a */
};

/* The place of a number or bool; 0: none. */
struct view_place {
	enum view_as as;
	size_t plus; /* 1 + offset */
};

/* Leads from a row to the entry of one of the report's tables or arrays whose number is AT in the row. */
struct view_via {
	size_t at, in;
	size_t size; /* of an entry of the array that a pointer at IN points to; 0: IN is a struct table */
	const struct view_via *then;
};

struct view_column {
	const char *key; /* in JSON and CSV; NULL: absent */
	const char *head; /* in text and on the page; NULL: absent */
	enum view_kind kind;
	unsigned int width; /* of text; 0: any, last in its line */
	unsigned int flags;
	enum view_as as;
	size_t at; /* offset in the row */
	/*
	 * In place of AS and AT: makes the value of COLUMN in ROW of the report OF. CELL is zeroed but for `known',
	 * which is true.
	 */
	void (*get)(const struct view_column *column, const void *of, const void *row, struct view_cell *cell);
	const struct view_via
		*via; /* the value is in the entry that this leads to, which GET gets in place of the row */
	struct view_place known; /* where the number there is 0, the value is not known */
	const char *const *names; /* for VIEW_TEXT: the value is an index into these */
	size_t whole; /* for VIEW_SHARE: the value is a part of the uint64_t at WHOLE - 1 in the report */
	unsigned int arg; /* for GET */
	const struct view *list;
	void (*json)(const void *of, const void *row, struct json *j);
	const char *what; /* for the docs and the page's tooltip; NULL: the name says enough */
};

/* Returns the place of column C's value in ROW. */
static inline const void *view_at(const void *row, const struct view_column *c)
{
	return (const char *)row + c->at;
}

/* a _Generic is no call: */
/* clang-format off */
#define VIEW_AS(type, member) \
	_Generic(&((type *)0)->member, uint64_t *: VIEW_AS_U64, int64_t *: VIEW_AS_S64, uint32_t *: VIEW_AS_U32, \
		 uint8_t *: VIEW_AS_U8, bool *: VIEW_AS_BOOL, double *: VIEW_AS_F64, char **: VIEW_AS_POINTER, \
		 const char **: VIEW_AS_POINTER, default: VIEW_AS_CHARS)
/* clang-format on */
#define VIEW_AT(type, member) .as = VIEW_AS(type, member), .at = offsetof(type, member)
#define VIEW_PLACE(type, member)                                  \
	{                                                         \
		VIEW_AS(type, member), 1 + offsetof(type, member) \
	}
#define VIEW_KNOWN(type, member) .known = VIEW_PLACE(type, member)
#define VIEW_STEP(type, member, report, table)                           \
	{                                                                \
		offsetof(type, member), offsetof(report, table), 0, NULL \
	}
#define VIEW_VIA(type, member, report, table) .via = &(const struct view_via)VIEW_STEP(type, member, report, table)
#define VIEW_WHOLE(report, member) .whole = 1 + offsetof(report, member)

#define VIEW_ARRAY(type, first, many) \
	.of.array = offsetof(type, first), .of.size = sizeof(((type *)0)->first[0]), .of.count = offsetof(type, many)
#define VIEW_BEHIND(type, pointer) .of.base = 1 + offsetof(type, pointer)
#define VIEW_POINTED(type, first, many) VIEW_ARRAY(type, first, many), .of.pointed = true
#define VIEW_FIXED(type, first)                                                      \
	.of.array = offsetof(type, first), .of.size = sizeof(((type *)0)->first[0]), \
	.of.fixed = sizeof(((type *)0)->first) / sizeof(((type *)0)->first[0])
#define VIEW_TABLE(type, member) .of.table = 1 + offsetof(type, member)
#define VIEW_PAIRS(type, member, first) VIEW_TABLE(type, member), .of.pairs = true, .of.skip = first
#define VIEW_TOTAL(type, member) .of.total = VIEW_PLACE(type, member)
#define VIEW_HAVING(type, member) .of.having = VIEW_PLACE(type, member)
#define VIEW_MOST(type, member) .of.most = VIEW_PLACE(type, member)

/* The rows of a view, in order. */
struct view_rows {
	struct view_row {
		const void *parent, *row;
		size_t nr; /* in the order of adding */
	} * v;
	size_t n;
	uint64_t total; /* the number of all rows, if these are only the first; 0: these are all */
	const void *parent;
	struct view_made *made;
	bool failed; /* memory is out */
};

void view_add(struct view_rows *rows, const void *row);
/* Adds a row of SIZE zeroed bytes, owned by ROWS. Returns it; NULL when memory is out. */
void *view_make(struct view_rows *rows, size_t size);
/* Returns as many bytes without adding a row. */
void *view_alloc(struct view_rows *rows, size_t size);
/* Sorts the rows from FIRST on, the largest number at PLACE first; equal ones in the order of adding. */
void view_sort(struct view_rows *rows, size_t first, const struct view_place *place);
#define VIEW_SORT(rows, first, type, member) view_sort(rows, first, &(const struct view_place)VIEW_PLACE(type, member))

struct view_pair {
	const void *value;
	uint64_t least;
	uint32_t first, second; /* its keys */
};
void view_pair(struct view_rows *rows, uint64_t keys, const void *value);

struct view {
	const char *key; /* in JSON, and the CSV file's name; NULL: absent */
	const char *title, *note; /* in text and on the page; NULL: absent */
	const char *what; /* for the docs: which rows there are; NULL: the title says enough */
	const struct view_column *columns;
	/* Adds the rows of the report OF that belong to PARENT, a row of `parent' (NULL without one). */
	void (*rows)(const void *of, const void *parent, struct view_rows *rows);
	/* In place of ROWS: a table or an array of the report, or of the struct that the pointer at BASE - 1 points to.
	 */
	struct {
		size_t base, table, array, size;
		size_t count,
			fixed; /* the place of the array's length, a uint32_t; FIXED, if not 0: the length itself */
		bool pointed; /* there is a pointer to the array */
		/* a row is a struct view_pair, of a table with two keys, sorted by the first, then by the second */
		bool pairs;
		uint32_t skip; /* entries to skip: the sums of entries beyond the table's limit */
		struct view_place total; /* the place of the number of all rows, of which these are the first */
		struct view_place having; /* in a row: those with 0 there are left out */
		struct view_place most; /* in a row: those with the largest number come first */
	} of;
	bool (*has)(const void *of, const void *row); /* whether a row belongs to the view; NULL: all do */
	const struct view *parent;
	const char *csv; /* the CSV file's name, if not KEY; "": no file */
	const char *inside; /* JSON: the array is in the object KEY, under this key */
	const char *total; /* JSON: the key, beside the array, of the number of all rows; with INSIDE in that object */
	const char *left_out; /* JSON: the key of the number of rows left out, if any are */
	unsigned int most, least; /* JSON: the first MOST rows, fewer where the page is too large, but LEAST; 0: all */
	unsigned int shown; /* text: the first rows; 0: all */
	bool bare; /* text: the title is printed even without rows */
	/* Prints further text on ROW, below its line. */
	void (*below)(const void *of, const void *row, FILE *out);
	/* Returns the key of an object in the previous row that ROW becomes in JSON; NULL: ROW is a row. */
	const char *(*part)(const void *row);
	/* The sum of rows that are not shown; NULL: none. */
	const struct view_rest {
		const char *key; /* in JSON: an object of n and the columns that are added up */
		size_t size; /* of a row */
		/* Adds ROW to SUM. Returns how many it counts for. */
		uint64_t (*add)(void *sum, const void *row);
		/* Whether ROW has a line in text; then JSON has it, too, however many rows there are. */
		bool (*is_shown)(const void *of, const void *row);
		bool (*is_kept)(const void *of, const void *row);
		void (*name)(const void *of, uint64_t n, char *buf, size_t size); /* of its line in text */
	} * rest;
};

/* A part of a report, in the order of printing. */
struct view_section {
	const struct view *view;
	void (*text)(const void *of, FILE *out); /* in place of the view's text */
	void (*json)(const void *of, struct json *j); /* after the members of the view */
	bool (*has)(const void *of); /* whether OF has the section; NULL: always */
	bool sum; /* a report on several hosts has it for all of them together, too */
};

/* --- functions of views, with typed arguments: a body follows ----------------------------------------------------- */

#define VIEW_UNUSED __attribute__((unused))
#define VIEW_GET(name, report, r, type, v)                                                                          \
	static void name##_of(const struct view_column *c, const report *r, const type *v, struct view_cell *cell); \
	static void name(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)      \
	{                                                                                                           \
		name##_of(c, of, row, cell);                                                                        \
	}                                                                                                           \
	static void name##_of(const struct view_column *c VIEW_UNUSED, const report *r VIEW_UNUSED, const type *v,  \
			      struct view_cell *cell)
#define VIEW_ROWS_OF(name, report, r, type, p)                                         \
	static void name##_of(const report *r, const type *p, struct view_rows *rows); \
	static void name(const void *of, const void *parent, struct view_rows *rows)   \
	{                                                                              \
		name##_of(of, parent, rows);                                           \
	}                                                                              \
	static void name##_of(const report *r VIEW_UNUSED, const type *p VIEW_UNUSED, struct view_rows *rows)

/* --- renderers: OF is the report that the view's functions expect ------------------------------------ */

void view_title(FILE *out, const char *title);
/* Prints a title, heads, and a line for each row; nothing without rows. */
void view_text(const struct view *view, const void *of, FILE *out);
/* Lines of view_text() are at most COLUMNS long from now on, by breaks between columns of the table; 0: as long as they
 * are. */
void view_text_fit(unsigned int columns);
void view_text_heads(const struct view *v, FILE *out);
void view_fmt_line(const struct view *v, const void *of, const void *row, FILE *out);
/* Puts V's members; lists are halved THIN times. */
void view_json(const struct view *v, const void *of, unsigned int thin, struct json *j);
/* Writes the file KEY.csv in the folder DIRFD. Returns 0 or -errno. */
int view_csv(const struct view *view, const void *of, int dirfd);

/* --- all sections: the last one has neither a view nor a function ----------------------------------- */

/* SUM: only sections that sums over hosts have. */
void view_sections_text(const struct view_section *s, const void *of, bool sum, FILE *out);
void view_sections_json(const struct view_section *s, const void *of, unsigned int thin, bool sum, struct json *j);
int view_sections_csv(const struct view_section *s, const void *of, int dirfd); /* returns 0 or -errno */
/* Describe the tables' columns: as JSON objects for the page, in the array that J is in; as a list in Markdown. */
void view_sections_describe(const struct view_section *s, struct json *j);
void view_sections_markdown(const struct view_section *s, FILE *out);

/* --- shared by the renderers ---------------------------------------------------------------------------- */

/* Adds all rows; of a view with a parent, those of each of its rows. */
void view_rows_fill(struct view_rows *rows, const struct view *view, const void *of, const void *parent);
void view_rows_free(struct view_rows *rows);
void view_cell(const struct view_column *column, const void *of, const void *row, struct view_cell *cell);
/*
 * Returns the column of VIEW after COLUMN, or the first for NULL; NULL after the last. Columns of the parent's row come
 * first. *ROW: the row of VIEW_ROW (which may be NULL) that the column is of.
 */
const struct view_column *view_column_next(const struct view *view, const struct view_column *column,
					   const struct view_row *view_row, const void **row);
/*
 * For functions of columns. view_number() returns the number at C's place in ROW; the other sets PART of WHOLE, 0 of
 * nothing, a dash on a terminal.
 */
uint64_t view_number(const struct view_column *c, const void *row);
void view_share(struct view_cell *cell, uint64_t part, uint64_t whole);
/* Returns the key in CSV: _s at its end for _ns. */
const char *view_csv_key(const struct view_column *column, char buf[64]);
/* Returns the file's name without .csv; NULL: it has no file. */
const char *view_csv_name(const struct view *v, char buf[96]);

#endif
