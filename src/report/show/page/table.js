/* SPDX-License-Identifier: BSD-2-Clause */
/* A table whose heads sort it: numbers from the largest, text from A, in reverse at the second press. */
class Table {
	static WORD = 60; /* characters: of more, no column is as wide */

	/*
	 * COLUMNS: [{ title, value(row), text(value, row), plain, num, hint }]; rows are sorted by value, and text (optional)
	 * shows it. plain: the value has no escapes.
	 */
	constructor(title, columns, rows, note) {
		Object.assign(this, { columns, rows: rows.slice(), by: null, down: false });
		this.body = el('tbody');
		this.heads = columns.map((c, i) => el('th', { scope: 'col', class: c.num && 'num', title: c.hint },
			el('button', { type: 'button', onclick: () => this.sort(i) }, c.title)));
		this.element = el('section', { class: 'table', 'aria-label': title }, el('h3', null, title),
			note && el('p', { class: 'aside' }, note),
			el('div', { class: 'scroll' },
				el('table', null, el('thead', null, el('tr', null, this.heads)), this.body)));
		this.show();
	}

	show() {
		fill(this.body, this.rows.map(row => el('tr', this.picked?.has(row) && { 'aria-current': 'true', tabindex: '-1' }, this.columns.map(c => {
			const v = c.value(row), shown = c.plain ? Dom.plain(v) : v;

			return Table.breakable(el('td', { class: c.num ? 'num' : String(v).length > 12 ? 'text wide' : 'text' }, v == null ? '\u2013' : c.text ? c.text(v, row) :
				String(v).length > 300 ? el('div', { class: 'long' }, shown) : shown));
		}))));
	}

	/*
	 * Lets the text of CELL wrap at blanks, and behind the slashes and commas of paths and lists: within no word, but for
	 * those that are longer than WORD. A browser alone would do it behind hyphens, too, as in options and dates.
	 */
	static breakable(cell) {
		for (const text of [...cell.childNodes].filter(n => n.nodeType === Node.TEXT_NODE)) {
			const parts = text.data.split(/(?<=[/,])(?=[^\s/,])|(?<=\s)(?=\S)/);

			if (parts.some(part => part.length > Table.WORD))
				cell.classList.add('anywhere');
			text.replaceWith(...parts.flatMap((part, i) => [...i && !/\s$/.test(parts[i - 1]) ? [el('wbr')] : [], Table.whole(part)]));
		}
		return cell;
	}

	/* WORD in one line: as text, where that is so anyway. */
	static whole(word) {
		if (!word.includes('-') || word.length > Table.WORD)
			return word;
		const span = el('span', { class: 'word' });

		span.textContent = word;
		return span;
	}

	/* Marks the rows for which TEST is true, and goes to the first one. */
	pick(test) {
		this.picked = new Set(this.rows.filter(test));
		this.show();
		const first = this.body.querySelector('[aria-current]') ?? this.element;

		first.scrollIntoView({ block: 'center' });
		first.focus({ preventScroll: true });
	}

	sort(i) {
		const c = this.columns[i];

		this.down = this.by === i ? !this.down : !!c.num;
		this.by = i;
		this.heads.forEach((h, k) => k === i ? h.setAttribute('aria-sort', this.down ? 'descending' : 'ascending') :
			h.removeAttribute('aria-sort'));
		this.rows.sort((a, b) => this.compare(c.value(a), c.value(b)));
		this.show();
	}

	/* Unknown values come last in both directions. */
	compare(a, b) {
		if (a == null || b == null)
			return (a == null) - (b == null);
		const order = typeof a === 'number' && typeof b === 'number' ? a - b :
			String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;

		return this.down ? -order : order;
	}
}
