/* SPDX-License-Identifier: BSD-2-Clause */
#include <ctype.h>

#include "applog/applog_impl.h"
#include "applog/mllog.h"
#include "base/util.h"

size_t applog_event(const char *name, size_t len, enum phase_event *event)
{
	static const struct {
		const char *word;
		enum phase_event event;
	} words[] = {
		{ "start", PHASE_BEGINS },
		{ "begin", PHASE_BEGINS },
		{ "stop", PHASE_ENDS },
		{ "end", PHASE_ENDS },
	};

	*event = PHASE_LASTS;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i].word);

		if (len < n + 2 || memcmp(name + len - n, words[i].word, n) != 0 || !name[len - n - 1] ||
		    !strchr(" _:-.", name[len - n - 1]))
			continue;
		*event = words[i].event;
		return len - n - 1;
	}
	return len;
}

const char *applog_escape_end(const char *p, const char *end)
{
	if (end - p < 2 || *p != '\033' || p[1] != '[')
		return p;
	for (p += 2; p < end && !isalpha((unsigned char)*p); p++)
		;
	return p < end ? p + 1 : end;
}

void applog_set_name(struct applog_line *l, const char *name, size_t len)
{
	l->entry.name_len = (uint32_t)MIN(len, sizeof(l->name) - 1);
	memmove(l->name, name, l->entry.name_len);
	l->name[l->entry.name_len] = '\0';
	l->entry.name = l->name;
}

int64_t applog_number_at(struct applog_piece s)
{
	int64_t v = 0;
	const char *p = s.p;

	for (; p < s.end && is_digit(*p) && p - s.p < 10; p++)
		v = 10 * v + (*p - '0');
	return p == s.p || p - s.p == 10 ? -1 : v;
}

static enum phase_event event_of(const struct mllog *m)
{
	if (m->event == MLLOG_START)
		return PHASE_BEGINS;
	return m->has_duration ? PHASE_WHOLE : PHASE_ENDS;
}

static enum applog_found parse_mllog(struct applog_line *applog_line, const char *line, size_t len)
{
	struct mllog m;

	if (!mllog_parse(&m, line, len))
		return APPLOG_BROKEN;
	if (m.event == MLLOG_POINT && !m.has_duration)
		return APPLOG_NOTHING;
	applog_line->entry = (struct phase_entry){
		.event = event_of(&m),
		.lasted_ns = m.duration_ns,
		.begin_ns = m.start_ns,
		.source = PHASE_MLLOG,
		.number = m.epoch,
		.rank = m.rank,
	};
	applog_set_name(applog_line, m.phase, strlen(m.phase));
	if (m.time_ms && m.time_ms < (uint64_t)INT64_MAX / NSEC_PER_MSEC)
		applog_line->time = (struct applog_time){
			.clock = APPLOG_UTC,
			.s = (int64_t)(m.time_ms / 1000),
			.ns = (uint32_t)(m.time_ms % 1000) * 1000000,
		};
	return APPLOG_PHASE;
}

enum applog_found applog_parse(struct applog_line *ret, const struct applog_rules *rules, const char *line, size_t len)
{
	const char *before = NULL, *after;
	enum applog_found found;

	*ret = (struct applog_line){ 0 };
	len = MIN(len, APPLOG_LINE_MAX);
	if (memmem(line, len, MLLOG_MARK, strlen(MLLOG_MARK)) &&
	    (found = parse_mllog(ret, line, len)) != APPLOG_NOTHING)
		return found;
	after = applog_stamp(&ret->time, line, len, &before);
	ret->stamped = after && before[10] == 'T' && ret->time.clock == APPLOG_LOCAL;
	if (rules && rules->n && (found = applog_parse_rules(ret, rules, line, len)) != APPLOG_NOTHING)
		return found;
	return applog_parse_phrase(ret, line, len, before, after);
}
