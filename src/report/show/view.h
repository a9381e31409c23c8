/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of a report, described once: what its columns are called, what they hold and where they lie in a row. One
 * renderer each makes text, JSON and CSV of any of them, and tells the page and docs/report-json.md what it holds. So
 * a new table is a struct view and an entry in its report's list of sections.
 */
#ifndef REPORT_SHOW_VIEW_H
#define REPORT_SHOW_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv;
struct json;
struct view;

/* What a column holds, and with that how it is written. */
enum view_kind {
	VIEW_END, /* behind the last column */
	VIEW_COUNT,
	VIEW_ID,	/* a number that is no amount: a PID, a FID */
	VIEW_BYTES,	/* text: 1.50 KiB */
	VIEW_NS,	/* text: 1.50 us; CSV: seconds with nine decimals, and _s in place of _ns in the column's name */
	VIEW_SIGNED_NS,
	VIEW_SHARE,	/* a part of one; text: percent */
	VIEW_NUMBER,	/* a double */
	VIEW_TEXT,	/* escaped as in the .out files */
	VIEW_FLAG,	/* CSV: 1 or 0 */
	VIEW_ROWS,	/* JSON: an array, the rows of `list' that belong to this one */
	VIEW_JSON,	/* JSON alone: members that `json' writes */
};

/* Where the value lies: VIEW_AT() finds out. */
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
	bool known;	/* else JSON null, CSV nothing, text - */
	uint64_t n;
	int64_t s;
	double f;
	const char *text;
	char shown[224]; /* what a terminal shows in place of the value, known or not; "": the value */
};

enum view_flag {
	VIEW_DASH = 1,	   /* text: 0 is - */
	VIEW_OPTIONAL = 2, /* JSON: no member where it is not known */
	VIEW_SUM = 4,	   /* adds up: the row of all that have none of their own has it, too */
	VIEW_FOOT = 512,   /* as VIEW_SUM, but not in JSON */
	VIEW_KEY = 8,	   /* of the row that others belong to: these begin with it, as text, CSV and on the page */
	VIEW_NO_CSV = 16,
	VIEW_EMPTY = 32,   /* a text of no bytes is known */
	VIEW_PART = 64,	   /* a part of a row has it, too */
	VIEW_NO_TEXT = 128,
	VIEW_NO_JSON = 256, /* it is there at another place: a.b is b in the object a */
};

/* A number or bool: where it lies; 0: nowhere. */
struct view_place {
	enum view_as as;
	size_t plus; /* 1 + where */
};

/* From a row to the entry of one of the report's tables or arrays whose number lies AT in the row. */
struct view_via {
	size_t at, in;
	size_t size; /* of an entry of the array that a pointer at IN points to; 0: a struct table is there */
	const struct view_via *then;
};

struct view_column {
	const char *key;  /* in JSON and CSV; NULL: not there */
	const char *head; /* in text and on the page; NULL: not there */
	enum view_kind kind;
	unsigned int width; /* of text; 0: as long as it is, last in its line */
	unsigned int flags;
	enum view_as as;
	size_t at; /* in the row */
	/* In place of AS and AT: the value of COLUMN in ROW of the report OF. CELL is zeroed but for `known', which is true.
	 */
	void (*get)(const struct view_column *column, const void *of, const void *row, struct view_cell *cell);
	const struct view_via *via; /* the value lies in what this leads to; GET is given that, too */
	struct view_place known;    /* 0 there: the value is not known */
	const char *const *names;   /* of VIEW_TEXT: the value is the number of its name */
	size_t whole;		    /* of VIEW_SHARE: the value is a part of the uint64_t that is at WHOLE - 1 in the report */
	unsigned int arg;	    /* for GET, whatever that takes it for */
	const struct view *list;
	void (*json)(const void *of, const void *row, struct json *j);
	const char *what; /* for the docs, and when the page's pointer rests on it; NULL: its name says it */
};

/* Where the value of column C lies in ROW. */
static inline const void *view_at(const void *row, const struct view_column *c)
{
	return (const char *)row + c->at;
}

#define VIEW_AS(type, member)                                                                                             \
	_Generic(&((type *)0)->member, uint64_t *: VIEW_AS_U64, int64_t *: VIEW_AS_S64, uint32_t *: VIEW_AS_U32,          \
		uint8_t *: VIEW_AS_U8, bool *: VIEW_AS_BOOL, double *: VIEW_AS_F64, char **: VIEW_AS_POINTER,              \
		const char **: VIEW_AS_POINTER, default: VIEW_AS_CHARS)
