/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The body of the panel of regions: a lane for each process that takes steps, from its first step to its last one. A pixel has
 * the parts of its time in regions of each kind, stacked; what is in none is the lane's own color.
 */
class Regions extends CanvasBody {
	static ROW = 18;
	static COLORS = { compute: 'c3', comm: 'c4', checkpoint: 'c5', fetch: 'c2' };

	constructor() {
		super();
		this.legend = Object.entries(Regions.COLORS).filter(([key]) => Data.regions.some(l => l.spans[key].length))
			.map(([key, color]) => ({ key, label: key, on: true, color: () => Theme.color(color) }));
		this.height = 14 + Data.regions.length * Regions.ROW;
	}

	/* The gaps that are closed. */
	get note() {
		const closed = Math.max(...Data.regions.map(l => l.closed_ns || 0));

		return closed ? `gaps of up to ${Format.value(closed, 'ns')} are closed` : '';
	}

	static nameOf(l) {
		return `${Dom.safe(l.comm)} ${l.pid}${l.host != null ? ` on ${Dom.safe(l.host)}` : ''}${l.rank != null ? ` #${Dom.safe(l.rank)}` : ''}`;
	}

	draw(panel) {
		const ctx = panel.context(this.canvas), a = panel.area;

		ctx.font = '11px system-ui, sans-serif';
		ctx.fillStyle = Theme.color('muted');
		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		Data.regions.forEach((l, i) => ctx.fillText(Regions.nameOf(l), a.x - 6, a.y + (i + 0.5) * Regions.ROW, a.x - 10));
		Panel.clip(ctx, a);
		Data.regions.forEach((l, i) => this.drawLane(ctx, panel, l, a.y + i * Regions.ROW + 1, Regions.ROW - 2));
	}

	/* [x] -> the part of the pixel's time that SPANS cover. */
	shares(panel, spans) {
		const a = panel.area, v = View.state, out = new Float32Array(Math.ceil(a.w) + 1);

		for (const [from, to] of spans) {
			if (to <= v.t0 || from >= v.t1)
				continue;
			const x0 = Math.max(0, panel.x(from) - a.x), x1 = Math.min(a.w, panel.x(to) - a.x);

			for (let x = Math.floor(x0); x < x1; x++)
				out[x] += Math.min(x + 1, x1) - Math.max(x, x0);
		}
		return out;
	}

	drawLane(ctx, panel, lane, y, h) {
		const a = panel.area, left = Math.max(a.x, panel.x(lane.begin)), right = Math.min(a.x + a.w, panel.x(lane.end));
		const parts = this.legend.filter(item => item.on).map(item => [this.shares(panel, lane.spans[item.key]), item.color()]);

		ctx.fillStyle = Theme.color('lane');
		ctx.fillRect(left, y, Math.max(1, right - left), h);
		for (let x = 0; x < a.w; x++) {
			let bottom = y + h;

			for (const [shares, color] of parts) {
				const part = Math.min(shares[x] * h, bottom - y);

				if (part < 0.1)
					continue;
				ctx.fillStyle = color;
				ctx.fillRect(a.x + x, bottom - part, 1, part);
				bottom -= part;
			}
		}
	}

	tip(panel, t, y) {
		const lane = Data.regions[Math.floor((y - panel.area.y) / Regions.ROW)], slack = (View.state.t1 - View.state.t0) / panel.area.w / 2;

		if (!lane)
			return [];
		return [[Regions.nameOf(lane), `${View.label(lane.begin, 1e6)} to ${View.label(lane.end, 1e6)}`]]
			.concat(this.legend.filter(item => item.on).flatMap(item => lane.spans[item.key]
				.filter(([from, to]) => from <= t + slack && to >= t - slack).slice(0, 2)
				.map(([from, to]) => [`${item.label} from ${View.label(from, (to - from) / 100)}`, Format.value(to - from, 'ns'), item.color()])));
	}
}
