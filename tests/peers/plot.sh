#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Figures of the package for Python on a traced data loader, and on it as two hosts: what they show adds up to what the
# rows have; each is written as PDF, SVG and PNG; names that are no text, or mathematics to matplotlib, do no harm. All
# cells of docs/python.ipynb run.
native=${0%/*}/../native
. "$native/lib.sh"
peers=$native/../peers
python=$("$peers/environment" exports) || fail "no environment"
PYTHONPATH=$(cd "$here/../../python" && pwd)
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1 DLTRACED_PROGRAM="$DLT"

mkdir traces
trace -- "$W/loader" -d data -n 60 -s 262144 -w 2 -e 3 >out || fail "loader: status $?"
mv "$t" traces/loader
mkdir hosts
cp -r traces/loader hosts/one
cp -r traces/loader hosts/two
sed -i 's/^\( *"host": \).*/\1"other",/' hosts/two/manifest.json
for of in traces/loader "hosts/*"; do
	"$python" -B "$peers/plot.py" "$of" "$native/../golden/trace-panels" || fail "the lines above: $of"
done

for kind in overview timeline bandwidth sizes heatmap; do
	for format in pdf svg png; do
		"$python" -W error -B -m dltraced plot "$kind" traces/loader -o "$kind.$format" --width 3.3 2>err || fail "$kind.$format: $(cat err)"
	done
	for word in '%PDF' '<svg' 'PNG'; do
		grep -q -a -e "$word" "$kind".* || fail "$kind: no file with $word"
	done
	# whole traces, partial ones, and hostile names
	for folder in panels cut small hostile; do
		"$python" -W error -B -m dltraced plot "$kind" "$native/../golden/trace-$folder" -o x.svg 2>err || fail "$kind of $folder: $(cat err)"
	done
done
cp -r traces/loader math
sed -i 's/	pt_data_worker	/	$\\134frac{	/' math/*.out
"$python" -W error -B -m dltraced plot timeline math -o math.svg 2>err || fail "a name of mathematics: $(cat err)"
grep -q -F '$\frac{' math.svg || fail "the name is not in the figure"
"$python" -B -m dltraced plot timeline nowhere -o x.svg 2>err && fail "a figure of nothing"
equal "message" "$(cat err)" "dltraced: nowhere: there is no such trace folder"
"$python" -B -m dltraced plot timeline math -o x.doc 2>err && fail "a figure as .doc"
grep -q "^dltraced: .*'doc'" err || fail "format: $(cat err)"

"$python" -B "$peers/notebook.py" "$native/../../docs/python.ipynb" || fail "the line above"
