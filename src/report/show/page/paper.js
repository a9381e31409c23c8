/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Panels on paper. Chromium prints a canvas that is drawn in beforeprint by these operations alone, and if it was drawn
 * before, too, nothing of it; a new canvas becomes lines and text of the PDF. So each panel gets one for the print,
 * drawn for a sheet's width.
 */
const Paper = (() => {
	const WIDTH = 760; /* of a sheet of A4 or letter, in CSS pixels */
	const SHARPNESS = 3; /* for browsers that print pixels */

	/* PANEL as its body sees it, but as wide as a sheet, and with one canvas for all that is drawn. */
	function sheet(panel) {
		const canvas = el('canvas', { class: 'sheet', 'aria-hidden': 'true' });
		const ctx = panel.context(canvas, WIDTH, panel.body.height, SHARPNESS);

		canvas.style.width = canvas.style.height = '';
		return Object.assign(Object.create(panel), { canvas, width: WIDTH, paper: true, context: () => ctx });
	}

	function lay() {
		take();
		for (const panel of Panel.all.filter(p => p.on)) {
			const on = sheet(panel);

			panel.colorLegend();
			on.drawBack();
			panel.body.draw(on);
			panel.plot.append(on.canvas);
		}
	}

	function take() {
		for (const panel of Panel.all)
			panel.plot.querySelector('.sheet')?.remove();
	}

	addEventListener('beforeprint', lay);
	addEventListener('afterprint', take);
})();
