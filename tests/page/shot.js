/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shot PAGE PNG [light|dark]: what a browser shows of a report's page, as wide as a README's column and as long as one
 * may want to scroll there: of each kind of panel one or two. By CHROMIUM.
 */
'use strict';

const path = require('node:path');
const { chromium } = require('../../src/report/show/page/node_modules/playwright-core');

async function main(page, png, scheme = 'light') {
	const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'], timeout: 120e3 });
	const p = await browser.newPage({ viewport: { width: 1200, height: 900 }, colorScheme: scheme });

	p.setDefaultTimeout(120e3);
	await p.goto('file://' + path.resolve(page));
	/* as if it were scrolled through; the bar of the axis stays at its place in the page */
	await p.addStyleTag({ content: '#bar { position: static !important; }' }).catch(() => {});
	await p.evaluate(() => {
		const wanted = /^(Where the time|Phases|CPU, all|CPU, each|GPU, mean|Files: (bytes|other)|Latency: (read|write)$|Threads|Processes)/;
		const disk = Panel.all.find(x => /^Disk .*: bytes$/.test(x.title));

		for (const x of Panel.all)
			if (x.group !== 'Axis')
				x.switch(x === disk || wanted.test(x.title));
	});
	await p.evaluate(() => new Promise(done => {
		Panel.drawAll();
		requestAnimationFrame(() => requestAnimationFrame(done));
	}));
	const height = await p.evaluate(() => {
		const all = [...document.querySelectorAll('#panels .panel')].filter(e => !e.hidden);

		return Math.ceil((all.at(-1) ?? document.body).getBoundingClientRect().bottom + scrollY + 8);
	});

	await p.screenshot({ path: png, fullPage: true, clip: { x: 0, y: 0, width: 1200, height } });
	await browser.close();
}

main(...process.argv.slice(2)).catch(e => {
	console.error(e.message);
	process.exitCode = 1;
});
