/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of `dltraced report` and `report --cpu` as text, taken apart: what page.js compares with the JSON
 * and with the page. Numbers stay as they were printed; `-' is null.
 */
'use strict';

const N = String.raw`(\d+|-|\?)`, B = String.raw`([\d.]+ (?:B|[KMGTPE]iB)|-)`, T = String.raw`([\d.]+ (?:ns|us|ms|s)|-)`, P = String.raw`([\d.]+ %|-)`;
const line = (...parts) => new RegExp('^ *' + parts.join(' +') + '$');

/* How a section begins, and what its lines look like. */
const SECTIONS = {
	probes: [/^Rows by probe/, line('(\\S+)', N, '(?:' + N, ')?' + N, B, T, T, T, T)],
	types: [/^Read and written, by type/, line('(\\S+)', N, B, T, N, B, T)],
	sources: [/^Where reads of regular files/, line('(\\S+(?: fs| file)?)', N, B, B, P, N)],
	files_by_bytes: [/^Files with the most bytes$/, line(B, B, T, N, ' ?(\\S.*)')],
	files_by_time: [/^Files with the most time/, line(B, B, T, N, ' ?(\\S.*)')],
	processes: [/^Processes, by time in calls/, line(N, N, N, B, N, B, T, T, ' ?(\\S.*)')],
	slowest: [/^Slowest calls/, line(T, '(\\S+)', N, N, '(\\S+)', '(\\S+Z)', '(\\S+)', '(\\S.*)')],
	waits: [/^Longest waits/, line(T, '(\\S+)', N, N, '(\\S+)', '(\\S+Z)', '(\\S+)', '(\\S.*)')],
	running: [/^Still running/, line(T, '(\\S+)', N, N, '(\\S+)', '(\\S+Z)', '(\\S+)', '(\\S.*)')],
	disks: [/^Disks, whole machine/, line('(\\S+)', '([RWDFZO])', N, B, T, T, T, P + '(?:  bios)?')],
	tasks: [/^CPU time by task/, line(N, N, T, P, P, P, T, N, ' ?(\\S.*)')],
	cpus: [/^CPUs \(/, line(N, T, T, P, N, T)],
	cpu_processes: [/^Processes, by CPU time/, line(N, N, T, P, T, N, N, ' ?(\\S.*)')],
};

/* { section: [[field, ...]] } of TEXT. */
function sections(text) {
	const all = {};
	let now = null;

	for (const row of text.split('\n')) {
		const begun = Object.entries(SECTIONS).find(([, [head]]) => head.test(row));

		if (begun || row === '')
			now = begun ? begun[0] : null;
		if (begun)
			all[now] = [];
		const m = now && SECTIONS[now][1].exec(row);

		if (m)
			all[now].push(m.slice(1).map(f => f === '-' || f === undefined ? null : f));
	}
	return all;
}

module.exports = { sections };
