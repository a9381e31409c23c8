/* SPDX-License-Identifier: BSD-2-Clause */
/* Light or dark, as the system has it or as was chosen; the colours are those of report.css. */
const Theme = (() => {
	const root = document.documentElement;
	const system = matchMedia('(prefers-color-scheme: dark)');
	const listeners = [];
	let cache = {};

	/* The value of --NAME. */
	function color(name) {
		return cache[name] ??= getComputedStyle(root).getPropertyValue('--' + name).trim();
	}

	/* COLOR (#rrggbb) at ALPHA. */
	function faint(c, alpha) {
		return c + Math.round(Math.max(0, Math.min(1, alpha)) * 255).toString(16).padStart(2, '0');
	}

	function dark() {
		return root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
	}

	function changed() {
		cache = {};
		for (const f of listeners)
			f();
	}

	function set(name) {
		root.dataset.theme = name;
		changed();
	}

	function toggle() {
		set(dark() ? 'light' : 'dark');
	}

	system.addEventListener('change', changed);
	/* Paper is white. */
	let before;
	addEventListener('beforeprint', () => { before = root.dataset.theme; set('light'); });
	addEventListener('afterprint', () => {
		if (before)
			return set(before);
		delete root.dataset.theme;
		changed();
	});

	return { color, faint, dark, toggle, onchange: f => listeners.push(f) };
})();
