/* SPDX-License-Identifier: BSD-2-Clause */
/* Text and elements. Names in a trace come from others: they get into the page by el() and as text only, never as markup. */
const Dom = (() => {
	/* Characters that are invisible or reverse the text after them: shown by their number. */
	const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

	/*
	 * Escapes of the trace's files that can be shown as the characters they stand for, as fmt_text() of base/fmt.c does.
	 */
	const HARMLESS = /\\04[23]|\\134(?![0-3][0-7]{2})|(?<=[^ ])(?<!\\040)\\040(?=[^ ])(?!\\040)/g;

	const visible = s => String(s ?? '').replace(HIDDEN, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

	/* S, of any type, as visible text. */
	const safe = s => visible(String(s ?? '').replace(HARMLESS, e => String.fromCharCode(parseInt(e.slice(1), 8))));

	/* Text without escapes, as a command and a folder, in which a backslash is one: as fmt_plain() does. */
	const plain = s => document.createTextNode(visible(s));

	/*
	 * A new element: `el('p', { class: 'note', onclick: f }, 'text', element)`. Strings and numbers become
	 * text; null and false are left out.
	 */
	const el = (tag, attributes, ...children) => made(document.createElement(tag), attributes, children);
	/* The same of a picture. */
	const svg = (tag, attributes, ...children) => made(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

	function made(e, attributes, children) {
		for (const [name, value] of Object.entries(attributes || {})) {
			if (name.startsWith('on'))
				e.addEventListener(name.slice(2), value);
			else if (value === true)
				e.setAttribute(name, '');
			else if (value !== false && value != null)
				e.setAttribute(name, value);
		}
		add(e, children);
		return e;
	}

	function add(e, children) {
		for (const c of children.flat()) {
			if (c == null || c === false)
				continue;
			e.append(c instanceof Node ? c : document.createTextNode(safe(c)));
		}
	}

	/* Puts CHILDREN in place of E's content. */
	function fill(e, ...children) {
		e.textContent = '';
		add(e, children);
		return e;
	}

	/* Lists of TEXTS, if there are any: an item each; and under a title that opens and closes the list. */
	function items(texts, attributes) {
		return texts?.length > 0 && el('ul', attributes, texts.map(text => el('li', null, text)));
	}

	function fold(title, texts, open) {
		return texts?.length > 0 && el('details', { open }, el('summary', null, `${title} (${texts.length})`), items(texts));
	}

	return { safe, visible, plain, el, svg, fill, items, fold };
})();
const { el, fill, items, fold } = Dom;
