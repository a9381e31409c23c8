/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/error_name.h"

#include <errno.h>
#include <stddef.h>

#include "base/util.h"

static const char *const names[] = {
#define NAME(error) [error] = #error,
#include "errors.inc" /* generated: NAME(EPERM), ... */
};

const char *error_name(uint64_t number)
{
	return number < ARRAY_SIZE(names) ? names[number] : NULL;
}
