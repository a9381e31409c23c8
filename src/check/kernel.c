/* SPDX-License-Identifier: BSD-2-Clause */
/* Facts about tracing in files of the kernel: rights, namespaces, BTF, lockdown, clocks. */
#include "check/check.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fmt.h"
#include "base/util.h"
#include "host/rights/sudo_command.h"
#include "kernel/btf.h"
#include "kernel/preempt.h"

/* include/uapi/linux/capability.h */
#define BIT_SYS_ADMIN 21
#define BIT_PERFMON 38
#define BIT_BPF 39

#define INIT_USER_NS "user:[4026531837]" /* PROC_USER_INIT_INO, include/linux/proc_ns.h */
#define INIT_PID_NS "pid:[4026531836]" /* PROC_PID_INIT_INO */

#define BTF "/sys/kernel/btf/vmlinux"
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/"

/* --- rights ----------------------------------------------------------------------------------- */

/* Returns the effective capabilities as a mask. Those of a user namespace look alike. */
static bool effective_caps(const struct check *check, uint64_t *ret)
{
	static const char key[] = "\nCapEff:\t";
	char text[8192], *p;

	if (check_read(check, "/proc/self/status", text, sizeof(text)) < 0)
		return false;
	p = strstr(text, key);
	if (!p)
		return false;
	*ret = strtoull(p + strlen(key), NULL, 16);
	return true;
}

/* A name as in /proc/self/ns: returns true when it can be read and differs. */
static bool other_namespace(const struct check *check, const char *name, const char *initial)
{
	char path[PATH_MAX], link[64];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/proc/self/ns/%s", check->root, name);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return false;
	link[len] = '\0';
	return strcmp(link, initial) != 0;
}

enum check_state check_rights(struct check *check)
{
	static const char need[] = "rights";
	uint64_t caps;
	char command[PATH_MAX];
	const char *half = "";
	bool admin, bpf, perfmon;

	check->has_caps = false;
	check->no_proc = !effective_caps(check, &caps);
	if (check->no_proc)
		return check_lacks(check, need, CHECK_FAIL, "mount -t proc proc /proc",
				   "/proc is not mounted: no /proc/self/status");
	admin = caps >> BIT_SYS_ADMIN & 1;
	bpf = caps >> BIT_BPF & 1;
	perfmon = caps >> BIT_PERFMON & 1;
	if (bpf)
		half = "; CAP_PERFMON lacks";
	else if (perfmon)
		half = "; CAP_BPF lacks";
	if (other_namespace(check, "user", INIT_USER_NS))
		return check_lacks(
			check, need, CHECK_FAIL, "sudo dltraced on the host, or in a container that its root started",
			"its own user namespace (rootless container, unshare): capabilities in it do not count for "
			"tracing");
	if (!admin && !(bpf && perfmon)) {
		check_put(check, need, CHECK_FAIL,
			  "neither CAP_SYS_ADMIN nor CAP_BPF and CAP_PERFMON are effective%s%s", half,
			  geteuid() == 0 ? ", though the user is root" : "");
		if (geteuid() == 0)
			return check_remedy(check, "docker run --privileged, or --cap-add BPF --cap-add PERFMON");
		return check_remedy(check,
				    "%s ..., or for your own processes the service (systemctl enable --now dltraced, "
				    "and its group), or setcap cap_bpf,cap_perfmon+ep on the program",
				    sudo_command(command, sizeof(command)));
	}
	check->has_caps = true;
	return check_put(check, need, CHECK_OK, "%s, user %u", admin ? "CAP_SYS_ADMIN" : "CAP_BPF and CAP_PERFMON",
			 geteuid());
}

enum check_state check_pid_namespace(struct check *c)
{
	if (c->no_proc)
		return check_put(c, "pid namespace", CHECK_NOTE, "not known: /proc is not mounted");
	if (!other_namespace(c, "pid", INIT_PID_NS))
		return check_put(c, "pid namespace", CHECK_OK, "the initial one");
	return check_lacks(c, "pid namespace", CHECK_FAIL,
			   "run dltraced on the host, or share its processes: docker run --pid=host",
			   "a container's own: the kernel side uses other PIDs");
}

/* --- what the kernel was built with, and what it forbids -------------------------------------- */

enum check_state check_btf(struct check *check)
{
	char path[PATH_MAX];
	struct stat st;
	int err;

	snprintf(path, sizeof(path), "%s/sys/kernel", check->root);
	if (access(path, F_OK) < 0)
		return check_lacks(
			check, "BTF", CHECK_FAIL,
			"mount -t sysfs sysfs /sys, or give a container the host's (docker run -v /sys:/sys:ro)",
			"/sys is not mounted: no " BTF);
	snprintf(path, sizeof(path), "%s" BTF, check->root);
	check->has_btf = stat(path, &st) == 0 && access(path, R_OK) == 0;
	if (check->has_btf)
		return check_put(check, "BTF", CHECK_OK, BTF ", %s", FMT_BYTES((uint64_t)st.st_size));
	err = errno;
	check_put(check, "BTF", CHECK_FAIL, BTF ": %s", strerror(err));
	if (err == EACCES)
		return check_remedy(check, "%s check", sudo_command(path, sizeof(path)));
	return check_remedy(check,
			    "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y, as those of Debian 11, Ubuntu 20.10, "
			    "RHEL 8.2 and later are");
}

enum check_state check_lockdown(struct check *check)
{
	static const char need[] = "lockdown";
	char text[128], *mode, *end;

