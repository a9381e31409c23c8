#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A container or cgroup that never comes while the trace waits for it is named at the end. Where nothing else was traced, the
# status is 125, and the report says so, too; with a command, the status is the command's own.
. "${0%/*}/../lib.sh"
with_helpers
for runtime in docker podman nerdctl; do
	printf '#!/bin/sh\nexit 1\n' >helpers/$runtime
	chmod +x helpers/$runtime
done

# never NAME OPTION...: nothing is traced.
never() {
	name=$1
	shift
	trace --duration 300ms "$@" 2>err
	equal "status of $*" $? 125
	grep -q "^dltraced: error: nothing was traced: $name never appeared" err || fail "$*: $(cat err)"
	"$DLT" report "$t" >out || fail "report: status $?"
	grep -q '^untraced: Nothing was traced' out || fail "$*: the report says: $(cat out)"
}
never "--container dltraced-none-$$" --container "dltraced-none-$$"
never "--cgroup /dltraced-none-$$/x" --cgroup "/dltraced-none-$$/x"
never "--cgroup /dltraced-none-$$/x, --container dltraced-none-$$" --container "dltraced-none-$$" --cgroup "/dltraced-none-$$/x"

# beside others: what was there is traced
for status in 0 3; do
	trace --container "dltraced-none-$$" -- sh -c "exit $status" 2>err
	equal "status of the command" $? $status
	grep -q "^dltraced: warning: --container dltraced-none-$$ never appeared" err || fail "with a command: $(cat err)"
	! grep 'nothing was traced' err || fail "the command was traced"
done
