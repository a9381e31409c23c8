#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# The manifest has the limits of the job's cgroup, as of the file that sets them, also where one above sets them; and none
# of a cgroup that limits nothing.
. "${0%/*}/../quota.inc"
cpu_group
inner=$group/inner
mkdir "$inner" || skip "a cgroup within another"
trap 'rmdir "$inner" "$group" 2>/dev/null; cleanup' EXIT

# within FOLDER: traces `true' as a process of that cgroup starts it.
within() {
	rm -rf "$t"
	# shellcheck disable=SC2016,SC2046 # for the inner shell; words
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$1" "$DLT" start -q $(start_options) -o "$t" -- true ||
		fail "status $?"
}

# limits: those of the test's cgroups, a line each.
limits() { manifest '"\n".join(" ".join((r["cgroup"].split("-quota-")[1].partition("/")[2] or "-", r["file"], r["value"])) for r in m["allowed"].get("cgroup_limits", []) if "-quota-" in r["cgroup"])'; }

wanted=$(cd "$group" && for file in cpu.max cpu.cfs_quota_us cpu.cfs_period_us; do
	[ ! -e $file ] || echo "- $file $(cat $file)"
done)
within "$group"
equal "in the cgroup" "$(limits)" "$wanted"
within "$inner"
equal "in one within" "$(limits)" "$wanted"
quota_of '' >"$quota"
within "$inner"
equal "without a quota" "$(limits)" ""
