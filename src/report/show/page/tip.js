/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pointer on panels: all panels show their values at its time, and a box beside it those of the element under it. A drag
 * zooms, with Shift it selects a range, with the wheel and Ctrl it zooms about the pointer.
 */
const Tip = (() => {
	const box = document.getElementById('tip');
	let start = null; /* of a drag: { panel, x, t, select } */

	/* The panel of event E, and the pointer's place in it. */
	function place(e) {
		const plot = e.target.closest?.('.plot');

		if (!plot)
			return null;
		const r = plot.getBoundingClientRect(), panel = plot.panel;

		return { panel, x: e.clientX - r.left, y: e.clientY - r.top, t: panel.t(e.clientX - r.left) };
	}

	const inside = p => p.x >= p.panel.area.x && p.x <= p.panel.area.x + p.panel.area.w;

	function show(e, p) {
		const lines = p.panel.body.tip(p.panel, p.t, p.y), phases = Phases.at(p.t, 4 * (p.panel.t(1) - p.panel.t(0)));
		const precision = View.precision();

		fill(box, el('b', null, View.label(p.t, precision)),
			View.hasUtc && el('span', { class: 'aside' }, View.other(p.t, precision)),
			phases.length > 0 && el('div', { class: 'phase' }, phases.join(', ')),
			el('table', null, lines.map(([label, text, color]) => el('tr', null,
				el('td', null, swatch(color)), el('td', null, label), el('td', { class: 'num' }, text)))));
		box.hidden = false;
		const left = e.clientX + 16 + box.offsetWidth > innerWidth ? e.clientX - box.offsetWidth - 12 : e.clientX + 16;
		const top = Math.min(innerHeight - box.offsetHeight - 4, e.clientY + 14);

		box.style.left = Math.max(0, left) + 'px';
		box.style.top = Math.max(0, top) + 'px';
	}

	function swatch(color) {
		const i = el('i', { class: 'swatch' });

		if (color)
			i.style.background = color;
		return i;
	}

	function hide() {
		box.hidden = true;
		if (!start)
			View.setCursor(null);
	}

	function down(e) {
		const p = place(e);

		if (p && e.button === 0)
			start = { ...p, select: e.shiftKey, id: e.pointerId };
	}

	function move(e) {
		if (start)
			return drag(e);
		const p = place(e);

		if (!p || !inside(p))
			return hide();
		View.setCursor(p.t);
		show(e, p);
	}

	/* Less than a few pixels is a click. */
	function drag(e) {
		const x = e.clientX - start.panel.plot.getBoundingClientRect().left;

		if (!Panel.dragged && Math.abs(x - start.x) < 4)
			return;
		if (!Panel.dragged)
			start.panel.plot.setPointerCapture(start.id);
		box.hidden = true;
		Panel.dragged = [start.t, start.panel.t(Math.max(start.panel.area.x, Math.min(start.panel.area.x + start.panel.area.w, x)))];
		Panel.redrawFront();
	}

	function up() {
		const drag = start, range = Panel.dragged;

		start = Panel.dragged = null;
		if (!drag)
			return;
		if (!range)
			drag.panel.body.press?.(drag.panel, drag.t, drag.y);
		else if (drag.select)
			View.select(range);
		else
			View.set(Math.min(...range), Math.max(...range));
		Panel.redrawFront();
	}

	function cancel() {
		start = Panel.dragged = null;
		Panel.redrawFront();
		hide();
	}

	function wheel(e) {
		const p = e.ctrlKey && place(e);

		if (!p)
			return;
		e.preventDefault();
		View.zoom(e.deltaY > 0 ? 1.25 : 0.8, p.t);
	}

	function listen(root) {
		root.addEventListener('pointerdown', down);
		root.addEventListener('pointermove', move);
		root.addEventListener('pointerup', up);
		root.addEventListener('pointercancel', cancel);
		root.addEventListener('pointerleave', hide);
		root.addEventListener('dblclick', e => place(e) && View.reset());
		root.addEventListener('wheel', wheel, { passive: false });
		addEventListener('scroll', () => { box.hidden = true; }, { passive: true });
	}

	return { listen, cancel };
})();
