#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The many descriptors of a trace need no ulimit by the user: dltraced raises its own soft limit as far as the hard one
# allows, and the workload has the limits that dltraced was called with. If the hard limit is too low, a message says so
# and what to do, and the workload does not run.
. "${0%/*}/../lib.sh"

hard=$(ulimit -Hn)
[ "$hard" = unlimited ] || [ "$hard" -ge 1024 ] || skip "1024 open files"
ulimit -Sn 40
trace -- sh -c 'ulimit -Sn; ulimit -Hn' >out || fail "status $? with a soft limit of 40"
equal "the workload's limits" "$(cat out)" "40
$hard"
check whole

ulimit -Hn 40
trace -- touch ran 2>err
equal "status with a hard limit of 40" $? 125
grep -q 'error: .*limit of open files, 40, is too low; raise it (ulimit -Hn' err || fail "said: $(cat err)"
[ ! -e ran ] || fail "the workload ran"
[ ! -e "$t" ] || fail "left a folder"
trace --best-effort -- sh -c 'ulimit -Sn; exit 7' >out 2>err
equal "status with --best-effort" $? 7
equal "the workload's limit" "$(cat out)" 40
