/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases of the job and gaps of the trace, behind every panel: bands of faint color, and hatching. */
const Phases = (() => {
	const KINDS = ['init', 'epoch', 'training', 'eval', 'checkpoint', 'mark', 'other'];
	let shown = true;
	let hatch = null; /* canvas of the pattern, in the colors of now */

	const color = p => Theme.color('phase-' + (KINDS.includes(p.kind) ? p.kind : 'other'));
	const isMark = p => p.end <= p.begin;

	function hatching(ctx) {
		if (!hatch) {
			hatch = document.createElement('canvas');
			hatch.width = hatch.height = 8;
			const c = hatch.getContext('2d');

			c.strokeStyle = Theme.color('gap');
			c.lineWidth = 1.5;
			c.beginPath();
			for (const x of [-8, 0, 8]) {
				c.moveTo(x, 8);
				c.lineTo(x + 8, 0);
			}
			c.stroke();
		}
		return ctx.createPattern(hatch, 'repeat');
	}
	Theme.onchange(() => { hatch = null; });

	/*
	 * Epochs alternate in brightness, so that their borders are visible. Overlapping bands of a kind are drawn once, and
	 * lines that would touch are one, so that thousands of them do not fill the plot. HOST: only those of it; null: all.
	 */
	function draw(ctx, area, x, host) {
		const seen = new Map(), is = row => host == null || row.host === host;

		for (const p of shown ? Data.phases.filter(is) : []) {
			const kind = seen.get(p.kind) || { n: 0, to: -Infinity, line: -Infinity };

			kind.n++;
			seen.set(p.kind, kind);
			if (p.end < View.state.t0 || p.begin > View.state.t1)
				continue;
			const from = Math.max(area.x, x(p.begin)), to = Math.min(area.x + area.w, x(p.end));

			if (!isMark(p) && to > kind.to) {
				ctx.fillStyle = Theme.faint(color(p), kind.n % 2 ? 0.085 : 0.04);
				ctx.fillRect(Math.max(from, kind.to), area.y, Math.max(1, to - Math.max(from, kind.to)), area.h);
				kind.to = to;
			}
			if (p.begin < View.state.t0 || from - kind.line < 4)
				continue;
			ctx.fillStyle = Theme.faint(color(p), isMark(p) ? 0.9 : 0.4);
			ctx.fillRect(Math.round(from), area.y, 1, area.h);
			kind.line = from;
		}
		for (const g of Data.gaps.filter(is)) {
			if (g.end < View.state.t0 || g.begin > View.state.t1)
				continue;
			const from = Math.max(area.x, x(g.begin)), to = Math.min(area.x + area.w, x(g.end));

			ctx.fillStyle = hatching(ctx);
			ctx.fillRect(from, area.y, Math.max(2, to - from), area.h);
		}
	}

	const FEW = 12;

	/* As many of a list of names as people read. */
	const few = (names, most = FEW) => names.length <= most ? names : names.slice(0, most).concat(`and ${names.length - most} more`);

	/* The phases at T, as text. */
	function at(t, slack) {
		const hit = p => p.begin - (isMark(p) ? slack : 0) <= t && t < p.end + (isMark(p) ? slack : 0);

		return few(Data.phases.filter(hit).map(p => p.name))
			.concat(few(Data.gaps.filter(g => g.begin <= t && t < Math.max(g.end, g.begin + slack))
				.map(g => `gap: ${g.what}`)));
	}

	return { draw, at, few, color, isMark, toggle: on => { shown = on; } };
})();