	if (check_read(check, "/sys/kernel/security/lockdown", text, sizeof(text)) < 0)
		return check_put(check, need, CHECK_OK, "no /sys/kernel/security/lockdown");
	mode = strchr(text, '['); /* "none [integrity] confidentiality" */
	end = mode ? strchr(mode, ']') : NULL;
	if (!end)
		return check_put(check, need, CHECK_NOTE, "not understood: %s", text);
	*end = '\0';
	mode++;
	if (!strcmp(mode, "confidentiality"))
		return check_lacks(
			check, need, CHECK_FAIL,
			"boot with lockdown=integrity, or without Secure Boot where it sets the mode",
			"confidentiality: BPF programs may not read the kernel's memory, and kprobes are forbidden");
	return check_put(check, need, CHECK_OK, "%s%s", mode, !strcmp(mode, "integrity") ? ": tracing is allowed" : "");
}

/* --- preemption ------------------------------------------------------------------------------- */

/*
 * Writes the preemption model to BUF, as far as it can be known: the active one where debugfs shows it,
 * else the one requested at boot, else the one that the kernel was built for.
 */
static const char *preemption(const struct check *check, char *buf, size_t size)
{
	char text[4096], *p, *end;
	struct utsname u;

	if (!check_read(check, "/sys/kernel/debug/sched/preempt", text, sizeof(text)) && (p = strchr(text, '(')) &&
	    (end = strchr(p, ')'))) {
		snprintf(buf, size, "%.*s", (int)(end - p - 1), p + 1);
		return buf;
	}
	if (!check_read(check, "/proc/cmdline", text, sizeof(text)) && (p = strstr(text, "preempt=")) &&
	    (p == text || p[-1] == ' ')) {
		p += strlen("preempt=");
		snprintf(buf, size, "%.*s", (int)strcspn(p, " "), p);
		return buf;
	}
	if (check_read(check, "/proc/sys/kernel/version", text, sizeof(text)) < 0) {
		uname(&u);
		snprintf(text, sizeof(text), "%s", u.version);
	}
	if (strstr(text, "PREEMPT_RT"))
		return "rt";
	if (strstr(text, "PREEMPT_DYNAMIC"))
		return "dynamic";
	if (strstr(text, "PREEMPT"))
		return "full";
	return "none or voluntary";
}

static bool skips_runs(void)
{
	struct kernel_btf kernel;
	bool skips = !kernel_btf_load(&kernel) && preempt_skips_runs(&kernel);

	kernel_btf_free(&kernel);
	return skips;
}

/*
 * Where programs can be preempted, the kernel skips a run of one that another thread of the CPU is in. The
 * names of kernels do not show which do so: it is tried, as at a trace's start.
 */
enum check_state check_preemption(struct check *check)
{
	static const char need[] = "preemption";
	char buf[64];
	const char *model = preemption(check, buf, sizeof(buf));
	bool never = !strncmp(model, "none", 4) || !strcmp(model, "voluntary");

	if (!strcmp(model, "dynamic"))
		model = "set at boot; only debugfs shows it";
	if (never)
		return check_put(check, need, CHECK_OK, "%s", model);
	if (!check->may_bpf || !check->has_btf)
		return check_put(check, need, CHECK_NOTE,
				 "%s; whether runs of preempted programs are skipped was not tried", model);
	if (!skips_runs())
		return check_put(check, need, CHECK_OK, "%s; in a test, no run of a program was skipped", model);
	return check_put(check, need, CHECK_NOTE,
			 "%s; in a test, runs of preempted programs were skipped: start uses hooks without this "
			 "problem where there are some, and counts skipped runs as lost",
			 model);
}

/* --- clocks ----------------------------------------------------------------------------------- */

/* Clocks that are read without entering the kernel; a trace reads the clock for each event. */
static const char *const fast_clocks[] = {
	"arch_sys_counter", "hyperv_clocksource_tsc_page", "kvm-clock", "tsc", "tsc-early",
};

enum check_state check_clock_source(struct check *check)
{
	static const char need[] = "clock source";
	char name[64], available[256];

	if (check_read(check, CLOCKSOURCE "current_clocksource", name, sizeof(name)) < 0)
		return check_put(check, need, CHECK_NOTE, CLOCKSOURCE "current_clocksource cannot be read");
	for (size_t i = 0; i < ARRAY_SIZE(fast_clocks); i++)
		if (!strcmp(name, fast_clocks[i]))
			return check_put(check, need, CHECK_OK, "%s", name);
	check_read(check, CLOCKSOURCE "available_clocksource", available, sizeof(available));
	return check_lacks(
		check, need, CHECK_NOTE,
		check_has_word(available, "tsc") ?
			"echo tsc > " CLOCKSOURCE "current_clocksource" :
			"dmesg | grep -i -e tsc -e clocksource shows why the kernel does not use a faster one",
		"%s: slow to read, and each event reads the clock", name);
}

/* adjtimex(2)'s own result is TIME_ERROR for other reasons than a lack of synchronization as well. */
enum check_state check_clock_synchronised(struct check *check)
{
	static const char need[] = "clock synchronized";
	struct timex tx = { .modes = 0 };

	if (adjtimex(&tx) < 0)
		return check_put(check, need, CHECK_NOTE, "not known: %s", strerror(errno));
	if (!(tx.status & STA_UNSYNC))
		return check_put(check, need, CHECK_OK, "UTC within %.1f ms by the kernel's estimate",
				 (double)tx.maxerror / 1000);
	return check_lacks(check, need, CHECK_NOTE, "timedatectl set-ntp true, or start chronyd",
			   "no: times may not match those of other machines");
}
