#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A job that runs docker, srun or the like gets one warning for each, with the option that traces what these start: it is not
# a child of theirs. The programs may be scripts. Where an option covers it there is no warning.
. "${0%/*}/../lib.sh"
mkdir bin
for name in docker srun dockerd; do
	printf '#!/bin/sh\nexit 0\n' >bin/$name
	chmod +x bin/$name
done

# warnings [OPTION...]: what a job of these programs makes dltraced print.
warnings() {
	PATH=$PWD/bin:$PATH trace "$@" -- sh -c 'docker run x; docker run y; srun x; dockerd; :' 2>err || fail "status $?"
	messages >warned
}

warnings
equal "warnings" "$(wc -l <warned)" 2
grep -q 'the workload runs docker: .*; use --container new' warned || fail "docker: $(cat warned)"
grep -q 'the workload runs srun: .*; use srun dltraced start' warned || fail "srun: $(cat warned)"
warnings --container new
! grep 'the workload runs' warned || fail "a warning in spite of --container"
