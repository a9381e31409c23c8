/* SPDX-License-Identifier: BSD-2-Clause */
/* The body of the panel of step times: a line for each process that takes steps. A click zooms to a step. */
class StepTimes extends Lines {
	static SHOWN = 8; /* of more processes, the others are there to be switched on */

	/* Those with steps; none: there is no panel. */
	static series() {
		return Data.regions.filter(l => l.steps.values.length)
			.map(l => Object.assign(l.steps, { label: Regions.nameOf(l) }));
	}

	constructor(series) {
		super({ series, kind: { each: true, height: 110 } });
		this.legend.forEach((item, i) => { item.on = i < StepTimes.SHOWN; });
	}

	get note() {
		const joined = Math.max(...this.series.map(s => s.joined));

		return joined > 1 ? `the longest of each ${Format.count(joined)} steps` : '';
	}

	/* A click shows the longest step there. */
	press(panel, t) {
		const [s, i] = this.legend.filter(item => item.on).map(item => [item.series, item.series.index(t)]).filter(([, at]) => at >= 0)
			.sort(([a, k], [b, m]) => b.values[m] - a.values[k])[0] || [];

		if (!s)
			return false;
		View.set(s.from(i), s.to(i));
		return true;
	}

	/* Zooms to a step of the report's table, where its time is of the axis: several hosts have clocks of their own. */
	static zoom(row) {
		if (!Data.timeline || Data.report.hosts)
			return null;
		return () => {
			const begin = Number(row.begin_ns) - Number(Data.timeline.begin_ns);

			View.set(begin, begin + row.wall_ns);
			document.getElementById('timeline').scrollIntoView();
		};
	}
}
