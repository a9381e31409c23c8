/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The body of the panel of processes: a lane each, from begin to end. In it, the share of time that its threads spent in
 * calls on files and page faults, stacked, over a tint that makes small shares visible; above, CPU; below, its longest calls, each from
 * begin to end.
 */
class Lanes extends CanvasBody {
	static GROUPS = [['trainer', 'Trainers'], ['loader', 'Data loaders'], ['other', 'Others']];
	static HEAD = 18;

	constructor() {
		super();
		const faults = Data.lanes.some(l => l.busy.fault.length), keys = ['read', 'write', 'open', ...faults ? ['fault'] : [], 'other'];

		this.legend = keys.map(key => ({
			key, label: key === 'fault' ? 'page fault' : key, on: true,
			color: () => key === 'other' ? Theme.color('c0') : Catalog.color(key),
		}));
		if (Data.lanes.some(l => l.cpu))
			this.legend.push({ key: 'cpu', label: 'CPU', on: true, color: () => Theme.color('cpu') });
		this.closed = new Set();
		this.hidden = new Set(); /* lanes that are switched off */
		this.row = Data.lanes.length <= 24 ? 18 : Data.lanes.length <= 80 ? 13 : 9;
		this.layout();
	}

	/* [key, title, lanes] of the groups that have any. */
	groups() {
		const group = l => Lanes.GROUPS.some(g => g[0] === l.group) ? l.group : 'other';

		return Lanes.GROUPS.map(([key, title]) => [key, title, Data.lanes.filter(l => group(l) === key)
			.sort((a, b) => a.begin - b.begin || a.pid - b.pid)]).filter(g => g[2].length);
	}

	/* The heads of groups and the lanes from the top. */
	layout() {
		let y = 7;

		this.items = [];
		for (const [key, title, lanes] of this.groups()) {
			const shown = lanes.filter(l => !this.hidden.has(l));
			const count = shown.length < lanes.length ? `${shown.length} of ${lanes.length}` : lanes.length;

			this.items.push({ head: key, title: `${title} (${count})`, y, h: Lanes.HEAD });
			y += Lanes.HEAD;
			for (const lane of this.closed.has(key) ? [] : shown) {
				this.items.push({ lane, y, h: this.row });
				y += this.row;
			}
		}
		this.height = Math.max(40, y + 7);
	}

	/* Switches LANES on or off. */
	show(panel, lanes, on) {
		for (const l of lanes)
			this.hidden[on ? 'delete' : 'add'](l);
		this.layout();
		panel.resize();
	}

	name(l) {
		return `${Dom.safe(l.comm)} ${l.pid}${l.host != null ? ` on ${Dom.safe(l.host)}` : ''}${l.rank != null ? ` #${Dom.safe(l.rank)}` : ''}`;
	}

	draw(panel) {
		const ctx = panel.context(this.canvas), a = panel.area, v = View.state;

		for (const item of this.items) {
			if (item.head)
				this.drawHead(ctx, a, item);
			else if (this.row > 8)
				this.drawName(ctx, a, item);
		}
		Panel.clip(ctx, a);
		for (const { lane, y, h } of this.items)
			if (lane && lane.end >= v.t0 && lane.begin <= v.t1)
				this.drawLane(ctx, panel, lane, y + 1, h - 2);
	}

	drawHead(ctx, a, item) {
		ctx.fillStyle = Theme.color('text');
		ctx.textAlign = 'left';
		ctx.textBaseline = 'middle';
		ctx.font = '600 11px system-ui, sans-serif';
		ctx.fillText(`${this.closed.has(item.head) ? '\u25b8' : '\u25be'} ${item.title}`, 4, item.y + item.h / 2);
		ctx.fillStyle = Theme.color('grid');
		ctx.fillRect(a.x, item.y + item.h - 1, a.w, 1);
	}

	drawName(ctx, a, item) {
		const l = item.lane, rest = this.name(l).slice(Dom.safe(l.comm).length);
		let comm = Dom.safe(l.comm).slice(0, 40), cut = '';

		ctx.font = `${Math.min(11, this.row)}px system-ui, sans-serif`;
		ctx.fillStyle = Theme.color('muted');
		ctx.textAlign = 'right';
		ctx.textBaseline = 'middle';
		while (comm && ctx.measureText(comm + cut + rest).width > a.x - 10) {
			comm = comm.slice(0, -1);
			cut = '\u2026';
		}
		ctx.fillText(comm + cut + rest, a.x - 6, item.y + item.h / 2);
	}

	/*
	 * Shares by pixel: [x] -> mean share of KEY over the pixel's time. A bin that is wider than a pixel has its value at
	 * each.
	 */
	shares(panel, rows) {
		const a = panel.area, v = View.state, out = new Float32Array(Math.ceil(a.w) + 1);
		const perBin = Data.laneBin / (v.t1 - v.t0) * a.w;
		let i = 0;

		while (i < rows.length && (rows[i][0] + 1) * Data.laneBin <= v.t0)
			i++;
		for (; i < rows.length && rows[i][0] * Data.laneBin < v.t1; i++) {
			const x0 = panel.x(rows[i][0] * Data.laneBin) - a.x, x1 = x0 + perBin;

			for (let x = Math.max(0, Math.floor(x0)); x < x1 && x < out.length; x++)
				out[x] += rows[i][1] * (Math.min(x + 1, x1) - Math.max(x, x0));
		}
		return out;
	}

