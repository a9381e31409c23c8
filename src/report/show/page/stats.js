/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics of the selected range: sum, mean and max of each series that is shown. */
const Stats = (() => {
	const box = document.getElementById('range');

	function* shown() {
		for (const p of Panel.all) {
			const members = p.body.members || p.body.legend.filter(item => item.on && item.series).map(item => item.series);

			if (p.on)
				for (const s of members)
					yield [p, s];
		}
	}

	function row([p, s], t0, t1) {
		const { sum, mean, max } = s.stats(t0, t1);

		return [p.title, s.label, s.sampled ? null : Format.sum(sum, s.unit), Format.value(mean, s.unit),
			Format.value(max, s.unit)];
	}

	function update() {
		const r = View.state.range;

		box.hidden = !r;
		document.body.classList.toggle('with-range', !!r);
		if (!r)
			return;
		const [t0, t1] = r, precision = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, t1 - t0))) - 3);
		const phases = Data.phases.filter(p => p.begin < t1 && p.end > t0).map(p => p.name);
		let last = null;

		fill(box,
			el('header', null,
				el('h3', null, `${View.label(t0, precision)} to ${View.label(t1, precision)}: ${Format.value(t1 - t0, 'ns')}`),
				phases.length > 0 && el('span', { class: 'aside' }, Phases.few(phases, 6).join(', ')),
				el('button', { type: 'button', onclick: () => View.set(t0, t1) }, 'Zoom to the range'),
				el('button', { type: 'button', onclick: () => View.select(null) }, 'Close')),
			el('div', { class: 'scroll', tabindex: '0' }, el('table', null,
				el('thead', null, el('tr', null, ['Panel', 'Series', 'Sum', 'Mean', 'Max']
					.map((t, i) => el('th', { scope: 'col', class: i > 1 && 'num' }, t)))),
				el('tbody', null, [...shown()].map(entry => {
					const [title, ...cells] = row(entry, t0, t1), repeated = title === last;

					last = title;
					return el('tr', { class: !repeated && 'first' }, el('td', null, repeated ? '' : title),
						cells.map((c, i) => el('td', { class: i > 0 && 'num' }, c ?? '')));
				})))));
	}

	View.on('range', update);
	View.on('change', () => View.state.range && update());
	return { update };
})();