#define VIEW_AT(type, member) .as = VIEW_AS(type, member), .at = offsetof(type, member)
#define VIEW_PLACE(type, member) { VIEW_AS(type, member), 1 + offsetof(type, member) }
#define VIEW_KNOWN(type, member) .known = VIEW_PLACE(type, member)
#define VIEW_STEP(type, member, report, table) { offsetof(type, member), offsetof(report, table), 0, NULL }
#define VIEW_VIA(type, member, report, table) .via = &(const struct view_via)VIEW_STEP(type, member, report, table)
#define VIEW_WHOLE(report, member) .whole = 1 + offsetof(report, member)

#define VIEW_ARRAY(type, first, many)                                                                                       \
	.of.array = offsetof(type, first), .of.size = sizeof(((type *)0)->first[0]), .of.count = offsetof(type, many)
#define VIEW_BEHIND(type, pointer) .of.base = 1 + offsetof(type, pointer)
#define VIEW_POINTED(type, first, many) VIEW_ARRAY(type, first, many), .of.pointed = true
#define VIEW_FIXED(type, first)                                                                                             \
	.of.array = offsetof(type, first), .of.size = sizeof(((type *)0)->first[0]),                                        \
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
		size_t nr; /* as they were added */
	} *v;
	size_t n, room;
	uint64_t total; /* how many there are of what these are the first of; 0: these are all */
	const void *parent;
	struct view_made *made;
	bool failed; /* memory is out */
};

void view_add(struct view_rows *rows, const void *row);
/* A row of SIZE zeroed bytes that ROWS owns, added. NULL: memory is out. */
void *view_make(struct view_rows *rows, size_t size);
/* As many that are no row. */
void *view_alloc(struct view_rows *rows, size_t size);
/* Those from FIRST on in order, with the most at PLACE before the others; of the same number as they were added. */
void view_sort(struct view_rows *rows, size_t first, const struct view_place *place);
#define VIEW_SORT(rows, first, type, member) view_sort(rows, first, &(const struct view_place)VIEW_PLACE(type, member))

struct view_pair {
	const void *value;
	uint64_t least;
	uint32_t first, second; /* its keys */
};
void view_pair(struct view_rows *rows, uint64_t keys, const void *value);

struct view {
	const char *key;	 /* in JSON, and the CSV file's name; NULL: not there */
	const char *title, *note; /* in text and on the page; NULL: not there */
	const char *what;	 /* for the docs: what a row is, and which there are; NULL: the title says it */
	const struct view_column *columns;
	/* Adds the rows of the report OF that belong to PARENT, a row of `parent' (NULL: it has none). */
	void (*rows)(const void *of, const void *parent, struct view_rows *rows);
	/* In place of that: a table or an array of the report, or of what the pointer at BASE - 1 in it points to. */
	struct {
		size_t base, table, array, size;
		size_t count, fixed; /* where the uint32_t is that has how many the array holds; if not 0, how many */
		bool pointed;	     /* to the array, by what is there */
		bool pairs;	     /* a row is a struct view_pair, of a table with two keys, by the first and then by the second */
		uint32_t skip;	     /* so many entries of it, which are those beyond its end */
		struct view_place total;  /* how many rows there are of which these are the first */
		struct view_place having; /* in a row: those with 0 there are left out */
		struct view_place most;	  /* likewise: those with the most come first */
	} of;
	bool (*has)(const void *of, const void *row); /* of these rows those that belong; NULL: all */
	const struct view *parent;
	const char *csv;      /* the CSV file's name, if not KEY; "": there is none */
	const char *inside;   /* JSON: the array has this key in the object KEY */
	const char *total;    /* JSON: beside the array, how many there are; with INSIDE in that object */
	const char *left_out; /* JSON: how many are left out, where any are */
	unsigned int most, least; /* JSON: the first MOST, less where the page is too large, but LEAST; 0: all */
	unsigned int shown;	  /* text: the first; 0: all */
	bool bare;		  /* text: a title even without rows */
	/* What else text has of ROW, below its line. */
	void (*below)(const void *of, const void *row, FILE *out);
	/* ROW is a part of the row before it, which JSON has as an object in that, under the key returned. NULL: it is none.
	 */
	const char *(*part)(const void *row);
	/* Those with no row of their own, as a sum; NULL: they are left out. */
	const struct view_rest {
		const char *key; /* in JSON: an object of n and what adds up */
		size_t size;	 /* of a row */
		/* Adds ROW to SUM; as how many it counts. */
		uint64_t (*add)(void *sum, const void *row);
		/* ROW has a line in text; it has a row in JSON however many there are. */
		bool (*is_shown)(const void *of, const void *row);
		bool (*is_kept)(const void *of, const void *row);
		void (*name)(const void *of, uint64_t n, char *buf, size_t size); /* of the line in text */
	} *rest;
};

