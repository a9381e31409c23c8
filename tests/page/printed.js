/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a page is on paper: it is printed to a PDF, which pdftoppm (poppler-utils) turns into pixels, so that a chart that
 * is blank there is seen to be so.
 */
'use strict';

const { execFileSync, spawnSync } = require('node:child_process');

const there = spawnSync('pdftoppm', ['-v']).error === undefined;
const LEAST = 48; /* of a pixel with a color: between its channels; bands of phases have less */

/* The sheets of PDF: { width, height, at(x, y) -> [r, g, b] }. */
function sheets(pdf) {
	const ppm = execFileSync('pdftoppm', ['-r', '96', '-'], { input: pdf, maxBuffer: 1 << 30 }), all = [];

	for (let i = 0; i < ppm.length;) {
		const head = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(ppm.subarray(i, i + 40).toString('latin1'));
		const width = Number(head[1]), height = Number(head[2]), from = i + head[0].length;

		all.push({ width, height, at: (x, y) => ppm.subarray(from + 3 * (y * width + x), from + 3 * (y * width + x) + 3) });
		i = from + 3 * width * height;
	}
	return all;
}

const markOf = i => [1, 2 * i + 1, 254];

/* The border by which the plot of the panel I is found on paper. */
async function mark(p) {
	await p.evaluate(() => Panel.all.forEach((panel, i) => {
		panel.plot.style.borderLeft = `6px solid rgb(1 ${2 * i + 1} 254)`;
	}));
}

/*
 * Prints P, an opened page. Returns [{ title, rows, colored }] of each panel that is on: how many rows of pixels its plot has
 * on the sheets, and how many pixels with a color beside its mark.
 */
async function printed(p) {
	await mark(p);
	const pdf = await p.pdf({ format: 'A4' }), titles = await p.evaluate(() => Panel.all.map(x => x.on && x.title));
	const found = new Map(titles.map((title, i) => [markOf(i).join(), { title, rows: 0, colored: 0 }]).filter(([, x]) => x.title));

	for (const { width, height, at } of sheets(pdf))
		for (let y = 0; y < height; y++) {
			const panel = found.get(at(3, y).join());

			if (!panel)
				continue;
			panel.rows++;
			for (let x = 8; x < width; x++) {
				const [r, g, b] = at(x, y);

				if (Math.max(r, g, b) - Math.min(r, g, b) >= LEAST)
					panel.colored++;
			}
		}
	return { panels: [...found.values()], pdf };
}

module.exports = { printed, there };
