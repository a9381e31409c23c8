/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of the page: what a user sees and does in a browser, on reports of synth.js, which nobody recorded, and
 * on a trace of tests/golden. `node page.js [PATTERN]`, by way of run; SHOTS=DIR: pictures of all of them there.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { chromium } = require('../../src/page/node_modules/playwright-core');
const { REPORTS, EVIL } = require('./synth.js');

const root = path.resolve(__dirname, '../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dltraced-page-'));
const big = { maxBuffer: 1 << 28 };
const DEADLINE = 120e3; /* of a busy machine */
let browser;

/* --- pages ---------------------------------------------------------------------------------------- */

/* The page around REPORT as a file, by the program's own code. */
function written(name, report, { uplot = true } = {}) {
	const file = path.join(folder, `${name}${uplot ? '' : '-plain'}.html`);
	let html = execFileSync(path.join(root, 'build/tests/page'), { input: JSON.stringify(report), ...big }).toString();

	if (!uplot) {
		const json = /<script type="application\/json" id="report">(.*)<\/script>/.exec(html)[1];

		html = execFileSync(path.join(root, 'src/page/assemble'), big).toString().replace('@data@', () => json);
	}
	fs.writeFileSync(file, html);
	return file;
}

/* FILE opened, with what it logs and asks for in p.errors and p.requests. */
async function opened(file, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1300, height: 900 }, ...options });
	const p = await context.newPage();

	p.setDefaultTimeout(DEADLINE);
	p.panel = title => p.locator(`.panel[aria-label="${title}"]`);
	p.errors = [];
	p.requests = [];
	p.on('console', m => ['error', 'warning'].includes(m.type()) && p.errors.push(m.text()));
	p.on('pageerror', e => p.errors.push(e.stack));
	p.on('request', r => p.requests.push(r.url()));
	await p.goto('file://' + file);
	await drawn(p);
	return p;
}

/* All panels, seen or not, as they are now; uPlot draws in a microtask. */
async function drawn(p) {
	await p.evaluate(() => new Promise(done => {
		Panel.drawAll();
		requestAnimationFrame(() => requestAnimationFrame(done));
	}));
}

/* { title: a number that tells pictures apart, colours: how many } of each panel that is on. */
function pictures(p) {
	return p.evaluate(() => Panel.all.filter(x => x.on).map(x => {
		const canvas = x.host.querySelector('canvas'), seen = new Set();
		const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });

		copy.drawImage(canvas, 0, 0);
		const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
		const pixels = new Uint32Array(data.buffer);
		const left = Math.ceil(Panel.LEFT * devicePixelRatio);
		let sum = 0;

		for (let i = 0; i < pixels.length; i++) {
			sum = (Math.imul(sum, 31) + pixels[i]) | 0;
			if (i % canvas.width > left)
				seen.add(pixels[i]);
		}
		return { title: x.title, sum, colours: seen.size };
	}));
}

async function close(p) {
	assert.deepEqual(p.errors, []);
	await p.context().close();
}

/* The middle of the plot of the panel TITLE, in sight: { x(share), y }. */
async function plot(p, title) {
	const section = p.panel(title);

	await section.scrollIntoViewIfNeeded();
	const box = await section.locator('.plot').boundingBox();
	const [left, right] = await p.evaluate(() => [Panel.LEFT, Panel.RIGHT]);

	return { x: share => box.x + left + (box.width - left - right) * share, y: box.y + box.height / 2 };
}

const shownRange = p => p.evaluate(() => [View.state.t0, View.state.t1]);

async function drag(p, where, from, to) {
	await p.mouse.move(where.x(from), where.y);
	await p.mouse.down();
	await p.mouse.move(where.x((from + to) / 2), where.y);
	await p.mouse.move(where.x(to), where.y);
	await p.mouse.up();
	await drawn(p);
}

const changed = (a, b) => a.filter(x => b.find(y => y.title === x.title)?.sum !== x.sum).map(x => x.title);

