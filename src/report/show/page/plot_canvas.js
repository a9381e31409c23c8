/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines and areas on a canvas, in steps, for paper and for pages without uPlot. The same interface as UplotPlot: its input is { t,
 * columns: [{ values, base, color, fill }], max, unit } (see lines.js).
 */
class CanvasPlot {
	/* Without HOST: for a panel that has its own canvas (paper.js). */
	constructor(host) {
		this.canvas = el('canvas', { class: 'main', 'aria-hidden': 'true' });
		host?.append(this.canvas);
	}

	reset() {}

	draw(panel, chart) {
		const ctx = panel.context(this.canvas), a = panel.area;
		const y = v => a.y + a.h - v / chart.max * a.h;

		this.axis(ctx, a, chart, y);
		ctx.save();
		Panel.clip(ctx, a);
		const first = Math.max(0, Data.lower(chart.t, View.state.t0) - 1);
		const last = Math.min(chart.t.length, Data.lower(chart.t, View.state.t1) + 2);

		for (const c of chart.columns)
			this.column(ctx, panel, chart, c, first, last, y);
		ctx.restore();
	}

	axis(ctx, a, chart, y) {
		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		for (const v of chart.ticks) {
			ctx.fillStyle = Theme.color('grid');
			ctx.fillRect(a.x, Math.round(y(v)), a.w, 1);
			ctx.fillStyle = Theme.color('muted');
			ctx.fillText(Format.tick(v, chart.unit, chart.max), a.x - 6, y(v));
		}
	}

	/* Runs of known values; t[i] is where values[i] begins to hold, the last t the end. */
	column(ctx, panel, chart, c, first, last, y) {
		const line = new Path2D(), area = new Path2D();
		let open = false;

		for (let i = first; i < last; i++) {
			const v = c.values[i];

			if (v == null || i + 1 >= chart.t.length) {
				open = false;
				continue;
			}
			const x0 = panel.x(chart.t[i]), x1 = panel.x(chart.t[i + 1]), top = y(v);

			line[open ? 'lineTo' : 'moveTo'](x0, top);
			line.lineTo(x1, top);
			if (c.fill)
				area.rect(x0, top, Math.max(x1 - x0, 0.5), y(c.base ? c.base[i] : 0) - top);
			open = true;
		}
		if (c.fill) {
			ctx.fillStyle = c.fill;
			ctx.fill(area);
		}
		ctx.strokeStyle = c.color;
		ctx.lineWidth = 1.25;
		ctx.stroke(line);
	}
}
