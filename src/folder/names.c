/* SPDX-License-Identifier: BSD-2-Clause */
#include "folder/names.h"

#include <endian.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/util.h"

#define HASH_LEN 12U /* 60 bits: among 10 million words the chance of two alike is 1 in 20 000 */

/* --- SipHash-2-4 (Aumasson and Bernstein, 2012), a keyed hash of 64 bits ------------------------------------------ */

static uint64_t rotate(uint64_t v, unsigned int by)
{
	return v << by | v >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32) + v[3];
		v[2] += v[1];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[2] = rotate(v[2], 32);
	}
}

static uint64_t hash(const uint64_t key[2], const void *data, size_t len)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
			  key[1] ^ 0x7465646279746573 };
	const unsigned char *p = data;
	uint64_t last = (uint64_t)len << 56;

	for (; len >= 8; p += 8, len -= 8) {
		uint64_t word;

		memcpy(&word, p, sizeof(word));
		word = le64toh(word);
		v[3] ^= word;
		rounds(v, 2);
		v[0] ^= word;
	}
	while (len--)
		last |= (uint64_t)p[len] << 8 * len;
	v[3] ^= last;
	rounds(v, 2);
	v[0] ^= last;
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

void names_init(struct names *n, const void *secret, size_t len)
{
	static const uint64_t keys[2][2] = { { 1, 2 }, { 3, 4 } };

	n->key[0] = hash(keys[0], secret, len);
	n->key[1] = hash(keys[1], secret, len);
}

/* --- words that stay ---------------------------------------------------------------------------------------------- */

/* Of systems, programs and training in general; what a report recognizes, too. */
static const char *const words[] = {
	"all",        "anon",        "args",       "backward",  "bash",       "batch",    "batches",  "begin",
	"bin",        "boot",        "btrfs",      "by",        "bytes",      "c",        "cache",    "cgroup",
	"checkpoint", "checkpoints", "ckpt",       "cmdline",   "collate",    "comm",     "compute",  "conda",
	"config",     "cpu",         "cuda",       "data",      "dataloader", "dataset",  "datasets", "debugfs",
	"decode",     "deleted",     "dev",        "dev-shm",   "devpts",     "devtmpfs", "disk",     "dist",
	"dltraced",   "docker",      "done",       "end",       "ended",      "epoch",    "epochs",   "etc",
	"eval",       "evaluate",    "eventfd",    "eventpoll", "exec",       "ext",      "fd",       "fetch",
	"finished",   "fork",        "forward",    "fs",        "fuse",       "g",        "gpu",      "home",
	"host",       "hugetlbfs",   "images",     "init",      "inode",      "inotify",  "io",       "item",
	"iter",       "itself",      "jbd",        "job",       "kernel",     "kworker",  "label",    "labels",
	"lib",        "libexec",     "limit",      "loader",    "local",      "log",      "logs",     "loss",
	"lustre",     "m",           "main",       "majflt",    "maxrss",     "mem",      "memfd",    "memory",
	"minflt",     "mnt",         "model",      "models",    "mqueue",     "nccl",     "nfs",      "nobody",
	"node",       "null",        "num",        "numpy",     "nvidia",     "of",       "oom",      "open",
	"opt",        "optimizer",   "other",      "overlay",   "packages",   "perf",     "pid",      "pidfd",
	"pin",        "pipe",        "preprocess", "proc",      "pt",         "ptmx",     "pts",      "pyc",
	"python",     "pytorch",     "r",          "random",    "rank",       "read",     "replay",   "root",
	"run",        "s",           "samples",    "save",      "sbin",       "self",     "sem",      "service",
	"session",    "set",         "sh",         "share",     "shm",        "shuffle",  "signalfd", "site",
	"size",       "slice",       "smaps",      "socket",    "src",        "start",    "started",  "stat",
	"status",     "stderr",      "stdin",      "stdout",    "step",       "steps",    "stime",    "stop",
	"sudo",       "swap",        "swapper",    "sync",      "sys",        "sysfs",    "system",   "systemd",
	"task",       "tasks",       "test",       "thread",    "threads",    "time",     "timerfd",  "tmp",
	"tmpfs",      "torch",       "torchrun",   "total",     "train",      "trainer",  "training", "transform",
	"true",       "tty",         "unified",    "unix",      "urandom",    "uring",    "user",     "usr",
	"utc",        "utime",       "val",        "valid",     "validation", "var",      "vfat",     "w",
	"wait",       "work",        "worker",     "workers",   "write",      "xfs",      "zero",     "zfs",
	"zone",
};

/* Suffixes of files. */
static const char *const suffixes[] = {
	"arrow", "bin",   "bmp",     "bz2",         "c",      "cfg",  "ckpt",    "conf",   "cpp",  "csv",      "dat",
	"data",  "db",    "flac",    "gif",         "gz",     "h",    "h5",      "hdf5",   "html", "idx",      "index",
	"ini",   "ipynb", "jpeg",    "jpg",         "js",     "json", "jsonl",   "lmdb",   "lock", "log",      "lz4",
	"mdb",   "md",    "meta",    "mkv",         "mp3",    "mp4",  "msgpack", "nii",    "npy",  "npz",      "o",
	"onnx",  "out",   "parquet", "pdf",         "pickle", "pid",  "pkl",     "png",    "pt",   "pth",      "py",
	"pyc",   "pyi",   "rec",     "safetensors", "sh",     "so",   "sock",    "sqlite", "tar",  "tfrecord", "tgz",
	"tif",   "tiff",  "tmp",     "toml",        "tsv",    "txt",  "wav",     "webp",   "whl",  "xml",      "xz",
	"yaml",  "yml",   "zarr",    "zip",         "zst",
};

