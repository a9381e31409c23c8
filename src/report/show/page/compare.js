/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page of --compare: the traces, their timelines on one axis, and their measures, a table for each section, with ratios to the
 * first.
 */
const Compare = (() => {
	const c = Data.report.compare;

	function shown(v, row) {
		return row.unit === '%' ? Format.percent(v / 100) : row.unit ? Format.value(v, row.unit) : Format.count(v);
	}

	const ratio = v => v > 0 && v < 0.005 ? '<0.01' : v >= 999.5 ? v.toPrecision(3) : v.toFixed(2);

	/* A column for trace I's measures, and one for their ratios to the first trace. */
	function columns(i) {
		return [{ title: `(${i + 1})`, value: row => row.values?.[i], text: shown, num: true, hint: c.traces[i].dir }]
			.concat(i ? { title: 'to (1)', value: row => row.ratios?.[i], text: ratio, num: true } : []);
	}

	function section(name) {
		const all = [{ title: 'Measure', value: row => row.name }].concat(c.traces.flatMap((t, i) => columns(i)));

		return new Table(name, all, c.measures.filter(m => m.section === name)).element;
	}

	function traces() {
		const list = c.traces.map((t, i) => ({ ...t, nr: i + 1 }));
		const word = (title, key) => ({ title, value: row => row[key] }), plain = (title, key) => ({ ...word(title, key), plain: true });

		return new Table('Traces', [word('No.', 'nr'), plain('Folder', 'dir'), plain('Command', 'command'), word('Host', 'host'),
			word('Started', 'started'), word('Waited for', 'bottleneck'), { title: 'Also found', value: row => (row.rules || []).join(', ') || null }, { title: 'Whole', value: row => row.complete ? 'yes' : 'NO' },
			{ title: 'Only', value: row => row.only && `${row.only.path}: ${Format.count(row.only.left_out)} of ` +
				`${Format.counted(row.only.rows, 'row', 'rows')} left out` }], list).element;
	}

	const missing = c?.traces.flatMap((t, i) => (t.missing || []).map(note => `(${i + 1}) ${note}`));

	function build() {
		fill(document.getElementById('title'), `${c.traces.length} traces compared`);
		fill(document.getElementById('subtitle'), Dom.plain(c.traces.map(t => t.dir).join(', ')));
		document.title = 'dltraced: compared';
		fill(document.getElementById('missing'), fold('What is missing or odd', missing, missing.length <= 8));
		fill(document.getElementById('answer'), traces());
		fill(document.getElementById('tables'),
			[...new Set(c.measures.map(m => m.section))].map(section));
		fill(document.getElementById('made'), 'The numbers are those of dltraced report --compare --json; the rows are in the ' +
			'trace folders.');
	}

	return { on: !!c, build };
})();
