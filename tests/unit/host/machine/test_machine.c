/* SPDX-License-Identifier: BSD-2-Clause */
#include "host/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"
#include "tree.h"

static char *written_by(void (*put_members)(struct json *, const char *), const char *below)
{
	struct json j = { 0 };
	char *text;

	json_object(&j, NULL);
	put_members(&j, below);
	json_end(&j);
	assert_int_equal(json_finish(&j), 0);
	text = strndup(j.buf, j.len);
	json_free(&j);
	return text;
}

static void expect(const char *part)
{
	autofree char *text = written_by(machine_put, tree);

	if (!strstr(text, part))
		fail_msg("%s is not in %s", part, text);
}

static void expect_not(const char *part)
{
	autofree char *text = written_by(machine_put, tree);

	if (strstr(text, part))
		fail_msg("%s is in %s", part, text);
}

static void leaves_out_what_is_not_there(void **state)
{
	autofree char *text = written_by(machine_put, tree);
	autofree char *want = util_fmt("{\n"
				       "  \"cpus\": %ld,\n"
				       "  \"page_bytes\": %ld,\n"
				       "  \"vm\": {}\n"
				       "}\n",
				       sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_PAGESIZE));

	assert_string_equal(text, want);
}

static void cpus_and_memory(void **state)
{
	tree_put("proc/sys/kernel/random/boot_id", "563f1460-9a66-4395-8f06-30b7e5da8a80\n");
	tree_put("proc/cpuinfo", "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 207\n"
				 "model name\t: Intel(R) Xeon(R)\nflags\t: fpu\n");
	tree_put("proc/meminfo", "MemTotal:       24684084 kB\nMemFree: 1 kB\nDirty:  12 kB\n"
				 "Writeback:             3 kB\nWritebackTmp:          9 kB\n");
	expect("\"boot_id\": \"563f1460-9a66-4395-8f06-30b7e5da8a80\"");
	expect("\"cpu_model\": \"Intel(R) Xeon(R)\"");
	expect("\"memory_bytes\": 25276502016,");
}

static void dirty_bytes_wait_or_are_on_their_way(void **state)
{
	uint64_t bytes = 1;

	assert_int_equal(machine_dirty_bytes(tree, &bytes), -ENODATA);
	tree_put("proc/meminfo", "MemTotal: 100 kB\nDirty:  12 kB\nWriteback:             3 kB\n");
	assert_int_equal(machine_dirty_bytes(tree, &bytes), 0);
	assert_int_equal(bytes, 15 * 1024);
}

static void disks_in_order_with_their_queues(void **state)
{
	tree_put("sys/block/nvme10n1/size", "8\n");
	tree_put("sys/block/nvme2n1/size", "7501476528\n");
	tree_put("sys/block/nvme2n1/device/model", "SAMSUNG MZWLJ3T8HBLS-00007              \n");
	tree_put("sys/block/nvme2n1/queue/scheduler", "none [mq-deadline] kyber \n");
	tree_put("sys/block/nvme2n1/queue/rotational", "0\n");
	tree_put("sys/block/nvme2n1/queue/read_ahead_kb", "128\n");
	tree_put("sys/block/nvme2n1/queue/nr_requests", "many\n");
	tree_put("sys/block/nvme10n1/queue/scheduler", "none\n");
	tree_put("sys/block/nvme10n1/queue/rotational", "1\n");
	expect("\"disks\": [\n"
	       "    {\n"
	       "      \"name\": \"nvme2n1\",\n"
	       "      \"model\": \"SAMSUNG MZWLJ3T8HBLS-00007\",\n"
	       "      \"read_ahead_kb\": 128,\n"
	       "      \"rotational\": false,\n"
	       "      \"scheduler\": \"mq-deadline\",\n"
	       "      \"size_bytes\": 3840755982336\n"
	       "    },\n"
	       "    {\n"
	       "      \"name\": \"nvme10n1\",\n"
	       "      \"rotational\": true,\n"
	       "      \"scheduler\": \"none\",\n"
	       "      \"size_bytes\": 4096\n"
	       "    }\n"
	       "  ]");
}

/* PATH, a link of the tree to the folder TARGET in it. */
static void put_link(const char *path, const char *target)
{
	autofree char *link = tree_path(path), *folder = util_fmt("%s/%s", tree, target);

	assert_int_equal(symlink(folder, link), 0);
}

