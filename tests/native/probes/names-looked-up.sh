#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# Where the kernel's functions can be hooked, the file of a rename, a removal or a link is the one that the kernel
# found, whatever links and mounts the path goes through: its FID, and its name in files.out. Elsewhere each call still
# has its row. FID_BY shows which of both it is.
. "${0%/*}/../lib.sh"
python
hooked=''
"$DLT" check 2>/dev/null | grep -qE '^hook (fentry|kprobe) +ok' && grep -q ' security_path_rename$' /proc/kallsyms && hooked=1

# The job's calls. expected has what the rows must have: FUNC and the name under which the file was first opened; then
# the last path of each file.
cat >job.py <<'END'
import ctypes, os, sys

libc = ctypes.CDLL(None, use_errno=True)
rows, last = [], {}
where = os.getcwd()

def made(path, known_as=None):
    with open(path, "w") as f:
        f.write("x")
    last[os.path.basename(path)] = known_as or path

# The C library's calls where the plain ones do not exist.
AT = {"link": "linkat", "rename": "renameat", "rmdir": "unlinkat", "unlink": "unlinkat"} if os.uname().machine == "aarch64" else {}

def did(func, name, path=None):
    rows.append((AT.get(func, func), name))
    if path:
        last[name] = path

os.mkdir("real")
os.mkdir("real/sub")
os.symlink("real", "link")
os.symlink(".", "here")

# through a link before the last component, and by ".." behind one
made("real/one")
os.rename("link/one", "link/uno"); did("rename", "one", "real/uno")
made("link/two", "real/two")
os.rename("link/two", "link/sub/dos"); did("rename", "two", "real/sub/dos")
os.rename("link/../real/sub/dos", "real/deux"); did("rename", "two", "real/deux")
os.unlink("link/uno"); did("unlink", "one")

# over another file, and with one
made("real/over"); made("real/under")
os.rename("link/over", "link/under"); did("rename", "over", "real/under")
os.unlink("real/under"); did("unlink", "over")
made("real/left"); made("real/right")
AT_FDCWD, EXCHANGE = -100, 2
if libc.renameat2(AT_FDCWD, b"link/left", AT_FDCWD, b"real/right", EXCHANGE):
    sys.exit("renameat2")
did("renameat2", "left", "real/right")
last["right"] = "real/left"

# by another link than that which it was opened by
made("real/first")
os.link("real/first", "real/second"); did("link", "first")
os.rename("real/second", "real/third"); did("rename", "first")
os.unlink("real/third"); did("unlink", "first")

# a folder, with what is below it; then another one of its name, with a file of the old one's name that nobody has opened
os.mkdir("real/box"); made("real/box/within")
os.rename("here/link/box", "here/link/chest"); did("rename", "-")
last["within"] = "real/chest/within"
os.mkdir("real/box"); os.mknod("real/box/within")
os.rename("real/box/within", "real/box/other"); did("rename", "-")
os.close(os.open("real/box", os.O_RDONLY | os.O_DIRECTORY)); last["box"] = "real/box"
os.unlink("real/box/other"); did("unlink", "-")
os.rmdir("link/box"); did("rmdir", "box")

# without a name until it is linked
AT_SYMLINK_FOLLOW = 0x400
try:
    fd = os.open("real", os.O_TMPFILE | os.O_RDWR)
    if libc.linkat(AT_FDCWD, b"/proc/self/fd/%d" % fd, AT_FDCWD, b"link/named", AT_SYMLINK_FOLLOW):
        sys.exit("linkat")
    did("linkat", "?", "real/named")
except OSError:
    pass

# what fails
for call, func, args in ((os.rmdir, "rmdir", ("link/first",)), (os.unlink, "unlink", ("link/none",))):
    try:
        call(*args)
    except OSError:
        did(func, "first" if "first" in args[0] else "-")

for func, name in rows:
    print(func, name)
for name, path in last.items():
    print("path", name, os.path.join(where, path))
END

cat >held.py <<'END'
import collections, os, sys
sys.path.insert(0, sys.argv[3])
import tracefolder

trace, hooked = tracefolder.Trace(sys.argv[1]), sys.argv[4] == "hooked"
want = [line.split() for line in open(sys.argv[2])]
fid_of, path_of = {}, {}
for row in trace["open"]:
    if row["FID"] != "-":
        fid_of.setdefault(os.path.basename(row.b("PATH").decode()), row["FID"])
for row in trace["files"]:
    path_of[row["FID"]] = row.b("REALPATH").decode()
names = {fid: name for name, fid in fid_of.items()}
funcs = {line[0] for line in want}
got = [(row["FUNC"], row["FID"]) for row in trace["create_del"]
       if row["FUNC"] in funcs and any(part in row.b("PATH") + row.b("PATH2") for part in (b"/real/", b"/link/"))]
calls = [line for line in want if line[0] != "path"]
trace.require(len(got) == len(calls), f"{len(got)} rows of {len(calls)} calls: {got}")
for n, ((func, fid), (want_func, want_name)) in enumerate(zip(got, calls)):
    if want_name == "?":  # it was opened without a name
        fid_of["?"] = fid
    elif hooked:
        trace.require(fid == fid_of.get(want_name, "-"), f"call {n}: {func} of {names.get(fid, fid)}, not of {want_name}")
    trace.require(func == want_func, f"call {n}: {func}, not {want_func}")
by = "kernel" if hooked else "path"
for row in trace["create_del"]:
    want_by = "-" if row["FID"] == "-" else "kernel" if row["FUNC"] == "create" else by
    trace.require(row["FID_BY"] == want_by, f"FID_BY is not {want_by}: {row}")
for _, name, path in (line for line in want if line[0] == "path"):
    if name in fid_of and hooked:
        trace.require(path_of.get(fid_of[name]) == path, f"{name} is at {path_of.get(fid_of[name])}, not at {path}")
trace.finish()
END
trace -- python3 job.py >expected || fail "status $?"
python3 -B held.py "$t" expected "$here/checks" ${hooked:+hooked} ${hooked:-not} || fail "names"
check whole

# A file that was opened through a bind mount, or in another mount namespace, gets the name that a rename through
# another path gives it.
if [ "$hooked" ] && unshare -m true 2>/dev/null; then
	mkdir a b
	for f in bound apart; do echo text >a/$f; done
	# shellcheck disable=SC2016 # for the inner shell
	unshare -m --propagation private sh -ec '
		mount --bind a b
		"$@" sh -ec '\''
			cat b/bound
			unshare -m --propagation private cat b/apart
			mv a/bound a/bound2
			mv a/apart a/apart2'\''' sh \
		"$DLT" start -q $(start_options) -o "$TMPDIR/t2" -- >out ||
		fail "status $?"
	t=$TMPDIR/t2
	for f in bound apart; do
		fid=$(col open FID "COMM == \"cat\" && FILE == \"$f\"")
		equal "paths of $f" "$(col files REALPATH "FID == $fid" | tr '\n' ' ')" "$PWD/b/$f $PWD/a/${f}2 "
		equal "the rename of $f" "$(col create_del FID "PATH == \"$PWD/a/$f\"")" "$fid"
	done
	check whole
fi
[ "$hooked" ] || echo "note: no function of the kernel can be hooked here, so that paths as passed must do"
