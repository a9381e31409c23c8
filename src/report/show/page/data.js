/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page's data: the object of `dltraced report --json`. Times become ns since the timeline's begin, since CLOCK_MONOTONIC
 * may one day exceed a number of JavaScript. Any part may be missing.
 */
const Data = (() => {
	const report = JSON.parse(document.getElementById('report').textContent);
	const timeline = report.timeline || null;
	const begin = timeline ? Number(timeline.begin_ns) : 0;
	const span = timeline ? Math.max(1, Number(timeline.end_ns) - begin) : 1;
	const bin = timeline && timeline.bin_ns || span;
	const bins = timeline && timeline.bins || 0;
	const list = key => timeline && Array.isArray(timeline[key]) ? timeline[key] : [];
	const since = t => Number(t) - begin;

	/* The first index of the ascending array T whose value is at least V. */
	function lower(t, v) {
		let lo = 0, hi = t.length;

		while (lo < hi) {
			const mid = (lo + hi) >> 1;

			if (t[mid] < v)
				lo = mid + 1;
			else
				hi = mid;
		}
		return lo;
	}

	/*
	 * A series: values[i] held from `from(i)` to `to(i)`, NaN where it is not known. With bins, that is the bin, as far
	 * as the trace reaches. A sample of a collector is the mean of the interval that it ends; where these are shorter
	 * than a bin, the value is the mean of those in the bin, and T the bin's middle.
	 */
	class Series {
		constructor(row, ends) {
			this.panel = String(row.panel);
			this.host = row.host == null ? '' : String(row.host); /* of several: whose it is */
			this.name = String(row.name);
			this.unit = Dom.safe(row.unit);
			this.sampled = !!row.t;
			this.values = Float64Array.from(row.values || [], v => v === null ? NaN : Number(v));
			this.step = this.sampled ? interval(ends) : bin;
			this.ends = this.sampled && this.step < 1.5 * bin ? ends.map(t => t + this.step / 2) : ends;
			this.traced = traced.get(this.host) || [0, span];
		}

		from(i) {
			if (!this.sampled)
				return i * bin;
			return i > 0 && this.ends[i] - this.ends[i - 1] < 2.5 * this.step ?
				this.ends[i - 1] : this.ends[i] - this.step;
		}

		to(i) {
			return this.ends[i];
		}

		/* The index of the value at T, -1 where there is none. */
		index(t) {
			const i = lower(this.ends, t + 1e-3);

			return i < this.values.length && this.from(i) <= t ? i : -1;
		}

		/* NaN where it is not known. */
		at(t) {
			const i = this.index(t);

			return i < 0 ? NaN : this.values[i];
		}

		/* Sum (over time, in unit times seconds), mean and max from T0 to T1. */
		stats(t0, t1) {
			let sum = 0, time = 0, max = NaN;

			for (let i = lower(this.ends, t0); i < this.values.length && this.from(i) < t1; i++) {
				const v = this.values[i], from = Math.max(t0, this.from(i), this.sampled ? 0 : this.traced[0]);
				const to = Math.min(t1, this.to(i), this.sampled ? Infinity : this.traced[1]);

				if (isNaN(v) || to <= from)
					continue;
				sum += v * (to - from);
				time += to - from;
				max = isNaN(max) || v > max ? v : max;
			}
			return { sum: sum / 1e9, mean: time ? sum / time : NaN, max };
		}
	}

	/* The times of a process's steps, each as long as its step; of several that are joined, the longest. */
	class Steps extends Series {
		constructor(lane) {
			const rows = (Array.isArray(lane.steps) ? lane.steps : []).slice().sort((a, b) => a[0] - b[0]);

			super({ panel: 'steps', name: lane.pid, unit: 'ns', host: lane.host, t: true, values: rows.map(row => row[2]) },
				Float64Array.from(rows, row => row[0] + row[1]));
			this.begins = Float64Array.from(rows, row => row[0]);
			this.ends = Float64Array.from(rows, row => row[0] + row[1]);
			this.joined = lane.steps_joined || 1;
		}

		from(i) {
			return this.begins[i];
		}
	}

	/* The median of the distances. */
	function interval(t) {
		const d = Array.from(t.subarray(1), (v, i) => v - t[i]).sort((a, b) => a - b);

		return d.length ? d[d.length >> 1] : 1e9;
	}

	/* With several hosts: the part of the axis that each was traced in. */
	const traced = new Map(list('hosts').map(h => [String(h.host), [since(h.begin_ns), since(h.end_ns)]]));
	const binEnds = Float64Array.from({ length: bins }, (_, i) => Math.min((i + 1) * bin, Math.max(span, i * bin + 1)));
	const series = list('series').map(row => new Series(row, binEnds))
		.concat(list('sampled').map(row => new Series(row, Float64Array.from(row.t || [], since))));

	/* [[bin, ...]] sorted, since drawing searches for the first one. */
	const sparse = rows => (Array.isArray(rows) ? rows : []).slice().sort((a, b) => a[0] - b[0]);
	const between = row => ({ ...row, begin: since(row.begin_ns), end: since(row.end_ns) });

	return {
		report, timeline, span, bin, bins, series, lower,
		laneBin: timeline && timeline.lane_bin_ns || bin,
		beginUtc: timeline ? timeline.begin_utc : report.started,
		heat: list('heat').map(h => ({ ...h, counts: sparse(h.counts) })),
		/* single calls and requests, the longest of each bin: [begin, end, PID] by their begins */
		events: list('events').map(e => ({
			name: String(e.name), host: e.host == null ? '' : String(e.host), each: e.each,
			rows: (Array.isArray(e.rows) ? e.rows : []).map(([from, ns, pid]) => [from, from + ns, pid]).sort((a, b) => a[0] - b[0] || b[1] - a[1]),
		})),
		memory: list('memory').map(m => ({
			...m, begin: since(m.begin_ns),
			...Object.fromEntries(['sources', 'rects', 'parts', 'names'].map(k => [k, Array.isArray(m[k]) ? m[k] : []])),
			blocks: (Array.isArray(m.blocks) ? m.blocks : []).map(([from, to, y, lines, bytes, pid, site]) => ({
				begin: since(from), end: since(to), y, lines, bytes, pid, stack: m.stacks?.[site],
			})),
		})),
		lanes: list('lanes').map(l => ({
			...between(l),
			busy: Object.fromEntries(['read', 'write', 'open', 'fault', 'other'].map(k => [k, sparse(l.busy && l.busy[k])])),
			cpu: l.busy && l.busy.cpu ? sparse(l.busy.cpu) : null,
			/* [from, to, kind] of single calls, by their begins */
			longest: ['read', 'write', 'open', 'fault', 'other'].flatMap(k => (Array.isArray(l.longest?.[k]) ? l.longest[k] : [])
				.map(([from, ns]) => [from, from + ns, k])).sort((a, b) => a[0] - b[0]),
		})),
		lanesLeftOut: timeline && timeline.lanes_left_out || 0,
		regions: list('regions').map(l => ({
			...between(l),
			spans: Object.fromEntries(['fetch', 'compute', 'checkpoint', 'comm'].map(k => [k, (Array.isArray(l.spans?.[k]) ? l.spans[k] : [])
				.map(([from, ns]) => [from, from + ns])])),
			steps: new Steps(l),
		})),
		/* several phases listed as one have their number in the name */
		phases: list('phases').map(between).map(p => ({
			...p, name: `${p.host ? `${p.host}: ` : ''}${p.name}${p.merged ? ` \u00d7 ${p.merged}` : ''}`,
		})).sort((a, b) => a.begin - b.begin || b.end - a.end),
		phasesMerged: timeline && timeline.phases_merged || 0,
		gaps: list('gaps').map(between).map(g => ({ ...g, what: g.merged ? `${g.what}, and ${g.merged - 1} more` : g.what })),
	};
})();
