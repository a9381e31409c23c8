#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# time_align.out: the three clocks read together at the start, every second and at the end. TIME is
# REALTIME_NS but for the uncertainty, and in no file does it go back.
. "${0%/*}/lib.sh"
need python3

trace -- sleep 2.5
equal "status" $? 0
check clocks 2
