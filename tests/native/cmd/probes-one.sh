#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `dltraced probes PROBE` has the file of PROBE alone, and with --markdown the table of its page: each column, once, in order.
#
# smoke
. "${0%/*}/../lib.sh"

"$DLT" probes --markdown >all || fail "status $?"
for name in $(sed -n 's/^### \(.*\)\.out$/\1/p' all); do
	awk -v head="### $name.out" '/^### / { inside = $0 == head } inside' all |
		sed -n 's/^| \([A-Z][A-Z0-9_]*\) | .*/\1/p' >wanted
	"$DLT" probes --markdown "$name" >table || fail "$name: status $?"
	sed -n 's/^| \([A-Z][A-Z0-9_, ]*\) | .*/\1/p' table | tr -d ' ' | tr ',' '\n' >got
	[ -s got ] || fail "$name: no columns"
	cmp -s wanted got || fail "$name: $(diff wanted got)"
done
"$DLT" probes close >close 2>/dev/null || fail "close: status $?"
equal "files" "$(grep -oE '^[a-z_]+\.out' close)" close.out

# refused TEXT ARG...: `dltraced probes ARG...` prints nothing but a message that contains TEXT.
refused() {
	text=$1
	shift
	"$DLT" probes "$@" >out 2>err
	equal "status of $*" $? 125
	[ ! -s out ] || fail "$* printed: $(cat out)"
	tr '\n' ' ' <err | grep -qF -e "$text" || fail "$*: $(cat err)"
}
refused "no file of a trace is 'clos.out': did you mean close?" clos
refused "no file of a trace is 'zzzz.out' (\`dltraced probes' lists them)" zzzz
refused "one probe at a time" close open
refused "--duckdb and --json print all files" --json close
refused "--duckdb and --json print all files" --duckdb close
