/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The protocol between `dltraced start' of a user without rights and the service, on a SOCK_SEQPACKET socket: one
 * request, with descriptors, then words in both directions until one end closes. See docs/service.md.
 *
 *	client	the request; "exit STATUS LOST USAGE..." when the workload has ended, "stop" to end the trace
 *	service	"go" when the workload may run, "end" when the files are whole; before that, messages:
 *		lines that begin with "dltraced"
 */
#ifndef SERVICE_PROTOCOL_H
#define SERVICE_PROTOCOL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/config.h"
#include "trace/usage.h"

#define SERVICE_SOCKET "/run/dltraced/dltraced.sock"
#define SERVICE_GROUP "dltraced"
#define SERVICE_REQUEST_MAX 65536
#define SERVICE_PIDS_MAX (CONFIG_LIST_MAX + 1) /* the workload's, and those of --pid */
#define SERVICE_WORD_MAX 4096 /* of a packet from the service */
#define SERVICE_ANSWER_S 10 /* how long either end waits for a request or for space */

/* A request as it was read. All zero: none. */
struct service_request {
	char *text; /* owned: the memory of all strings below */
	char **words; /* owned: the memory of the three vectors below */
	char **cmdline, **argv,
		**environ; /* of the client; of the workload, NULL: none; its variables, those selected */
	const char *cwd;
	struct config_given options[CONFIG_GIVEN_MAX];
	unsigned int n_options;
	bool log; /* the workload's output goes into the folder, as OUTDIR_LOG_NEW */
	int fds[1 +
		SERVICE_PIDS_MAX]; /* the trace folder, then pidfds; with ARGV the first is the workload's. -1: taken */
	unsigned int n_fds;
};

/* Whether a request may have an option called NAME. */
bool service_option_allowed(const char *name);

/*
 * Writes the request for CFG into a new buffer. CMDLINE is the client's own command line. What is too long for a
 * request is left out, first the ends of command lines. Returns 0 or -errno.
 */
int service_request_pack(const struct config *cfg, char *const *cmdline, char *const *env, const char *cwd,
			 char **text_ret, size_t *len_ret);

/* Parses a request of LEN bytes, which are copied. Returns 0, -EPROTO, -EPROTONOSUPPORT or -ENOMEM. */
int service_request_parse(struct service_request *rq, const char *text, size_t len);

/* Sends a packet with N descriptors. Returns 0 or -errno. */
int service_send(int fd, const void *packet, size_t len, const int *fds, unsigned int n);

/* Receives a packet. Returns its length, -errno, or -ECONNRESET at the end. The caller owns the *N_RET descriptors. */
ssize_t service_recv(int fd, void *packet, size_t size, int *fds, unsigned int max, unsigned int *n_ret);

void service_request_free(struct service_request *rq);

/* The word "exit": the workload's raw STATUS, LOST bytes of its output, and what it used, all but the wall time. */
struct service_end {
	int status;
	uint64_t lost;
	bool has_usage;
	uint64_t usage[USAGES];
};
void service_end_put(char word[SERVICE_WORD_MAX], int status, uint64_t lost, const uint64_t usage[USAGES]);
/* Whether WORD is such a word; the usage may be missing. */
bool service_end_parse(struct service_end *end, const char *word);

#endif
