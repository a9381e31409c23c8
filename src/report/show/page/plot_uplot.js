/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines and areas by uPlot, which is in the page if the build had it; else see plot_canvas.js. */
class UplotPlot {
	static available = typeof uPlot === 'function';

	constructor(host) {
		this.host = host;
		this.plot = null;
	}

	/* To be called when the data or its colors have changed. */
	reset() {
		this.plot?.destroy();
		this.plot = null;
	}

	draw(panel, chart) {
		const { t0, t1 } = View.state;

		if (this.plot && (this.plot.width !== panel.width || this.plot.height !== panel.body.height))
			this.plot.setSize({ width: panel.width, height: panel.body.height });
		this.chart = chart;
		this.plot ??= this.create(panel, chart);
		this.plot.batch(() => {
			this.plot.setScale('x', { min: t0, max: t1 });
			this.plot.setScale('y', { min: 0, max: chart.max });
		});
	}

	create(panel, chart) {
		const a = panel.area, steps = uPlot.paths.stepped({ align: 1 });
		const columns = chart.columns;

		return new uPlot({
			width: panel.width,
			height: panel.body.height,
			padding: [a.y, Panel.RIGHT, a.y, 0],
			cursor: { show: false },
			legend: { show: false },
			scales: { x: { time: false, auto: false }, y: { auto: false } },
			axes: [{ show: false }, {
				size: Panel.LEFT,
				font: '11px system-ui, sans-serif',
				stroke: () => Theme.color('muted'),
				grid: { stroke: () => Theme.color('grid'), width: 1 },
				ticks: { show: false },
				splits: () => this.chart.ticks,
				values: (u, all) => all.map(v => Format.tick(v, this.chart.unit, this.chart.max)),
			}],
			series: [{}].concat(columns.map(c => ({
				stroke: c.color,
				/* a stacked series is filled down to the one below, by a band */
				fill: c.base ? undefined : c.fill,
				width: 1.25,
				paths: steps,
				points: { show: false },
			}))),
			bands: columns.flatMap((c, i) => c.base && c.below >= 0 ?
				[{ series: [i + 1, c.below + 1], fill: c.fill }] : []),
		}, [chart.t].concat(columns.map(c => c.values)), this.host);
	}
}
