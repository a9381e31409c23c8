#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --comm restricts the rows of calls to threads whose name at that moment matches a glob, --comm '!GLOB' to threads
# whose name matches none. Rows that are left out are counted as filtered. The life of processes is not left out.
. "${0%/*}/../lib.sh"
need python3

# Each of these calls has one row; a copy_file_range of cat would have two.
echo data >data
cat >job <<'END'
od data
head -c 3 data
wc -c <data
END

# counts CONDITION: rows of each file of calls whose COMM meets CONDITION. counted: the manifest's numbers.
counts() {
	for file in $(of_calls); do
		printf '%s %d ' $file "$(rows $file "$1" | wc -l)"
	done
}
counted() {
	manifest "' '.join(f'{p[\"name\"]} {p[\"$1\"]}' for p in m['probes']
		if p['name'] in '$(of_calls)'.split()) + ' '"
}

# narrowed CONDITION ARG...: with these options, the trace has exactly the rows that meet awk's CONDITION.
narrowed() {
	condition=$1
	shift
	trace "$@" -- sh job >out || fail "status $?"
	equal "rows with $*" "$(counts 1)" "$(cat "$condition.kept")"
	equal "filtered with $*" "$(counted filtered)" "$(cat "$condition.left")"
	equal "calls with $*" "$(counted calls)" "$(cat calls)"
	equal "lost with $*" "$(counted lost | grep -c ' [1-9]')" 0
	equal "processes with $*" "$(col pids COMM 'EVENT == "exec"' | tr '\n' ' ')" "sh od head wc "
	check fids
}

trace -- sh job >out || fail "status $?"
counted calls >calls
equal "filtered without an option" "$(counted filtered | grep -c ' [1-9]')" 0
while read -r name condition; do
	counts "$condition" >"$name.kept"
	counts "!($condition)" >"$name.left"
done <<'END'
od COMM == "od"
others COMM != "od"
two COMM == "od" || COMM == "head"
sh COMM == "sh"
none 0
END
equal "rows without an option" "$(counts 1)" "$(cat calls)"

narrowed od --comm od
narrowed od --comm '[n-p]?'
narrowed others --comm '!od'
narrowed two --comm od --comm 'h*'
narrowed sh --comm '!w*' --comm '!?d' --comm '!head'
narrowed two --comm '*' --comm '!sh' --comm '!wc'
narrowed none --comm 'no such name'