/* The node is that of the device, or of the controller above it; -1 says nothing, whatever is above. */
static void devices_have_their_numa_nodes(void **state)
{
	tree_put("sys/devices/pci0/numa_node", "7\n");
	tree_put("sys/devices/pci0/0000:01:00.0/numa_node", "1\n");
	tree_put("sys/devices/pci0/0000:01:00.0/nvme/nvme0/model", "fast\n");
	tree_put("sys/devices/pci0/0000:02:00.0/numa_node", "-1\n");
	tree_put("sys/devices/pci0/0000:02:00.0/virtio3/vendor", "x\n");
	tree_put("sys/devices/pci0/0000:07:00.0/numa_node", "3\n");
	tree_put("sys/block/nvme0n1/size", "8\n");
	put_link("sys/block/nvme0n1/device", "sys/devices/pci0/0000:01:00.0/nvme/nvme0");
	tree_put("sys/block/vda/size", "8\n");
	put_link("sys/block/vda/device", "sys/devices/pci0/0000:02:00.0/virtio3");
	tree_put("sys/class/net/lo/mtu", "65536\n");
	put_link("sys/class/net/eth2/device", "sys/devices/pci0/0000:07:00.0");
	put_link("sys/class/net/eth10/device", "sys/devices/pci0/0000:02:00.0");
	put_link("sys/bus/pci/devices/0000:07:00.0", "sys/devices/pci0/0000:07:00.0");
	tree_put("proc/driver/nvidia/gpus/0000:07:00.0/power", "?\n");
	expect("      {\n"
	       "        \"bus\": \"0000:07:00.0\",\n"
	       "        \"numa_node\": 3\n"
	       "      }\n");
	expect("\"disks\": [\n"
	       "    {\n"
	       "      \"name\": \"nvme0n1\",\n"
	       "      \"model\": \"fast\",\n"
	       "      \"size_bytes\": 4096,\n"
	       "      \"numa_node\": 1\n"
	       "    },\n"
	       "    {\n"
	       "      \"name\": \"vda\",\n"
	       "      \"size_bytes\": 4096\n"
	       "    }\n"
	       "  ],\n"
	       "  \"nics\": [\n"
	       "    {\n"
	       "      \"name\": \"eth2\",\n"
	       "      \"numa_node\": 3\n"
	       "    },\n"
	       "    {\n"
	       "      \"name\": \"eth10\"\n"
	       "    }\n"
	       "  ]");
}

static void disks_that_hold_nothing_are_no_disks(void **state)
{
	tree_put("sys/block/loop0/size", "0\n");
	tree_put("sys/block/loop1/size", "8\n");
	tree_put("sys/block/loop1/loop/backing_file", "/tmp/a b\n");
	tree_put("sys/block/ram0/size", "32768\n");
	tree_put("sys/block/sr0/queue/rotational", "1\n");
	tree_put("sys/block/zram0/size", "0\n");
	expect("\"disks\": [\n"
	       "    {\n"
	       "      \"name\": \"loop1\",\n"
	       "      \"backing_file\": \"/tmp/a b\",\n"
	       "      \"size_bytes\": 4096\n"
	       "    }\n"
	       "  ]");
}

static void mounts_are_those_with_files_of_users(void **state)
{
	tree_put("proc/self/mounts", "proc /proc proc rw,relatime 0 0\n"
				     "/dev/md0 /raid ext4 rw,noatime 0 0\n"
				     "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"
				     "srv:/x\\040y /mnt/tab\\011 nfs4 rw,vers=4.2 0 0\n"
				     " /empty\\134source unheard_of rw 0 0\n"
				     "cut /off tmp");
	expect("\"mounts\": [\n"
	       "    {\n"
	       "      \"source\": \"/dev/md0\",\n"
	       "      \"target\": \"/raid\",\n"
	       "      \"fstype\": \"ext4\",\n"
	       "      \"options\": \"rw,noatime\"\n"
	       "    },\n"
	       "    {\n"
	       "      \"source\": \"srv:/x y\",\n"
	       "      \"target\": \"/mnt/tab\\u0009\",\n"
	       "      \"fstype\": \"nfs4\",\n"
	       "      \"options\": \"rw,vers=4.2\"\n"
	       "    },\n"
	       "    {\n"
	       "      \"source\": \"\",\n"
	       "      \"target\": \"/empty\\\\source\",\n"
	       "      \"fstype\": \"unheard_of\",\n"
	       "      \"options\": \"rw\"\n"
	       "    }\n"
	       "  ],\n"
	       "  \"mounts_left_out\": 0\n");
}

