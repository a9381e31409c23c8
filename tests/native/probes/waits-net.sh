#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
#
# waits.out names the peer of another network namespace for whose answers a thread waits in recv, and which of two peers
# it was in epoll (tests/workloads/wakes.c --serve).
. "${0%/*}/../lib.sh"
need ip python3

# The kernel shows it from Linux 6.3 on.
grep -q btf_trace_sk_data_ready /sys/kernel/btf/vmlinux || set -- --epoll-peer maybe

ns=dlt-waits-$$ link=dlt$$ server=''
here_at=10.$((200 + $$ / 250 % 50)).$(($$ % 250)).1 there=${here_at%1}2

ip netns add "$ns" 2>err || skip "network namespaces: $(cat err)"
trap '[ -z "$server" ] || kill "$server"; ip netns del "$ns"; cleanup' EXIT
ip link add "$link" type veth peer name peer netns "$ns" 2>err || skip "veth: $(cat err)"
{ ip addr add "$here_at/30" dev "$link" && ip link set "$link" up &&
	ip -n "$ns" addr add "$there/30" dev peer && ip -n "$ns" link set peer up; } || fail "ip"

ip netns exec "$ns" "$W/wakes" --serve 7300 >served 2>err &
server=$!
await grep -q listening served
trace -- "$W/wakes" ${slow:+-n 4} --peer "$there:7300" protocol . || fail "status $?"
check waits protocol "$@"
