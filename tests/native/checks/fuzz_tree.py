# SPDX-License-Identifier: BSD-2-Clause
"""fuzz_tree: the file system of the workload "syscall_fuzz", modeled by what its calls are known to do.

A node is one file, whatever its names are; apply() repeats a call that succeeded. Nothing here comes from the trace.
"""
import errno
import os
import stat

import tracefolder

OPENS = ("creat", "open", "openat", "openat2")

AT_FDCWD = -100
AT_SYMLINK_FOLLOW, AT_EMPTY_PATH, AT_REMOVEDIR = 0x400, 0x1000, 0x200
RENAME_EXCHANGE, RENAME_WHITEOUT = 2, 4
MAX_LINKS = 40


class Node:
    def __init__(self, kind, text=b""):
        self.kind, self.text = kind, text  # dir reg link other
        self.children = {} if kind == "dir" else None
        self.at = None  # (folder, name) of its last name
        self.life = None
        self.vague = False  # its names are not certain: see rename_known()
        self.names = set()  # every path so far; empty: it never had one
        self.removed = []  # of a folder: (name, node) of the entries removed from it
        self.gone = set()  # paths of removed names in folders that were renamed later: the kernel has these for an open file

    def path(self):
        if self.at is None:
            return b""
        folder, name = self.at
        return folder.path() + b"/" + name