	drawLane(ctx, panel, lane, y, h) {
		const a = panel.area, left = Math.max(a.x, panel.x(lane.begin)), right = Math.min(a.x + a.w, panel.x(lane.end));
		const keys = this.legend.filter(item => item.on && item.key !== 'cpu' && lane.busy[item.key].length)
			.map(item => ({ shares: this.shares(panel, lane.busy[item.key]), color: item.color() }));
		const cpu = lane.cpu && this.legend.some(item => item.key === 'cpu' && item.on) && this.shares(panel, lane.cpu);
		const stripe = cpu ? Math.max(2, Math.round(h / 5)) : 0, foot = lane.longest.length ? Math.max(2, Math.round(h / 4)) : 0;

		ctx.fillStyle = Theme.color('lane');
		ctx.fillRect(left, y, Math.max(1, right - left), h);
		/* a bin may end behind the process */
		for (let x = Math.floor(left - a.x); x < Math.min(a.w, Math.max(right, left + 1) - a.x); x++) {
			let most = null, total = 0;

			for (const k of keys) {
				total += k.shares[x];
				if (!most || k.shares[x] > most.shares[x])
					most = k;
			}
			if (total > 0)
				this.drawPixel(ctx, a.x + x, y + stripe, h - stripe - foot, x, keys, most, total);
			if (stripe && cpu[x] > 0.005) {
				ctx.fillStyle = Theme.faint(Theme.color('cpu'), 0.15 + 0.85 * cpu[x]);
				ctx.fillRect(a.x + x, y, 1, stripe);
			}
		}
		if (foot)
			this.drawLongest(ctx, panel, lane, y + h - foot, foot);
	}

	/* Each as long as it took; a call shorter than half a pixel is in the shares only. */
	drawLongest(ctx, panel, lane, y, h) {
		const a = panel.area, perPixel = (View.state.t1 - View.state.t0) / a.w;

		for (const [from, to, key] of lane.longest) {
			const item = this.legend.find(entry => entry.key === key);

			if (!item.on || to < View.state.t0 || from > View.state.t1 || to - from < perPixel / 2)
				continue;
			const x = Math.max(a.x, panel.x(from)), end = Math.min(a.x + a.w, panel.x(to));

			ctx.fillStyle = item.color();
			ctx.fillRect(x, y + 1, Math.max(1, end - x), h - 1);
		}
	}

	/* The shares of all its threads may add up to more than 1. */
	drawPixel(ctx, px, y, h, x, keys, most, total) {
		const unit = h / Math.max(1, total);
		let bottom = y + h;

		ctx.fillStyle = Theme.faint(most.color, 0.18 + 0.5 * Math.sqrt(Math.min(1, total)));
		ctx.fillRect(px, y, 1, h);
		for (const k of keys) {
			const part = k.shares[x] * unit;

			if (part < 0.3)
				continue;
			ctx.fillStyle = k.color;
			ctx.fillRect(px, bottom - part, 1, part);
			bottom -= part;
		}
	}

	at(y) {
		return this.items.find(item => y >= item.y && y < item.y + item.h);
	}

	share(rows, t) {
		const row = rows.find(r => r[0] === Math.floor(t / Data.laneBin));

		return row ? row[1] : 0;
	}

	tip(panel, t, y) {
		const lane = this.at(y)?.lane;

		if (!lane)
			return [];
		const alive = t >= lane.begin && t <= lane.end;

		return [[this.name(lane), `child of ${lane.ppid}, ${View.label(lane.begin, 1e6)} to ${View.label(lane.end, 1e6)}`]]
			.concat(alive ? this.legend.filter(item => item.on && (item.key !== 'cpu' || lane.cpu))
				.map(item => [item.key === 'cpu' ? 'on a CPU' : `in ${item.key === 'other' ? 'other calls' : item.key === 'fault' ? 'page faults' : item.key}`,
					Format.percent(this.share(item.key === 'cpu' ? lane.cpu : lane.busy[item.key], t)), item.color()]) :
				[['', 'did not exist at this time']])
			.concat(this.callsAt(panel, lane, t));
	}

	/* The long calls under the pointer. */
	callsAt(panel, lane, t) {
		const slack = (View.state.t1 - View.state.t0) / panel.area.w;

		return lane.longest.filter(([from, to, key]) => from <= t + slack && to >= t - slack &&
			this.legend.some(item => item.key === key && item.on)).slice(0, 5)
			.map(([from, to, key]) => [`${key === 'other' ? 'another call' : key === 'fault' ? 'page fault' : key} from ${View.label(from, (to - from) / 100)}`,
				Format.value(to - from, 'ns'), this.legend.find(item => item.key === key).color()]);
	}

	/* A click on the head of a group closes or opens it; one on the name of a lane switches the lane off. */
	press(panel, t, y) {
		const item = this.at(y), head = item?.head;

		if (item?.lane && t < View.state.t0) {
			this.show(panel, [item.lane], false);
			return true;
		}
		if (!head)
			return false;
		this.closed[this.closed.has(head) ? 'delete' : 'add'](head);
		this.layout();
		panel.resize();
		return true;
	}
}
