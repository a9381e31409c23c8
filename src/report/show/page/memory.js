/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The body of the panel of memory: the addresses of processes that were touched or allocated, without the gaps between them,
 * over time. Darker: a larger share was touched; the hue: whether it was written. Frames are allocated blocks.
 */
class MemoryMap extends CanvasBody {
	static LEVELS = 8;
	static HUES = [['touched', 'c1'], ['not written', 'c3'], ['written, less than half', 'c4'], ['written', 'c2']];
	static NAME = 13; /* pixels between names */

	constructor(map) {
		super();
		this.map = map;
		this.height = 14 + Math.max(120, Math.min(420, map.lines * 2, 60 + map.lines));
		this.blocks = { label: 'allocated blocks', on: true, color: () => Theme.color('muted') };
		this.hues = MemoryMap.HUES.map(([label, color]) => ({ label, on: true, color: () => Theme.color(color) }));
		this.legend = this.hues.filter((h, i) => map.rects.some(r => r[5] === i)).concat(map.blocks.length ? [this.blocks] : []);
	}

	static note(map) {
		const cell = `a cell is ${Format.value(map.line_bytes, 'B')} and ${Format.value(map.bin_ns, 'ns')}`;
		const processes = Format.counted(map.processes_left_out, 'small process', 'small processes');
		const parts = Format.counted(map.parts_left_out, 'small range of addresses', 'small ranges of addresses');

		return [map.sources.length ? `${cell}; by ${map.sources.join(', ')}` : cell,
			map.blocks_left_out > 0 && `${Format.counted(map.blocks_left_out, 'smaller block is', 'smaller blocks are')} left out`,
			map.parts_left_out + map.processes_left_out > 0 &&
				`${processes} and ${parts} are left out`].filter(Boolean).join('; ');
	}

	y(a, line) {
		return a.y + line / this.map.lines * a.h;
	}

	draw(panel) {
		const ctx = panel.context(this.canvas), a = panel.area, m = this.map, v = View.state;

		this.drawNames(ctx, a);
		Panel.clip(ctx, a);
		ctx.fillStyle = Theme.color('grid');
		for (const [line] of m.parts.slice(1))
			ctx.fillRect(a.x, this.y(a, line), a.w, 1);
		for (const [x, y, w, h, level, hue] of m.rects) {
			const from = m.begin + x * m.bin_ns, to = from + w * m.bin_ns;

			if (!this.hues[hue].on || to < v.t0 || from > v.t1)
				continue;
			const x0 = panel.x(from), y0 = this.y(a, y);

			ctx.fillStyle = Theme.faint(this.hues[hue].color(), 0.12 + 0.88 * level / MemoryMap.LEVELS);
			ctx.fillRect(x0, y0, Math.max(1, panel.x(to) - x0), Math.max(1, this.y(a, y + h) - y0));
		}
		if (!this.blocks.on)
			return;
		ctx.strokeStyle = Theme.color('muted');
		ctx.lineWidth = 1;
		for (const b of m.blocks)
			if (b.end >= v.t0 && b.begin <= v.t1) {
				const x0 = panel.x(Math.max(b.begin, v.t0)) + 0.5, y0 = this.y(a, b.y);

				const w = panel.x(Math.min(b.end, v.t1)) - x0, h = this.y(a, b.y + b.lines) - y0;

				ctx.strokeRect(x0, y0, Math.max(1, w), Math.max(1, h));
			}
	}

	/* The names that have room, each as much as fits. */
	drawNames(ctx, a) {
		let free = -Infinity;

		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		ctx.fillStyle = Theme.color('muted');
		for (const [line, lines, , name] of this.map.names) {
			const y = Math.max(a.y + 5, this.y(a, line + lines / 2));
			let text = Dom.safe(name).split('/').at(-1) || Dom.safe(name);

			if (y < free)
				continue;
			while (text.length > 1 && ctx.measureText(text).width > a.x - 10)
				text = text.slice(0, text.length > 41 ? 40 : -2) + '\u2026'; /* 40 and the mark are 41 */
			ctx.fillText(text, a.x - 6, y);
			free = y + MemoryMap.NAME;
		}
	}

	/* The line at Y of the canvas; it may have a fraction. */
	lineAt(a, y) {
		return (y - a.y) / a.h * this.map.lines;
	}

	/* The row of TABLE, each from a line on, that has LINE. */
	static find(table, line) {
		return table.find(([from, lines]) => line >= from && line < from + lines);
	}

	/* What LEVEL means. */
	share(level) {
		const percent = n => Format.percent(n / MemoryMap.LEVELS).replace('.0', '');

		return `${level > 1 ? percent(level - 1) : 'up'} to ${percent(level)}`;
	}

	/* The address of LINE, where it is one. */
	address(part, line) {
		return /^0x[0-9a-f]{1,16}$/.test(part[3]) ?
			`, 0x${(BigInt(part[3]) + BigInt(Math.floor(line - part[0])) * BigInt(this.map.line_bytes)).toString(16)}` : '';
	}

	tip(panel, t, y) {
		const m = this.map, line = this.lineAt(panel.area, y), part = MemoryMap.find(m.parts, line);
		const name = MemoryMap.find(m.names, line);
		const bin = Math.floor((t - m.begin) / m.bin_ns), row = Math.floor(line);
		const cell = m.rects.find(([rx, ry, w, h]) => bin >= rx && bin < rx + w && row >= ry && row < ry + h);
		const blocks = m.blocks.filter(b => t >= b.begin && t <= b.end && line >= b.y && line < b.y + b.lines);

		if (!part)
			return [];
		return [[name ? name[3] : 'memory', `process ${part[2]}${this.address(part, line)}`],
			cell ? [this.hues[cell[5]].label, this.share(cell[4]), this.hues[cell[5]].color()] : ['', 'not touched at this time'],
			...blocks.slice(0, 4).map(b => [`block of ${Format.value(b.bytes, 'B')}`, b.stack || ''])];
	}
}
