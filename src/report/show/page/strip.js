/* SPDX-License-Identifier: BSD-2-Clause */
/* The bodies of two strips: phases with their names, which a click zooms to, and the axis of time. */
class PhaseStrip extends CanvasBody {
	static ROW = 17;
	static ROWS = 12;

	constructor() {
		super();
		const ends = [];

		/* Overlapping phases (an epoch within training) have rows of their own. */
		this.rows = Data.phases.map(p => {
			let row = ends.findIndex(end => end <= p.begin);

			row = row < 0 ? ends.length : row;
			if (row < PhaseStrip.ROWS)
				ends[row] = Math.max(p.end, p.begin + (Phases.isMark(p) ? Data.span / 15 : 0));
			return row;
		});
		this.count = Math.min(PhaseStrip.ROWS, Math.max(1, ends.length));
		this.below = this.rows.filter(row => row >= this.count).length;
		this.height = 14 + this.count * PhaseStrip.ROW;
		this.legend = [{
			label: 'bands through all panels', on: true, color: () => Theme.color('phase-epoch'),
		}];
	}

	/* The parts of time that are not shown. */
	get note() {
		return [Data.phasesMerged && `${Format.count(Data.phasesMerged)} short phases are merged with their neighbors`,
			this.below && `${Format.count(this.below)} phases are not drawn: more than ${this.count} at a time`].filter(Boolean).join('; ');
	}

	changed() {
		Phases.toggle(this.legend[0].on);
		Panel.redrawAll();
	}

	draw(panel) {
		const ctx = panel.context(this.canvas), a = panel.area, v = View.state;

		Panel.clip(ctx, a);
		ctx.textBaseline = 'middle';
		Data.phases.forEach((p, i) => {
			if (this.rows[i] >= this.count || (p.end < v.t0 && !Phases.isMark(p)) || p.begin > v.t1)
				return;
			const y = a.y + this.rows[i] * PhaseStrip.ROW + 1, h = PhaseStrip.ROW - 2;
			const from = Phases.isMark(p) ? panel.x(p.begin) : Math.max(a.x, panel.x(p.begin));
			const width = Phases.isMark(p) ? 2 : Math.max(1, Math.min(a.x + a.w, panel.x(p.end)) - from - 0.5);

			ctx.fillStyle = Theme.faint(Phases.color(p), Phases.isMark(p) ? 1 : 0.42);
			ctx.fillRect(from, y, width, h);
			this.drawName(ctx, p, from, width, y + h / 2);
		});
	}

	drawName(ctx, p, from, width, y) {
		const text = Dom.safe(p.name);

		if (!Phases.isMark(p) && ctx.measureText(text).width > width - 6)
			return;
		ctx.fillStyle = Theme.color('text');
		ctx.fillText(text, from + (Phases.isMark(p) ? 5 : 4), y);
	}

	at(panel, t, y) {
		const row = Math.floor((y - panel.area.y) / PhaseStrip.ROW);
		const slack = (View.state.t1 - View.state.t0) / panel.area.w * 4;

		return Data.phases.find((p, i) => this.rows[i] === row && p.begin - slack <= t && t <= p.end + slack);
	}

	tip(panel, t, y) {
		const p = this.at(panel, t, y);

		return p ? [[p.name, Phases.isMark(p) ? View.label(p.begin, 1e6) : Format.value(p.end - p.begin, 'ns'), Phases.color(p)],
			['by', p.source || '-']] : [];
	}

	press(panel, t, y) {
		const p = this.at(panel, t, y);

		if (!p || Phases.isMark(p))
			return false;
		View.set(p.begin, p.end);
		return true;
	}
}

class Axis extends CanvasBody {
	height = 36;

	draw(panel) {
		const ctx = panel.context(this.canvas), a = panel.area;
		let free = -Infinity;

		ctx.fillStyle = Theme.color('text');
		ctx.textBaseline = 'middle';
		ctx.textAlign = 'center';
		for (const tick of View.ticks(a.w / 110)) {
			const w = ctx.measureText(tick.text).width, x = Math.min(panel.width - w / 2 - 1, Math.max(w / 2, panel.x(tick.t)));

			ctx.fillRect(Math.round(panel.x(tick.t)), a.y, 1, 5);
			if (x - w / 2 < free)
				continue;
			ctx.fillText(tick.text, x, a.y + 14);
			free = x + w / 2 + 8;
		}
		ctx.textAlign = 'left';
		ctx.fillStyle = Theme.color('muted');
		ctx.fillText(View.state.utc ? 'UTC' : 'from start', 6, a.y + 14);
	}
}
