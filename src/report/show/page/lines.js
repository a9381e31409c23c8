/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of a panel of series as lines, or stacked. */
class Lines {
	constructor(spec) {
		this.series = spec.series;
		this.kind = spec.kind;
		this.unit = spec.series[0].unit;
		this.height = spec.kind.height || 96;
		this.legend = this.series.map((s, i) => ({
			series: s, label: s.label, on: true,
			color: () => Catalog.color(s.name, spec.kind.each ? i : this.series.indexOf(s)),
			value: t => Format.value(s.at(t), s.unit),
		}));
		if (spec.kind.each)
			this.legend.forEach((item, i) => { item.color = () => Theme.color('c' + (1 + i % 8)); });
		this.t = this.times();
	}

	mount(panel, host) {
		this.plot = UplotPlot.available ? new UplotPlot(host) : new CanvasPlot(host);
		this.columns = null;
	}

	/* The instants at which a value of any series begins to hold, and the end of the last. */
	times() {
		const one = this.series[0];

		if (this.series.every(s => !s.sampled))
			return Array.from(one.values, (v, i) => one.from(i)).concat(one.values.length ? [Data.span] : []);
		const all = new Set();

		for (const s of this.series)
			for (let i = 0; i < s.values.length; i++)
				all.add(s.from(i)).add(s.to(i));
		return [...all].sort((a, b) => a - b);
	}

	/* In uPlot's form: null where it is not known; the last value twice, as it has no end of its own. */
	valuesOf(s) {
		const v = s.sampled ? this.t.map(t => s.at(t)) : Array.from(s.values).concat([NaN]);

		v[v.length - 1] = v.at(-2) ?? NaN;

		return v.map(x => isNaN(x) ? null : x);
	}

	/* The lowest of a stack is first in the legend. */
	build() {
		const shown = this.legend.filter(item => item.on);

		this.columns = [];
		for (const item of shown) {
			const own = this.valuesOf(item.series), color = item.color();

			if (!this.kind.stacked) {
				const fill = this.series.length <= 2 ? Theme.faint(color, 0.12) : null;

				this.columns.push({ values: own, color, fill });
				continue;
			}
			const below = this.columns.at(-1);

			this.columns.push({
				values: own.map((v, i) => v === null && !below?.values[i] ? v : (v || 0) + (below?.values[i] || 0)),
				base: below ? below.values.map(v => v || 0) : null, below: this.columns.length - 1,
				color, fill: Theme.faint(color, 0.65),
			});
		}
	}

	changed() {
		this.columns = null;
		this.plot.reset();
	}

	/* The largest value shown. */
	max() {
		const first = Math.max(0, Data.lower(this.t, View.state.t0) - 1), last = Data.lower(this.t, View.state.t1);
		let max = 0;

		for (const c of this.columns)
			for (let i = first; i <= last && i < c.values.length; i++)
				if (c.values[i] > max)
					max = c.values[i];
		return max;
	}

	draw(panel) {
		if (!this.columns)
			this.build();
		const max = this.kind.max || this.max() * 1.05 || 1;

		const plot = panel.paper ? new CanvasPlot() : this.plot;

		plot.draw(panel, {
			t: this.t, columns: this.columns, unit: this.unit, max,
			ticks: Format.ticks(this.unit, max, this.height / 32),
		});
	}

	tip(panel, t) {
		return this.legend.filter(item => item.on).map(item => [item.label, item.value(t), item.color()]);
	}
}
