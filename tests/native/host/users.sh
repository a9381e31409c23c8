#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# --user, and sudo's SUDO_UID and SUDO_GID: the workload has that user's ids, groups and home, in the same folder, with
# the same umask and limits; the trace folder is the user's alone. Without them, the workload has our ids.
#
# smoke
. "${0%/*}/../lib.sh"
probed=mmap,time_align
need python3
getent passwd nobody >nobody || skip "a user nobody"
uid=$(cut -d: -f3 nobody) gid=$(cut -d: -f4 nobody) home=$(cut -d: -f6 nobody)
groups=$(id -G nobody)
install -d -m 777 anybody
t=$TMPDIR/anybody/t

# Signals 32 and 33 belong to the C library: programs with threads, such as those built with ThreadSanitizer, use them.
cat >job <<'END'
echo $(id -u) $(id -ru) $(id -g) $(id -G)
echo "$USER $HOME"
pwd
umask
ulimit -n
grep -E '^(NoNewPrivs|CapEff|CapAmb|SigBlk):' /proc/self/status
echo $((0x$(sed -n 's/^SigIgn:.//p' /proc/self/status) & ~0x180000000))
END

# ran NAME UID "GID GROUPS" "USER HOME": the job ran as this user, who alone owns the folder.
ran() {
	equal "ids" "$(sed -n 1p out)" "$2 $2 $3"
	equal "environment" "$(sed -n 2p out)" "$4"
	equal "folder, umask, limit, and the rest" "$(sed -n '3,$p' out)" "$ours"
	equal "mode of the folder" "$(stat -c '%a %u %g' "$t")" "700 $2 ${3%% *}"
	equal "files of others" "$(find "$t" ! -uid "$2" -o ! -gid "${3%% *}" -o -perm /077)" ""
	equal "uid of its first program" "$(col pids UID 'EVENT == "exec"' | head -n 1)" "$2"
	equal "user in the manifest" "$(manifest 'm["workload"]["user"]')" "$1"
	check whole
}

umask 027
ulimit -n 1000
capabilities=$(sed -n 's/^CapEff:[[:blank:]]*//p' /proc/self/status)
ours=$(printf '%s\n0027\n1000\n' "$TMPDIR"; grep -E '^(NoNewPrivs|CapEff|CapAmb|SigBlk):' /proc/self/status
	echo $((0x$(sed -n 's/^SigIgn:.//p' /proc/self/status) & ~0x180000000)))

trace -- sh job >out || fail "status $?"
ran root 0 "0 $(id -G)" "${USER-} ${HOME-}"

ours=$(echo "$ours" | sed "/^CapEff/s/$capabilities/0000000000000000/")
trace --user nobody -- sh job >out || fail "status $?"
ran nobody "$uid" "$gid $groups" "nobody $home"
trace --user "$uid" -- sh job >out || fail "status $?"
ran nobody "$uid" "$gid $groups" "nobody $home"

export SUDO_UID="$uid" SUDO_GID="$gid" SUDO_USER=nobody SUDO_COMMAND=dltraced
trace -- sh job >out 2>err || fail "status $?"
ran nobody "$uid" "$gid $groups" "nobody $home"
grep -q 'warning: cannot restore the .* from before sudo' err || fail "nothing said of what cannot be restored: $(cat err)"
equal "messages" "$(messages | wc -l)" 1

trace --user root -- sh job >out 2>err || fail "status $?"
ours=$(echo "$ours" | sed "/^CapEff/s/0000000000000000/$capabilities/")
ran root 0 "0 $(id -G)" "root $(getent passwd root | cut -d: -f6)"
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND

# --- below a sudo ---------------------------------------------------------------------------------

# A set-user-ID program of root, named sudo, that changes what sudo changes.
cp -L /bin/sh sudo
chmod 4755 sudo
mkdir -m 755 theirs roots
for folder in theirs roots; do
	printf '#!/bin/sh\necho %s $EPOCHS $PATH; umask\n' $folder >$folder/tool
	chmod 755 $folder/tool
done
cat >sudoed <<'END'
umask 077
env -i PATH="$PWD/roots:/usr/bin:/bin" HOME=/root SUDO_UID="$uid" SUDO_GID="$gid" "$@"
exit $?
END
rm -rf "$t"
export uid gid DLT
PATH=$TMPDIR/theirs:$PATH EPOCHS=7 ./sudo ./sudoed "$DLT" start --collectors none --probes $probed \
	--min-free 0 -o "$t" -- tool >out 2>err || fail "status $?: $(cat err)"
equal "environment and umask" "$(cat out)" "$(printf 'theirs 7 %s\n0027' "$TMPDIR/theirs:$PATH")"
grep -q "tool is $TMPDIR/theirs/tool, as in nobody's PATH (root's has $TMPDIR/roots/tool)" err ||
	fail "nothing said of two tools: $(cat err)"
grep 'before sudo' err && fail "something was not restored"
equal "mode of the folder" "$(stat -c '%a %u %g' "$t")" "700 $uid $gid"

# --- and no more ----------------------------------------------------------------------------------

# What the user may not do, the trace does not do for the user: no access to root's files.
mkdir -m 700 private
trace --user nobody -- ls private >out 2>err && fail "it reads what is root's"
[ -e private ] || fail "private has gone"
