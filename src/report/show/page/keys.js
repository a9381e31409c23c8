/* SPDX-License-Identifier: BSD-2-Clause */
/* The keyboard: everything that the pointer can do. */
const Keys = (() => {
	const dialog = document.getElementById('help');

	/* By a bin, or by a pixel where that is more time. */
	function step(sign) {
		const { t0, t1, cursor } = View.state, d = Math.max(Math.min(Data.bin, (t1 - t0) / 20), (t1 - t0) / 500);

		View.setCursor(Math.max(t0, Math.min(t1, cursor === null ? (t0 + t1) / 2 : cursor + sign * d)));
	}

	/* Closes the innermost open thing; when nothing is open, shows all of the time again. */
	function escape() {
		if (Panel.dragged)
			return Tip.cancel();
		if (View.state.range)
			return View.select(null);
		if (View.state.cursor !== null)
			return View.setCursor(null);
		View.reset();
	}

	/* Sets two ends, one after the other. */
	let mark = null;

	function end() {
		const t = View.state.cursor;

		if (t === null)
			return;
		if (mark !== null && mark !== t) {
			View.select([mark, t]);
			mark = null;
		} else {
			mark = t;
		}
	}

	const KEYS = [
		[['ArrowLeft'], '\u2190', 'back in time', () => View.pan(-0.2)],
		[['ArrowRight'], '\u2192', 'forward in time', () => View.pan(0.2)],
		[['+', '='], '+', 'zoom in', () => View.zoom(0.5, View.state.cursor ?? undefined)],
		[['-'], '-', 'zoom out', () => View.zoom(2, View.state.cursor ?? undefined)],
		[['0', 'Home'], '0, Home', 'show all', View.reset],
		[['.'], '.', 'cursor forward: the values of all panels at its time', () => step(1)],
		[[','], ',', 'cursor back', () => step(-1)],
		[['r'], 'r', 'select a range: one end at the cursor, then the other', end],
		[['s'], 's', 'statistics of the time shown', () => View.select([View.state.t0, View.state.t1])],
		[['z'], 'z', 'zoom to the selected range', () => View.state.range && View.set(...View.state.range)],
		[['u'], 'u', 'axis: UTC or seconds from start', () => View.setUtc(!View.state.utc)],
		[['t'], 't', 'light or dark', Theme.toggle],
		[['Escape'], 'Esc', 'close statistics, then the cursor, then show all', escape],
		[['?'], '?', 'this list', help],
	];
	const POINTER = [
		['drag', 'zoom all panels to the range'],
		['Shift and drag', 'select a range: sum, mean and max of each series in it'],
		['double click', 'show all'],
		['Ctrl and wheel', 'zoom at the pointer'],
		['click on a phase', 'zoom to the phase'],
		['click on a group of processes', 'close or open the group'],
		['click on the name of a process', 'hide its lane; the menu Lanes shows it again'],
		['click on a name above a panel', 'show or hide the series'],
	];

	function help() {
		if (dialog.open)
			return dialog.close();
		const rows = list => list.map(([key, text]) => el('tr', null, el('td', null, el('kbd', null, key)), el('td', null, text)));

		fill(dialog, el('h2', null, 'Keys and pointer'),
			el('table', null, rows(KEYS.map(k => [k[1], k[2]])), rows([['Tab', 'from panel to panel, and to the names above them'],
				...POINTER])),
			el('form', { method: 'dialog' }, el('button', { autofocus: true }, 'Close')));
		dialog.showModal();
	}

	function press(e) {
		const key = KEYS.find(k => k[0].includes(e.key));

		if (!key || e.ctrlKey || e.altKey || e.metaKey || dialog.open || e.target.closest?.('select, input, textarea'))
			return;
		/* an element that scrolls sideways keeps its arrow keys */
		if (e.key.startsWith('Arrow') && e.target.closest?.('.scroll'))
			return;
		if (e.key === 'Home' && !e.target.closest?.('#timeline'))
			return;
		e.preventDefault();
		key[3]();
	}

	return { listen: () => addEventListener('keydown', press), help };
})();
