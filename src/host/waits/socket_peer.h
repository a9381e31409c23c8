/* SPDX-License-Identifier: BSD-2-Clause */
/* The other end of a socket on this machine, as the kernel lists sockets. Keeps nothing. */
#ifndef HOST_WAITS_SOCKET_PEER_H
#define HOST_WAITS_SOCKET_PEER_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Returns the inode of the other end of the socket INODE of process PID: of a Unix socket, where it is of our network
 * namespace, or of TCP within PID's one. 0: it has none, or none on this machine.
 */
uint64_t socket_peer(pid_t pid, uint64_t inode);

/* Parses TEXT, as of /proc/net/tcp: the inode of the other end of INODE; 0: none. Pure. */
uint64_t socket_peer_of_tcp(const char *text, uint64_t inode);

#endif
