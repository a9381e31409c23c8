/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The body of the panel of single calls and of requests of disks: a bar each, from begin to end, in a strip for each kind.
 * Where they overlap, they are below each other. The report has the longest of each bin: of a short trace nearly all.
 */
class Events extends CanvasBody {
	static BELOW = 200e6; /* ns: of so little time even what is thinner than a pixel is drawn */
	static DEEP = 4; /* bars below each other */
	static BAR = 5;
	static GAP = 6; /* between strips */
	static KINDS = {
		read: ['reads', 'c1'], write: ['writes', 'c2'], open: ['opens', 'c3'], 'page fault': ['page faults', 'c6'],
		'bio read': ['disk reads', 'c4'], 'bio write': ['disk writes', 'c5'],
	};

	constructor() {
		super();
		this.strips = Object.entries(Events.KINDS).map(([name, [label, color]]) => ({
			label, on: true, color: () => Theme.color(color),
			bars: Events.packed(Data.events.filter(e => e.name === name)),
		})).filter(strip => strip.bars.length);
		this.legend = this.strips;
		this.height = 14 + this.strips.length * Events.high();
	}

	static high() {
		return Events.DEEP * Events.BAR + Events.GAP;
	}

	static note() {
		const each = Math.min(...Data.events.map(e => e.each));

		return `the ${each} longest of each kind in each ${Format.value(Data.bin, 'ns')}; short ones, too, in less than 200 ms`;
	}

	/* The rows of ALL as bars; DEPTH: how many longer ones were under way when it began, as far as there is room. */
	static packed(all) {
		const rows = all.flatMap(e => e.rows.map(([from, to, pid]) => ({ from, to, pid, host: e.host }))).sort((a, b) => a.from - b.from);
		const ends = new Float64Array(Events.DEEP).fill(-Infinity);

		for (const bar of rows) {
			const free = ends.findIndex(end => end <= bar.from);

			bar.depth = free < 0 ? Events.DEEP - 1 : free;
			ends[bar.depth] = Math.max(ends[bar.depth], bar.to);
		}
		return rows;
	}

	/* The top of the strip I. */
	top(panel, i) {
		return panel.area.y + i * Events.high() + Events.GAP / 2;
	}

	visible(strip, panel) {
		const { t0, t1 } = View.state, least = t1 - t0 < Events.BELOW ? 0 : (t1 - t0) / panel.area.w / 2;

		return strip.on ? strip.bars.filter(b => b.to >= t0 && b.from <= t1 && b.to - b.from >= least) : [];
	}

	draw(panel) {
		const ctx = panel.context(this.canvas), a = panel.area;

		ctx.fillStyle = Theme.color('muted');
		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		this.strips.forEach((strip, i) => ctx.fillText(strip.label, a.x - 6, this.top(panel, i) + Events.DEEP * Events.BAR / 2));
		Panel.clip(ctx, a);
		const bars = this.strips.map(strip => this.visible(strip, panel));

		this.strips.forEach((strip, i) => {
			ctx.fillStyle = strip.color();
			for (const bar of bars[i]) {
				const x = Math.max(a.x, panel.x(bar.from)), end = Math.min(a.x + a.w, panel.x(bar.to));

				ctx.fillRect(x, this.top(panel, i) + bar.depth * Events.BAR, Math.max(1, end - x), Events.BAR - 1);
			}
		});
		if (bars.every(some => !some.length))
			this.drawHint(ctx, a);
	}

	drawHint(ctx, a) {
		const near = View.state.t1 - View.state.t0 < Events.BELOW;

		ctx.fillStyle = Theme.color('muted');
		ctx.textAlign = 'center';
		ctx.fillText(near ? 'none of the longest ones here' : 'all are thinner than a pixel: zoom in to less than 200 ms', a.x + a.w / 2, a.y + a.h / 2);
	}

	/* Who made a call or request. */
	static by(bar) {
		const lane = Data.lanes.find(l => l.pid === bar.pid && (l.host ?? '') === bar.host);

		return `${lane ? `${Dom.safe(lane.comm)} ` : ''}${bar.pid}${bar.host ? ` on ${Dom.safe(bar.host)}` : ''}`;
	}

	tip(panel, t, y) {
		const i = Math.floor((y - panel.area.y) / Events.high()), strip = this.strips[i];
		const slack = (View.state.t1 - View.state.t0) / panel.area.w;

		if (!strip)
			return [];
		const depth = Math.floor((y - this.top(panel, i)) / Events.BAR);
		const hit = this.visible(strip, panel).filter(b => b.from <= t + slack && b.to >= t - slack);
		const under = hit.filter(b => b.depth === depth);

		return (under.length ? under : hit).slice(0, 5).map(b => [`${strip.label} of ${Events.by(b)}, from ${View.label(b.from, Math.max(1, (b.to - b.from) / 100))}`,
			Format.value(b.to - b.from, 'ns'), strip.color()]);
	}
}
