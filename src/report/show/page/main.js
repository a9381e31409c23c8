/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the page together: draws the data that is there, and explains how to get what is missing. */
{
	const panels = [];
	/* HOST: whose it is, where there are several hosts or traces. */
	const add = (group, title, body, note, host) => panels.push(new Panel(group, title, body, note, host));

	function series() {
		for (const spec of Catalog.panels()) {
			const rows = spec.kind.each && spec.series.length > (spec.kind.rows ?? 4);
			const panel = add(spec.group, spec.title, rows ? new RowHeat(spec) : new Lines(spec), null, spec.host);

			if (spec.off)
				panels[panel - 1].on = false;
		}
	}

	function more() {
		const n = Data.timeline.series_left_out;

		return n > 0 && el('p', { class: 'aside' }, `${Format.counted(n, 'series of disks or collectors is', 'series of disks or collectors are')} left out: the page has no room for more.`);
	}

	function build() {
		if (Data.phases.length) {
			const strip = new PhaseStrip();

			add('Phases', 'Phases', strip, strip.note);
		}
		if (Data.regions.length) {
			const regions = new Regions();

			add('Regions', 'Regions of trainers', regions, regions.note);
		}
		if (StepTimes.series().length) {
			const steps = new StepTimes(StepTimes.series());

			add('Regions', 'Time of each step', steps, steps.note);
		}
		series();
		for (const map of Data.memory)
			if (map.rects.length || map.blocks.length)
				add('Memory', `${Catalog.of(map.host)}Memory by address`, new MemoryMap(map), MemoryMap.note(map), map.host);
		for (const map of Data.heat)
			if (map.counts.length)
				add('Latency', `${Catalog.of(map.host)}Latency: ${map.name}`, new LatencyHeat(map), 'number that ended, by latency (log scale)', map.host);
		if (Data.events.some(e => e.rows.length))
			add('Single calls', 'Single calls and requests', new Events(), Events.note());
		if (Data.lanes.length)
			add('Processes', 'Processes', new Lanes(), 'share of the time in calls on files' + (Data.lanesLeftOut ?
				`; ${Data.lanesLeftOut} less busy ones are left out` : ''));
		panels.sort((a, b) => Catalog.GROUPS.indexOf(a.group) - Catalog.GROUPS.indexOf(b.group));
		Panel.all = panels.slice();
		add('Axis', 'Time', new Axis());
	}

	function missing() {
		const there = new Set(panels.map(p => p.group));
		const lacks = Compare.on ? [] : Catalog.NEEDS.filter(([group]) => !there.has(group) && (group !== 'Phases' || Data.timeline.phases));

		return lacks.length > 0 && el('section', { class: 'lacks' }, el('h3', null, 'Not in this trace'),
			el('ul', null, lacks.map(([, what, need]) => el('li', null, el('b', null, what), `: comes from ${need}.`))));
	}

	function timeline() {
		const root = document.getElementById('panels');

		if (!Data.timeline) {
			fill(root, el('p', { class: 'note' }, 'This trace has no timeline: it has no rows, or none that could be read.'));
			return;
		}
		build();
		const axis = panels.pop();
		let group = null;

		fill(document.getElementById('missing'), ...document.getElementById('missing').childNodes, missing());
		if (!panels.length) {
			fill(root, el('p', { class: 'note' }, 'Nothing in this trace has a time: there is no timeline to draw.'));
			return;
		}
		axis.element.classList.add('axis');
		document.getElementById('bar').append(axis.element);
		for (const p of panels) {
			if (p.group !== group)
				root.append(el('h2', null, group = p.group));
			root.append(p.element);
			p.element.hidden = !p.on;
		}
		const path = panels.findLast(p => p.group === 'Path')?.element, graphs = Graphs.build();

		path ? path.after(...graphs) : root.append(...graphs);
		root.append(...[more()].filter(Boolean));
		Tools.build();
		Tip.listen(document.getElementById('timeline'));
		Keys.listen();
		Panel.watch(root);
	}

	if (Compare.on) {
		Compare.build();
		timeline();
	} else {
		Answer.build();
		timeline();
		Cpu.build();
		Tables.build();
		Answer.jumps();
	}
}
