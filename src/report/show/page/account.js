/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time went: a bar for each main thread, and one for its loaders together, and the same in words. */
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
	const LEAST = 0.005; /* of the time: less is neither painted nor said */
	const SHOWN = 8;

	const text = (row, key, title) => key === 'others' && row.others ? `waiting for ${row.others}` : title;

	function terms(row) {
		return TERMS.map(([key, title, paint]) => ({ title: text(row, key, title), paint, share: row[`${key}_ns`] / row.wall_ns }))
			.filter(term => term.share >= LEAST);
	}

	const name = row => row.role === 'loaders' ? `${row.processes} loader${row.processes > 1 ? 's' : ''}` :
		`process ${row.pid} (${row.comm ?? '-'})`;

	function bar(row) {
		const parts = terms(row);

		return el('div', { class: 'account' },
			el('h3', null, `${name(row)}, ${Format.value(row.wall_ns, 'ns')}`),
			el('div', { class: 'bar', 'aria-hidden': 'true' }, parts.map(term => el('span', {
				class: term.paint, style: `flex-grow: ${term.share}`, title: `${term.title}: ${Format.percent(term.share)}`,
			}))),
			el('p', { class: 'aside' }, [...parts].sort((a, b) => b.share - a.share)
				.map(term => `${term.title} ${Format.percent(term.share)}`).join(', ')));
	}

	/* For report R; null where CPU scheduling was not traced, since then most of it is not known. */
	function build(r) {
		const rows = (r.account || []).filter(row => row.wall_ns > 0 && row.other_ns < row.wall_ns / 2);

		return rows.length > 0 && el('div', { class: 'accounts' }, el('h2', null, 'Where the time went'),
			rows.slice(0, SHOWN).map(bar), rows.length > SHOWN && el('p', { class: 'aside' }, `and ${rows.length - SHOWN} more`));
	}

	return { build };
})();
