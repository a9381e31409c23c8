/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and instants as text: three digits and a unit, as in the report on the terminal. */
const Format = (() => {
	const BINARY = [[1, ''], [2 ** 10, 'Ki'], [2 ** 20, 'Mi'], [2 ** 30, 'Gi'], [2 ** 40, 'Ti'], [2 ** 50, 'Pi']];
	const DECIMAL = [[1, ''], [1e3, 'k'], [1e6, 'M'], [1e9, 'G']];
	/* What a number of UNIT is divided by, and the unit that it has then. */
	const SCALES = {
		'B': BINARY.map(([d, p]) => [d, p + 'B']),
		'B/s': BINARY.map(([d, p]) => [d, p + 'B/s']),
		'1/s': DECIMAL.map(([d, p]) => [d, p + '/s']),
		'ns': [[1, 'ns'], [1e3, 'us'], [1e6, 'ms'], [1e9, 's']],
		'MB': [[1, 'MB'], [1e3, 'GB']],
		'': DECIMAL,
	};
	/* What the sum over time of a rate is: [unit, factor]. */
	const SUMS = { 'B/s': ['B', 1], '1/s': ['', 1], 's/s': ['ns', 1e9] };

	/* What TABLE has of its own: a name in a trace may be `constructor`. */
	const own = (table, key) => Object.hasOwn(table, key) ? table[key] : undefined;

	/* { divisor, unit } in which MAX is best written. */
	function scale(unit, max) {
		let best = [1, unit];

		for (const step of own(SCALES, unit) || [])
			if (step[0] === 1 || max >= step[0])
				best = step;
		return { divisor: best[0], unit: best[1] };
	}

	function digits(v) {
		const a = Math.abs(v);

		if (a === 0)
			return '0';
		if (a >= 1e15)
			return v.toExponential(2);
		return v.toFixed(a >= 99.95 ? 0 : a >= 9.995 ? 1 : a >= 0.01 ? 2 : 4);
	}

	/* V of UNIT; what is not known is a dash. */
	function value(v, unit) {
		if (v == null || !isFinite(v))
			return '\u2013';
		const s = scale(unit, Math.abs(v));
		const whole = s.divisor === 1 && Number.isInteger(v);

		return `${whole ? v : digits(v / s.divisor)}${s.unit ? ' ' + s.unit : ''}`;
	}

	/* A count, to the last digit. */
	function count(v) {
		return v == null ? '\u2013' : Number(v).toLocaleString('en').replace(/,/g, '\u202f');
	}

	function percent(share) {
		return share == null ? '\u2013' : `${digits(share * 100)} %`;
	}

	/* The sum over time of a rate in UNIT, or null where that is nothing. */
	function sum(v, unit) {
		const s = own(SUMS, unit);

		return s ? value(v * s[1], s[0]) : null;
	}

	/* Round numbers from 0 to MAX, about N: [values]. In the unit that MAX is written in. */
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

	/* A tick's label where MAX is the largest. */
	function tick(v, unit, max) {
		const s = scale(unit, max);

		return `${+(v / s.divisor).toPrecision(6)}${s.unit ? ' ' + s.unit : ''}`;
	}

	return { own, value, count, percent, sum, ticks, tick, nice, digits };
})();
