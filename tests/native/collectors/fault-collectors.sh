#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# A collector that dies at once; that prints garbage, then hangs and ignores signals; that prints lines without an end,
# or garbage without an end after a good beginning: the trace beside it is whole, the collector's file is small and
# readable text, the manifest has how the collector ended, and none of its processes is left.
. "${0%/*}/../lib.sh"
need python3
with_helpers
gate

# Its environment is not this one, so files pass the values.
cat >helpers/mpstat <<END
#!/bin/sh
trap '' INT TERM
echo \$\$ >>"$TMPDIR/pids"
FAULT=\$(cat "$TMPDIR/fault")
END
cat >>helpers/mpstat <<'END'
wait_for_ever() { while :; do sleep 0.2; done; }
case $FAULT in
dies) exit 3 ;;
garbage)
	printf '03:04:44     CPU    %%usr   %%idle\n03:04:45     all    0.50   99.50\n'
	printf 'x\0y\033[31m\t\n99:99:99 \377\n'
	head -c 200000 /dev/urandom
	printf '\n\t\t\n'
	;;
no-lines) exec cat /dev/zero ;;
no-end)
	printf '03:04:44     CPU    %%usr   %%idle\n03:04:45     all    0.50   99.50\n'
	exec yes
	;;
esac
wait_for_ever
END
chmod 755 helpers/mpstat

for FAULT in dies garbage no-lines no-end; do
	: >pids
	chmod 666 pids # the tools are not root
	echo "$FAULT" >fault
	spawn --collectors cpu -- sh -c 'read _ <gate; exec "$0" -n 20000' "$W/storm" >out
	await test -s pids
	case $FAULT in
	dies) await grep -q 'mpstat exited 3 after a restart; cpu.out ends here' err ;;
	garbage) await grep -qs '^[0-9].*all' "$t/cpu.out" ;;
	no-lines | no-end) await grep -q 'mpstat reading stopped: it printed 1 MiB without a row' err ;;
	esac
	echo >&9
	join
	equal "$FAULT: status" $rc 0
	check whole
	equal "$FAULT: reads" "$(rows vfs_rw 'FUNC == "pread64" && FILE ~ /^storm\./' | wc -l)" 30256
	state=$(manifest 'm["collectors"][0]["state"]')
	case $FAULT:$state in
	dies:'exited 3 after a restart') ;;
	no-*:'reading stopped: it printed 1 MiB without a row') ;;
	garbage:'killed: it did not end when asked') ;;
	*) fail "$FAULT: the manifest says: $state" ;;
	esac
	while read -r pid; do
		await gone "$pid"
	done <pids
	[ "$(wc -c <"$t/cpu.out")" -lt 4000000 ] || fail "$FAULT: cpu.out has $(wc -c <"$t/cpu.out") bytes"
	python3 -c 'import re, sys
sys.exit(bool(re.search("[\0-\10\13-\37\177]", open(sys.argv[1], encoding="utf-8").read())))' "$t/cpu.out" ||
		fail "$FAULT: raw bytes in cpu.out"
	"$DLT" report --full "$t" >report || fail "$FAULT: report: status $?"
	! grep -q '	all	' "$t/cpu.out" || check lines
done
