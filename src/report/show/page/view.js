/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state that all panels share: the part of time that is shown, the cursor, the selected range, and how instants are
 * written. Times are ns since the begin.
 */
const View = (() => {
	const listeners = { change: [], cursor: [], range: [] };
	const least = Math.max(1000, Math.min(Data.span, Data.bin) / 100); /* what may be zoomed to */
	const utc0 = parseUtc(Data.beginUtc);
	const state = { t0: 0, t1: Data.span, cursor: null, range: null, utc: utc0 !== null };

	/* ns since 1970 of an RFC 3339 instant, BigInt; null when it is none. */
	function parseUtc(text) {
		const m = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(text || '');
		const ms = m ? Date.parse(m[1] + 'Z') : NaN;

		return isNaN(ms) ? null : BigInt(ms) * 1000000n + BigInt((m[2] || '').padEnd(9, '0'));
	}

	function notify(what) {
		for (const f of listeners[what])
			f();
	}

	/* Shows from T0 to T1, within the data. */
	function set(t0, t1) {
		const width = Math.min(Data.span, Math.max(least, t1 - t0));

		t0 = Math.max(0, Math.min(Data.span - width, t1 - t0 < width ? (t0 + t1 - width) / 2 : t0));
		if (t0 === state.t0 && t0 + width === state.t1)
			return;
		state.t0 = t0;
		state.t1 = t0 + width;
		notify('change');
	}

	const reset = () => set(0, Data.span);

	/* Zooms out by FACTOR; AT stays where it is. */
	function zoom(factor, at = (state.t0 + state.t1) / 2) {
		set(at - (at - state.t0) * factor, at + (state.t1 - at) * factor);
	}

	/* Moves by SHARE of the part that is shown. */
	function pan(share) {
		const d = (state.t1 - state.t0) * share;

		set(state.t0 + d, state.t1 + d);
	}

	function setCursor(t) {
		state.cursor = t == null ? null : Math.max(0, Math.min(Data.span, t));
		notify('cursor');
	}

	/* [T0, T1] or null. */
	function select(range) {
		state.range = range && [Math.max(0, Math.min(...range)), Math.min(Data.span, Math.max(...range))];
		notify('range');
	}

	function setUtc(on) {
		state.utc = on && utc0 !== null;
		notify('change');
	}

	/* --- instants as text --------------------------------------------------------------------- */

	/* T to within PRECISION ns. */
	function label(t, precision = 1, date = false) {
		const decimals = Math.max(0, Math.min(9, Math.ceil(9 - Math.log10(Math.max(1, precision)) - 1e-9)));

		if (!state.utc || utc0 === null)
			return (t / 1e9).toFixed(decimals) + ' s';
		const ns = utc0 + BigInt(Math.round(t));
		const iso = new Date(Number(ns / 1000000n)).toISOString();
		const fraction = String(ns % 1000000000n).padStart(9, '0').slice(0, decimals);

		return (date ? iso.slice(0, 10) + ' ' : '') + iso.slice(11, 19) + (decimals ? '.' + fraction : '');
	}

	/* The alternative to label(). */
	function other(t, precision) {
		state.utc = !state.utc;
		const text = label(t, precision);

		state.utc = !state.utc;
		return text;
	}

	/* Steps of clocks: 1 2 5 of decimal parts, then those of minutes and hours. */
	const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

	function step(width, n) {
		const s = width / n / 1e9;

		if (s < 1)
			return Math.max(1, Format.nice(width / n));
		return (STEPS.find(x => x >= s) || Math.ceil(s / 86400) * 86400) * 1e9;
	}

	/* { t, text } of about N ticks; in UTC they stand on whole numbers of the clock. */
	function ticks(n) {
		const d = step(state.t1 - state.t0, n), all = [];
		const shift = state.utc && utc0 !== null ? Number(utc0 % BigInt(Math.round(d))) : 0;

		for (let k = Math.ceil((state.t0 + shift) / d); k * d - shift <= state.t1; k++) {
			const t = k * d - shift;

			all.push({ t, text: label(t, Math.min(d, 1e9), all.length === 0) });
		}
		return all;
	}

	return {
		state, set, reset, zoom, pan, setCursor, select, setUtc, label, other, ticks,
		hasUtc: utc0 !== null,
		whole: () => state.t0 === 0 && state.t1 === Data.span,
		/* an instant cannot be pointed at more precisely than one of W pixels */
		precision: () => 10 ** Math.floor(Math.log10(Math.max(1, (state.t1 - state.t0) / 2000))),
		on: (what, f) => listeners[what].push(f),
	};
})();
