#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# bio-files on an NVMe disk, which a guest's own are: that with what is tested, ext4 without a journal.
native=${0%/*}/../../native
disk=$(findmnt -n -o SOURCE /run/vm)
case $disk in
/dev/nvme*) ;;
*) echo "needs an NVMe disk on /run/vm, not ${disk:-nothing}"; exit 77 ;;
esac
export VM_DISK="${disk#/dev/}" VM_MNT=/run/vm
exec sh "$native/probes/bio-files.sh"
