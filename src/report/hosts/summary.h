/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary of a host's trace: what of its report adds up with that of other hosts, in a small file (summary.json in
 * the trace folder). It has counts, sums and whole histograms, so that merged percentiles are those of all rows;
 * reasons for missing data; and the host's findings with their shares. docs/report-json.md has the members. The offline
 * side only.
 */
#ifndef REPORT_HOSTS_SUMMARY_H
#define REPORT_HOSTS_SUMMARY_H

#include "report/hosts/hosts.h"

#define SUMMARY_FILE "summary.json"
#define SUMMARY_VERSION 1U

struct json;

/* Puts the summary of HOST, whose report is loaded, into JSON, which is empty. */
void summary_put(const struct job_host *host, struct json *json);

/*
 * Takes TEXT of LEN bytes into HOST, which is zeroed but for its directory, and makes its report; the caller frees
 * that, also after a failure. Returns 0; -EBADMSG when it is not a summary or not whole; -EPROTONOSUPPORT when a newer
 * version wrote it; or -ENOMEM.
 */
int summary_take(struct job_host *host, const char *text, size_t len);

/*
 * Opens a job by the N summaries FILES, with the hosts' reports; report_job_close() completes it. Returns what
 * report_job_open() and summary_take() return, of *BAD.
 */
int summary_open_job(struct report_job *ret, char *const *files, unsigned int n, unsigned int *bad);

#endif
