/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who waited for whom, as a picture: an arrow from each who waits to each for whom it does, as wide as the time. A press on an
 * arrow or a node leads to its rows in the table of the same name, which has all of them in text.
 */
class Graph {
	static TITLE = 'Who waited for whom';
	static LEAST = 0.002; /* of the largest: a thinner arrow is in the table alone */
	/* The time of an arrow: what the button says, its hint. */
	static TIMES = {
		path_ns: ['on the path', 'how long the first process waited, through all that wait for each other'],
		wait_ns: ['of all threads', 'the waits of all threads, added up'],
	};
	/* The colors of what is behind a wait, as in the path; a wait within the job is grey. */
	static PAINTS = { storage: 'storage', peer: 'network', device: 'others', terminal: 'others', outside: 'others', kernel: 'others' };
	static WAYS = { write: 'write', sync: 'write', names: 'names' };

	/* R: the report, or that of one of several hosts, with its NAME. */
	constructor(r, name) {
		Object.assign(this, { nodes: r.path_nodes, edges: r.path_edges, host: name, width: 0 });
		this.time = this.edges.some(e => e.path_ns > 0) ? 'path_ns' : 'wait_ns';
		this.buttons = Object.entries(Graph.TIMES).map(([key, [text, hint]]) => el('button', {
			type: 'button', title: hint, 'data-time': key, onclick: () => this.show(key),
		}, text));
		this.place = el('div');
		this.rest = el('p', { class: 'aside' });
		this.element = el('section', { class: 'graph', 'aria-label': `${Catalog.of(name)}${Graph.TITLE}` },
			el('header', null, el('h3', null, `${Catalog.of(name)}${Graph.TITLE}`),
				el('span', { class: 'aside' }, 'each arrow leads to what was waited for'), el('div', { role: 'group', 'aria-label': 'Time' }, this.buttons)),
			this.place, this.rest);
		new ResizeObserver(() => this.fit()).observe(this.place);
		this.show(this.time);
	}

	label(node) {
		return Dom.safe(this.nodes[node]?.label);
	}

	/* An arrow for all edges between the same nodes, the largest first. */
	arrows() {
		const all = new Map();

		for (const e of this.edges) {
			const key = `${e.from} ${e.to}`, a = all.get(key) ?? { from: e.from, to: e.to, ns: 0, edges: [] };

			a.ns += e[this.time];
			a.edges.push(e);
			all.set(key, a);
		}
		return [...all.values()].filter(a => a.ns > 0 && this.nodes[a.from] && this.nodes[a.to]).sort((a, b) => b.ns - a.ns);
	}

	show(time) {
		this.time = time;
		for (const b of this.buttons)
			b.setAttribute('aria-pressed', String(b.dataset.time === time));
		const all = this.arrows();

		this.shown = all.filter(a => a.ns >= Graph.LEAST * all[0].ns);
		const less = all.slice(this.shown.length);

		fill(this.rest, less.length > 0 && `${Format.counted(less.length, 'arrow', 'arrows')} of ${Format.value(less.reduce((n, a) => n + a.ns, 0), 'ns')} in all ${less.length > 1 ? 'are' : 'is'} too thin to draw: see the table.`);
		this.draw();
	}

	fit() {
		if (Math.abs(this.place.clientWidth - this.width) >= 1)
			this.draw();
	}

	/* --- picture ------------------------------------------------------------------------------- */

	draw() {
		this.width = this.place.clientWidth;
		if (!this.width)
			return;
		/* only nodes with an arrow, in their order */
		const used = this.nodes.map((_, i) => i).filter(i => this.shown.some(a => a.from === i || a.to === i));
		const texts = this.shown.map(a => ({ from: used.indexOf(a.from), to: used.indexOf(a.to), text: Format.value(a.ns, 'ns') }));
		const layout = GraphLayout.of(used.length, texts, this.width);
		const arrows = this.shown.map((a, i) => this.arrow(a, layout.arrows[i].points)); /* thin ones on top */
		const labels = this.shown.map((a, i) => this.mark(a, layout.arrows[i].label, texts[i].text));

		fill(this.place, used.length > 0 && Dom.svg('svg', { role: 'group', viewBox: `0 0 ${this.width} ${layout.height}`, 'aria-label': `${Graph.TITLE}, ${Graph.TIMES[this.time][0]}` },
			arrows, used.map((node, i) => this.node(node, layout.boxes[i])), labels));
	}

