#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# epilog.sh [CONF]: as Epilog in slurm.conf, end the trace that prolog.sh began for this job on this
# node; its files are whole then. The status is always 0.
trap 'exit 0' EXIT # also where sh itself gives up
# shellcheck source=scripts/slurm/common.sh
. "${0%/*}/common.sh"

read_conf "${1:-/etc/dltraced/slurm.conf}"
names
[ -d "$trace" ] || exit 0
limited "$PROGRAM" stop "$trace" || say "the trace was not ended: $said"
exit 0
