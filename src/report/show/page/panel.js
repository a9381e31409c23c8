/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A panel: a title, a legend whose entries switch its series, and a plot between the same two margins as in every other
 * panel. Its body does the drawing:
 *
 *   body.height              of the plot, in pixels; may change, see resize()
 *   body.legend              [{ label, color(), on, value(t) }]; value as text, or none
 *   body.scale               an element that explains its colors (optional)
 *   body.mount(panel, host)  once, before the first draw()
 *   body.draw(panel)         all of it, for View.state and the present size
 *   body.tip(panel, t, y)    [[label, text, color]] for the pointer's place
 *   body.changed(panel)      after an entry of the legend was switched (optional)
 *   body.press(panel, t, y)  a click; true: it had an effect (optional)
 */
class Panel {
	static LEFT = 128;
	static RIGHT = 14;
	static all = [];

	constructor(group, title, body, note, host) {
		Object.assign(this, { group, title, body, host, on: true, visible: false, dirty: true, width: 0 });
		this.values = body.legend.map(() => el('span', { class: 'value' }));
		this.back = el('canvas', { class: 'back', 'aria-hidden': 'true' });
		this.host = el('div', { class: 'host' });
		this.front = el('canvas', { class: 'front', 'aria-hidden': 'true' });
		this.plot = el('div', { class: 'plot' }, this.back, this.host, this.front);
		this.element = el('section', { class: 'panel', tabindex: '0', 'aria-label': title },
			el('header', null, el('h3', null, title), note && el('span', { class: 'aside' }, note),
				this.legend(), body.scale),
			this.plot);
		this.plot.panel = this;
		body.mount(this, this.host);
		Panel.all.push(this);
	}

	legend() {
		return el('ul', { class: 'legend' }, this.body.legend.map((item, i) => {
			item.button = el('button', {
				type: 'button', 'aria-pressed': String(item.on), title: 'show or hide',
				onclick: () => this.toggle(item),
			}, item.swatch = el('i', { class: 'swatch' }), item.label, this.values[i]);
			return el('li', null, item.button);
		}));
	}

	toggle(item) {
		item.on = !item.on;
		item.button.setAttribute('aria-pressed', String(item.on));
		this.body.changed?.(this);
		this.redraw();
		Stats.update();
	}

	/* The plot's rectangle within its canvases. */
	get area() {
		return { x: Panel.LEFT, y: 7, w: Math.max(10, this.width - Panel.LEFT - Panel.RIGHT), h: this.body.height - 14 };
	}

	x(t) {
		const a = this.area, v = View.state;

		return a.x + (t - v.t0) / (v.t1 - v.t0) * a.w;
	}

	t(x) {
		const a = this.area, v = View.state;

		return v.t0 + (x - a.x) / a.w * (v.t1 - v.t0);
	}

	/* A context on CANVAS in CSS pixels, empty. */
	context(canvas, width = this.width, height = this.body.height, ratio = devicePixelRatio || 1) {
		/* an assignment empties the canvas and ends its clip, which names beside the plot are outside of */
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		canvas.style.width = width + 'px';
		canvas.style.height = height + 'px';
		const ctx = canvas.getContext('2d');

		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		ctx.font = '11px system-ui, sans-serif';
		return ctx;
	}

	/* Clips CTX to the plot's rectangle A from here on. */
	static clip(ctx, a) {
		ctx.beginPath();
		ctx.rect(a.x, a.y, a.w, a.h);
		ctx.clip();
	}

	redraw() {
		this.dirty = true;
		Panel.schedule();
	}

	/* Bands, gaps and the grid. */
	drawBack() {
		const ctx = this.context(this.back), a = this.area;

		ctx.fillStyle = Theme.color('plot');
		ctx.fillRect(a.x, a.y, a.w, a.h);
		Phases.draw(ctx, a, t => this.x(t), Compare.on ? this.host : null);
		ctx.fillStyle = Theme.color('grid');
		for (const tick of View.ticks(a.w / 110))
			ctx.fillRect(Math.round(this.x(tick.t)), a.y, 1, a.h);
	}

	/* Cursor and selected range. */
	drawFront() {
		const ctx = this.context(this.front), a = this.area, { cursor, range } = View.state;

		ctx.save();
		Panel.clip(ctx, a);
		for (const [r, name] of [[range, 'select'], [Panel.dragged, 'drag']]) {
			if (!r)
				continue;
			const x = this.x(Math.min(...r)), w = Math.max(1, this.x(Math.max(...r)) - x);

			ctx.fillStyle = Theme.faint(Theme.color(name), 0.16);
			ctx.fillRect(x, a.y, w, a.h);
			ctx.fillStyle = Theme.color(name);
			ctx.fillRect(x, a.y, 1, a.h);
			ctx.fillRect(x + w - 1, a.y, 1, a.h);
		}
		if (cursor !== null) {
			ctx.fillStyle = Theme.color('cursor');
			ctx.fillRect(Math.round(this.x(cursor)), a.y, 1, a.h);
		}
		ctx.restore();
		this.body.legend.forEach((item, i) => {
			this.values[i].textContent = cursor === null || !item.value || !item.on ? '' : item.value(cursor);
		});
	}

	colorLegend() {
		for (const item of this.body.legend)
			item.swatch.style.background = item.on ? item.color() : 'transparent';
	}

	draw() {
		if (!this.on || !this.width)
			return;
		this.dirty = false;
		this.plot.style.height = this.body.height + 'px';
		this.colorLegend();
		this.drawBack();
		this.body.draw(this);
		this.drawFront();
	}

	switch(on) {
		this.on = on;
		this.element.hidden = !on;
		if (on)
			this.resize();
		Stats.update();
	}

	resize() {
		this.width = this.plot.clientWidth;
		this.plot.style.height = this.body.height + 'px';
		this.redraw();
	}

	/* --- all panels ---------------------------------------------------------------------------- */

	/* One drawing per frame, of visible panels; others are drawn when they become visible. */
	static schedule() {
		Panel.frame ??= requestAnimationFrame(() => {
			Panel.frame = null;
			for (const p of Panel.all)
				if (p.visible && p.dirty)
					p.draw();
				else if (p.visible && p.on && Panel.frontDirty)
					p.drawFront();
			Panel.frontDirty = false;
		});
	}

	static redrawAll() {
		for (const p of Panel.all)
			p.dirty = true;
		Panel.schedule();
	}

	static redrawFront() {
		Panel.frontDirty = true;
		Panel.schedule();
	}

	/* At once, visible or not. */
	static drawAll() {
		for (const p of Panel.all) {
			p.width = p.plot.clientWidth;
			p.draw();
		}
	}

	static watch(root) {
		const sight = new IntersectionObserver(entries => {
			for (const e of entries)
				e.target.panel.visible = e.isIntersecting;
			Panel.schedule();
		}, { rootMargin: '300px' });

		for (const p of Panel.all)
			sight.observe(p.plot);
		new ResizeObserver(() => {
			for (const p of Panel.all)
				if (p.on)
					p.resize();
		}).observe(root);
		View.on('change', Panel.redrawAll);
		View.on('cursor', Panel.redrawFront);
		View.on('range', Panel.redrawFront);
		Theme.onchange(() => {
			for (const p of Panel.all)
				p.body.changed?.(p);
			Panel.redrawAll();
		});
	}
}

/* A body that is a canvas. */
class CanvasBody {
	constructor() {
		this.legend = [];
	}

	mount(panel, host) {
		this.canvas = el('canvas', { class: 'main', 'aria-hidden': 'true' });
		host.append(this.canvas);
	}

	tip() {
		return [];
	}
}