class Tree:
    def __init__(self, dirs):
        """DIRS: the workers' folders."""
        self.root = Node("dir")
        self.nodes = {}  # life -> node
        self.opened = {}  # number of the open -> path
        self.created = set()  # numbers of opens that made a file
        self.paths = {}  # number of the call -> the paths of its row
        for path in dirs:
            here = self.root
            for part in path.split(b"/")[1:]:
                if part not in here.children:
                    self.bind(here, part, Node("dir"))
                here = here.children[part]

    # --- lookups

    @staticmethod
    def cwd(call):
        return os.path.dirname(call.dir)

    def folder_path(self, life):
        node = self.nodes.get(life)
        return node.path() if node and node.kind == "dir" else None

    def names(self, life):
        """Returns every path that the file has had, and those that it may have only as a deleted file; None: any path."""
        node = self.nodes.get(life)
        return (node.names, node.gone) if node and node.names and not node.vague else None

    def base(self, call, i, raw):
        if raw.startswith(b"/"):
            return self.root
        folder = call.dirfd(i)
        if folder == AT_FDCWD:
            return self.walk(self.root, self.cwd(call), True)[2]
        return self.nodes.get(folder.life) if folder else None

    def walk(self, base, raw, follow, links=0):
        """Returns the folder, last name and node of a path; the node is None where there is none."""
        here, name = base, None
        parent = base
        parts = [part for part in raw.split(b"/") if part not in (b"", b".")]
        if raw.startswith(b"/"):
            here = parent = self.root
        for n, part in enumerate(parts):
            last = n == len(parts) - 1
            if here is None or here.kind != "dir":
                return None, None, None
            if part == b"..":
                here = here.at[0] if here.at else self.root
                parent, name = (here.at or (self.root, None))
                continue
            parent, name = here, part
            node = here.children.get(part)
            if node and node.kind == "link" and (not last or follow or raw.endswith(b"/")):
                if links >= MAX_LINKS:
                    return None, None, None
                parent, name, node = self.walk(here, node.text, True, links + 1)
                if parent is None:
                    return None, None, None
            here = node
        return parent, name, here

    def find(self, call, i, follow=False):
        raw = call.sides[i].text
        if raw is None:
            return None, None, None
        base = self.base(call, i, raw)
        return self.walk(base, raw, follow) if base else (None, None, None)

    # --- changes

    @staticmethod
    def remove(folder, name):
        folder.removed.append((name, folder.children.pop(name)))

    def bind(self, folder, name, node):
        if folder.children.get(name, node) is not node:
            self.remove(folder, name)
        folder.children[name] = node
        node.at = (folder, name)
        self.name(node)

    def name(self, node):
        node.names.add(node.path())
        for name, child in (node.children or {}).items():
            if child.at and child.at == (node, name):
                self.name(child)
            else:  # another of its names becomes the last one
                child.names.add(node.path() + b"/" + name)
        self.name_gone(node, node.path())

    def name_gone(self, folder, path):
        for name, node in folder.removed:
            node.gone.add(path + b"/" + name)
            self.name_gone(node, path + b"/" + name)

    def rename_known(self, call, i, nodes):
        """A path through links or ".." may change a name: then its row has the path as passed (docs/traces), and the
        account no longer knows the names of NODES and of everything below them.
        """
        folder, name, _ = self.find(call, i)
        if folder is None or name is None or tracefolder.unescape(self.paths[call.nr][i] or "-") == folder.path() + b"/" + name:
            return
        below = [node for node in nodes if node]
        while below:
            node = below.pop()
            node.vague = True
            below += (node.children or {}).values()

    def know(self, node, life):
        if node.life is None:
            node.life = life
            self.nodes[life] = node
        return node.life == life

    def apply(self, call):
        """Applies a call. Returns what contradicts the account so far, or None."""
        if call.ret < 0:
            return self.failed_open(call) if call.func in OPENS and call.sides[0].life else None
        todo = getattr(self, "do_" + call.func.rstrip("2"), None)
        return todo(call) if todo else None

    @staticmethod
    def makes_and_fails(call):
        """Whether the kernel makes the file and then refuses to open it: O_DIRECT on a file system without it (tmpfs before
        Linux 6.6), O_DIRECTORY | O_CREAT (before 6.4, commit 43b450632676). By docs/traces/create_del.md this is no row create.
        """
        flags = call.open_flags
        return call.ret == -errno.EINVAL and flags & os.O_DIRECT or call.ret == -errno.ENOTDIR and flags & os.O_DIRECTORY

    def failed_open(self, call):
        """An open with O_CREAT has failed, but the program has seen a file at that name."""
        flags, life = call.open_flags, call.sides[0].life
        folder, name, node = self.find(call, 0, not flags & (os.O_NOFOLLOW | os.O_EXCL))
        if node is None:
            if folder is None or name is None or not self.makes_and_fails(call):
                return "failed to open, and there is what nobody has made"
            node = Node("reg")
            self.bind(folder, name, node)
        return None if self.know(node, life) else f"{life} is there, not {node.life}"

    def do_open(self, call):
        flags = call.open_flags
        life = call.sides[0].life
        if flags & os.O_TMPFILE == os.O_TMPFILE and not flags & os.O_PATH:
            self.created.add(call.nr)
            self.know(Node("reg"), life)
            return None
        # O_EXCL does not follow links; nor does O_NOFOLLOW, with which only O_PATH opens one
        follow = not flags & os.O_NOFOLLOW and not (flags & os.O_CREAT and flags & os.O_EXCL and not flags & os.O_PATH)
        folder, name, node = self.find(call, 0, follow)
        if node is None:
            if folder is None or not flags & os.O_CREAT:
                return "opened what is not there"
            node = Node("reg")
            self.bind(folder, name, node)
            self.created.add(call.nr)
        if not self.know(node, life):
            return f"opened {life}, not {node.life}"
        self.opened[call.nr] = (folder.path() + b"/" + name if folder and name is not None and node.kind != "dir" else node.path()) or b"/"
        return None

    do_creat = do_openat = do_open

    def do_mkdir(self, call):
        folder, name, node = self.find(call, 0)
        if folder is None or node:
            return "made a folder where there is something"
        self.bind(folder, name, Node("dir"))
        return None

    do_mkdirat = do_mkdir

    def do_mknod(self, call):
        folder, name, node = self.find(call, 0)
        if folder is None or node:
            return "made a node where there is something"
        mode = call.args[1 if call.func == "mknod" else 2]
        self.bind(folder, name, Node("reg" if stat.S_IFMT(mode) in (0, stat.S_IFREG) else "other"))
        return None

    do_mknodat = do_mknod

    def do_symlink(self, call):
        folder, name, node = self.find(call, 0)
        if folder is None or node:
            return "made a link where there is something"
        self.bind(folder, name, Node("link", call.sides[1].text))
        return None

    do_symlinkat = do_symlink

    def do_unlink(self, call):
        folder, name, node = self.find(call, 0)
        if not node:
            return "removed what is not there"
        self.rename_known(call, 0, (node,))
        self.remove(folder, name)
        return None

    do_rmdir = do_unlinkat = do_unlink

    def do_link(self, call):
        flags = call.args[4] if call.func == "linkat" else 0
        if flags & AT_EMPTY_PATH and call.sides[0].text == b"":
            side = call.dirfd(0)
            node = self.nodes.get(side.life) if side != AT_FDCWD else None
        else:
            node = self.find(call, 0, bool(flags & AT_SYMLINK_FOLLOW))[2]
        folder, name, there = self.find(call, 1)
        if not node or folder is None or there:
            return "linked from nothing, or onto something"
        self.rename_known(call, 0, (node,))
        self.rename_known(call, 1, (node,))
        self.bind(folder, name, node)
        return None

    do_linkat = do_link

    def do_rename(self, call):
        flags = call.args[4] if call.func == "renameat2" else 0
        folder, name, node = self.find(call, 0)
        to, to_name, there = self.find(call, 1)
        if not node or to is None:
            return "renamed what is not there"
        for i in range(2):
            self.rename_known(call, i, (node, there))
        if flags & RENAME_EXCHANGE:
            if not there:
                return "exchanged with nothing"
            if there is not node:
                folder.children[name], to.children[to_name] = there, node
                self.bind(folder, name, there)
                self.bind(to, to_name, node)
            return None
        if there is node:
            return None  # two names of one file, or the same name
        del folder.children[name]
        self.bind(to, to_name, node)
        if flags & RENAME_WHITEOUT:
            self.bind(folder, name, Node("other"))
        return None

    do_renameat = do_rename
