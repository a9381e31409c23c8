/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/git.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/util.h"
#include "tree.h"

#define ONE "0123456789abcdef0123456789abcdef01234567"
#define TWO "89abcdef0123456789abcdef0123456789abcdef"
#define LONG ONE "89abcdef0123456789abcdef" /* SHA-256 */

static void expect(const char *folder, const char *top, const char *ref, const char *commit)
{
	autofree char *whole = tree_path(folder), *want_top = tree_path(top);
	struct git_head h;

	assert_int_equal(git_head_read(&h, whole), 0);
	assert_string_equal(h.top, want_top);
	assert_string_equal(h.ref, ref);
	assert_string_equal(h.commit, commit);
}

static void walks_up_to_the_repository(void **state)
{
	tree_put("p/.git/HEAD", "ref: refs/heads/main\n");
	tree_put("p/.git/refs/heads/main", ONE "\n");
	tree_put("p/src/deep/file", "");
	tree_put("p/src/.git/config", "no HEAD, no repository");
	expect("p", "p", "refs/heads/main", ONE);
	expect("p/src/deep", "p", "refs/heads/main", ONE);
	expect("p/src/deep/not/there", "p", "refs/heads/main", ONE);
}

static void finds_none(void **state)
{
	struct git_head h;

	assert_int_equal(git_head_read(&h, tree), -ENOENT);
	assert_int_equal(git_head_read(&h, "/"), -ENOENT);
	assert_int_equal(git_head_read(&h, "relative"), -ENOENT);
	assert_int_equal(git_head_read(&h, ""), -ENOENT);
}

static void detached_head_has_no_ref(void **state)
{
	tree_put("p/.git/HEAD", LONG "\n");
	expect("p", "p", "", LONG);
}

static void packed_refs(void **state)
{
	tree_put("p/.git/HEAD", "ref: refs/heads/main\n");
	tree_put("p/.git/packed-refs", "# pack-refs with: peeled fully-peeled sorted \n" ONE " refs/heads/main2\n" ONE
				       " refs/remotes/origin/refs/heads/main\n" TWO " refs/heads/main\n^" ONE "\n");
	expect("p", "p", "refs/heads/main", TWO);
	tree_put("p/.git/refs/heads/main", ONE "\n");
	expect("p", "p", "refs/heads/main", ONE);
}

static void no_commit_yet(void **state)
{
	tree_put("p/.git/HEAD", "ref: refs/heads/main\n");
	expect("p", "p", "refs/heads/main", "");
	tree_put("p/.git/packed-refs", ONE " refs/heads/main");
	expect("p", "p", "refs/heads/main", "");
}

static void linked_work_trees(void **state)
{
	tree_put("p/.git/packed-refs", TWO " refs/heads/side\n");
	tree_put("p/.git/worktrees/w/HEAD", "ref: refs/heads/side\n");
	tree_put("p/.git/worktrees/w/commondir", "../..\n");
	tree_put("w/.git", "gitdir: ../p/.git/worktrees/w\n");
	expect("w", "w", "refs/heads/side", TWO);
	tree_put("p/.git/refs/heads/side", ONE "\n");
	expect("w", "w", "refs/heads/side", ONE);
}

static void refs_that_lead_on_or_nowhere(void **state)
{
	tree_put("p/.git/HEAD", "ref: refs/heads/a\n");
	tree_put("p/.git/refs/heads/a", "ref: refs/heads/b\n");
	tree_put("p/.git/refs/heads/b", ONE "\n");
	expect("p", "p", "refs/heads/b", ONE);
	tree_put("p/.git/refs/heads/b", "ref: refs/heads/a\n");
	expect("p", "p", "refs/heads/a", "");
}

/* It returns a commit only, whatever root can read. */
static void discloses_no_other_file(void **state)
{
	tree_put("secret", "root:x\n");
	tree_put("p/.git/HEAD", "ref: refs/../../../secret\n");
	expect("p", "p", "", "");
	tree_put("p/.git/HEAD", "ref: ../secret\n");
	expect("p", "p", "", "");
	tree_put("p/.git/HEAD", "root:x\n");
	expect("p", "p", "", "");
	tree_put("p/.git/HEAD", ONE "more\n");
	expect("p", "p", "", "");
}

/* Opening a FIFO would hang, a device could do anything. */
static void opens_nothing_but_regular_files(void **state)
{
	autofree char *fifo = tree_path("p/.git/HEAD"), *ref = tree_path("q/.git/refs/heads/main");
	autofree char *p = tree_path("p");
	struct git_head h;

	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(git_head_read(&h, p), -ENOENT);

	tree_put("q/.git/HEAD", "ref: refs/heads/main\n");
	assert_int_equal(symlink("/dev/zero", ref), 0);
	expect("q", "q", "refs/heads/main", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(detached_head_has_no_ref),
		IN_TREE(discloses_no_other_file),
		IN_TREE(finds_none),
		IN_TREE(linked_work_trees),
		IN_TREE(no_commit_yet),
		IN_TREE(opens_nothing_but_regular_files),
		IN_TREE(packed_refs),
		IN_TREE(refs_that_lead_on_or_nowhere),
		IN_TREE(walks_up_to_the_repository),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
