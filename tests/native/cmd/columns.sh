#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# No line of a text is longer than COLUMNS, and none lacks a word for it; without COLUMNS, what goes into a file is as it
# always was. Commands to be copied stay in one line. LONG=1: `check' in three widths, else in the narrowest.
. "${0%/*}/../lib.sh"
golden=$here/../golden

# folds COMMAND...: compares its text in several widths with that in one that is large enough.
folds() {
	COLUMNS=100000 "$DLT" "$@" >wide 2>err || fail "$*: $? $(cat err)"
	for width in 80 60 40; do
		COLUMNS=$width "$DLT" "$@" >text 2>err || fail "$* in $width columns: $? $(cat err)"
		equal "$*: lines of more than $width" "$(grep -v 'dltraced report' text | awk -v w="$width" 'length > w' | head -n 1)" ""
		# all of the text, but for the places of breaks and blanks
		[ "$(tr -d ' \n' <text)" = "$(tr -d ' \n' <wide)" ] || fail "$* in $width columns lacks something"
	done
}

unset COLUMNS
for trace in cpu gpus panels small switches; do
	folds report --full "$golden/trace-$trace"
	"$DLT" report --full "$golden/trace-$trace" >text
	equal "--full of $trace into a file" "$(cmp text wide 2>&1)" ""
done
folds report --cpu "$golden/trace-cpu"
folds report --compare "$golden/trace-small" "$golden/trace-cpu"
folds report "$golden"
folds probes
for width in 80 60 40; do
	COLUMNS=$width "$DLT" report "$golden/trace-small" >text || fail "report: $?"
	equal "report: lines of more than $width" "$(grep -v 'dltraced report' text | awk -v w="$width" 'length > w' | head -n 1)" ""
	# it tries each program, for seconds
	[ $width = 40 ] || [ "${LONG-}" ] || continue
	COLUMNS=$width "$DLT" check >text || [ $? = 1 ] || fail "check: $?"
	equal "check: lines of more than $width" "$(awk -v w="$width" 'length > w' text | head -n 1)" ""
done

# --- a long command -----------------------------------------------------------------------------------

long=$(head -c 100000 /dev/zero | tr '\0' x)
trace -- sh -c ": $long" || fail "the trace: $?"
"$DLT" report "$t" >text || fail "report: $?"
[ "$(wc -c <text)" -lt 3000 ] || fail "a report of $(wc -c <text) bytes"
grep -qF 'x ...: ' text || fail "the cut of the command is not visible: $(cat text)"
"$DLT" report --full "$t" >text || fail "report --full: $?"
grep -q '^command  *sh -c .*x \.\.\. (manifest\.json has all of it)$' text || fail "--full: $(grep '^command' text | tail -c 200)"
[ "$(manifest 'len(m["workload"]["argv"][2])')" = 100002 ] || fail "the manifest has not all of it"
