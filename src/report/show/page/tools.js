/* SPDX-License-Identifier: BSD-2-Clause */
/* The bar above the panels: the part of time that is shown, and the panels. */
const Tools = (() => {
	const button = (text, title, f, more) => el('button', { type: 'button', title, onclick: f, ...more }, text);
	const shown = el('output', { class: 'shown' });

	function axisSwitch() {
		const b = button('', 'u', () => View.setUtc(!View.state.utc), { 'aria-keyshortcuts': 'u' });

		View.on('change', name);
		function name() {
			fill(b, View.state.utc ? 'Axis: UTC' : 'Axis: seconds from start');
		}
		name();
		b.disabled = !View.hasUtc;
		return b;
	}

	function phaseList() {
		const all = Data.phases.filter(p => !Phases.isMark(p)), phases = all.slice(0, 500);

		return phases.length > 0 && el('select', {
			'aria-label': 'Zoom to a phase',
			onchange: e => {
				const p = phases[e.target.value];

				if (p)
					View.set(p.begin, p.end);
				else
					View.reset();
			},
		}, el('option', { value: '' }, 'Zoom to phase \u2026'), phases.map((p, i) => el('option', { value: String(i) }, p.name)),
		all.length > phases.length && el('option', { disabled: true }, `and ${all.length - phases.length} more, in the panel of phases`));
	}

	function panelList() {
		const groups = [...new Set(Panel.all.filter(p => p.group !== 'Axis').map(p => p.group))];
		const box = p => el('label', null, el('input', {
			type: 'checkbox', checked: p.on, onchange: e => p.switch(e.target.checked),
		}), p.title);

		return el('details', { class: 'menu' }, el('summary', null, 'Panels'),
			el('div', null, groups.map(g => el('fieldset', null, el('legend', null, g),
				Panel.all.filter(p => p.group === g).map(box)))));
	}

	/* Each lane, and each group of lanes; built on opening, as lanes can be switched off in the panel, too. */
	function laneList() {
		const panel = Panel.all.find(p => p.body instanceof Lanes);

		if (!panel)
			return null;
		const lanes = panel.body, box = (title, some) => {
			const off = some.filter(l => lanes.hidden.has(l)).length;
			const input = el('input', { type: 'checkbox', checked: off < some.length, onchange: e => {
				lanes.show(panel, some, e.target.checked);
				const again = [...menu.querySelectorAll('input')].indexOf(input);

				fillMenu();
				menu.querySelectorAll('input')[again].focus();
			} });

			input.indeterminate = off > 0 && off < some.length;
			return el('label', null, input, title);
		};
		const menu = el('div'), fillMenu = () => fill(menu, lanes.groups().map(([, title, some]) =>
			el('fieldset', null, el('legend', null, box(title, some)), some.map(l => box(lanes.name(l), [l])))));

		return el('details', { class: 'menu', ontoggle: e => e.target.open && fillMenu() }, el('summary', null, 'Lanes'), menu);
	}

	function update() {
		const { t0, t1 } = View.state;

		fill(shown, View.whole() ? `all: ${Format.value(t1 - t0, 'ns')}` :
			`${View.label(t0, View.precision())} to ${View.label(t1, View.precision())}: ${Format.value(t1 - t0, 'ns')}`);
	}

	function build() {
		fill(document.getElementById('tools'),
			button('\u2212', 'zoom out (-)', () => View.zoom(2)), button('+', 'zoom in (+)', () => View.zoom(0.5)),
			button('\u25c2', 'back in time (left arrow)', () => View.pan(-0.25)),
			button('\u25b8', 'forward in time (right arrow)', () => View.pan(0.25)),
			button('All', 'show all (0, double click)', View.reset), shown,
			el('span', { class: 'space' }),
			phaseList(), axisSwitch(),
			button('Statistics', 'of the time shown (s); of a range: drag with Shift',
				() => View.select([View.state.t0, View.state.t1])),
			panelList(), laneList(), button('Light/dark', 't', Theme.toggle), button('?', 'keys', Keys.help));
		/* an open menu is closed by a press anywhere else */
		addEventListener('pointerdown', e => {
			for (const menu of document.querySelectorAll('.menu[open]'))
				menu.open = menu.contains(e.target);
		});
		View.on('change', update);
		update();
	}

	return { build };
})();
