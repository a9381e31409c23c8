/* SPDX-License-Identifier: BSD-2-Clause */
/* Light or dark, by the system or by the user's choice; the colors are those of report.css. */
const Theme = (() => {
	const root = document.documentElement;
	const system = matchMedia('(prefers-color-scheme: dark)');
	const listeners = [];
	let cache = {};
	let chosen = null; /* null: as the system has it */

	/* The value of --NAME. */
	function color(name) {
		return cache[name] ??= getComputedStyle(root).getPropertyValue('--' + name).trim();
	}

	/* COLOR (#rrggbb) at ALPHA. */
	function faint(c, alpha) {
		return c + Math.round(Math.max(0, Math.min(1, alpha)) * 255).toString(16).padStart(2, '0');
	}

	const dark = () => root.dataset.theme === 'dark';

	function changed() {
		cache = {};
		for (const f of listeners)
			f();
	}

	function set(name) {
		root.dataset.theme = name;
		changed();
	}

	const follow = () => set(chosen ?? (system.matches ? 'dark' : 'light'));

	function toggle() {
		chosen = dark() ? 'light' : 'dark';
		follow();
	}

	system.addEventListener('change', follow);
	/* Paper is white. */
	addEventListener('beforeprint', () => set('light'));
	addEventListener('afterprint', follow);

	return { color, faint, dark, toggle, onchange: f => listeners.push(f) };
})();
