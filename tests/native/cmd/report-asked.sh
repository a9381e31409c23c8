#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `dltraced report' refuses what it cannot do, with status 125 and a line that says what to do, and writes nothing: a
# page in the place of a trace's own file or of something that is not a file, one folder twice in one sum, folders that
# may not be read. If folders may not be hosts of one job, the report on them says so first.
. "${0%/*}/../lib.sh"
need python3 setpriv
golden=$here/../golden
cp -r "$golden/trace-small" a
cp -r "$golden/trace-other" b
ln -s a linked

# refused TEXT ARG...: `report ARG...` fails with TEXT, and all files are unchanged.
refused() {
	text=$1
	shift
	before=$(find . -type f ! -name err ! -name out -exec cksum {} + | sort)
	"$DLT" report "$@" >out 2>err
	equal "status of report $*" $? 125
	grep -q -e "$text" err || fail "report $* said nothing of '$text': $(cat err)"
	equal "what report $* printed" "$(cat out)" ""
	equal "files after report $*" "$(find . -type f ! -name err ! -name out -exec cksum {} + | sort)" "$before"
}

# --- the page's name ------------------------------------------------------------------------------

for name in manifest.json vfs_rw.out open.000007.out.zst workload.log; do
	refused "a/$name is a name of the trace's own files: .*a/report.html" --html a/$name a
	refused "a/report.html" --html "$TMPDIR/a/$name" linked b
	refused "b/report.html" --html b/$name a # a trace too, as its manifest shows
done
rm a/manifest.json
refused "linked/report.html" --html linked/manifest.json a
cp "$golden/trace-small/manifest.json" a
for name in a/report.html manifest.json; do
	"$DLT" report --html $name a || fail "--html $name: status $?"
	rm $name
done
refused "html '': empty" --html '' a
refused "which trace folder? a is the file of --html" --html a
refused "a is a folder: name a file" --html a b
refused "is not a regular file: name another, or -" --html /dev/full a
mkfifo fifo
refused "is not a regular file: name another, or -" --html fifo a
refused "symbolic link: .* or -" --html /dev/stdout a
mkdir small
mount -t tmpfs -o size=64k none small || skip "to mount tmpfs"
mnt=$TMPDIR/small
refused "small/page: cannot be written: No space left on device" --html small/page a
equal "what is left on a full disk" "$(ls -A small)" ""

# --- a picture ---------------------------------------------------------------------------------------

refused "which file?" --svg memory
refused "which file?" --svg memory .
for more in --full --json '--html x' '--csv x' --cpu '--path /data' --summary-only; do
	# shellcheck disable=SC2086 # words
	refused "can be combined with --from, --to and options of phases only" --svg memory out.svg $more .
done
refused "bin: not more than zero" --svg memory,bin=0 out.svg .
refused "block: not a power of two" --svg memory,block=5000 out.svg .
refused "borderless: not yes or no" --svg memory,borderless=0 out.svg .
refused "range: not a range of addresses" --svg memory,range=0x1000 out.svg .
refused "the smaller one first" --svg memory,range=0x2000-0x1000 out.svg .
refused "there is no picture of memory,size=3" --svg memory,size=3 out.svg a
for old in mem-bin mem-block mem-min mem-range borderless; do refused "--$old is gone: use --svg memory," --$old 1 .; done

# --- a matrix ----------------------------------------------------------------------------------------

# matrix.tsv as the recipe begins it
printf 'ORDER\tPROGRAM\tMODE\tREP\tDRY\tMEM\tCPU\tSTATUS\tLOST\tWALL_NS\tUSER_NS\tSYSTEM_NS\tMAX_RSS_BYTES\tMINOR_FAULTS\tMAJOR_FAULTS\tVOLUNTARY_SWITCHES\tINVOLUNTARY_SWITCHES\tSEED\tCOMMAND\n' >matrix.tsv
for more in --full '--path /data' '--phase x=y' '--app-log matrix.tsv' '--app-log-tz UTC' '--from 1' '--gap 1s' a; do
	refused "can be combined with --csv, --json and --svg only" --matrix . $more
done
refused "is a name of a trace's own files: choose another" --matrix . --svg a/manifest.json
"$DLT" report --matrix . --svg - --csv tables --json >out || fail "--matrix with all that it takes: status $?"
grep -q '<svg' out || fail "--svg -: $(cat out)"
"$DLT" report --matrix . --svg small >out 2>err && fail "--svg of a folder: status 0"
grep -q 'small is a folder: name a file' err || fail "--svg of a folder: $(cat err)"

# --- folders --------------------------------------------------------------------------------------

refused "nope does not exist: name a trace folder" nope
refused "neither a trace folder nor a whole summary of one: name the folder" a/manifest.json
for form in --json '--html page' ''; do
	refused "a and linked are the same folder: name it once" $form a b linked
done
"$DLT" report --compare a linked >out || fail "--compare of a trace with itself: status $?"

install -m 755 "$DLT" dltraced
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups ./dltraced report "$@"; }
cp -r b locked
chmod 600 locked/*
for mode in 700 755; do # neither the folder nor its contents can be read
	chmod $mode locked
	for how in '' --cpu --json --compare; do
		nobody $how locked a >out 2>err && fail "locked, $mode: status 0"
		grep -q 'locked may not be read: report on it as its owner, or as root' err ||
			fail "report $how on a folder that is $mode said: $(cat err)"
	done
done

# --- no job ---------------------------------------------------------------------------------------

# doubted TEXT: in the report on b and c as text, JSON and page.
doubted() {
	"$DLT" report b c >text && "$DLT" report --json b c >json && "$DLT" report --html page b c || fail "status $?"
	for form in text json page; do
		grep -q "$1" $form || fail "the $form says nothing of '$1'"
	done
	python3 -c 'import json; print(json.load(open("json"))["missing"][0])' | grep -q "^$1" ||
		fail "it is not the first thing that is missing"
}
cp -r b c
doubted 'c is a copy of the trace b: '
sed -i 's/"monotonic_ns": 5000000000000/"monotonic_ns": 5000000000001/' c/manifest.json
doubted 'b and c are traces of the same machine at the same time: '
sed -i 's/"monotonic_ns": 500/"monotonic_ns": 510/' c/manifest.json
sed -i 's/^500/510/; s/\t17952229/\t17952230/' c/*.out
doubted 'these traces do not overlap in time: .* --compare'