	/* Shows the rows for which TEST is true. */
	go(test) {
		Tables.pick(Graph.TITLE, row => (row.host ?? '') === this.host && test(row));
	}

	/* An element that leads to the rows for which TEST is true; TEXT says what it is. */
	part(kind, text, test, ...children) {
		const go = () => this.go(test);

		return Dom.svg('g', {
			class: kind, role: 'button', tabindex: '0', 'aria-label': text, onclick: go,
			onkeydown: e => {
				if (e.key !== 'Enter' && e.key !== ' ')
					return;
				e.preventDefault();
				e.stopPropagation();
				go();
			},
		}, Dom.svg('title', null, text), ...children);
	}

	node(i, box) {
		const label = this.label(i), split = label.lastIndexOf(' ('), text = { x: box.x + box.w / 2, 'text-anchor': 'middle' };
		const fit = s => GraphLayout.fit(s, box.w - 10);

		return this.part(i === 0 ? 'node first' : 'node', label, row => row.from === i || row.to === i,
			Dom.svg('rect', { x: box.x, y: box.y, width: box.w, height: box.h, rx: 7 }),
			Dom.svg('text', { ...text, y: box.y + (split > 0 ? 17 : 24) }, fit(split > 0 ? label.slice(0, split) : label)),
			split > 0 && Dom.svg('text', { ...text, y: box.y + 32, class: 'second' }, fit(label.slice(split + 2, -1))));
	}

	paint(a) {
		const most = a.edges.reduce((x, y) => y[this.time] > x[this.time] ? y : x);

		return Format.own(Graph.WAYS, most.kind) ?? Format.own(Graph.PAINTS, this.nodes[a.to].kind) ?? '';
	}

	words(a) {
		const ways = a.edges.map(e => `${Dom.safe(e.kind)}: ${Format.value(e.path_ns, 'ns')} on the path, ${Format.value(e.wait_ns, 'ns')} of all threads, ${Format.counted(e.waits, 'wait', 'waits')}`);

		return `${this.label(a.from)} waited for ${this.label(a.to)}; ${ways.join('; ')}`;
	}

	/* A function that is true for the rows of arrow A. */
	static rows(a) {
		return row => row.from === a.from && row.to === a.to;
	}

	arrow(a, p) {
		const width = 1.2 + 5 * Math.sqrt(a.ns / this.shown[0].ns), size = 5 + 1.3 * width, [x, y] = p[3], [nx, ny] = GraphLayout.at(p, 0.93);
		const angle = Math.atan2(y - ny, x - nx), back = side => [x - size * Math.cos(angle + side), y - size * Math.sin(angle + side)];
		/* the line ends within its head */
		const end = [x - 0.7 * size * Math.cos(angle), y - 0.7 * size * Math.sin(angle)], num = point => point.map(v => v.toFixed(1)).join(' ');

		return this.part(`edge ${this.paint(a)}`, this.words(a), Graph.rows(a),
			Dom.svg('path', { class: 'line', 'stroke-width': width.toFixed(1), d: `M${num(p[0])}C${num(p[1])} ${num(p[2])} ${num(end)}` }),
			Dom.svg('path', { class: 'head', d: `M${num(p[3])}L${num(back(0.5))}L${num(back(-0.5))}Z` }));
	}

	/* The time of arrow A as TEXT at BOX: above all lines, and for the eye alone, as the arrow says it, too. */
	mark(a, box, text) {
		return box && Dom.svg('g', { class: 'time', 'aria-hidden': 'true', onclick: () => this.go(Graph.rows(a)) },
			Dom.svg('rect', { x: box.x, y: box.y, width: box.w, height: box.h }),
			Dom.svg('text', { x: box.x + box.w / 2, y: box.y + 11.5 }, text));
	}
}

/* One for the trace, or for each host that has one. */
const Graphs = (() => {
	const SHOWN = 4;
	const has = r => Array.isArray(r.path_nodes) && Array.isArray(r.path_edges) && r.path_edges.length > 0;

	function build() {
		const hosts = Data.report.hosts;

		if (!hosts)
			return has(Data.report) ? [new Graph(Data.report, '').element] : [];
		return hosts.filter(has).slice(0, SHOWN).map(h => new Graph(h, String(h.name)).element);
	}

	return { build };
})();
