#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A trace of a newer schema, in the manifest or in a file, is refused by every command that reads traces: with one message
# and one status, without output, and without a file made. A list of traces says so in its line. Needs no root.
. "${0%/*}/../lib.sh"
python
golden=$here/../golden
cp -r "$golden/trace-small" old
cp -r old manifest && sed -i 's/"schema": 1,/"schema": 2,/' manifest/manifest.json
cp -r old file && sed -i '1s/vfs_rw 1/vfs_rw 7/' file/vfs_rw.out
cp -r old packed && sed -i '1s/open 1/open 2/' packed/open.out && gzip packed/open.out
for name in manifest file packed; do
	diff -rq old $name >/dev/null && fail "$name: nothing is changed"
done
version=$(python3 -c 'import json; print(json.load(open("old/manifest.json"))["version"])')
end="of a newer dltraced, $version; this one reads up to schema 1: install a newer one"

# refused MESSAGE ARG...
refused() {
	said=$1
	shift
	"$DLT" "$@" >out 2>err </dev/null
	equal "status of $*" $? 125
	equal "messages of $*" "$(cat err)" "dltraced: error: $said"
	[ ! -s out ] || fail "output of $*: $(cat out)"
	[ ! -e made ] || fail "$*: has made a file"
}

# all_refuse FOLDER MESSAGE
all_refuse() {
	for option in '' --full --json --cpu --summary-only; do
		refused "$2" report ${option:+"$option"} "$1"
	done
	refused "$2" report --html made "$1"
	refused "$2" report --csv made "$1"
	refused "$2" report --compare old "$1"
	refused "$2" report old "$1"
	for format in csv duckdb folded ndjson parquet perfetto pfw sqlite; do
		refused "$2" export -f $format -o made "$1"
	done
	refused "$2" export -f csv -o made old "$1"
	refused "$2" validate "$1"
	refused "$2" cut --to 1s -o made "$1"
	refused "$2" merge -o made "$1"
	refused "$2" anonymize -o made "$1"
}
all_refuse manifest "manifest/manifest.json has schema 2, $end"
all_refuse file "file/vfs_rw.out has schema 7, $end"
all_refuse packed "packed/open.out.gz has schema 2, $end"

# the same without that: no check refuses all
"$DLT" report old >out 2>err || fail "an old one: status $?: $(cat err)"

mkdir traces
mv manifest file traces
cp -r old traces
"$DLT" report traces >out 2>err || fail "the list: status $?: $(cat err)"
equal "newer ones in the list" "$(grep -c '  of a newer dltraced$' out)" 2
equal "lines of the list" "$(wc -l <out)" 4
