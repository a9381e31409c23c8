/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of the report: the program's views describe them in the page (view.h); here is what views do not know: several
 * hosts, and tables that are made of others.
 */
const Tables = (() => {
	const r = Data.report;
	const views = JSON.parse(document.getElementById('views').textContent);
	const ns = v => Format.value(v, 'ns'), bytes = v => Format.value(v, 'B');
	const number = (title, key, text = Format.count, hint) => ({ title, value: row => row[key], text, num: true, hint });
	const word = (title, key, hint) => ({ title, value: row => row[key], hint });
	const plain = (title, key) => ({ ...word(title, key), plain: true });

	/* How columns of a kind are shown; ids and texts need nothing. */
	const KINDS = {
		count: Format.count, bytes, ns, share: Format.percent, number: v => Format.value(v, ''),
	};
	const TEXTS = { flag: v => v ? 'yes' : 'no' };

	/* READ is Read, but PID stays. */
	const title = head => /^([A-Z]*ID|[A-Z])$/.test(head) ? head : head.charAt(0) + head.slice(1).toLowerCase();

	function column(c) {
		const path = c.key.split('.'), text = Format.own(KINDS, c.kind);

		return { title: title(c.head), value: row => path.reduce((v, key) => v?.[key], row), text: text ?? Format.own(TEXTS, c.kind),
			num: !!text, hint: c.what };
	}

	/* --- rows ----------------------------------------------------------------------------------------- */

	const FEW = 20; /* of more, what is told of each in several rows would be a long page */

	/* An epoch that is all of a trace without reads and writes is no row. */
	const epochs = all => all.filter(e => e.samples || e.reads || e.writes || all.length > 1)
		.map(e => ({ ...e, lasted_ns: e.end_ns - e.begin_ns }));

	/* Parts of a row, objects in it, become rows after it. */
	const parts = row => [row, ...Object.entries(row).filter(([, v]) => v && typeof v === 'object' && !Array.isArray(v))
		.map(([key, v]) => ({ ...v, name: `${row.name} ${key}` }))];

	/* The rows of VIEW in the report of one host. */
	function of(view, host) {
		let rows = (view.inside ? host[view.key]?.[view.inside] : host[view.key]) || [];

		if (view.key === 'epochs')
			rows = epochs(rows);
		if (view.list)
			rows = rows.slice(0, FEW).flatMap(row => (row[view.list] || []).map(inner => ({ ...row, ...inner })));
		return view.parts ? rows.flatMap(parts) : rows;
	}

	/* Sums over all hosts are not repeated for each host. */
	const isOfEach = key => r.hosts && r[key] === undefined;

	const HOST = word('Host', 'host');
	const each = f => r.hosts.flatMap(h => f(h).map(row => ({ ...row, host: h.name })));

	function note(view, rows) {
		const all = view.inside ? r[view.key]?.[view.total] : r[view.total], left = r[view.left_out];

		if (view.list && r[view.key]?.length > FEW)
			return `of the first ${FEW}`;
		return left > 0 && !view.list ? `and ${Format.count(left)} more` : all > rows.length ? `${Format.count(rows.length)} of ${Format.count(all)}` : null;
	}

	/* A step's time zooms to it. */
	function zooming(column) {
		return { ...column, text: (v, row) => {
			const zoom = StepTimes.zoom(row);

			return zoom ? el('button', { type: 'button', title: 'zoom to this step', onclick: zoom }, column.text(v)) : column.text(v);
		} };
	}

	function table(view) {
		const rows = isOfEach(view.key) ? each(h => of(view, h)) : of(view, r);
		const columns = view.columns.map(c => view.key === 'slowest_steps' && c.key === 'wall_ns' ? zooming(column(c)) : column(c));

		return [view.title, isOfEach(view.key) ? [HOST, ...columns] : columns, rows, note(view, rows)];
	}

	/* --- tables made of others ----------------------------------------------------------------------------- */

	/* A row for each power of two, a column for each histogram of UNIT, whose name is NAME(histogram). */
	function histograms(title, unit, name) {
		const mine = (r.histograms || []).filter(h => h.unit === unit), text = unit === 'B' ? bytes : ns;
		const at = from => Object.fromEntries(mine.map((h, i) => [i, (h.counts || []).find(c => c[0] === from)?.[1]]));
		const froms = [...new Set(mine.flatMap(h => (h.counts || []).map(c => c[0])))].sort((a, b) => a - b);

		return [title, [number('From', 'from', text), ...mine.map((h, i) => number(name(h), i, Format.count, `median ${text(h.p50)}`))],
			froms.map(from => ({ from, ...at(from) })), mine.length > 0 &&
			`up to twice as much, not itself; medians: ${mine.map(h => `${name(h)} ${text(h.p50)}`).join(', ')}`];
	}

	/* The medians of each process, from its histograms. */
	function medians() {
		const rows = (r.hosts ? each(h => h.process_histograms || []) : r.process_histograms || []).map(p => Object.assign({ ...p },
			...(p.histograms || []).map(h => ({ [`${h.of} ${h.unit}`]: h.p50 }))));

		return ['Processes: medians of calls on files', [...r.hosts ? [HOST] : [], word('PID', 'pid'), word('Name', 'comm'), word('Rank', 'rank'),
			number('Read', 'read ns', ns), number('bytes', 'read B', bytes), number('Write', 'write ns', ns), number('bytes', 'write B', bytes),
			number('Open', 'open ns', ns), number('Other', 'other ns', ns, 'close, mmap, create, delete, sync, truncate')], rows];
	}

	function hosts() {
		const rows = (r.hosts || []).map(h => ({
			...h, rows: (h.probes || []).reduce((n, p) => n + p.rows, 0), lost: (h.probes || []).reduce((n, p) => n + (p.lost || 0), 0),
			clock_ns: h.clock?.error_ns, whole: h.complete ? 'yes' : 'NO', why: h.bottleneck?.code,
		}));

		return ['Hosts', [word('Host', 'name'), plain('Folder', 'dir'), plain('Command', 'command'), word('Started', 'started'),
			number('After', 'after_ns', ns, 'time from the first host\u2019s begin to this one\u2019s'), number('Lasted', 'duration_ns', ns), number('Rows', 'rows'),
			number('Lost', 'lost'), word('Whole', 'whole'), word('Exit', 'exit_code'),
			number('Clock read within', 'clock_ns', ns), number('Off by at most', 'maxerror_ns', ns, 'the kernel\u2019s bound, where the clock is synchronized'),
			word('Waited for', 'why')], rows];
	}

	const byTitle = new Map();

	/* [title, columns, rows, note]; tables without rows are left out. */
	function build() {
		const name = h => h.of ? `${h.probe}, ${h.of}` : h.probe;
		const all = [hosts(), ...views.map(table), medians(), histograms('Latencies', 'ns', name), histograms('Sizes', 'B', name)];
		const tables = all.filter(([, , rows]) => rows.length > 0);

		fill(document.getElementById('tables'), tables.length > 0 && el('h2', null, 'Tables'),
			tables.map(t => {
				const table = new Table(...t);

				byTitle.set(t[0], table);
				return table.element;
			}));
	}

	/* Shows the rows for which TEST is true in the table TITLE, if it is there. */
	function pick(title, test) {
		byTitle.get(title)?.pick(test);
	}

	return { build, pick };
})();
