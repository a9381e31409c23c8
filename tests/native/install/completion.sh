#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Completion in bash: commands, options, probes and running traces as the program prints them, lists with commas, values
# after =; and as a user does it, with the TAB key.
. "${0%/*}/../lib.sh"
need python3
completion=$here/../../scripts/dltraced.bash-completion
# shellcheck source=/dev/null
. "$completion"

# offered WORD...: what bash would offer for the last word, sorted, one per line.
# shellcheck disable=SC2034
offered() {
	COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
	_dltraced "$DLT" "${*: -1}" "${*: -2:1}"
	printf '%s\n' "${COMPREPLY[@]}" | sort -u
}

# offers WANTED WORD...: exactly these, one per line.
offers() {
	equal "offered for '${*:2}'" "$(offered "${@:2}")" "$(sort -u <<<"$1")"
}

# offers_too WANTED WORD...: this and others.
offers_too() {
	grep -qxF -e "$1" <<<"$(offered "${@:2}")" || fail "'$1' is not offered for '${*:2}'"
}

offers $'start\nstatus\nstop' dltraced st
offers report dltraced help r
for command in check export mark probes report start status stop help --help --version; do
	offers_too $command dltraced ''
done

# argp prints them as well, in another form.
long=$("$DLT" start --usage | grep -oE -- '--[a-z-]+' | sort -u)
equal "options of start" "$(offered dltraced start -- | sed 's/=$//' | sort -u)" "$long"
[ "$(wc -l <<<"$long")" -gt 30 ] || fail "few options: $long"
offers --workload= dltraced start --work
offers '' dltraced start --no-such
offers '' dltraced no-such-command ''

selectable=$("$DLT" probes --markdown | awk '/^### .*\.out/ { p = $2; getline; getline
	if (!/not for --probes/) print substr(p, 1, length(p) - 4) }')
offers "$selectable" dltraced start --probes ''
offers waits dltraced start --probes = wai
offers open,-waits dltraced start -P open,-wai
offers cpu,disk dltraced start --collectors = cpu,d
offers $'auto\nfentry\nkprobe\ntracepoint' dltraced start --backend ''
offers $'gzip\nzstd' dltraced start --compress =
offers $'csv\nduckdb\nfio\nfolded\nndjson\nparquet\nperfetto\npfw\nsqlite' dltraced export --format ''
offers csv dltraced export --format = c
offers new dltraced start --container ne
offers_too root dltraced start --user roo

offers_too 1,$$ dltraced start --pid 1,$$
offers_too true dltraced start -o x -- tru

mkdir -p 'tra ces/one'
: >'tra ces/file'
offers 'tra ces/one' dltraced report 'tra ces/'
offers 'tra ces/one' dltraced report --cpu --csv 'tra ces/'
: >'tra ces/summary.json'
offers_too 'tra ces/summary.json' dltraced report 'tra ces/s'
rm 'tra ces/summary.json'
offers --csv= dltraced report --cs

# A file name is text, whatever it contains.
: >'$(touch hacked)'
offers_too '$(touch hacked)' dltraced start --collect '$(to'
[ ! -e hacked ] || fail "a file's name was run"

gate
t=$TMPDIR/completed-$$
spawn -- sh -c 'echo >started; read _ <gate'
await test -e started
offers completed-$$ dltraced stop comple
offers completed-$$ dltraced mark -t comple
echo >&9
join

# tab LINE WANTED: the words of the line after TAB.
tab() { equal "'$1' and TAB" "$(python3 -B "$here/checks/tab.py" "$completion" "$DLT" "$1")" "$2"; }
tab 'dltraced pro' 'dltraced probes'
tab 'dltraced start --backend=trace' 'dltraced start --backend=tracepoint'
tab 'dltraced start --probes open,wai' 'dltraced start --probes open,waits'
tab 'dltraced start --workl' 'dltraced start --workload='
tab 'dltraced report tra' 'dltraced report tra ces/'
