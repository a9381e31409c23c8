/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text and elements. Names in a trace are somebody else's: they get into the page by el() and as text
 * alone, never as markup.
 */
const Dom = (() => {
	/* Characters that show nothing or turn round what stands behind them: shown by their number. */
	const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

	/* Escapes of the trace's files that can be shown as what they are: as fmt_text() of base/fmt.c does. */
	const HARMLESS = /\\04[23]|(?<=[^ ])(?<!\\040)\\040(?=[^ ])(?!\\040)/g;

	/* What S, of whatever type, is as visible text. */
	function safe(s) {
		const text = String(s ?? '').replace(HARMLESS, e => String.fromCharCode(parseInt(e.slice(1), 8)));

		return text.replace(HIDDEN, c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
	}

	/*
	 * A new element: `el('p', { class: 'note', onclick: f }, 'text', element)`. Strings and numbers become
	 * text; null and false are left out.
	 */
	function el(tag, attributes, ...children) {
		const e = document.createElement(tag);

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

	/* Put CHILDREN in place of what E holds. */
	function fill(e, ...children) {
		e.textContent = '';
		add(e, children);
		return e;
	}

	/* Of TEXTS, which need not be there, where there are any: an item each; and under a title that opens and closes it. */
	function items(texts, attributes) {
		return texts?.length > 0 && el('ul', attributes, texts.map(text => el('li', null, text)));
	}

	function fold(title, texts, open) {
		return texts?.length > 0 && el('details', { open }, el('summary', null, `${title} (${texts.length})`), items(texts));
	}

	return { safe, el, fill, items, fold };
})();
const { el, fill, items, fold } = Dom;
