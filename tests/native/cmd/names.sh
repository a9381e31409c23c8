#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A command, an option or a format whose name is mistyped is refused with status 125, with the name that the user may have
# meant. A program's name in the place of a command is explained. Names of any length are no fault of memory.
. "${0%/*}/../lib.sh"

# refused TEXT ARG...: `dltraced ARG...` prints nothing but a message that contains TEXT.
refused() {
	text=$1
	shift
	"$DLT" "$@" >out 2>err
	equal "status of $(echo "$*" | cut -c 1-80)" $? 125
	[ ! -s out ] || fail "$1 printed: $(cat out)"
	tr '\n' ' ' <err | grep -qF -e "$text" || fail "$1 said nothing of '$text': $(cut -c 1-500 err)"
}

refused "no such command: 'strat': did you mean start? (\`dltraced help' lists them)" strat -- true
refused "no such command: 'strat': did you mean start?" help strat
refused "no such command: 'Report': did you mean report?" Report
refused "no such command: 'zzzz' (\`dltraced help' lists them)" zzzz
refused "no such command: 'serv' (\`dltraced help' lists them)" serv # `serve' is the daemon's alone
refused "no such command: 'sh' (to trace this program: dltraced start -- sh ...)" sh -c true
refused "no such command: ''" ''
refused "unrecognized option '--htlm': did you mean --html?" report --htlm x
refused "unrecognized option '-json': did you mean --json?" status -json
refused "no such format: did you mean perfetto? (there are duckdb, parquet, csv," export -f perfeto x -o y
refused "no such format (there are duckdb, parquet, csv," export -f zzz x -o y

long=$(head -c 100000 /dev/zero | tr '\0' x)
refused "no such command: 'xxx" "$long"
refused "unrecognized option '--xxx" start "--$long"
refused "no such probe: 'xxx" start -P "$long" -- true
refused "no such collector: 'xxx" start --collectors "$long" -- true
refused "no such format" export -f "$long" x -o y
