/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and instants as text: three digits and a unit, as in the report on the terminal. */
const Format = (() => {
	const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'], DECIMAL = ['', 'k', 'M', 'G'];
	/* Units and their larger ones: the factor, then the units' names in order. */
	const SCALES = {
		'B': [1024, BINARY.map(p => p + 'B')],
		'B/s': [1024, BINARY.map(p => p + 'B/s')],
		'1/s': [1000, DECIMAL.map(p => p + '/s')],
		'ns': [1000, ['ns', 'us', 'ms', 's']],
		'MiB': [1024, BINARY.slice(2).map(p => p + 'B')],
		'': [1000, DECIMAL],
	};
	/* The unit of a rate's sum over time: [unit, factor]. */
	const SUMS = { 'B/s': ['B', 1], '1/s': ['', 1], 's/s': ['ns', 1e9] };

	/* TABLE's own member only: a name in a trace may be `constructor`. */
	const own = (table, key) => Object.hasOwn(table, key) ? table[key] : undefined;

	/* { divisor, unit } that suits MAX best. */
	function scale(unit, max) {
		const [factor, names] = own(SCALES, unit) || [1, [unit]];
		let k = 0;

		while (k + 1 < names.length && max >= factor ** (k + 1))
			k++;
		return { divisor: factor ** k, unit: names[k] };
	}

	/* As printf rounds: a half goes to the even neighbor. */
	function fixed(v, decimals) {
		const p = 10 ** decimals;

		return Number.isInteger(v * 8) && Math.abs(v * p) % 1 === 0.5 ? (2 * Math.round(v * p / 2) / p).toFixed(decimals) :
			v.toFixed(decimals);
	}

	function digits(v) {
		const a = Math.abs(v);

		if (a === 0)
			return '0';
		if (a >= 1e15)
			return v.toExponential(2);
		return fixed(v, a >= 99.95 ? 0 : a >= 9.995 ? 1 : a >= 0.01 ? 2 : 4);
	}

	/* V of UNIT, to the digit as on the terminal; a dash where it is not known. */
	function value(v, unit) {
		if (v == null || !isFinite(v))
			return '\u2013';
		const [factor, names] = own(SCALES, unit) || [1, [unit]];
		let k = 0, s = v;

		for (; k + 1 < names.length && Math.abs(s) >= (k ? factor - 0.5 : factor); k++)
			s /= factor;
		return `${k === 0 && Number.isInteger(v) ? v : digits(s)}${names[k] ? ' ' + names[k] : ''}`;
	}

	/* A count, and what follows it for 1 or for others. */
	function counted(n, one, others) {
		return `${count(n)} ${n === 1 ? one : others}`;
	}

	/* A count, with all digits. */
	function count(v) {
		return v == null ? '\u2013' : Number(v).toLocaleString('en').replace(/,/g, '\u202f');
	}

	/* A share of CPU time, as on the terminal. */
	function share(part, whole) {
		return whole ? `${fixed(100 * (part || 0) / whole, 1)} %` : '\u2013';
	}

	/* As on the terminal. */
	function percent(share) {
		return share == null ? '\u2013' : `${fixed(share * 100, 1)} %`;
	}

	/* The sum over time of a rate in UNIT, or null where it has no meaning. */
	function sum(v, unit) {
		const s = own(SUMS, unit);

		return s ? value(v * s[1], s[0]) : null;
	}

	/* About N round values from 0 to MAX, in the unit that suits MAX: [values]. */
	function ticks(unit, max, n) {
		const d = scale(unit, max).divisor;
		const step = nice(max / d / n) * d, all = [];

		for (let v = 0; v <= max * 1.0001; v += step)
			all.push(v);
		return all;
	}

	/* The next 1, 2 or 5 times a power of ten. */
	function nice(v) {
		const p = 10 ** Math.floor(Math.log10(v || 1));
		const m = v / p;

		return (m <= 1 ? 1 : m <= 2 ? 2 : m <= 5 ? 5 : 10) * p;
	}

	/* A tick's label on an axis up to MAX. */
	function tick(v, unit, max) {
		const s = scale(unit, max);

		return `${+(v / s.divisor).toPrecision(6)}${s.unit ? ' ' + s.unit : ''}`;
	}

	return { own, value, count, counted, percent, share, fixed, sum, ticks, tick, nice, digits };
})();