static void mounts_end_somewhere(void **state)
{
	static const char line[] = "tmpfs /m tmpfs rw 0 0\n";
	autofree char *text = malloc(600 * strlen(line) + 1);
	char *p = text;

	for (int i = 0; i < 600; i++)
		p = stpcpy(p, line);
	tree_put("proc/self/mounts", text);
	expect("\"mounts_left_out\": 88\n");
}

static void gpus_and_their_driver(void **state)
{
	expect_not("nvidia");
	tree_put("sys/module/nvidia/version", "535.129.03\n");
	tree_put("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  "
					       "Thu Oct 19 18:56:32 UTC 2023\n"
					       "GCC version:  gcc version 12.2.0\n");
	tree_put("proc/driver/nvidia/gpus/0000:07:00.0/information",
		 "Model: \t\t NVIDIA A100-SXM4-40GB\nIRQ:   \t\t 16\n"
		 "GPU UUID: \t GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b\n"
		 "Video BIOS: \t ??.??.??.??.??\nBus Location: \t 0000:07:00.0\n"
		 "Device Minor: \t 0\nGPU Excluded:\t No\n");
	tree_put("proc/driver/nvidia/gpus/0000:0f:00.0/power", "Runtime D3 status: ?\n");
	expect("\"nvidia\": {\n"
	       "    \"driver\": \"535.129.03\",\n"
	       "    \"kernel_module\": \"NVRM version: NVIDIA UNIX x86_64 Kernel Module  "
	       "535.129.03  Thu Oct 19 18:56:32 UTC 2023\",\n"
	       "    \"gpus\": [\n"
	       "      {\n"
	       "        \"bus\": \"0000:07:00.0\",\n"
	       "        \"minor\": \"0\",\n"
	       "        \"model\": \"NVIDIA A100-SXM4-40GB\",\n"
	       "        \"uuid\": \"GPU-9221d5d1-b60b-a624-bf14-0a1819cfda3b\",\n"
	       "        \"video_bios\": \"??.??.??.??.??\"\n"
	       "      },\n"
	       "      {\n"
	       "        \"bus\": \"0000:0f:00.0\"\n"
	       "      }\n"
	       "    ]\n"
	       "  }");
}

static void container_by_its_marks(void **state)
{
	expect_not("container");
	tree_put(".dockerenv", "");
	expect("\"container\": {\n    \"manager\": \"docker\"\n  }");
	tree_put("run/.containerenv", "engine=\"podman-4.9.3\"\nname=\"x\"\nimage=\"nvcr.io/pytorch:24.01\"\n"
				      "imageid=\"1\"\n");
	expect("\"container\": {\n    \"manager\": \"podman\",\n"
	       "    \"image\": \"nvcr.io/pytorch:24.01\"\n  }");
	tree_put("run/systemd/container", "lxc\n");
	expect("\"manager\": \"lxc\"");
	tree_put("proc/self/cgroup", "1:cpu:/a\n0::/b\n");
	expect("\"cgroups\": [\n    \"1:cpu:/a\",\n    \"0::/b\"\n  ]");
}

static void clock_of_this_machine(void **state)
{
	autofree char *link = tree_path("etc/localtime"), *text = NULL;

	tree_put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	assert_int_equal(symlink("../usr/share/zoneinfo/Asia/Kolkata", link), 0);
	assert_int_equal(setenv("TZ", "XXX-5:30", 1), 0);
	text = written_by(machine_put_clock, tree);
	assert_int_equal(unsetenv("TZ"), 0);
	assert_non_null(strstr(text, "\"source\": \"tsc\""));
	assert_non_null(strstr(text, "\"tz\": \"XXX-5:30\""));
	assert_non_null(strstr(text, "\"localtime\": \"../usr/share/zoneinfo/Asia/Kolkata\""));
	assert_non_null(strstr(text, "\"utc_offset_s\": 19800"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_TREE(clock_of_this_machine),
		IN_TREE(container_by_its_marks),
		IN_TREE(cpus_and_memory),
		IN_TREE(dirty_bytes_wait_or_are_on_their_way),
		IN_TREE(disks_in_order_with_their_queues),
		IN_TREE(devices_have_their_numa_nodes),
		IN_TREE(disks_that_hold_nothing_are_no_disks),
		IN_TREE(gpus_and_their_driver),
		IN_TREE(leaves_out_what_is_not_there),
		IN_TREE(mounts_are_those_with_files_of_users),
		IN_TREE(mounts_end_somewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
