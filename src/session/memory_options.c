/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/memory_options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/util.h"
#include "trace/config.h"
#include "trace/probe_mask.h"

const char *const config_alloc_sites[ALLOC_SITES_N] = {
	[ALLOC_SITES_AUTO] = "auto",     [ALLOC_SITES_PYTHON] = "python", [ALLOC_SITES_NATIVE] = "native",
	[ALLOC_SITES_CALLER] = "caller", [ALLOC_SITES_NONE] = "none",
};

#define TO(m) offsetof(struct config, m) /* NOLINT(bugprone-macro-parentheses): a member */

static const char *set_sites(struct option_parse *p, void *member, char *arg)
{
	const unsigned int i = option_word(config_alloc_sites, ALLOC_SITES_N, arg);

	*(enum config_alloc_sites *)member = i;
	return i < ALLOC_SITES_N ? NULL : "not one of auto, python, native, caller, none";
}

const char *memory_set_alloc(struct option_parse *p, void *member, char *arg)
{
	static const struct option_row parts[] = { { "min", 0, "SIZE", NULL, option_size, TO(alloc_min_bytes) },
						   { "sites", 0, "HOW", NULL, set_sites, TO(alloc_sites) },
						   { 0 } };
	struct config *cfg = p->into;
	autofree char *rest = NULL;
	const char *why = option_parts(p, parts, arg, &rest);

	cfg->meant |= PROBE_BIT(DLT_alloc);
	return why || !*rest ? why : "neither min=SIZE nor sites=HOW";
}

const char *const config_access[ACCESS_N] = {
	[ACCESS_AUTO] = "auto",   [ACCESS_FAULTS] = "faults", [ACCESS_PAGES] = "pages",
	[ACCESS_WATCH] = "watch", [ACCESS_WRITES] = "writes", [ACCESS_PMU] = "pmu",
};

/* The breakpoints are taken now, and go to the blocks later. */
static const char *set_watched_site(struct config *cfg, const char *arg)
{
	if (!*arg)
		return "not an address, nor what allocates the blocks to watch: watch=0x7f0012345678:8, "
		       "watch=train.py:42, watch=FUNCTION";
	if (strlen(arg) >= sizeof(cfg->access_site))
		return "too long: the end of the path is enough, as in watch=train.py:42";
	strcpy(cfg->access_site, arg);
	for (unsigned int i = 0; i < DLT_WATCHES; i++)
		cfg->access_watch[i] = (struct dlt_watch){ 0, 8 };
	cfg->meant |= PROBE_BIT(DLT_alloc);
	return NULL;
}

/* ADDR[:LEN][,...], or what allocates the blocks */
static const char *set_watch(struct config *cfg, const char *arg)
{
	if (!isdigit((unsigned char)*arg))
		return set_watched_site(cfg, arg);
	cfg->access_site[0] = '\0';
	memset(cfg->access_watch, 0, sizeof(cfg->access_watch));
	for (unsigned int i = 0; i < DLT_WATCHES; i++) {
		struct dlt_watch *watch = &cfg->access_watch[i];
		char *end = NULL;

		watch->len = 8;
		watch->addr = isdigit((unsigned char)*arg) ? strtoull(arg, &end, 0) : 0;
		if (end && *end == ':')
			watch->len = strtoull(end + 1, &end, 10);
		if (!end || !watch->addr || watch->addr >> 63 || (*end && *end != ','))
			return "not an address and a length: watch=0x7f0012345678:8";
		if (watch->len > 8 || watch->len != util_pow2_below(watch->len) || !watch->len ||
		    watch->addr % watch->len)
			return "a length is 1, 2, 4 or 8, and the address is a multiple of it";
		if (!*end)
			return NULL;
		arg = end + 1;
	}
	return "more than 4 addresses: a CPU has no more registers for them";
}

static const char *set_hz(struct config *cfg, const char *arg)
{
	const size_t digits = strspn(arg, "0123456789");

	cfg->access_hz = digits < 8 ? (unsigned int)strtoul(arg, NULL, 10) : 0;
	return cfg->access_hz && !arg[digits] ? NULL : "not a number of samples a second: pmu:1000";
}

static const char *set_how(struct config *cfg, const char *arg)
{
	static const struct {
		const char *begin;
		enum config_access access;
		const char *(*set)(struct config *cfg, const char *arg);
	} with_value[] = { { "pmu:", ACCESS_PMU, set_hz }, { "watch=", ACCESS_WATCH, set_watch } };

	for (size_t i = 0; i < ARRAY_SIZE(with_value); i++) {
		const size_t len = strlen(with_value[i].begin);

		if (strncmp(arg, with_value[i].begin, len))
			continue;
		cfg->access = with_value[i].access;
		return with_value[i].set(cfg, arg + len);
	}
	cfg->access = option_word(config_access, ACCESS_WATCH, arg);
	if (cfg->access < ACCESS_WATCH)
		return NULL;
	return "not one of auto, pages, faults, writes, pmu[:HZ], watch=ADDR, watch=FILE.py:LINE, block=SIZE, "
	       "budget=PERCENT, interval=T";
}

static const char *set_budget(struct option_parse *p, void *member, char *arg)
{
	const size_t digits = strspn(arg, "0123456789");
	const unsigned long percent = digits && digits < 5 ? strtoul(arg, NULL, 10) : 0;

	*(unsigned int *)member = (unsigned int)percent;
	if (percent && percent <= 100 && (!arg[digits] || !strcmp(arg + digits, "%")))
		return NULL;
	return "not a percentage of a CPU from 1 to 100";
}

static const char *set_block(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_size(p, member, arg);
	const uint64_t bytes = why ? 0 : *(uint64_t *)member;

	if (why || (bytes >= CONFIG_ACCESS_BLOCK_MIN_BYTES && bytes <= CONFIG_ACCESS_BLOCK_MAX_BYTES &&
		    bytes == util_pow2_below(bytes)))
		return why;
	return "not a power of two from 4K to 2M";
}

static const char *set_interval(struct option_parse *p, void *member, char *arg)
{
	const char *why = option_time(p, member, arg);

	return why || !*(uint64_t *)member || *(uint64_t *)member >= CONFIG_ACCESS_INTERVAL_MIN_NS ?
		       why :
		       "less than 10ms, and not 0";
}

const char *memory_set_access(struct option_parse *p, void *member, char *arg)
{
	static const struct option_row parts[] = {
		{ "block", 0, "SIZE", NULL, set_block, TO(access_block_bytes) },
		{ "budget", 0, "PERCENT", NULL, set_budget, TO(access_budget) },
		{ "interval", 0, "T", NULL, set_interval, TO(access_interval_ns) },
		{ 0 },
	};
	struct config *cfg = p->into;
	autofree char *rest = NULL;
	const char *why = option_parts(p, parts, arg, &rest);

	cfg->meant |= PROBE_BIT(DLT_access);
	return why || !*rest ? why : set_how(cfg, rest);
}
