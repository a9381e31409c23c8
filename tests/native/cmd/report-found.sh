#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# `report' without a folder takes the newest trace below ./traces, also where Slurm's jobs have a folder for each host.
# For a folder that contains traces but is none, it prints a line for each, the oldest first, with start, length, how
# the job ended and what it waited for. For an archive it says how to unpack it. Its text is one screen, with --full all
# tables. -h is --help for every command.
. "${0%/*}/../lib.sh"
need python3
golden=$here/../golden

# --- the newest -----------------------------------------------------------------------------------

"$DLT" report >out 2>err
equal "status without a trace" $? 125
grep -q 'there is no trace below ./traces' err || fail "said: $(cat err)"
mkdir -p traces/job_4711 traces/empty
cp -r "$golden/trace-small" traces/zzz_old
cp -r "$golden/trace-other" traces/job_4711/node1
sed -i 's/"utc": "20/"utc": "19/' traces/zzz_old/manifest.json
cp -r "$golden/trace-small" traces/.hidden
ln -s /proc traces/link
newest=traces/job_4711/node1
"$DLT" report >out 2>err || fail "status $?: $(cat err)"
grep -q "^dltraced: $newest, the newest trace below ./traces" err || fail "said: $(cat err)"
"$DLT" report "$newest" | cmp - out || fail "not the newest one's report"
equal "the newest as JSON" "$("$DLT" report --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["dir"])')" "$newest"
"$DLT" report --html page.html 2>err && [ -s page.html ] || fail "the page of the newest: $(cat err)"

# --- a line for each ------------------------------------------------------------------------------

"$DLT" report traces/ >out 2>err || fail "the list: status $?: $(cat err)"
equal "lines of the list" "$(wc -l <out)" 3
equal "heads" "$(head -n 1 out | tr -s ' ')" "STARTED LASTED ENDED FOLDER WAITED FOR"
sed -n 2p out | grep -q '^19[0-9-]*T01:02:02Z  *2.50 s  with status 3  *zzz_old  *unknown$' || fail "the first line: $(cat out)"
sed -n 3p out | grep -q ' job_4711/node1  ' || fail "the second line: $(cat out)"
"$DLT" report --json traces >out 2>err && fail "a list as JSON"
grep -q 'traces is not a trace folder.*holds traces.*dltraced report traces' err || fail "said: $(cat err)"

# A name cannot control the terminal, and a folder without a trace has no line.
evil=$(printf 'evil\033]0;owned\a')
cp -r "$golden/trace-hostile" "traces/$evil"
cp "$golden/trace-small/manifest.json" "traces/$evil"
echo '{"tool": "other"}' >traces/empty/manifest.json
"$DLT" report traces >out || fail "the list: status $?"
equal "control bytes of the list" "$(tr -d '\n -~' <out | od -An -c)" ""
equal "lines of the list" "$(wc -l <out)" 4

# --- the screen -----------------------------------------------------------------------------------

python3 "$here/terminal.py" /dev/null 80 "$DLT" report traces/zzz_old >screen || fail "on a terminal: status $?"
[ "$(wc -l <screen)" -le 24 ] || fail "$(wc -l <screen) lines: $(cat screen)"
grep -v '  dltraced report ' screen | awk 'length > 80' | grep . && fail "wider than the terminal"
"$DLT" report --full traces/zzz_old >full || fail "--full: status $?"
grep -q '^Rows by probe' full || fail "--full has no tables"
grep -q '^Rows by probe' screen && fail "the screen has tables"
equal "the first words of both" "$(cut -c1-40 screen | head -n 1)" "$(cut -c1-40 full | head -n 1)"

# --- packed, and help -----------------------------------------------------------------------------

touch 'a trace.tar.gz' b.tar
"$DLT" report 'a trace.tar.gz' 2>err && fail "a packed one: status 0"
grep -qF "a trace.tar.gz is an archive: unpack it first (tar -xzf 'a trace.tar.gz')" err || fail "said: $(cat err)"
"$DLT" report b.tar 2>err && fail "a packed one: status 0"
grep -qF "(tar -xf b.tar)" err || fail "said: $(cat err)"
"$DLT" export -f csv -o - 'a trace.tar.gz' 2>err && fail "an export of a packed one: status 0"
grep -qF "a trace.tar.gz is an archive: unpack it first (tar -xzf 'a trace.tar.gz')" err || fail "said: $(cat err)"
for command in '' check daemon export help mark probes report start status stop; do
	# shellcheck disable=SC2086 # an empty command is no argument
	"$DLT" $command -h >short || fail "$command -h: status $?"
	grep -nE ' $|.{80}' short && fail "$command -h: blanks at the end of a line, or more than 79 columns"
	# shellcheck disable=SC2086
	"$DLT" $command --help | cmp - short || fail "$command -h is not its --help"
done
equal "-h of a command that is traced" "$(trace -- echo -h)" "-h"
