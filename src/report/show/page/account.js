/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the time went: a bar of the path of the job's first process, and the same in words. Without a path, one for each
 * main thread, and one for its loaders together.
 */
const Account = (() => {
	/* In the order of the bar: own work, waits, unknown. The last member is the color. */
	const TERMS = [
		['cpu', 'on a CPU', 'work'], ['threads', 'waiting for its own threads', 'work'], ['device', 'waiting for a device', 'work'],
		['sleep', 'sleeping', 'rest'],
		['read', 'reading from storage', 'storage'], ['fault', 'page faults on mapped files', 'storage'],
		['cache', 'reading from the page cache', 'cache'], ['open', 'opening files', 'names'],
		['metadata', 'stat and directories', 'names'], ['write', 'writing and syncing', 'write'],
		['runq', 'waiting for a CPU', 'runq'], ['others', 'waiting for other processes', 'others'],
		['other', 'in other calls, or not known', 'unknown'],
	];
	/* The colors of the path's kinds; all others are those of other processes. */
	const PAINTS = {
		'cpu': 'work', 'cpu-read': 'cache', 'cpu-write': 'write', 'cpu-metadata': 'names', 'runq': 'runq', 'throttled': 'runq',
		'disk-read': 'storage', 'disk-fault': 'storage', 'disk-write': 'write', 'disk-sync': 'write', 'disk-metadata': 'names',
		'sleep': 'rest', 'poll': 'rest', 'awaited': 'rest', 'client': 'rest', 'timeout': 'rest', 'stopped': 'rest', 'signal': 'rest', 'unknown': 'unknown', 'unborn': 'unknown',
		'ending': 'unknown', 'unended': 'unknown', 'interrupt': 'unknown', 'other': 'unknown',
	};
	const WORDS = 6; /* parts that are told */
	const LEAST = 0.005; /* of the time: less is neither painted nor said */
	const SHOWN = 8;

	const text = (row, key, title) => key === 'others' && row.others ? `waiting for ${row.others}` : title;

	function terms(row) {
		return TERMS.map(([key, title, paint]) => ({ title: text(row, key, title), paint, share: row[`${key}_ns`] / row.wall_ns }))
			.filter(term => term.share >= LEAST);
	}

	const name = row => row.role === 'loaders' ? `${row.processes} loader${row.processes > 1 ? 's' : ''}` :
		`process ${row.pid} (${row.comm ?? '-'})`;

	function account(title, parts, told) {
		return el('div', { class: 'account' },
			el('h3', null, title),
			el('div', { class: 'bar', 'aria-hidden': 'true' }, parts.map(term => el('span', {
				class: term.paint, style: `flex-grow: ${term.share}`, title: `${term.title}: ${Format.percent(term.share)}`,
			}))),
			el('p', { class: 'aside' }, [...parts].sort((a, b) => b.share - a.share).slice(0, told)
				.map(term => `${term.title} ${Format.percent(term.share)}`).join(', ')));
	}

	const bar = row => account(`${name(row)}, ${Format.value(row.wall_ns, 'ns')}`, terms(row), TERMS.length);

	/* The parts of a path by color, the largest first. */
	function path(p) {
		const parts = p.parts.filter(part => part.ns >= LEAST * p.wall_ns).map(part => ({
			title: [part.what ?? 'other', part.detail && `: ${Dom.safe(part.detail)}`, part.who && ` (${Dom.safe(part.who)}${part.role && part.role !== 'own' ? `, ${part.role}` : ''})`].filter(Boolean).join(''),
			paint: Format.own(PAINTS, part.kind) ?? 'others', share: part.ns / p.wall_ns,
		}));
		const paints = [...new Set(parts.map(part => part.paint))];

		return account(`the path of process ${p.root}, ${Format.value(p.wall_ns, 'ns')}`,
			parts.sort((a, b) => paints.indexOf(a.paint) - paints.indexOf(b.paint)), WORDS);
	}

	const unknown = p => p.parts.reduce((ns, part) => ns + (part.kind === 'unknown' ? part.ns : 0), 0);

	const section = (...bars) => el('div', { class: 'accounts' }, el('h2', null, 'Where the time went'), ...bars);

	/* For report R; null where CPU scheduling was not traced, since then most of it is not known. */
	function build(r) {
		const rows = (r.account || []).filter(row => row.wall_ns > 0 && row.other_ns < row.wall_ns / 2);

		if (r.path && r.path.wall_ns > 0 && Array.isArray(r.path.parts) && unknown(r.path) < r.path.wall_ns / 2)
			return section(path(r.path));
		return rows.length > 0 && section(
			rows.slice(0, SHOWN).map(bar), rows.length > SHOWN && el('p', { class: 'aside' }, `and ${rows.length - SHOWN} more`));
	}

	return { build };
})();
