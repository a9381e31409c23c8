/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See cxx_name.h. The grammar is that of the Itanium C++ ABI, chapter 5.1; functions here have the names of its rules.
 * What is parsed and not to be part of the name (template arguments, parameters of enclosing functions) is put nowhere.
 */
#include "report/memory/cxx_name.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/util.h"

#define DEPTH_MAX 64
#define IDENTIFIER_MAX 512
#define HASH_LEN 17 /* of Rust: the last part of a name, h and 16 digits */

struct parse {
	const char *p;
	unsigned int depth;
	char *out; /* NULL: put nowhere */
	size_t len, size;
	const char *last; /* the last part of the name, in the symbol, for constructors: their class */
	size_t last_len;
};

static bool type(struct parse *c);
static bool name(struct parse *c);
static bool encoding(struct parse *parse);

/* --- text -------------------------------------------------------------------------------------------------------- */

static bool put(struct parse *c, const char *text, size_t len)
{
	if (!c->out)
		return true;
	if (c->size - c->len <= len)
		return false;
	memcpy(c->out + c->len, text, len);
	c->len += len;
	return true;
}

static bool put_text(struct parse *c, const char *text)
{
	return put(c, text, strlen(text));
}

/* Puts a part of a name that the symbol has. */
static bool put_identifier(struct parse *c, const char *prefix, const char *text, size_t len)
{
	char escaped[TEXT_ESCAPED_MAX(IDENTIFIER_MAX)];

	if (len > IDENTIFIER_MAX)
		return false;
	return put_text(c, prefix) && put(c, escaped, (size_t)(text_put_str(escaped, text, len) - escaped));
}

static bool skip(struct parse *c, char is)
{
	if (*c->p != is)
		return false;
	c->p++;
	return true;
}

