/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of flag bits that more than one probe prints. */
#ifndef PROBES_NAMES_H
#define PROBES_NAMES_H

#include "trace/field.h"
#include "trace/record.h"

extern const struct field_name open_flag_names[]; /* open(2)'s O_*, access mode first */

#endif
