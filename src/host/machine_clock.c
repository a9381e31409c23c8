/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How far this machine's clock can be trusted, and its time zone. Asks, never sets. Control plane,
 * when a trace starts and ends.
 */
#include "host/machine.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"

static void put_source(struct json *j, const char *root)
{
	static const char file[] = "sys/devices/system/clocksource/clocksource0/"
				   "current_clocksource";
	char path[PATH_MAX], name[64];

	snprintf(path, sizeof(path), "%s/%s", root, file);
	if (util_read_line(path, name, sizeof(name)) == 0)
		json_str(j, "source", name);
}

static void put_zone(struct json *j, const char *root)
{
	char path[PATH_MAX], link[PATH_MAX];
	const char *tz = getenv("TZ");
	time_t now = time(NULL);
	struct tm tm;
	ssize_t n;

	if (tz)
		json_str(j, "tz", tz);
	snprintf(path, sizeof(path), "%s/etc/localtime", root);
	n = readlink(path, link, sizeof(link));
	if (n > 0)
		json_strn(j, "localtime", link, (size_t)n);
	tzset();
	if (localtime_r(&now, &tm))
		json_s64(j, "utc_offset_s", tm.tm_gmtoff);
}

void machine_put_clock(struct json *j, const char *root)
{
	struct timex tx = { .modes = 0 };

	put_source(j, root);
	/* Its result says TIME_ERROR for more than a lack of synchronisation: adjtimex(2). */
	if (adjtimex(&tx) >= 0) {
		json_bool(j, "synchronised", !(tx.status & STA_UNSYNC));
		json_u64(j, "maxerror_us", (uint64_t)tx.maxerror);
		json_u64(j, "esterror_us", (uint64_t)tx.esterror);
	}
	put_zone(j, root);
}