static bool is_among(const char *const *list, size_t n, const char *s, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && !strncasecmp(list[i], s, len))
			return true;
	return false;
}

static size_t count(const char *s, size_t len, const char *chars)
{
	size_t n = 0;

	while (n < len && s[n] && strchr(chars, s[n]))
		n++;
	return n;
}

/* Whether it is a kernel's name of a disk: sda1, nvme0n1p2, dm-0, loop3. */
static bool is_disk(const char *s, size_t len)
{
	static const char *const numbered[] = {
		"dm-", "loop", "md", "mmcblk", "nbd", "nvme", "ram", "rbd", "sr", "zram"
	};
	static const char *const lettered[] = { "sd", "vd", "xvd", "hd" };

	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++) {
		const size_t n = strlen(numbered[i]);

		if (len > n && !memcmp(s, numbered[i], n) && s[n] >= '0' && s[n] <= '9')
			return count(s + n, len - n, "0123456789cnp") == len - n;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lettered); i++) {
		const size_t n = strlen(lettered[i]);

		if (len > n && len <= n + 4 && !memcmp(s, lettered[i], n) && s[n] >= 'a' && s[n] <= 'z')
			return count(s + n + 1, len - n - 1, "0123456789") == len - n - 1;
	}
	return false;
}

/* Whether it is a common word, perhaps with digits behind it. */
static bool is_word(const char *s, size_t len)
{
	while (len && s[len - 1] >= '0' && s[len - 1] <= '9')
		len--;
	return !len || is_among(words, ARRAY_SIZE(words), s, len);
}

static bool is_number(const char *s, size_t len)
{
	return len && count(s, len, "0123456789.") == len;
}

/* Whether it is the IPv4 address of another host: numbers that say where the job ran. */
static bool is_address(const char *s, size_t len)
{
	unsigned int points = 0, value = 0;

	for (size_t i = 0; i < len; i++) {
		if (s[i] == '.') {
			points++;
			value = 0;
		} else if (s[i] < '0' || s[i] > '9' || (value = 10 * value + (unsigned int)(s[i] - '0')) > 255) {
			return false;
		}
	}
	return points == 3 && len >= strlen("1.1.1.1") && memcmp(s, "127.", 4) != 0 && memcmp(s, "0.0.0.0", 7) != 0;
}

/* Whether all parts of it between points, hyphens and underscores are common words or short numbers. */
static bool is_common(const char *s, size_t len)
{
	size_t n;

	if (len && is_disk(s, len))
		return true;
	for (;; s += n + 1, len -= n + 1) {
		for (n = 0; n < len && !strchr(".-_", s[n]); n++)
			;
		if (count(s, n, "0123456789") == n ? n > 6 : !is_word(s, n))
			return false;
		if (n == len)
			return true;
	}
}

/* --- texts -------------------------------------------------------------------------------------------------------- */

static size_t put_hash(const struct names *n, char *dst, const char *s, size_t len)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz234567";
	uint64_t h = hash(n->key, s, len);

	for (unsigned int i = 0; i < HASH_LEN; i++, h >>= 5)
		dst[i] = digits[h & 31];
	return HASH_LEN;
}

/* Returns the length of S without the suffixes of files at its end. */
static size_t without_suffixes(const char *s, size_t len)
{
	for (;;) {
		size_t dot = len;

		while (dot && s[dot - 1] != '.')
			dot--;
		if (dot < 2 || dot == len)
			return len;
		const size_t n = len - dot;
		const bool number = n <= 3 && count(s + dot, n, "0123456789") == n;

		if (!number && !is_among(suffixes, ARRAY_SIZE(suffixes), s + dot, n))
			return len;
		len = dot - 1;
	}
}

/* Puts one word. AFTER_WORD: the word before it is a common one, such as the name of a number. */
static size_t put_word(const struct names *names, char *dst, const char *s, size_t len, bool after_word, bool *common)
{
	const size_t dashes = count(s, len, "-"), base = without_suffixes(s, len);
	size_t at = 0;

	if (is_address(s, len)) {
		*common = false;
		return put_hash(names, dst, s, len);
	}
	*common = is_common(s + dashes, base - MIN(base, dashes));
	if (base <= dashes || *common || (after_word && is_number(s, len))) {
		memcpy(dst, s, len);
		return len;
	}
	memcpy(dst, s, dashes);
	at = dashes + put_hash(names, dst + dashes, s + dashes, base - dashes);
	memcpy(dst + at, s + base, len - base);
	return at + len - base;
}

static bool is_separator(char c)
{
	return (unsigned char)c <= ' ' || c == 0x7f || strchr("/=,:;\"'`()[]{}<>|&@#?!*$%+~\\", c);
}

size_t names_put(const struct names *names, char *dst, const char *s, size_t len)
{
	char *const begin = dst;
	bool common = false;

	while (len) {
		size_t word = 0;

		while (word < len && !is_separator(s[word]))
			word++;
		if (word)
			dst += put_word(names, dst, s, word, common, &common);
		s += word;
		len -= word;
		if (len) {
			*dst++ = *s++;
			len--;
		}
	}
	return (size_t)(dst - begin);
}
