/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of a panel of cells in color: latencies by power of two, or a row for each CPU or GPU. */
class Heat extends CanvasBody {
	/* From little to much; zero has the panel's own color. */
	static RAMPS = {
		light: ['#d7e3f4', '#9cbde4', '#5a8fd0', '#5457b5', '#7a2f8f', '#7f0f4d'],
		dark: ['#1f2b45', '#2d4f86', '#2f86a6', '#45b48a', '#b7d356', '#fdf3a3'],
	};
	static cache = {};

	/* SHARE from 0 to 1. */
	static color(share) {
		const ramp = Heat.RAMPS[Theme.dark() ? 'dark' : 'light'];
		const key = (Theme.dark() ? 1000 : 0) + Math.round(share * 63);

		return Heat.cache[key] ??= (() => {
			const at = Math.round(share * 63) / 63 * (ramp.length - 1), i = Math.min(ramp.length - 2, Math.floor(at));
			const part = (c, k) => parseInt(c.slice(1 + 2 * k, 3 + 2 * k), 16);
			const mix = k => Math.round(part(ramp[i], k) + (part(ramp[i + 1], k) - part(ramp[i], k)) * (at - i));

			return `rgb(${mix(0)} ${mix(1)} ${mix(2)})`;
		})();
	}

	constructor(rows, height) {
		super();
		this.rows = rows;
		this.height = height;
		this.scale = el('span', { class: 'scale aside' }, this.least = el('span'), this.ramp = el('i'), this.most = el('span'));
	}

	/* The y of row R (0 is at the bottom) and its height. */
	row(a, r) {
		const h = a.h / this.rows;

		return [a.y + a.h - (r + 1) * h, h];
	}

	rowAt(a, y) {
		const r = Math.floor((a.y + a.h - y) / (a.h / this.rows));

		return r >= 0 && r < this.rows ? r : -1;
	}

	/* The meanings of the first and the last color. */
	ends(least, most) {
		fill(this.least, least);
		fill(this.most, most);
		this.ramp.style.background = `linear-gradient(to right, ${Heat.RAMPS[Theme.dark() ? 'dark' : 'light'].join(', ')})`;
	}

	/* Begin to draw: the context, clipped to the plot after the labels. */
	begin(panel) {
		const ctx = panel.context(this.canvas), a = panel.area;
		const each = a.h / this.rows, every = each >= 12 ? 1 : Math.ceil(17 / each);

		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		ctx.fillStyle = Theme.color('muted');
		for (let k = 0; k < this.rows; k += every) {
			const r = this.topFirst ? this.rows - 1 - k : k;
			const [y, h] = this.row(a, r);

			ctx.fillText(this.label(r), a.x - 6, Math.max(a.y + 5, y + h / 2));
		}
		Panel.clip(ctx, a);
		return ctx;
	}
}

/* Latencies of one kind of operation: the color is the logarithm of their number. */
class LatencyHeat extends Heat {
	constructor(map) {
		const exps = map.counts.map(c => c[1]);
		const low = exps.reduce((m, e) => Math.min(m, e), exps[0]), high = exps.reduce((m, e) => Math.max(m, e), low + 3);

		super(high - low + 1, Math.max(96, Math.min(220, (high - low + 1) * 9 + 14)));
		this.map = map;
		this.low = low;
	}

	label(r) {
		return Format.value(2 ** (this.low + r), 'ns');
	}

	/* Bins that share a pixel are added up. */
	cells(panel) {
		const a = panel.area, v = View.state, counts = this.map.counts, cells = new Map();
		const first = Data.lower(counts.map(c => c[0]), Math.floor(v.t0 / Data.bin));
		const wide = Data.bin / (v.t1 - v.t0) * a.w;
		let max = 1;

		for (let i = first; i < counts.length && counts[i][0] * Data.bin < v.t1; i++) {
			const [b, exp, n] = counts[i];
			const x0 = Math.floor(panel.x(b * Data.bin)), x1 = wide < 1 ? x0 + 1 : Math.ceil(panel.x((b + 1) * Data.bin));
			const key = x0 * 128 + exp, old = cells.get(key);

			if (old)
				old.n += n;
			else
				cells.set(key, { x0, x1, exp, n });
			max = Math.max(max, old ? old.n : n);
		}
		return { cells: cells.values(), max };
	}

	draw(panel) {
		const ctx = this.begin(panel), a = panel.area, { cells, max } = this.cells(panel);

		this.ends('1', Format.count(max));
		for (const c of cells) {
			const [y, h] = this.row(a, c.exp - this.low);

			ctx.fillStyle = Heat.color(max > 1 ? 0.15 + 0.85 * Math.log(c.n) / Math.log(max) : 0.6);
			ctx.fillRect(c.x0, y, c.x1 - c.x0, Math.max(1, h - 0.5));
		}
	}

	/* The number at T in row R; the sum, where a pixel has several bins. */
	tip(panel, t, y) {
		const r = this.rowAt(panel.area, y), from = 2 ** (this.low + r);
		const pixel = (View.state.t1 - View.state.t0) / panel.area.w;
		const b0 = Math.floor(t / Data.bin), b1 = Math.max(b0, Math.floor((t + Math.max(0, pixel - Data.bin)) / Data.bin));
		let n = 0, all = 0;

		for (const [b, exp, count] of this.map.counts) {
			if (b < b0 || b > b1)
				continue;
			all += count;
			n += exp === this.low + r ? count : 0;
		}
		return [r >= 0 && [`${Format.value(from, 'ns')} to ${Format.value(from * 2, 'ns')}`, Format.count(n), Heat.color(0.6)],
			['all', Format.count(all)]].filter(Boolean);
	}
}

/* A row for each series, color by its value from 0 to MAX. */
class RowHeat extends Heat {
	constructor(spec) {
		super(spec.series.length, Math.max(40, Math.min(240, spec.series.length * (spec.series.length > 24 ? 4 : 13) + 14)));
		this.series = spec.series.slice().reverse();
		this.max = spec.kind.max || Math.max(1, ...this.series.map(s => s.values.reduce((m, v) => v > m ? v : m, 0)));
		this.unit = this.series[0].unit;
		this.topFirst = true;
		/* cannot be switched one by one, but the statistics of a range need them */
		this.members = spec.series;
	}

	label(r) {
		return this.series[r].label;
	}

	draw(panel) {
		const ctx = this.begin(panel), a = panel.area, v = View.state;

		this.ends('0', Format.value(this.max, this.unit));
		this.series.forEach((s, r) => {
			const [y, h] = this.row(a, r);

			for (let i = Data.lower(s.ends, v.t0); i < s.values.length && s.from(i) < v.t1; i++) {
				if (isNaN(s.values[i]))
					continue;
				const x = panel.x(s.from(i)), next = panel.x(s.to(i));

				ctx.fillStyle = Heat.color(Math.min(1, s.values[i] / this.max));
				ctx.fillRect(x, y, Math.max(1, next - x + 0.3), Math.max(1, h - (h > 4 ? 1 : 0)));
			}
		});
	}

	tip(panel, t, y) {
		const r = this.rowAt(panel.area, y), known = this.series.map(s => s.at(t)).filter(v => !isNaN(v));
		const mean = known.reduce((sum, v) => sum + v, 0) / known.length;

		return [r >= 0 && [this.series[r].label, Format.value(this.series[r].at(t), this.unit)],
			['mean of all', Format.value(mean, this.unit)],
			['most', Format.value(known.length ? Math.max(...known) : NaN, this.unit)]].filter(Boolean);
	}
}