static bool next(struct parse *c)
{
	c->p++;
	return true;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool number(struct parse *parse, size_t *ret)
{
	size_t n = 0;

	if (!is_digit(*parse->p))
		return false;
	for (; is_digit(*parse->p); parse->p++) {
		n = 10 * n + (size_t)(*parse->p - '0');
		if (n > UINT32_MAX)
			return false;
	}
	*ret = n;
	return true;
}

/* "_" is the first one, "0_" the second. Returns its number in *RET, from 1 on. */
static bool discriminator(struct parse *c, size_t *ret)
{
	size_t n = 0;

	if (is_digit(*c->p) && !number(c, &n))
		return false;
	*ret = c->p[-1] >= '0' && c->p[-1] <= '9' ? n + 2 : 1;
	return skip(c, '_');
}

/* --- parts of names ---------------------------------------------------------------------------------------------- */

static bool source_name(struct parse *parse)
{
	static const char unnamed[] = "_GLOBAL__N_";
	size_t len;

	if (!number(parse, &len) || !len || len > strnlen(parse->p, len))
		return false;
	parse->last = parse->p;
	parse->last_len = len;
	parse->p += len;
	if (len >= sizeof(unnamed) - 1 && !memcmp(parse->last, unnamed, sizeof(unnamed) - 1))
		return put_text(parse, "(anonymous namespace)");
	return put_identifier(parse, "", parse->last, len);
}

static bool operator_name(struct parse *parse)
{
	static const struct {
		char code[3];
		const char *text;
	} operators[] = {
		{ "aN", "&=" },        { "aS", "=" },  { "aa", "&&" },      { "ad", "&" },    { "an", "&" },
		{ "aw", " co_await" }, { "cl", "()" }, { "cm", "," },       { "co", "~" },    { "dV", "/=" },
		{ "da", " delete[]" }, { "de", "*" },  { "dl", " delete" }, { "dv", "/" },    { "eO", "^=" },
		{ "eo", "^" },         { "eq", "==" }, { "ge", ">=" },      { "gt", ">" },    { "ix", "[]" },
		{ "lS", "<<=" },       { "le", "<=" }, { "ls", "<<" },      { "lt", "<" },    { "mI", "-=" },
		{ "mL", "*=" },        { "mi", "-" },  { "ml", "*" },       { "mm", "--" },   { "na", " new[]" },
		{ "ne", "!=" },        { "ng", "-" },  { "nt", "!" },       { "nw", " new" }, { "oR", "|=" },
		{ "oo", "||" },        { "or", "|" },  { "pL", "+=" },      { "pl", "+" },    { "pm", "->*" },
		{ "pp", "++" },        { "ps", "+" },  { "pt", "->" },      { "rM", "%=" },   { "rS", ">>=" },
		{ "rm", "%" },         { "rs", ">>" }, { "ss", "<=>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (!strncmp(parse->p, operators[i].code, 2)) {
			parse->p += 2;
			return put_text(parse, "operator") && put_text(parse, operators[i].text);
		}
	return false;
}

/* A closure, or a type without a name. */
static bool unnamed_type(struct parse *parse)
{
	struct parse in = *parse;
	char text[48];
	size_t n;
	bool lambda = parse->p[1] == 'l';

	in.p += 2;
	in.out = NULL;
	while (lambda && *in.p != 'E')
		if (!type(&in))
			return false;
	parse->p = in.p;
	if ((lambda && !skip(parse, 'E')) || !discriminator(parse, &n))
		return false;
	snprintf(text, sizeof(text), lambda ? "{lambda#%zu}" : "{unnamed#%zu}", n);
	return put_text(parse, text);
}

/* A constructor or a destructor of the last part. */
static bool ctor_dtor_name(struct parse *c)
{
	const char *what = *c->p == 'D' ? "~" : "";

	if (!c->last || c->p[1] < '0' || c->p[1] > '5')
		return false;
	c->p += 2;
	return put_identifier(c, what, c->last, c->last_len);
}

static bool unqualified_name(struct parse *parse)
{
	bool good;

	while (*parse->p == 'L') /* of one file */
		parse->p++;
	good = is_digit(*parse->p)                                            ? source_name(parse) :
	       *parse->p == 'U' && (parse->p[1] == 'l' || parse->p[1] == 't') ? unnamed_type(parse) :
	       *parse->p == 'C' || *parse->p == 'D'                           ? ctor_dtor_name(parse) :
										operator_name(parse);
	while (good && *parse->p == 'B') { /* a tag */
		struct parse in = { .p = parse->p + 1 };

		good = source_name(&in);
		parse->p = in.p;
	}
	return good;
}

/* std, and what is below it; others stand for a part of the symbol before, which no name begins with. */
static bool substitution(struct parse *parse)
{
	static const struct {
		char code;
		const char *text, *last;
	} known[] = {
		{ 'a', "std::allocator", "allocator" },
		{ 'b', "std::basic_string", "basic_string" },
		{ 'd', "std::iostream", "basic_iostream" },
		{ 'i', "std::istream", "basic_istream" },
		{ 'o', "std::ostream", "basic_ostream" },
		{ 's', "std::string", "basic_string" },
		{ 't', "std", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (parse->p[1] == known[i].code) {
			parse->p += 2;
			parse->last = known[i].last;
			parse->last_len = parse->last ? strlen(parse->last) : 0;
			return put_text(parse, known[i].text);
		}
	if (parse->out)
		return false;
	parse->p++;
	while (is_digit(*parse->p) || (*parse->p >= 'A' && *parse->p <= 'Z'))
		parse->p++;
	return skip(parse, '_');
}

/* --- what is no part of the name --------------------------------------------------------------------------------- */

static bool literal(struct parse *c)
{
	if (skip(c, '_'))
		return skip(c, 'Z') && encoding(c) && skip(c, 'E');
	if (!type(c))
		return false;
	while (is_digit(*c->p) || (*c->p >= 'a' && *c->p <= 'z') || *c->p == '_')
		c->p++;
	return skip(c, 'E');
}

static bool template_args(struct parse *of)
{
	struct parse in = *of, *c = &in;
	bool good = ++c->depth < DEPTH_MAX;

	in.out = NULL;
	c->p++;
	while (good && *c->p != 'E')
		good = skip(c, 'L') ? literal(c) : *c->p == 'J' || *c->p == 'I' ? template_args(c) : type(c);
	of->p = in.p;
	return good && skip(of, 'E');
}

static bool args_if_any(struct parse *c)
{
	return *c->p != 'I' || template_args(c);
}

static bool type_of_d(struct parse *parse)
{
	size_t n;

	switch (*++parse->p) {
	case 'p':
	case 'o':
		parse->p++;
		return type(parse);
	case 'v':
		parse->p++;
		return number(parse, &n) && skip(parse, '_') && type(parse);
	case 'F':
		parse->p++;
		return number(parse, &n) && (skip(parse, '_') || skip(parse, 'x') || skip(parse, 'b'));
	default:
		return *parse->p && strchr("acdefhinsu", *parse->p) && next(parse);
	}
}

static bool type_inside(struct parse *parse)
{
	size_t n;

	switch (*parse->p) {
	case 'P':
	case 'R':
	case 'O':
	case 'K':
	case 'V':
	case 'r':
	case 'C':
	case 'G':
		parse->p++;
		return type(parse);
	case 'S':
		if (parse->p[1] == 't')
			return name(parse);
		return substitution(parse) && args_if_any(parse);
	case 'T':
		parse->p++;
		while (is_digit(*parse->p))
			parse->p++;
		return skip(parse, '_') && args_if_any(parse);
	case 'F':
		parse->p++;
		skip(parse, 'Y');
		while (*parse->p != 'E')
			if (!((*parse->p == 'R' || *parse->p == 'O') && parse->p[1] == 'E' ? next(parse) : type(parse)))
				return false;
		return skip(parse, 'E');
	case 'A':
		parse->p++;
		return (!is_digit(*parse->p) || number(parse, &n)) && skip(parse, '_') && type(parse);
	case 'M':
		parse->p++;
		return type(parse) && type(parse);
	case 'D':
		return type_of_d(parse);
	case 'U':
		parse->p++;
		return source_name(parse) && args_if_any(parse) && type(parse);
	case 'u':
		parse->p++;
		return source_name(parse) && args_if_any(parse);
	default:
		if (*parse->p && strchr("vwbcahstijlmxynofdegz", *parse->p))
			return next(parse);
		return name(parse);
	}
}

static bool type(struct parse *of)
{
	struct parse in = *of;
	bool good = ++in.depth < DEPTH_MAX;

	in.out = NULL;
	good = good && type_inside(&in);
	of->p = in.p;
	return good;
}

/* --- names ------------------------------------------------------------------------------------------------------- */

static bool is_hash(const struct parse *c)
{
	return c->last_len == HASH_LEN && *c->last == 'h' && strspn(c->last + 1, "0123456789abcdef") >= HASH_LEN - 1;
}

static bool nested_name(struct parse *parse)
{
	const size_t begin = parse->len;
	size_t before = begin;
	bool first = true, good = true;

	for (parse->p++; *parse->p == 'r' || *parse->p == 'V' || *parse->p == 'K';)
		parse->p++;
	if (*parse->p == 'R' || *parse->p == 'O')
		parse->p++;
	for (; good && *parse->p != 'E'; first = false) {
		if (*parse->p == 'I') {
			good = !first && template_args(parse);
			continue;
		}
		if (skip(parse, 'M')) { /* the member before is initialized there */
			good = !first;
			continue;
		}
		before = parse->len;
		good = first || put_text(parse, "::");
		good = good && (*parse->p == 'S' ? first && substitution(parse) :
				*parse->p == 'T' ? !parse->out && type(parse) :
						   unqualified_name(parse));
	}
	if (good && before > begin && is_hash(parse))
		parse->len = before;
	return good && !first && skip(parse, 'E');
}

static bool local_name(struct parse *parse)
{
	size_t n;

	parse->p++;
	if (!encoding(parse) || !skip(parse, 'E'))
		return false;
	if (skip(parse, 's'))
		return put_text(parse, "::{string}");
	if (skip(parse, 'd') && !discriminator(parse, &n))
		return false;
	if (!put_text(parse, "::") || !name(parse))
		return false;
	if (skip(parse, '_')) { /* one of several of this name */
		if (skip(parse, '_'))
			return number(parse, &n) && skip(parse, '_');
		return is_digit(*parse->p) && next(parse);
	}
	return true;
}

static bool name_inside(struct parse *c)
{
	if (*c->p == 'N')
		return nested_name(c);
	if (*c->p == 'Z')
		return local_name(c);
	if (*c->p == 'S' && c->p[1] == 't')
		return substitution(c) && put_text(c, "::") && unqualified_name(c) && args_if_any(c);
	return unqualified_name(c) && args_if_any(c);
}

static bool name(struct parse *c)
{
	const bool good = ++c->depth < DEPTH_MAX && name_inside(c);

	c->depth--;
	return good;
}

/* A function with its parameters, within another name. */
static bool encoding(struct parse *parse)
{
	struct parse in;
	bool good = name(parse);

	in = *parse;
	in.out = NULL;
	while (good && *in.p != 'E')
		good = type(&in);
	parse->p = in.p;
	return good;
}

bool cxx_name(char *ret, size_t size, const char *symbol)
{
	struct parse c = { .p = symbol, .out = ret, .size = size };

	while (*c.p == '_')
		c.p++;
	if (c.p == symbol || *c.p != 'Z' || !size)
		return false;
	c.p++;
	if (!name(&c))
		return false;
	ret[c.len] = '\0';
	return true;
}