/* Three digits, as the report on the terminal has them; written here once more to check the page. */
function three(v, units, base) {
	let k = 0;

	while (k + 1 < units.length && v >= base) {
		v /= base;
		k++;
	}
	return `${k === 0 ? v : v >= 99.95 ? v.toFixed(0) : v >= 9.995 ? v.toFixed(1) : v.toFixed(2)} ${units[k]}`;
}
const bytes = v => three(v, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
/* What shows nothing, or turns round what stands behind it, by its number. */
const visible = s => s.replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
	c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const ns = v => three(v, ['ns', 'us', 'ms', 's'], 1000);

/* --- tests ---------------------------------------------------------------------------------------- */

const tests = {
	async every_report_loads_without_an_error_or_a_request() {
		for (const [name, make] of Object.entries(REPORTS)) {
			for (const uplot of [true, false]) {
				const file = written(name, make(), { uplot });

				assert(fs.statSync(file).size < 5 << 20, `${name}: ${fs.statSync(file).size} bytes`);
				const p = await opened(file);

				assert.deepEqual(p.requests, ['file://' + file], name);
				if (process.env.SHOTS)
					await p.screenshot({ path: path.join(process.env.SHOTS, `${path.basename(file)}.png`), fullPage: true });
				assert.deepEqual(p.errors, [], name);
				await close(p);
			}
		}
	},

	async nothing_may_be_fetched() {
		const p = await opened(written('training', REPORTS.training()));
		const policy = await p.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');

		assert.equal(policy, "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:");
		assert.equal(await p.evaluate(() => fetch('file:///etc/hostname').then(() => 'fetched', () => 'refused')), 'refused');
		await p.context().close();
	},

	async no_panel_is_blank() {
		for (const uplot of [true, false]) {
			const p = await opened(written('training', REPORTS.training(), { uplot }));
			const all = await pictures(p);

			assert.equal(await p.evaluate(() => UplotPlot.available), uplot);
			for (const group of ['Phases', 'CPU, all', 'CPU, each: busy', 'GPU, mean of all', 'GPU, each: sm', 'GPU, each: frame buffer',
				'Files: bytes read and written', 'Files: reads and writes', 'Files: other calls', 'Disk sda: bytes', 'Disk sda: requests',
				'Disk sda: mean latency', 'Latency: bio read', 'Latency: open', 'Threads: running and waiting', 'Processes', 'Time'])
				assert(all.some(x => x.title === group), `no panel ${group}`);
			assert.deepEqual(all.filter(x => x.colours < 3 && x.title !== 'Time').map(x => x.title), []);
			await close(p);
		}
	},

	async a_drag_zooms_all_panels_and_a_double_click_shows_all() {
		const p = await opened(written('training', REPORTS.training()));
		const before = await pictures(p), where = await plot(p, 'Files: bytes read and written');

		await drag(p, where, 0.25, 0.5);
		const [t0, t1] = await shownRange(p);

		assert(Math.abs(t0 / 120e9 - 0.25) < 0.01 && Math.abs(t1 / 120e9 - 0.5) < 0.01, `${t0} to ${t1}`);
		assert.deepEqual(changed(before, await pictures(p)), before.map(x => x.title));
		await p.mouse.dblclick(where.x(0.5), where.y);
		await drawn(p);
		assert.deepEqual(await shownRange(p), [0, 120e9]);
		assert.deepEqual(changed(before, await pictures(p)), []);
		await close(p);
	},

	async hovering_shows_the_values_of_all_panels() {
		const report = REPORTS.training(), p = await opened(written('training', report));
		const where = await plot(p, 'Files: bytes read and written');

		await p.mouse.move(where.x(0.4), where.y);
		await p.mouse.move(where.x(0.5), where.y);
		const t = await p.evaluate(() => View.state.cursor), read = report.timeline.series[0].values[Math.floor(t / report.timeline.bin_ns)];

		await p.evaluate(() => Panel.drawAll());
		assert((await p.locator('#tip').innerText()).includes(bytes(read) + '/s'), await p.locator('#tip').innerText());
		for (const title of ['Files: bytes read and written', 'CPU, all', 'Disk sda: requests', 'GPU, mean of all'])
			assert.match(await p.panel(title).locator('.legend .value').first().innerText(), /\d/, title);
		await close(p);
	},

	async statistics_of_a_range_are_those_of_the_report() {
		const report = REPORTS.training(), { series, bin_ns } = report.timeline, p = await opened(written('training', report));
		const row = async name => (await p.locator('#range tbody tr', { hasText: name }).first().locator('td').allInnerTexts()).slice(1);
		const sum = v => v.reduce((a, x) => a + x, 0) * bin_ns / 1e9;

		await p.keyboard.press('s');
		const all = series[0].values;

		assert.deepEqual(await row('Files: bytes read and written'), ['read', bytes(sum(all)), bytes(sum(all) / 120) + '/s', bytes(Math.max(...all)) + '/s']);
		await p.keyboard.press('Escape');
		assert(await p.locator('#range').isHidden());

		/* a quarter of it, with Shift; as exact as a pointer is */
		const where = await plot(p, 'Files: bytes read and written');

		await p.keyboard.down('Shift');
		await drag(p, where, 0.25, 0.5);
		await p.keyboard.up('Shift');
		const [from, to] = await p.evaluate(() => View.state.range);
		const part = all.reduce((a, v, i) => a + v * Math.max(0, Math.min(to, (i + 1) * bin_ns) - Math.max(from, i * bin_ns)), 0) / 1e9;

		assert.equal((await row('Files: bytes read and written'))[1], bytes(part));
		assert.deepEqual(await shownRange(p), [0, 120e9]);
		await p.keyboard.press('z');
		assert.deepEqual(await shownRange(p), [from, to]);
		await close(p);
	},

	async series_and_panels_can_be_switched_off() {
		for (const uplot of [true, false]) {
			const p = await opened(written('training', REPORTS.training(), { uplot })), before = await pictures(p);

			for (const title of ['Files: bytes read and written', 'CPU, all', 'Processes']) {
				const section = p.panel(title);

				await section.locator('.legend button').first().click();
				assert.equal(await section.locator('.legend button').first().getAttribute('aria-pressed'), 'false');
			}
			await drawn(p);
			assert.deepEqual(changed(before, await pictures(p)).sort(), ['CPU, all', 'Files: bytes read and written', 'Processes']);
			await p.locator('.menu summary').click();
			await p.getByRole('checkbox', { name: 'Files: other calls' }).uncheck();
			assert(await p.panel('Files: other calls').isHidden());
			assert(!(await pictures(p)).some(x => x.title === 'Files: other calls'));
			await close(p);
		}
	},

	async it_works_with_the_keyboard() {
		const p = await opened(written('training', REPORTS.training())), before = await pictures(p);

		await p.keyboard.press('+');
		const [a0, a1] = await shownRange(p);

		assert.deepEqual([a0, a1], [30e9, 90e9]);
		await p.keyboard.press('ArrowRight');
		assert.deepEqual(await shownRange(p), [42e9, 102e9]);
		await p.keyboard.press('ArrowLeft');
		await p.keyboard.press('-');
		assert.deepEqual(await shownRange(p), [0, 120e9]);
		await p.keyboard.press('.');
		await p.keyboard.press('r');
		await p.keyboard.press('.');
		await p.keyboard.press('r');
		assert(await p.locator('#range').isVisible());
		await p.keyboard.press('Escape');
		await p.keyboard.press('Escape');
		assert.equal(await p.evaluate(() => View.state.cursor), null);
		await p.keyboard.press('?');
		assert(await p.locator('#help').isVisible());
		await p.keyboard.press('Escape');
		assert(await p.locator('#help').isHidden());
		await p.keyboard.press('u');
		await drawn(p);
		assert.deepEqual(changed(before, await pictures(p)), ['Time']);
		const seen = new Set();

		for (let i = 0; i < 40; i++) {
			await p.keyboard.press('Tab');
			seen.add(await p.evaluate(() => document.activeElement.getAttribute('aria-label') || document.activeElement.textContent));
		}
		assert(seen.has('CPU, all') && seen.has('Statistics'), [...seen].join('; '));
		await close(p);
	},

	async light_and_dark_are_different_and_print_is_light() {
		const file = written('training', REPORTS.training()), light = await opened(file, { colorScheme: 'light' });
		const dark = await opened(file, { colorScheme: 'dark' });
		const colour = p => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const first = await colour(light);

		assert.notEqual(first, await colour(dark));
		assert.equal(changed(await pictures(light), await pictures(dark)).length, (await pictures(light)).length);
		await dark.keyboard.press('t');
		assert.equal(await colour(dark), first);
		await light.emulateMedia({ media: 'print' });
		assert(await light.locator('#tools').isHidden());
		assert(await light.locator('.panel').first().isVisible());
		await close(light);
		await close(dark);
	},

	async hostile_names_stay_text() {
		for (const uplot of [true, false]) {
			const p = await opened(written('hostile', REPORTS.hostile(), { uplot }));
			const where = await plot(p, 'Processes');

			await p.keyboard.press('s');
			await p.mouse.move(where.x(0.5), where.y);
			await p.mouse.move(where.x(0.51), where.y + 20);
			assert.equal(await p.evaluate(() => window.evil), undefined);
			assert.equal(await p.locator('body :is(img, svg, iframe, object, a, script:not(#report):not(:last-of-type))').count(), 0);
			assert.equal(await p.locator('script').count(), 2);
			assert.equal(await p.locator('b', { hasText: 'octal' }).count(), 0);
			const text = await p.evaluate(() => document.body.textContent);

			for (const e of EVIL) {
				assert(text.includes(visible(e)), `not on the page: ${visible(e).slice(0, 60)}`);
			}
			assert.doesNotMatch(await p.evaluate(() => document.querySelector('main').innerText), /[\u202a-\u202e\u2066-\u2069]/);
			await close(p);
		}
	},

	async tables_have_the_numbers_of_the_report_and_sort() {
		const report = REPORTS.training(), p = await opened(written('training', report));
		const table = p.getByRole('region', { name: 'Files with the most bytes', exact: true });
		const column = async i => (await table.locator('tbody tr').all()).length &&
			Promise.all((await table.locator('tbody tr').all()).map(r => r.locator('td').nth(i).innerText()));

		assert.deepEqual(await column(0), report.files_by_bytes.map(f => f.path));
		assert.deepEqual(await column(2), report.files_by_bytes.map(f => bytes(f.read_bytes)));
		assert.deepEqual(await column(5), report.files_by_bytes.map(f => ns(f.time_ns)));
		await table.getByRole('button', { name: 'File', exact: true }).click();
		assert.deepEqual(await column(0), report.files_by_bytes.map(f => f.path).sort());
		await table.getByRole('button', { name: 'File', exact: true }).click();
		assert.deepEqual(await column(0), report.files_by_bytes.map(f => f.path).sort().reverse());
		await table.getByRole('button', { name: 'Time' }).click();
		assert.deepEqual(await column(5), report.files_by_bytes.map(f => f.time_ns).sort((a, b) => b - a).map(ns));
		assert.match(await p.locator('#facts').innerText(), /17 of vfs_rw/);
		assert.match(await p.locator('#answer').innerText(), /waited for reads from storage\s*61\.0 %/);
		await close(p);
	},

	async what_is_missing_is_said_with_what_would_bring_it() {
		const p = await opened(written('empty', REPORTS.empty()));

		assert.match(await p.locator('#missing').innerText(), /CPU use: comes from the collector cpu/);
		assert.match(await p.locator('#missing').innerText(), /--probes \+sched/);
		await close(p);
		const bare = await opened(written('bare', REPORTS.bare()));

		assert.match(await bare.locator('#panels').innerText(), /has no timeline/);
		await close(bare);
	},

	async the_page_of_a_trace_holds_what_json_says() {
		const dltraced = path.join(root, 'build/dltraced');

		for (const name of ['trace-small', 'trace-hostile', 'trace-cut']) {
			const trace = path.join(root, 'tests/golden', name), file = path.join(folder, `${name}.html`);

			execFileSync(dltraced, ['report', '--html', file, trace], big);
			const json = JSON.parse(execFileSync(dltraced, ['report', '--json', trace], big));
			const p = await opened(file);

			assert.deepEqual(await p.evaluate(() => Data.report), json);
			assert.equal(await p.evaluate(() => window.evil), undefined);
			for (const f of json.files_by_bytes)
				assert((await p.locator('#tables').textContent()).includes(visible(f.path ?? '\u2013')), String(f.path));
			await close(p);
		}
	},

	async hosts_of_one_job_are_on_one_page() {
		const dltraced = path.join(root, 'build/dltraced'), file = path.join(folder, 'job.html');
		const dirs = ['trace-small', 'trace-other'].map(d => path.join(root, 'tests/golden', d));

		execFileSync(dltraced, ['report', '--html', file, ...dirs], big);
		const p = await opened(file), text = await p.locator('#tables').textContent();

		for (const title of ['node1: Files: bytes read and written', 'node2: Files: bytes read and written', 'node1: Latency: read'])
			assert.equal(await p.panel(title).count(), 1, title);
		assert.match(await p.locator('#facts').innerText(), /node1, node2/);
		assert.match(await p.locator('#facts').innerText(), /Between hosts\s*error not known/);
		assert(text.includes('/out/ckpt.pt') && text.includes('/out/train.log'));
		assert.deepEqual(await p.locator('section.table[aria-label="Hosts"] tbody tr td:first-child').allInnerTexts(), ['node1', 'node2']);
		assert.deepEqual((await pictures(p)).filter(x => x.colours < 2 && x.title !== 'Time').map(x => x.title), []);
		await close(p);
	},

	async a_comparison_is_tables() {
		const dltraced = path.join(root, 'build/dltraced'), file = path.join(folder, 'compare.html');
		const dirs = ['trace-small', 'trace-other', 'trace-hostile'].map(d => path.join(root, 'tests/golden', d));

		execFileSync(dltraced, ['report', '--compare', '--html', file, ...dirs], big);
		const p = await opened(file), run = p.locator('section.table[aria-label="Run"] tbody tr', { hasText: 'lasted' });

		assert.deepEqual((await run.locator('td').allInnerTexts()).slice(0, 4), ['lasted', '2.50 s', '3.00 s', '1.20']);
		assert(await p.locator('#timeline').isHidden());
		assert.match(await p.locator('#missing').textContent(), /\(1\) vfs_rw: 2 lost/);
		assert.equal(await p.evaluate(() => window.evil), undefined);
		await close(p);
	},
};

async function main(pattern) {
	let passed = 0, failed = 0;

	browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'], timeout: DEADLINE });
	for (const [name, test] of Object.entries(tests)) {
		if (pattern && !name.includes(pattern))
			continue;
		try {
			await test();
			passed++;
			console.log(`ok   ${name}`);
		} catch (e) {
			failed++;
			console.log(`${e.stack}\nFAIL ${name}`);
		}
	}
	await browser.close();
	fs.rmSync(folder, { recursive: true });
	console.log(`${passed} passed, ${failed} failed, 0 skipped`);
	process.exitCode = failed ? 1 : 0;
}

main(process.argv[2]);
