/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the nodes and arrows of a small graph are: in columns from who waits to who is waited for, or, where these have no
 * room, one node below the other with the arrows beside them. Knows neither times nor elements.
 */
const GraphLayout = (() => {
	const BOX = { most: 210, least: 120, h: 40 };
	const ROW = 66; /* from a box to the one below */
	const BETWEEN = 90; /* of two columns, at least */
	const BESIDE = 104; /* for arrows */
	const EDGE = 3; /* around all */
	const CHAR = 6.7; /* width of a character, about */
	const PLACES = [0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78]; /* of a label, on its arrow */

	/* The distance of each of the N nodes from the first one, by ARROWS [{ from, to }]; those that it does not reach begin anew. */
	function depths(n, arrows) {
		const depth = new Array(n).fill(-1);

		for (let start = 0; start < n; start++) {
			const queue = depth[start] < 0 ? [start] : [];

			if (queue.length)
				depth[start] = 0;
			for (const from of queue)
				for (const a of arrows.filter(x => x.from === from && depth[x.to] < 0)) {
					depth[a.to] = depth[from] + 1;
					queue.push(a.to);
				}
		}
		return depth;
	}

	function columns(depth, width) {
		const n = Math.max(...depth) + 1, w = Math.min(BOX.most, (width - 2 * EDGE - (n - 1) * BETWEEN) / n);
		const step = n > 1 ? Math.min(w + 3 * BETWEEN, (width - 2 * EDGE - w) / (n - 1)) : 0;
		const inColumn = Array.from({ length: n }, (_, d) => depth.filter(x => x === d).length), most = Math.max(...inColumn);
		const next = new Array(n).fill(0);

		return w < BOX.least ? null : {
			height: most * ROW + 30,
			boxes: depth.map(d => ({
				x: EDGE + d * step, y: 22 + ROW * ((most - inColumn[d]) / 2 + next[d]++), w, h: BOX.h, column: d,
			})),
		};
	}

	function below(depth, width) {
		const order = depth.map((d, i) => [d, i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(([, i]) => i);

		return {
			height: depth.length * ROW + 30,
			boxes: depth.map((_, i) => ({ x: EDGE, y: 22 + ROW * order.indexOf(i), w: width - 2 * EDGE - BESIDE, h: BOX.h, column: 0 })),
		};
	}

	/* The four points of a curve from A to B. */
	function curve(a, b, width) {
		const middle = box => box.y + box.h / 2, right = a.x + a.w;

		if (a === b)
			return [[a.x + a.w * 0.6, a.y], [a.x + a.w * 0.6, a.y - 24], [a.x + a.w * 0.85, a.y - 24], [a.x + a.w * 0.85, a.y]];
		if (a.column === b.column) {
			const y = a.y < b.y ? 6 : -6, out = Math.min(width - EDGE, right + 26 + 0.22 * Math.abs(a.y - b.y));

			return [[right, middle(a) + y], [out, middle(a) + y], [out, middle(b) - y], [b.x + b.w, middle(b) - y]];
		}
		if (a.column < b.column) {
			const half = (b.x - right) / 2;

			return [[right, middle(a)], [right + half, middle(a)], [b.x - half, middle(b)], [b.x, middle(b)]];
		}
		/* back: below both */
		const low = Math.max(a.y, b.y) + a.h + 26;

		return [[a.x + a.w * 0.4, a.y + a.h], [a.x + a.w * 0.4, low], [b.x + b.w * 0.6, low], [b.x + b.w * 0.6, b.y + b.h]];
	}

	/* The point at T of 0 to 1 on the curve. */
	function at(p, t) {
		const s = 1 - t, f = [s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t];

		return [0, 1].map(i => f.reduce((sum, x, k) => sum + x * p[k][i], 0));
	}

	const overlap = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

	/* The place of a label of TEXT on curve P, away from TAKEN, to which it is added; null: there is no room. */
	function label(p, text, taken, width) {
		const w = text.length * CHAR + 4, h = 15;

		for (const t of PLACES) {
			const [cx, cy] = at(p, t), x = Math.min(Math.max(cx - w / 2, 0), width - w), box = { x, y: cy - h / 2, w, h };

			if (taken.some(other => overlap(other, box)))
				continue;
			taken.push(box);
			return box;
		}
		return null;
	}

	/* { height, boxes, arrows: [{ points, label }] } for N nodes and ARROWS [{ from, to, text }], the first of which get labels first. */
	function of(n, arrows, width) {
		const depth = depths(n, arrows), { height, boxes } = columns(depth, width) ?? below(depth, width), taken = boxes.slice();

		return { height, boxes, arrows: arrows.map(a => {
			const points = curve(boxes[a.from], boxes[a.to], width);

			return { points, label: label(points, a.text, taken, width) };
		}) };
	}

	/* TEXT as far as it fits into WIDTH. */
	const fit = (text, width) => text.length * CHAR <= width ? text : text.slice(0, Math.max(1, Math.floor(width / CHAR) - 1)) + '\u2026';

	return { of, at, fit };
})();
