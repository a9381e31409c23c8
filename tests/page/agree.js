/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of `dltraced report` and `report --cpu` as text, taken apart: what page.js compares with the JSON
 * and with the page. Numbers stay as they were printed; `-' is null.
 */
'use strict';

const N = String.raw`(\d+|-|\?)`, B = String.raw`([\d.]+ (?:B|[KMGTPE]iB)|-)`, T = String.raw`([\d.]+ (?:ns|us|ms|s)|-)`, P = String.raw`([\d.]+ %|-)`;
const line = (...parts) => new RegExp('^ *' + parts.join(' +') + '$');

/* How each section begins, and the form of its lines. */
const SECTIONS = {
	probes: [/^Rows by probe/, line('(\\S+)', N, '(?:' + N, ')?' + N, B, T, T, T, T)],
	epochs: [/^Reads of regular files, by epoch/, line(T, P, N, B, B, N, P, B, N, ' ?(\\S.*)')],
	epochs_more: [/^Sizes of reads, workers/, line('(.*?\\S)', B, P, N, T, T, T, N, ' ?(\\S.*)')],
	datasets: [/^Data sets/, line(N, N, B, P, B, B, B, T, T, T, T, ' ?(\\S+)', '(\\S+)', '(\\S.*)')],
	files_by_written: [/^Files with the most bytes written/, line(B, B, T, N, N, N, ' ?(\\S.*)')],
	files_by_opens: [/^Files opened most often/, line(B, B, T, N, N, N, ' ?(\\S.*)')],
	files_shared: [/^Files that several processes used/, line(B, B, T, N, N, N, ' ?(\\S.*)')],
	uses_by_bytes: [/^Processes and their files with the most bytes/, line(B, B, T, N, N, ' ?(\\S+)', '(\\S.*)')],
	uses_by_time: [/^Processes and their files with the most time/, line(B, B, T, N, N, ' ?(\\S+)', '(\\S.*)')],
	medians: [/^Processes: medians/, line(N, T, B, T, B, T, T, ' ?(\\S.*)')],
	classes: [/^Pipes, sockets, terminals/, line('(\\S+)', N, N, N, B, N, B, T)],
	types: [/^Read and written, by type/, line('(\\S+)', N, B, T, N, B, T)],
	sources: [/^Where reads of regular files/, line('(\\S+(?: fs| file)?)', N, B, B, P, N)],
	files_by_bytes: [/^Files with the most bytes$/, line(B, B, T, N, ' ?(\\S.*)')],
	files_by_time: [/^Files with the most time/, line(B, B, T, N, ' ?(\\S.*)')],
	processes: [/^Processes, by time in calls/, line(N, N, N, B, N, B, T, T, ' ?(\\S.*)')],
	slowest: [/^Slowest calls/, line(T, '(\\S+)', N, N, '(\\S+)', '(\\S+Z)', '(\\S+)', '(\\S.*)')],
	waits: [/^Longest waits/, line(T, '(\\S+)', N, N, '(\\S+)', '(\\S+Z)', '(\\S+)', '(\\S.*)')],
	running: [/^Still running/, line(T, '(\\S+)', N, N, '(\\S+)', '(\\S+Z)', '(\\S+)', '(\\S.*)')],
	disks: [/^Disks, whole machine/, line('(\\S+)', '([RWDFZO])', N, B, T, T, T, P + '(?:  \\S.*)?')],
	allocs_by_peak: [/^Stacks with most memory in use/, line(B, B, N, B, B, B, ' ?(\\S.*)')],
	allocs_by_bytes: [/^Stacks that allocated the most bytes$/, line(B, B, N, B, B, B, ' ?(\\S.*)')],
	allocs_by_short: [/^Stacks with the most bytes of short-lived blocks/, line(B, B, N, B, B, B, ' ?(\\S.*)')],
	allocs_by_never_freed: [/^Stacks with the most bytes never freed/, line(B, B, N, B, B, B, ' ?(\\S.*)')],
	allocs_untouched: [/^Stacks that allocated the most bytes that were never touched/, line(B, N, B, B, N, ' ?(\\S.*)')],
	access_processes: [/^Memory that processes touched/, line('(\\S+)', N, N, N, B, B, B, B, N, ' ?(\\S.*)')],
	alloc_phases: [/^Memory that programs allocated, by phase/, line(B, B, N, B, ' ?(\\S.*)')],
	alloc_processes: [/^Processes by memory in use/, line(B, B, N, B, B, B, N, N, N, ' ?(\\S.*)')],
	tasks: [/^CPU time by task/, line(N, N, T, P, P, P, T, N, ' ?(\\S.*)')],
	cpus: [/^CPUs \(/, line(N, T, T, P, N, T)],
	cpu_processes: [/^Processes, by CPU time/, line(N, N, T, P, T, N, N, ' ?(\\S.*)')],
};

/* Returns { section: [[field, ...]] } of TEXT. */
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

/* Returns the answer and its rules: [{ code, title, share, size, evidence, advice }], the facts, and what is not checked. */
function findings(text) {
	const all = [], missing = [], facts = [];
	let ended = false, failed = false; /* failures have an advice each, and are no findings */

	for (const row of text.split('\n')) {
		failed = row.startsWith('What failed') || (failed && row !== '');
		if (failed)
			continue;
		const head = /^([a-z]+(?:-[a-z]+)*): (.*?)(?: \((?:(?:([\d.e+]+)( %)?|(.*) of the job's time)(?:; [^)]*)?|[^()]* may be otherwise)\))?$/.exec(row);

		ended = row.startsWith('Facts: ') || (ended && row !== '');
		if (ended) {
			if (head)
				facts.push({ code: head[1], title: head[2] });
		} else if (row.startsWith('not checked: '))
			for (const group of row.slice('not checked: '.length).split('; ')) {
				const [, codes, needs] = /^(.*?) \(needs (.*)\)$/.exec(group);
				missing.push(...codes.split(', ').map(code => `${code}: needs ${needs}`));
			}
		else if (row.startsWith('  => '))
			all.at(-1).advice = row.slice('  => '.length);
		else if (row.startsWith('  ') && all.length && !all.at(-1).advice)
			all.at(-1).evidence.push(row.slice(2));
		else if (head && (!all.length || all.at(-1).advice) && !/^(the|no|of) /.test(row))
			all.push({ code: head[1], title: head[2], share: head[4] ? `${head[3]} %` : null, size: head[5] ?? null, evidence: [] });
	}
	return { all: all.filter(f => f.advice), missing, facts };
}

module.exports = { sections, findings };