/* A part of a report, in the order in which it is printed. */
struct view_section {
	const struct view *view;
	void (*text)(const void *of, FILE *out);      /* in place of the view's text */
	void (*json)(const void *of, struct json *j); /* behind what the view makes */
	bool (*has)(const void *of); /* false: OF has none of it; NULL: it always has */
	bool sum; /* a report on several hosts has it, too, of all of them */
};

/* --- functions of views, with the types that they know their arguments by: a body follows -------------------------- */

#define VIEW_UNUSED __attribute__((unused))
#define VIEW_GET(name, report, r, type, v)                                                                                \
	static void name##_of(const struct view_column *c, const report *r, const type *v, struct view_cell *cell);         \
	static void name(const struct view_column *c, const void *of, const void *row, struct view_cell *cell)              \
	{                                                                                                                  \
		name##_of(c, of, row, cell);                                                                               \
	}                                                                                                                  \
	static void name##_of(const struct view_column *c VIEW_UNUSED, const report *r VIEW_UNUSED, const type *v,          \
			      struct view_cell *cell)
#define VIEW_ROWS_OF(name, report, r, type, p)                                                                            \
	static void name##_of(const report *r, const type *p, struct view_rows *rows);                                      \
	static void name(const void *of, const void *parent, struct view_rows *rows)                                        \
	{                                                                                                                  \
		name##_of(of, parent, rows);                                                                               \
	}                                                                                                                  \
	static void name##_of(const report *r VIEW_UNUSED, const type *p VIEW_UNUSED, struct view_rows *rows)

/* --- renderers: OF is what the view's functions take -------------------------------------------------- */

/* A title, heads and a line a row; nothing where there is no row. */
void view_text(const struct view *v, const void *of, FILE *out);
void view_text_heads(const struct view *v, FILE *out);
void view_fmt_line(const struct view *v, const void *of, const void *row, FILE *out);
/* The members that V makes; lists are halved THIN times. */
void view_json(const struct view *v, const void *of, unsigned int thin, struct json *j);
/* The file KEY.csv in the folder DIRFD. 0 or -errno. */
int view_csv(const struct view *v, const void *of, int dirfd);

/* --- all sections: what ends them has neither a view nor a function --------------------------------- */

void view_sections_text(const struct view_section *s, const void *of, FILE *out);
/* SUM: those alone that sums over hosts have. */
void view_sections_json(const struct view_section *s, const void *of, unsigned int thin, bool sum, struct json *j);
int view_sections_csv(const struct view_section *s, const void *of, int dirfd); /* 0 or -errno */
/* What their tables hold: as JSON objects for the page, in the array that J is in; as a table in Markdown. */
void view_sections_describe(const struct view_section *s, struct json *j);
void view_sections_markdown(const struct view_section *s, FILE *out);

/* --- between them --------------------------------------------------------------------------------------- */

/* All rows, of each of the parent's, too. */
void view_rows_fill(struct view_rows *rows, const struct view *v, const void *of, const void *parent);
void view_rows_free(struct view_rows *rows);
void view_cell(const struct view_column *c, const void *of, const void *row, struct view_cell *cell);
/*
 * The columns of V, those of the row that it belongs to before its own: the first behind C, which is NULL at first. NULL: that
 * was the last. ROW becomes the one of R, which may be NULL, that the column is of.
 */
const struct view_column *view_column_next(const struct view *v, const struct view_column *c, const struct view_row *r,
					   const void **row);
/* For functions of columns: the number at C's place in ROW; PART of WHOLE, of nothing 0 and on a terminal a dash. */
uint64_t view_number(const struct view_column *c, const void *row);
void view_share(struct view_cell *cell, uint64_t part, uint64_t whole);
/* The key with _s at its end for _ns. */
const char *view_csv_key(const struct view_column *c, char buf[64]);
/* The file's name without .csv; NULL: it has none. */
const char *view_csv_name(const struct view *v, char buf[96]);

#endif
