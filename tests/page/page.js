/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tests of the page: what a user sees and does in a browser, on reports of synth.js, which nobody recorded, and
 * on a trace of tests/golden. `node page.js [PATTERN]`, by way of run; SHOTS=DIR: pictures of the reports of synth.js there;
 * FIREFOX=PATH: in that one; DLT_BUILD=FOLDER: of the program that is built there, as with a sanitizer.
 */
'use strict';

const assert = require('node:assert');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const playwright = require('../../src/report/show/page/node_modules/playwright-core');
const { sections, findings } = require('./agree.js');
const paper = require('./printed.js');
const { REPORTS, EVIL } = require('./synth.js');

const root = path.resolve(__dirname, '../..'), built = path.resolve(root, process.env.DLT_BUILD || 'build');
const dltraced = path.join(built, 'dltraced');
const golden = name => path.join(root, 'tests/golden', name);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'dltraced-page-'));
const big = { maxBuffer: 1 << 28 };
const DEADLINE = 120e3; /* for a busy machine */
let browser;

const { FIREFOX, CHROMIUM } = process.env;

/*
 * Starts CHROMIUM or, where FIREFOX names one, a distribution's Firefox by WebDriver BiDi. Firefox keeps automation's
 * setting for the separation of files, and cannot emulate media.
 */
function launched(dark = false) {
	if (!FIREFOX)
		return playwright.chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'], timeout: DEADLINE });
	return playwright.firefox.launch({
		channel: 'moz-firefox', executablePath: FIREFOX, timeout: DEADLINE,
		firefoxUserPrefs: { 'security.fileuri.strict_origin_policy': true, 'layout.css.prefers-color-scheme.content-override': dark ? 0 : 1 },
	});
}

/* --- pages ---------------------------------------------------------------------------------------- */

/* Writes the page of REPORT as a file, with the program's own code. */
function written(name, report, { uplot = true } = {}) {
	const file = path.join(folder, `${name}${uplot ? '' : '-plain'}.html`);
	let html = execFileSync(path.join(built, 'tests/page'), { input: JSON.stringify(report), ...big }).toString();

	if (!uplot) {
		const json = id => new RegExp(`<script type="application/json" id="${id}">(.*)</script>`).exec(html)[1];

		html = execFileSync(path.join(root, 'src/report/show/page/assemble'), big).toString().replace('@data@', () => json('report'))
			.replace('@views@', () => json('views'));
	}
	fs.writeFileSync(file, html);
	return file;
}

/* Opens FILE; p.errors and p.requests have what it logs and requests. */
async function opened(file, options = {}, by = browser) {
	const context = await by.newContext({ viewport: { width: 1300, height: 900 }, ...options });
	const p = await context.newPage();

	p.setDefaultTimeout(DEADLINE);
	p.panel = title => p.locator(`.panel[aria-label="${title}"]`);
	p.errors = [];
	p.requests = [];
	p.on('console', m => ['error', 'warning'].includes(m.type()) && p.errors.push(m.text()));
	p.on('pageerror', e => p.errors.push(e.stack));
	/* except for the page itself, which not every browser reports */
	p.on('request', r => r.url() !== 'file://' + file && p.requests.push(r.url()));
	await p.goto('file://' + file);
	await drawn(p);
	return p;
}

/* Waits until all panels, visible or not, are drawn; uPlot draws in a microtask. */
async function drawn(p) {
	await p.evaluate(() => new Promise(done => {
		Panel.drawAll();
		requestAnimationFrame(() => requestAnimationFrame(done));
	}));
}

/* Returns { title: a number for the picture, colors: how many } of each panel that is on, or of what lies BEHIND it. */
function pictures(p, behind = false) {
	return p.evaluate(behind => Panel.all.filter(x => x.on).map(x => {
		const canvas = behind ? x.back : x.host.querySelector('canvas'), seen = new Set();
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
	}), behind);
}

async function close(p) {
	assert.deepEqual(p.errors, []);
	assert.deepEqual(p.requests, []);
	assert.deepEqual(await p.evaluate(() => performance.getEntriesByType('resource').map(e => e.name)), []);
	await p.context().close();
}

/* Returns the middle of the plot of the panel TITLE, scrolled into view: { x(share), y }. */
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

/* By BiDi, clicks never become a double click. */
async function doubleClick(p, x, y) {
	await p.mouse.dblclick(x, y);
	if (FIREFOX)
		await p.evaluate(([cx, cy]) => document.elementFromPoint(cx, cy).dispatchEvent(new MouseEvent('dblclick', { bubbles: true, clientX: cx, clientY: cy })), [x, y]);
	await drawn(p);
}

const changed = (a, b) => a.filter(x => b.find(y => y.title === x.title)?.sum !== x.sum).map(x => x.title);

/* Rounds halves to even, as printf does. */
function fixed(v, decimals) {
	const scaled = v * 10 ** decimals, below = Math.floor(scaled);

	return ((Number.isInteger(v * 1024) && scaled - below === 0.5 ? below + below % 2 : Math.round(scaled)) / 10 ** decimals).toFixed(decimals);
}

/* Three digits, as on the terminal; written here again, as a check. */
function three(v, units, base) {
	let k = 0;

	while (k + 1 < units.length && v >= (k ? base - 0.5 : base)) {
		v /= base;
		k++;
	}
	return `${k === 0 ? v : fixed(v, v >= 99.95 ? 0 : v >= 9.995 ? 1 : 2)} ${units[k]}`;
}
const bytes = v => three(v, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024);
/* A name from a trace's files with quotes, #, backslashes and single blanks unescaped: other escapes stay. */
const plain = s => s.replace(/\\042/g, '"').replace(/\\043/g, '#').replace(/\\134(?![0-3][0-7][0-7])/g, '\\').split('\\040').reduce((a, b) =>
	a === '' || b === '' || / $/.test(a) || /^ /.test(b) || /\\040$/.test(a) ? `${a}\\040${b}` : `${a} ${b}`);
const plainly = (_, v) => typeof v === 'string' ? plain(v) : v;
/* Invisible characters, and those that reverse the text after them, become their numbers. */
const visible = s => plain(s).replace(/[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
	c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));
const ns = v => three(v, ['ns', 'us', 'ms', 's'], 1000);

/* --- tests ---------------------------------------------------------------------------------------- */

/* One returns what it needs and does not find, or nothing. */
const tests = {
	async every_report_loads_without_an_error_or_a_request() {
		for (const [name, make] of Object.entries(REPORTS)) {
			for (const uplot of [true, false]) {
				const file = written(name, make(), { uplot });

				assert(fs.statSync(file).size < 5 << 20, `${name}: ${fs.statSync(file).size} bytes`);
				const p = await opened(file);

				if (process.env.SHOTS && uplot)
					await p.screenshot({ path: path.join(process.env.SHOTS, `${path.basename(file)}.png`), fullPage: true });
				assert.deepEqual(p.errors, [], name);
				await close(p);
			}
		}
	},

	/* A script of the page tries it: code from outside is not always subject to the page's policy. */
	async nothing_may_be_fetched() {
		const file = written('fetches', REPORTS.training()), wanted = ['file:///etc/hostname', 'http://127.0.0.1:9/x'];
		const tries = `<script>window.tried = Promise.all(${JSON.stringify(wanted)}.map(u => fetch(u).then(() => 'fetched', () => 'refused')));</script>`;

		fs.writeFileSync(file, fs.readFileSync(file).toString().replace('</body>', () => `${tries}</body>`));
		const p = await opened(file), policy = await p.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute('content');

		assert.equal(policy, "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:");
		assert.deepEqual(await p.evaluate(() => window.tried), ['refused', 'refused']);
		assert(p.errors.some(e => e.includes('127.0.0.1') && /Content.Security.Policy/.test(e)), p.errors.join());
		assert.deepEqual(p.requests, []);
		await p.context().close();
	},

	async no_panel_is_blank() {
		for (const uplot of [true, false]) {
			const p = await opened(written('training', REPORTS.training(), { uplot }));
			const all = await pictures(p);

			assert.equal(await p.evaluate(() => UplotPlot.available), uplot);
			for (const group of ['Phases', 'CPU, all', 'CPU, each: busy', 'GPU, mean of all', 'GPU, each: sm', 'GPU, each: frame buffer',
				'Files: bytes read and written', 'Files: reads and writes (reads)', 'Files: reads and writes (writes)',
				'Files: other calls (open, close, mmap)', 'Files: other calls (create, delete, sync)', 'Disk sda: bytes', 'Disk sda: requests',
				'Disk sda: mean latency', 'Latency: bio read', 'Latency: open', 'Threads: running and waiting', 'Processes', 'Time'])
				assert(all.some(x => x.title === group), `no panel ${group}`);
			assert.deepEqual(all.filter(x => x.colours < 3 && x.title !== 'Time').map(x => x.title), []);
			await close(p);
		}
	},

	/* Phases as in `report --json': bands and hatching change the picture of every panel. */
	async phases_and_gaps_are_behind_every_panel() {
		const told = REPORTS.training(), bare = REPORTS.training();

		for (const phase of told.timeline.phases)
			Object.assign(phase, { inferred: false, unfinished: false, number: null, rank: null, ranks: 2 });
		bare.timeline.phases = [];
		bare.timeline.gaps = [];
		const p = await opened(written('phases', told)), q = await opened(written('no-phases', bare));
		const all = await pictures(p, true), without = await pictures(q, true);
		const differ = changed(all, without);

		assert.deepEqual(all.map(x => x.title).filter(title => title !== 'Time' && !differ.includes(title)), []);
		assert.deepEqual(await p.evaluate(() => Phases.at(0.5 * Data.span, 0).slice(0, 2)), ['training', 'epoch 2']);
		assert.deepEqual(await p.evaluate(() => Phases.at(0.63 * Data.span, 0).slice(-1)), ['gap: lost']);
		await close(p);
		await close(q);
	},

	/* Where the report has no value (null), and where a collector stood still, no pixel of the line is drawn. */
	async what_is_not_known_is_a_gap_and_not_zero() {
		const report = REPORTS.training(), { series, sampled, bin_ns: bin, bins, begin_ns: begin } = report.timeline;
		const from = Math.floor(bins * 0.4), to = Math.floor(bins * 0.5);
		const inside = t => t > begin + from * bin && t < begin + to * bin;

		series.push({ panel: 'plain', name: 'unknown', unit: '1/s', values: series[0].values.map((v, i) => i >= from && i < to ? null : 5 + i % 3) });
		series.push({ panel: 'none', name: 'nothing', unit: '1/s', values: series[0].values.map((v, i) => i >= from && i < to ? 0 : 5 + i % 3) });
		for (const s of sampled.filter(x => x.panel === 'gpu')) {
			s.values = s.values.filter((v, i) => !inside(s.t[i]));
			s.t = s.t.filter(t => !inside(t));
		}
		for (const uplot of [true, false]) {
			const p = await opened(written('gaps', report, { uplot }));
			/*
			 * number of pixels with the color of TITLE's first line, in the middle of the gap and in an equal
			 * part before it
			 */
			const drawn = title => p.evaluate(([title, share]) => {
				const panel = Panel.all.find(x => x.title === title), canvas = panel.host.querySelector('canvas'), ratio = devicePixelRatio;
				const probe = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
				const all = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
				const a = panel.area, width = Math.floor(a.w * 0.08 * ratio);

				probe.fillStyle = panel.body.legend[0].color();
				probe.fillRect(0, 0, 1, 1);
				const wanted = probe.getImageData(0, 0, 1, 1).data;

				all.drawImage(canvas, 0, 0);
				return share.map(x => {
					const { data } = all.getImageData(Math.ceil((a.x + a.w * x) * ratio), 0, width, canvas.height);
					let n = 0;

					for (let i = 0; i < data.length; i += 4)
						n += [0, 1, 2].every(k => Math.abs(data[i + k] - wanted[k]) < 12) && data[i + 3] > 40;
					return n;
				});
			}, [title, [0.41, 0.3]]);

			for (const title of ['plain', 'GPU, mean of all']) {
				const [within, before] = await drawn(title);

				assert(within === 0 && before > 50, `${title}, uPlot ${uplot}: ${within} in the gap, ${before} before it`);
			}
			assert((await drawn('none'))[0] > 50, 'zero is drawn');
			assert.equal(await p.evaluate(t => Panel.all.find(x => x.title === 'plain').body.legend[0].value(t), (from + to) / 2 * bin),
				await p.evaluate(() => Format.value(NaN, '1/s')));
			await close(p);
		}
	},

	/* Reads of some MiB/s beside a checkpoint of some GiB/s; series of similar size stay together. */
	async series_of_very_different_size_have_scales_of_their_own() {
		const report = REPORTS.training(), { series } = report.timeline;
		const scale = title => p.evaluate(t => Panel.all.find(x => x.title === t).body.max(), title);
		const [read, write] = series;

		read.values = read.values.map((v, i) => 1e7 + i);
		write.values = write.values.map((v, i) => i > 500 && i < 520 ? 4e9 : 0);
		const p = await opened(written('scales', report)), titles = await p.evaluate(() => Panel.all.map(x => x.title));

		assert(!titles.includes('Files: bytes read and written'), titles.join());
		assert.equal(await scale('Files: bytes read and written (read)'), Math.max(...read.values));
		assert.equal(await scale('Files: bytes read and written (write)'), 4e9);
		assert(titles.indexOf('Files: bytes read and written (read)') + 1 === titles.indexOf('Files: bytes read and written (write)'));
		assert(titles.includes('Disk nvme0n1: bytes'), 'those of like size stay together');
		await close(p);
	},

	async a_drag_zooms_all_panels_and_a_double_click_shows_all() {
		const p = await opened(written('training', REPORTS.training()));
		const before = await pictures(p), where = await plot(p, 'Files: bytes read and written');

		await drag(p, where, 0.25, 0.5);
		const [t0, t1] = await shownRange(p);

		assert(Math.abs(t0 / 120e9 - 0.25) < 0.01 && Math.abs(t1 / 120e9 - 0.5) < 0.01, `${t0} to ${t1}`);
		assert.deepEqual(changed(before, await pictures(p)), before.map(x => x.title));
		await doubleClick(p, where.x(0.5), where.y);
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

		/* a quarter of it, with Shift; as exactly as a pointer allows */
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
			await p.locator('.menu summary', { hasText: 'Panels' }).click();
			await p.getByRole('checkbox', { name: 'Files: other calls (open' }).uncheck();
			assert(await p.panel('Files: other calls (open, close, mmap)').isHidden());
			assert(!(await pictures(p)).some(x => x.title === 'Files: other calls (open, close, mmap)'));
			await p.locator('#title').click();
			assert.equal(await p.locator('.menu[open]').count(), 0);
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
		const night = FIREFOX ? await launched(true) : browser, dark = await opened(file, { colorScheme: 'dark' }, night);
		const colour = p => p.evaluate(() => getComputedStyle(document.body).backgroundColor);
		const first = await colour(light);

		assert.notEqual(first, await colour(dark));
		assert.equal(changed(await pictures(light), await pictures(dark)).length, (await pictures(light)).length);
		await dark.keyboard.press('t');
		assert.equal(await colour(dark), first);
		if (!FIREFOX) {
			await light.emulateMedia({ media: 'print' });
			assert(await light.locator('#tools').isHidden());
			assert(await light.locator('.panel').first().isVisible());
		}
		await close(light);
		await close(dark);
		if (night !== browser)
			await night.close();
	},

	/*
	 * Without phases and gaps, so that each pixel with a color is the chart's own; then with phases, and as a check of the
	 * count with empty sheets. The page is on the screen after it as before.
	 */
	async charts_are_printed() {
		if (!paper.there)
			return 'pdftoppm (poppler-utils)';
		const bare = REPORTS.training();

		bare.timeline.phases = [];
		bare.timeline.gaps = [];
		for (const uplot of [true, false]) {
			const p = await opened(written('printed', bare, { uplot }), { colorScheme: uplot ? 'dark' : 'light' }), before = await pictures(p);
			const { panels } = await paper.printed(p);

			assert.equal(panels.length, before.length);
			for (const { title, rows, colored } of panels.filter(x => x.title !== 'Time'))
				assert(rows > 60 && colored > 1000, `${title}: ${colored} pixels with a color in ${rows} rows`);
			assert.equal(await p.locator('.sheet').count(), 0);
			await drawn(p);
			assert.deepEqual((await pictures(p)).filter(x => x.colours < 3 && x.title !== 'Time').map(x => x.title), []);
			await p.addStyleTag({ content: '.plot .sheet { visibility: hidden; }' });
			assert.deepEqual((await paper.printed(p)).panels.filter(x => x.colored).map(x => x.title), []);
			await close(p);
		}
		const p = await opened(written('training', REPORTS.training())), { panels } = await paper.printed(p);

		for (const title of ['Phases', 'Time'])
			assert(panels.find(x => x.title === title).colored > 100, title);
		await close(p);
	},

	async hostile_names_stay_text() {
		for (const uplot of [true, false]) {
			const p = await opened(written('hostile', REPORTS.hostile(), { uplot }));
			const where = await plot(p, 'Processes');

			await p.keyboard.press('s');
			await p.mouse.move(where.x(0.5), where.y);
			await p.mouse.move(where.x(0.51), where.y + 20);
			assert.equal(await p.evaluate(() => window.evil), undefined);
			assert.equal(await p.locator('body :is(img, svg:not(.graph svg), iframe, object, a, script:not(#report, #views, :last-of-type))').count(), 0);
			assert.equal(await p.locator('script').count(), 4);
			assert.equal(await p.locator('b', { hasText: 'octal' }).count(), 0);
			const text = await p.evaluate(() => document.body.textContent);

			for (const e of EVIL) {
				assert(text.includes(visible(e)), `not on the page: ${visible(e).slice(0, 60)}`);
			}
			assert.doesNotMatch(await p.evaluate(() => document.querySelector('main').innerText), /[\u202a-\u202e\u2066-\u2069]/);
			await close(p);
		}
	},

	async a_backslash_is_one_where_nothing_is_escaped() {
		const shown = { 'a\\134b': 'a\\b', 'a\\134040b': 'a\\134040b', 'a\\13440b\\134': 'a\\40b\\', '\\134\\042': '\\"', 'a\\012': 'a\\012' };
		const report = { ...REPORTS.training(), command: "printf 'a\\040b\\134\\n'" };
		const p = await opened(written('backslash', report));

		for (const [name, want] of Object.entries(shown))
			assert.equal(await p.evaluate(s => Dom.safe(s), name), want);
		assert.equal(await p.locator('#title').textContent(), report.command);
		assert.equal(await p.title(), `dltraced: ${report.command}`);
		await close(p);
	},

	async tables_have_the_numbers_of_the_report_and_sort() {
		const report = REPORTS.training(), p = await opened(written('training', report));
		const table = p.getByRole('region', { name: 'Files with the most bytes', exact: true });
		const column = async i => (await table.locator('tbody tr').all()).length &&
			Promise.all((await table.locator('tbody tr').all()).map(r => r.locator('td').nth(i).innerText()));

		assert.deepEqual(await column(0), report.files_by_bytes.map(f => f.path));
		assert.deepEqual(await column(2), report.files_by_bytes.map(f => bytes(f.read_bytes)));
		assert.deepEqual(await column(4), report.files_by_bytes.map(f => ns(f.time_ns)));
		await table.getByRole('button', { name: 'File', exact: true }).click();
		assert.deepEqual(await column(0), report.files_by_bytes.map(f => f.path).sort());
		await table.getByRole('button', { name: 'File', exact: true }).click();
		assert.deepEqual(await column(0), report.files_by_bytes.map(f => f.path).sort().reverse());
		await table.getByRole('button', { name: 'Time' }).click();
		assert.deepEqual(await column(4), report.files_by_bytes.map(f => f.time_ns).sort((a, b) => b - a).map(ns));
		assert.match(await p.locator('#facts').innerText(), /17 of vfs_rw, 2 of sched/);
		assert.match(await p.locator('#answer').innerText(), /waited for reads from storage\s*61\.0 %/);
		assert.match(await p.locator('#answer').innerText(), /Read more at a time/);
		assert.match(await p.locator('#found').innerText(), /has too little data for \(1\)/);
		assert.match(await p.locator('#subtitle').innerText(), /120 s, lost: 17 of vfs_rw, 2 of sched$/);
		const epochs = await p.getByRole('region', { name: 'Reads of regular files, by epoch', exact: true }).locator('tbody tr').all();

		assert.equal(epochs.length, 3);
		assert.match(await epochs[1].innerText(), /^epoch 2\s+1\.50 s\s+40\.0 %\s+2\s?000\b/s);
		await close(p);
	},

	/*
	 * Each term of at least half a percent is a part of the bar as wide as its share, and has its words; threads without
	 * numbers have no bar.
	 */
	async where_the_time_went_is_a_bar_for_each_main_thread_and_for_the_loaders() {
		const p = await opened(written('account', REPORTS.training()));
		const all = await p.locator('.account').all();
		const widths = async row => Promise.all((await row.locator('.bar span').all()).map(s => s.evaluate(e => e.getBoundingClientRect().width)));

		assert.equal(all.length, 2);
		assert.match(await all[0].innerText(), /^process 4999 \(.*\), 100 s\s+waiting for its 8 loaders 75\.0 %, on a CPU 25\.0 %$/s);
		assert.match(await all[1].innerText(), /^8 loaders, 800 s\s+page faults on mapped files 75\.0 %, reading from storage 24\.9 %$/s);
		const [cpu, others] = await widths(all[0]);

		assert.ok(Math.abs(others / cpu - 3) < 0.05, `${others} and ${cpu}`);
		await close(p);
	},

	async a_path_is_one_bar_and_takes_the_place_of_main_threads() {
		const r = REPORTS.training();

		r.path = { root: 4999, begin_ns: 0, end_ns: 1e9, wall_ns: 1e9, parts: [
			{ kind: 'disk-read', what: 'reading from disk', who: '<b>loader', detail: 'x#.bin', ns: 75e7, chain_ns: 0 },
			{ kind: 'cpu', what: 'on a CPU', who: 'python', detail: null, ns: 248e6, chain_ns: 0 },
			{ kind: 'other', ns: 2e6, chain_ns: 0 },
		] };
		const p = await opened(written('path', r));
		const spans = await p.locator('.account .bar span').all();

		assert.equal(await p.locator('.account').count(), 1);
		assert.match(await p.locator('.account').innerText(),
			/^the path of process 4999, 1\.00 s\s+reading from disk: x#\.bin \(<b>loader\) 75\.0 %, on a CPU \(python\) 24\.8 %$/s);
		assert.deepEqual(await Promise.all(spans.map(e => e.getAttribute('class'))), ['storage', 'work']);
		await close(p);
	},

	/*
	 * The arrows and the sentence below them have all of the time. A press leads to the rows of an arrow or a node, with the
	 * keyboard, too.
	 */
	async who_waited_for_whom_is_a_picture_of_all_of_it() {
		const r = REPORTS.training(), p = await opened(written('waited', r)), graph = p.locator('.graph');
		const rows = p.locator('section.table[aria-label="Who waited for whom"] tbody tr'), sum = (all, key) => all.reduce((n, e) => n + e[key], 0);
		const between = (from, to) => r.path_edges.filter(e => e.from === from && e.to === to);

		assert.equal(await graph.count(), 1);
		for (const [key, button] of [['path_ns', 'on the path'], ['wait_ns', 'of all threads']]) {
			await graph.getByRole('button', { name: button, exact: true }).click();
			const pairs = new Map();

			for (const e of r.path_edges)
				pairs.set(`${e.from} ${e.to}`, between(e.from, e.to));
			const all = [...pairs.values()].filter(edges => sum(edges, key) > 0), most = Math.max(...all.map(edges => sum(edges, key)));
			const [drawn, thin] = [true, false].map(is => all.filter(edges => (sum(edges, key) >= 0.002 * most) === is));
			const arrows = await graph.locator('.edge').evaluateAll(list => list.map(g => g.getAttribute('aria-label')));

			assert.equal(arrows.length, drawn.length, key);
			for (const edges of drawn) {
				const { waiter, waited_for } = edges[0], words = arrows.find(a => a.startsWith(`${waiter} waited for ${waited_for}; `));

				for (const e of edges)
					assert(words.includes(`${e.kind}: ${ns(e.path_ns)} on the path, ${ns(e.wait_ns)} of all threads`), words);
			}
			/* what is drawn has its time beside it, if there is room: the largest do */
			for (const edges of drawn.sort((a, b) => sum(b, key) - sum(a, key)).slice(0, 4))
				assert.equal(await graph.locator('.time text', { hasText: new RegExp(`^${ns(sum(edges, key))}$`) }).count(), 1, ns(sum(edges, key)));
			assert.equal((await graph.locator(':scope > p').textContent()).includes(` of ${ns(thin.reduce((n, edges) => n + sum(edges, key), 0))} in all `), thin.length > 0, key);
		}
		const picked = async () => (await rows.evaluateAll(list => list.filter(tr => tr.getAttribute('aria-current')).map(tr => tr.cells[0].textContent + tr.cells[1].textContent)));
		const texts = edges => edges.map(e => e.waiter + e.waited_for);

		await graph.locator('.time', { hasText: ns(sum(between(1, 2), 'wait_ns')) }).click();
		assert.deepEqual(await picked(), texts(between(1, 2)));
		assert(await rows.filter({ hasText: 'storage' }).first().evaluate(tr => tr === document.activeElement));
		await graph.locator('.node[aria-label="storage"]').focus();
		await p.keyboard.press('Enter');
		assert.deepEqual(await picked(), texts(r.path_edges.filter(e => e.to === 2)));
		await close(p);
	},

	/* Everything is within the picture, no box over another, in light and dark, and on paper. */
	async who_waited_for_whom_fits_any_width() {
		const file = written('waited', REPORTS.training());
		const fills = new Set();

		for (const width of [1280, 760, 375])
			for (const colorScheme of FIREFOX ? ['light'] : ['light', 'dark']) {
				const p = await opened(file, { viewport: { width, height: 900 }, colorScheme }), graph = p.locator('.graph');
				const boxes = async what => graph.locator(what).evaluateAll(all => all.map(e => (({ x, y, width: w, height: h }) => ({ x, y, w, h }))(e.getBoundingClientRect())));
				const [frame] = await boxes('svg'), nodes = await boxes('.node rect'), labels = await boxes('.time text');

				for (const b of [...nodes, ...labels, ...await boxes('.node text'), ...await boxes('.edge path')])
					assert(b.x >= frame.x - 1 && b.x + b.w <= frame.x + frame.w + 1 && b.y >= frame.y - 1 && b.y + b.h <= frame.y + frame.h + 1,
						`${width}: ${JSON.stringify(b)} of ${JSON.stringify(frame)}`);
				for (const set of [nodes, [...nodes, ...labels]])
					set.forEach((a, i) => set.slice(i + 1).forEach(b => assert(a.x + a.w <= b.x + 1 || b.x + b.w <= a.x + 1 || a.y + a.h <= b.y + 1 || b.y + b.h <= a.y + 1,
						`${width}: ${JSON.stringify(a)} over ${JSON.stringify(b)}`)));
				assert.equal(nodes.length, 8);
				assert(await p.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width}`);
				fills.add(await graph.locator('.node rect').first().evaluate(e => getComputedStyle(e).fill));
				if (width === 1280 && !FIREFOX) {
					await p.emulateMedia({ media: 'print' });
					assert(await graph.locator('svg').isVisible());
				}
				await close(p);
			}
		assert.equal(fills.size, FIREFOX ? 1 : 2);
	},

	async without_waits_there_is_no_picture_of_them() {
		const r = REPORTS.training();

		for (const report of [REPORTS.sparse(), { ...r, path_nodes: undefined, path_edges: undefined }, { ...r, path_nodes: [], path_edges: [] }]) {
			const p = await opened(written('not-waited', report));

			assert.equal(await p.locator('.graph').count(), 0);
			assert.equal(await p.locator('section.table[aria-label="Who waited for whom"]').count(), 0);
			await close(p);
		}
	},

	async what_is_missing_is_said_with_what_would_bring_it() {
		const p = await opened(written('empty', REPORTS.empty()));

		assert.match(await p.locator('#missing').innerText(), /CPU use: comes from the collector cpu/);
		assert.match(await p.locator('#missing').innerText(), /--probes \+sched/);
		await close(p);
		const still = REPORTS.empty();

		still.timeline.phases = [];
		const none = await opened(written('still', still));

		assert.match(await none.locator('#panels').innerText(), /Nothing in this trace has a time/);
		assert(await none.locator('#bar').isHidden());
		await close(none);
		const bare = await opened(written('bare', REPORTS.bare()));

		assert.match(await bare.locator('#panels').innerText(), /has no timeline/);
		await close(bare);
	},

	async numbers_are_rounded_as_on_the_terminal() {
		const p = await opened(written('bare', REPORTS.bare()));

		for (const [v, unit, text] of [[1152, 'B', '1.12 KiB'], [1408, 'B', '1.38 KiB'], [1023, 'B', '1023 B'], [1048063, 'B', '1023 KiB'],
			[1048064, 'B', '1.00 MiB'], [2 ** 60, 'B', '1.00 EiB'], [999, 'ns', '999 ns'], [1125, 'ns', '1.12 us'], [10250, 'ns', '10.2 us'],
			[999499, 'ns', '999 us'], [999500, 'ns', '1.00 ms'], [3.6e12, 'ns', '3600 s'], [0, 'B', '0 B'], [0.25, 'B/s', '0.25 B/s']])
			assert.equal(await p.evaluate(([x, u]) => Format.value(x, u), [v, unit]), text);
		await close(p);
	},

	async cpu_time_is_drawn_with_the_numbers_of_the_report() {
		const report = REPORTS.training(), p = await opened(written('training', report)), cpu = report.cpu;
		const chart = name => p.locator(`#cpu .chart[aria-label="${name}"]`);
		const column = (name, c) => chart(name).locator(`.bars > ${c}`).allInnerTexts();
		const busy = cpu.by_task_ns - cpu.kinds.idle, shown = cpu.tasks.filter(t => t.kind !== 'idle').concat({ name: '12 others', ...cpu.other_tasks });

		assert.deepEqual(await column('CPU time by task', '.label'), shown.map(t => t.name));
		assert.deepEqual(await column('CPU time by task', '.num'), shown.map(t => `${ns(t.run_ns)} ${fixed(100 * t.run_ns / busy, 1)} %`));
		assert.equal((await column('CPU time by process', '.label')).length, cpu.processes.length + 1);
		assert.deepEqual(await column('CPU time by CPU', '.num'), cpu.cpus.map(c => `${ns(c.busy_ns)} 50.0 %`));
		assert.equal(await chart('Tasks by CPUs').locator('tbody tr').count(), cpu.tasks.length + 1);
		assert.deepEqual(await chart('Tasks by CPUs').locator('tbody tr').nth(1).locator('td').allInnerTexts(), cpu.cpus.map(() => '25.0'));
		/* every bar has a length; parts of waits can be switched off, and then leave all bars */
		for (const name of ['CPU time by task', 'CPU time by process', 'CPU time by CPU', 'What threads waited for'])
			assert(await chart(name).evaluate(e => [...e.querySelectorAll('.bar')].every(b => b.firstChild.getBoundingClientRect().width > 0)), name);
		const parts = () => chart('What threads waited for').locator('.bar').first().locator('i').count(), before = await parts();

		await chart('What threads waited for').getByRole('button', { name: 'asleep' }).click();
		assert.equal(await parts(), before - 1);
		await close(p);
		const bare = await opened(written('bare', REPORTS.bare()));

		assert(await bare.locator('#cpu').isHidden());
		await close(bare);
	},

	async lanes_can_be_switched_off_one_by_one_and_by_group() {
		const report = REPORTS.training(), p = await opened(written('training', report)), before = await pictures(p);
		const shown = () => p.evaluate(() => Panel.all.find(x => x.body instanceof Lanes).body.items.filter(i => i.lane).map(i => i.lane.pid));
		const all = await shown();

		assert.equal(all.length, report.timeline.lanes.length);
		await p.locator('.menu summary', { hasText: 'Lanes' }).click();
		await p.getByRole('checkbox', { name: 'pt_data_worker 5001' }).uncheck();
		await drawn(p);
		assert.deepEqual(await shown(), all.filter(pid => pid !== 5001));
		assert.deepEqual(changed(before, await pictures(p)), ['Processes']);
		await p.getByRole('checkbox', { name: 'Trainers' }).focus();
		await p.keyboard.press('Space');
		assert.deepEqual(await shown(), all.filter(pid => pid !== 5001 && Math.floor(pid / 100) !== 41));
		await p.getByRole('checkbox', { name: 'Data loaders' }).check();
		await p.keyboard.press('Escape');
		await p.locator('.menu summary', { hasText: 'Lanes' }).click();
		/* a click on the name */
		const y = await p.evaluate(() => Panel.all.find(x => x.body instanceof Lanes).body.items.find(i => i.lane?.pid === 5002).y);

		await p.panel('Processes').locator('.plot').click({ position: { x: 40, y: y + 5 } });
		assert(!(await shown()).includes(5002));
		await close(p);
	},

	/* A bin, or the time that the report gives for it, may go on behind the end of a process. */
	async lanes_end_with_their_process() {
		const report = REPORTS.training(), t = report.timeline, lane = t.lanes.find(l => l.pid === 5001);

		lane.end_ns = t.begin_ns + 0.5123 * (t.end_ns - t.begin_ns);
		lane.longest = {}; /* single calls have their own ends */
		assert(lane.busy.read.some(([bin]) => t.begin_ns + bin * t.lane_bin_ns > lane.end_ns));
		const p = await opened(written('lane-end', report));
		/* the last pixel of the row of PID with anything on it, in ns since the begin */
		const last = pid => p.evaluate(wanted => {
			const panel = Panel.all.find(x => x.body instanceof Lanes), { canvas } = panel.body;
			const { y, h } = panel.body.items.find(i => i.lane?.pid === wanted), ratio = devicePixelRatio;
			const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });

			copy.drawImage(canvas, 0, 0);
			const { data, width } = copy.getImageData(0, Math.round((y + 1) * ratio), canvas.width, Math.round((h - 2) * ratio));
			let x = 0;

			for (let i = 3; i < data.length; i += 4)
				x = data[i] ? Math.max(x, (i >> 2) % width) : x;
			return panel.t((x + 1) / ratio);
		}, pid);
		const pixel = (t.end_ns - t.begin_ns) / 1000;

		assert(Math.abs(await last(5001) - (lane.end_ns - t.begin_ns)) < 2 * pixel, `${await last(5001)}`);
		assert(Math.abs(await last(5002) - 0.985 * (t.end_ns - t.begin_ns)) < 2 * pixel, `${await last(5002)}`);
		await close(p);
	},

	async long_calls_are_drawn_as_long_as_they_took() {
		const report = REPORTS.training(), p = await opened(written('training', report)), [from, took] = report.timeline.lanes[1].longest.read[0];
		const begin = report.timeline.lanes[1].begin_ns - report.timeline.begin_ns;

		assert.equal(from, begin);
		await p.evaluate(([a, b]) => View.set(a, b), [from - took, from + 3 * took]);
		await drawn(p);
		/*
		 * at the foot of the first trainer's lane, the color of reads reaches from a quarter to half of the visible
		 * time
		 */
		const found = await p.evaluate(pid => {
			const panel = Panel.all.find(x => x.body instanceof Lanes), item = panel.body.items.find(i => i.lane?.pid === pid);
			const { canvas } = panel.body, a = panel.area, y = item.y + item.h - 2;
			const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
			const pixel = (px, py) => copy.getImageData(px, py, 1, 1).data.join();

			copy.fillStyle = Theme.color('c1');
			copy.fillRect(0, 0, 1, 1);
			const wanted = pixel(0, 0);

			copy.drawImage(canvas, 0, 0);
			const hits = [...Array(100).keys()].filter(i => pixel(a.x + (i + 0.5) * a.w / 100, y) === wanted);

			return [hits.length, hits[0], hits.at(-1)];
		}, report.timeline.lanes[1].pid);

		assert.deepEqual(found, [25, 25, 49]);
		await close(p);
	},

	/* Each cell of the map has the color of its share and hue, and no other cell has any; a frame is where its block is. */
	/* In less than 200 ms each is a bar from begin to end; in more, only those that are as wide as half a pixel. */
	async single_calls_are_bars() {
		const report = REPORTS.training(), p = await opened(written('events', report)), second = 30e9;
		const title = 'Single calls and requests';
		/* of 1000 places of the strip of reads: those with the color of reads */
		const reads = () => p.evaluate(wanted => {
			const panel = Panel.all.find(x => x.title === wanted), { canvas } = panel.body, a = panel.area, ratio = devicePixelRatio;
			const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
			const at = panel.body.strips.findIndex(s => s.label === 'reads'), y = Math.round((panel.body.top(panel, at) + 1) * ratio);

			copy.fillStyle = panel.body.strips[at].color();
			copy.fillRect(0, 0, 1, 1);
			const color = copy.getImageData(0, 0, 1, 1).data.join();

			copy.clearRect(0, 0, 1, 1);
			copy.drawImage(canvas, 0, 0);
			const { data } = copy.getImageData(0, y, canvas.width, 1);
			const place = i => 4 * Math.floor((a.x + (i + 0.5) * a.w / 1000) * ratio);

			return [...Array(1000).keys()].filter(i => data.slice(place(i), place(i) + 4).join() === color);
		}, title);

		for (const [ms, from] of [[40, 500], [10, 520]]) {
			await p.evaluate(([a, b]) => View.set(a, b), [second + from * 1e6, second + (from + ms) * 1e6]);
			await drawn(p);
			const found = await reads();

			/* each 1 ms: 0.7 ms a bar, but for the pixels at its ends */
			for (let i = 0; i < 1000; i++) {
				const inMs = (i + 0.5) * ms / 1000 % 1, slack = 2 * ms / 1000;

				if (inMs > slack && inMs < 0.7 - slack)
					assert(found.includes(i), `${ms} ms: no bar at ${i}`);
				if (inMs > 0.7 + slack && inMs < 1 - slack)
					assert(!found.includes(i), `${ms} ms: a bar at ${i}`);
			}
		}
		const where = await plot(p, title), box = await p.panel(title).locator('.plot').boundingBox();

		await p.mouse.move(where.x(0.53), box.y + 12);
		assert.match(await p.locator('#tip').innerText(), /reads of python 410[01], from .*700 us/s);
		/* in five seconds the long call is there, the short ones are thinner than half a pixel */
		await p.evaluate(([a, b]) => View.set(a, b), [second, second + 5e9]);
		await drawn(p);
		const wide = await reads();

		assert(wide.includes(40) && wide.includes(240) && !wide.includes(105), wide.join());
		await close(p);
	},

	/* In a bin of at most 16 all of them are bars. */
	async single_calls_are_rows_of_the_trace() {
		const trace = golden('trace-panels'), { timeline: t } = JSON.parse(execFileSync(dltraced, ['report', '--json', trace], big));
		const rowsOf = (file, wanted) => {
			const [, head, ...rows] = fs.readFileSync(path.join(trace, file)).toString().trim().split('\n'), columns = head.split('\t');

			return rows.map(row => Object.fromEntries(row.split('\t').map((v, i) => [columns[i], v]))).filter(wanted)
				.map(row => [Number(row.TIMESTAMP) - Number(row.LAT_NS) - t.begin_ns, Number(row.LAT_NS), Number(row.PID)].join());
		};
		const types = new Map(), onFile = row => !/^(fifo|sock|chr|anon)$/.test(types.get(row.FID));
		const [, head, ...names] = fs.readFileSync(path.join(trace, 'files.out')).toString().trim().split('\n').map(row => row.split('\t'));

		for (const row of names)
			types.set(row[head.indexOf('FID')], row[head.indexOf('TYPE')]);
		for (const [name, file, is] of [['read', 'vfs_rw.out', row => row.RW === 'R' && onFile(row)], ['write', 'vfs_rw.out', row => row.RW === 'W' && onFile(row)],
			['open', 'open.out', row => row.FUNC !== 'snapshot' && onFile(row)], ['bio read', 'bio.out', row => row.T === 'R'], ['bio write', 'bio.out', row => row.T === 'W']]) {
			const wanted = rowsOf(file, is), e = t.events.find(x => x.name === name), found = e.rows.map(row => row.join()), all = new Set(wanted);
			const perBin = new Map();

			for (const row of wanted) {
				const [from, ns] = row.split(',').map(Number), bin = Math.floor((from + ns) / t.bin_ns);

				perBin.set(bin, (perBin.get(bin) || 0) + 1);
			}
			assert(wanted.length > 0 && e.each === 16, name);
			assert.deepEqual(found.filter(row => !all.has(row)), [], name);
			assert.equal(found.length, [...perBin.values()].reduce((n, k) => n + Math.min(k, 16), 0), name);
		}
	},

	async memory_is_drawn_by_address_and_time() {
		const report = REPORTS.training(), [map] = report.timeline.memory, p = await opened(written('memory', report));

		map.blocks = [];
		const bare = await opened(written('memory-bare', report));
		const cells = await bare.evaluate(() => {
			const panel = Panel.all.find(x => x.body instanceof MemoryMap), a = panel.area, { canvas, map } = panel.body;
			const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
			const colors = {};

			for (const hue of [0, 1, 2, 3])
				for (let level = 1; level <= 8; level++) {
					copy.clearRect(0, 0, 1, 1);
					copy.fillStyle = Theme.faint(Theme.color(MemoryMap.HUES[hue][1]), 0.12 + 0.88 * level / 8);
					copy.fillRect(0, 0, 1, 1);
					colors[copy.getImageData(0, 0, 1, 1).data.join()] = [level, hue];
				}
			copy.clearRect(0, 0, 1, 1);
			copy.drawImage(canvas, 0, 0);
			return [...Array(map.bins).keys()].flatMap(x => [...Array(map.lines).keys()].map(y => {
				const pixel = copy.getImageData(panel.x(map.begin + (x + 0.5) * map.bin_ns), a.y + (y + 0.5) * a.h / map.lines, 1, 1).data;

				return [x, y, pixel[3] ? colors[pixel.join()] ?? pixel.join() : null];
			})).filter(c => c[2] && c[1] !== 20);
		});
		const wanted = [];

		for (const [x, y, w, h, level, hue] of map.rects)
			for (let i = x; i < x + w; i++)
				for (let k = y; k < y + h; k++)
					if (!wanted.some(c => c[0] === i && c[1] === k) && k !== 20)
						wanted.push([i, k, [level, hue]]);
		const inOrder = c => c.map(String).sort();

		assert.deepEqual(inOrder(cells), inOrder(wanted));
		const tips = await p.evaluate(() => {
			const panel = Panel.all.find(x => x.body instanceof MemoryMap), a = panel.area, { map } = panel.body, y = line => a.y + line * a.h / map.lines;

			return [panel.body.tip(panel, map.begin + 6.5 * map.bin_ns, y(0.5)), panel.body.tip(panel, map.begin + 59.9 * map.bin_ns, y(22))].map(t => t.map(r => r.slice(0, 2)));
		});

		assert.deepEqual(tips[0], [['/data/train.bin', 'process 4100, 0x7f0000000000'], ['not written', '87.5 % to 100 %']]);
		assert.deepEqual(tips[1].slice(0, 2), [['train.py:7:Net.forward', 'process 4100, 0x7f1000200000'], ['', 'not touched at this time']]);
		assert.equal((await p.panel('Memory by address').locator('header .aside').innerText()).includes('3 smaller blocks are left out'), true);
		/* without the frames it is another picture; without a hue, one more */
		const all = await pictures(p);

		await p.panel('Memory by address').locator('.legend button', { hasText: 'allocated blocks' }).click();
		await drawn(p);
		assert.deepEqual(changed(all, await pictures(p)), ['Memory by address']);
		await close(bare);
		await close(p);
	},

	/* A fetch from a quarter to half of the visible time, only in the first lane, then computing for an eighth of it. */
	async long_names_in_the_map_of_memory_are_cut() {
		const report = REPORTS.training();

		report.timeline.memory[0].names[0][3] = 'w'.repeat(200);
		const p = await opened(written('memory-name', report));

		assert((await pictures(p)).find(x => x.title === 'Memory by address').colours > 3);
		await close(p);
	},

	async regions_are_drawn_as_long_as_they_took() {
		const report = REPORTS.training(), begin = report.timeline.begin_ns, at = 1e9, long = 4e8;

		report.timeline.regions = [4100, 4101].map((pid, i) => ({
			pid, comm: 'python', rank: String(i), begin_ns: begin + at, end_ns: begin + at + long, closed_ns: 0,
			spans: { fetch: [[at + long / 4, i ? 0 : long / 4]], compute: [[at + long / 2, long / 8]], checkpoint: [], comm: [] },
		}));
		const p = await opened(written('regions', report));

		await p.evaluate(([a, b]) => View.set(a, b), [at, at + long]);
		await drawn(p);
		const found = await p.evaluate(() => {
			const panel = Panel.all.find(x => x.body instanceof Regions), a = panel.area, { canvas } = panel.body;
			const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
			const pixel = (px, py) => copy.getImageData(px, py, 1, 1).data.join();
			const colour = name => {
				copy.fillStyle = Theme.color(name);
				copy.fillRect(0, 0, 1, 1);
				return pixel(0, 0);
			};
			const wanted = { fetch: colour('c2'), compute: colour('c3') };

			copy.drawImage(canvas, 0, 0);
			return [0, 1].map(row => Object.fromEntries(Object.entries(wanted).map(([name, c]) => {
				const hits = [...Array(80).keys()].filter(i => pixel(a.x + (i + 0.5) * a.w / 80, a.y + (row + 0.5) * Regions.ROW) === c);

				return [name, [hits.length, hits[0], hits.at(-1)]];
			})));
		});

		assert.deepEqual(found[0], { fetch: [20, 20, 39], compute: [10, 40, 49] });
		assert.deepEqual(found[1].compute, [10, 40, 49]);
		assert.equal(found[1].fetch[0], 0);
		assert.deepEqual(await p.evaluate(() => {
			const panel = Panel.all.find(x => x.body instanceof Regions);

			return panel.body.tip(panel, 1.15e9, panel.area.y + 3).map(row => row[0].split(' ')[0]);
		}), ['python', 'fetch']);
		await close(p);
	},

	/* Two trainers: steps of 2 : 1 : 1, and one that lasts as long as these. A click, and the table, show a step. */
	async steps_are_drawn_as_high_as_they_took() {
		const report = REPORTS.training(), begin = report.timeline.begin_ns, at = 1e9, long = 4e8;
		const times = [[[0, 2e8], [2e8, 1e8], [3e8, 1e8]], [[0, 4e8]]];

		report.timeline.regions = times.map((steps, i) => ({
			pid: 4100 + i, comm: 'python', rank: null, begin_ns: begin + at, end_ns: begin + at + long, closed_ns: 0, steps_joined: i ? 4 : 1,
			spans: { fetch: [], compute: [], checkpoint: [], comm: [] }, steps: steps.map(([from, ns]) => [at + from, ns, i ? 1e8 : ns]),
		}));
		report.slowest_steps = [[2e8, 2e8], [3e8, 1e8]].map(([from, ns], i) => ({
			epoch: 0, step: i, begin_ns: begin + at + from, wall_ns: ns, fetch_ns: ns, compute_ns: 0, checkpoint_ns: 0, comm_ns: 0, other_ns: 0,
			io_disk_ns: 0, io_cache_ns: 0, io_names_ns: 0, io_write_ns: 0, pid: 4100, rank: null, comm: 'python',
		}));
		for (const uplot of [true, false]) {
			const p = await opened(written('steps', report, { uplot })), title = 'Time of each step';

			assert.equal(await p.panel(title).locator('header .aside').innerText(), 'the longest of each 4 steps');
			await p.evaluate(([a, b]) => View.set(a, b), [at, at + long]);
			await p.panel(title).locator('.legend button').nth(1).click(); /* off */
			await drawn(p);
			const heights = await p.evaluate(title => {
				const panel = Panel.all.find(x => x.title === title), a = panel.area, canvas = panel.host.querySelector('canvas');
				const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });

				copy.fillStyle = Theme.color('c1');
				copy.fillRect(0, 0, 1, 1);
				const wanted = copy.getImageData(0, 0, 1, 1).data;

				copy.clearRect(0, 0, 1, 1);
				copy.drawImage(canvas, 0, 0);
				return [0.25, 0.6, 0.9].map(x => {
					const column = copy.getImageData(Math.round(a.x + x * a.w), 0, 1, canvas.height).data;
					const y = [...Array(canvas.height).keys()].find(k => column[4 * k + 3] > 128 &&
						[0, 1, 2].every(c => Math.abs(column[4 * k + c] - wanted[c]) < 40));

					return (a.y + a.h - y) / a.h;
				});
			}, title);

			for (const [i, wanted] of [2 / 2.1, 1 / 2.1, 1 / 2.1].entries())
				assert(Math.abs(heights[i] - wanted) < 0.03, `${uplot}: heights ${heights}`);
			const where = await plot(p, title);

			await p.mouse.click(where.x(0.9), where.y);
			assert.deepEqual(await shownRange(p), [at + 3e8, at + long]);
			await p.locator('section.table[aria-label="Slowest steps"] tbody button').first().click();
			assert.deepEqual(await shownRange(p), [at + 2e8, at + long]);
			await close(p);
		}
	},

	/*
	 * By rectangles: in tables a word, up to a blank, slash or comma, is in one line, unless it is longer than a column; a text
	 * is in its box and not cut off; texts of charts are on their canvas; the first chart is on the first screen.
	 */
	async all_fits_1280_by_800_pixels() {
		const dirs = ['trace-panels', 'trace-small', 'trace-loader'].map(golden), made = (name, ...args) => {
			const file = path.join(folder, `fits-${name}.html`);

			execFileSync(dltraced, ['report', '--html', file, ...args], big);
			return file;
		};
		const long = REPORTS.training();

		long.bottleneck.evidence = Array(12).fill(long.bottleneck.evidence[0]);
		long.failed = Array.from({ length: 9 }, (_, i) => ({ text: `process ${i} ended with status 1: ${'what it printed '.repeat(9)}`, advice: 'Look at it' }));
		for (const file of [written('fits', REPORTS.training()), written('fits-long', long), ...dirs.map((dir, i) => made(i, dir)), made('compared', '--compare', dirs[0], dirs[1])]) {
			const context = await browser.newContext({ viewport: { width: 1280, height: 800 } }), p = await context.newPage();

			await p.addInitScript(() => {
				const { fillText } = CanvasRenderingContext2D.prototype;

				window.outside = [];
				CanvasRenderingContext2D.prototype.fillText = function(text, x, y, most = Infinity) {
					const m = this.measureText(text), t = this.getTransform(), w = Math.min(m.width, most);
					const left = x - ({ right: w, end: w, center: w / 2 }[this.textAlign] ?? 0);

					if (left * t.a + t.e < -1 || (left + w) * t.a + t.e > this.canvas.width + 1 || (y + m.actualBoundingBoxDescent) * t.d + t.f > this.canvas.height + 1)
						window.outside.push(text);
					fillText.call(this, text, x, y, ...most === Infinity ? [] : [most]);
				};
			});
			p.setDefaultTimeout(DEADLINE);
			await p.goto('file://' + file);
			await drawn(p);
			const found = await p.evaluate(() => {
				const broken = [], out = [], range = document.createRange();
				const texts = root => {
					const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), all = [];

					while (walker.nextNode())
						if (walker.currentNode.data.trim() && walker.currentNode.parentElement.checkVisibility())
							all.push(walker.currentNode);
					return all;
				};

				for (const text of texts(document.getElementById('tables')).concat(texts(document.getElementById('answer'))).filter(t => t.parentElement.closest('td, th')))
					for (const m of text.data.matchAll(/[^\s/,]+/g)) {
						range.setStart(text, m.index);
						range.setEnd(text, m.index + m[0].length);
						if (m[0].length <= 60 && new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1)
							broken.push(m[0]);
					}
				for (const box of document.querySelectorAll('.panel, .graph, .table, .chart, .verdict, .rules, .accounts, #facts dl, #missing > *, #bar, #jump')) {
					const b = box.getBoundingClientRect();

					for (const text of texts(box).filter(t => !t.parentElement.closest('.scroll, .matrix, .menu > div, text'))) {
						range.selectNodeContents(text);
						const r = range.getBoundingClientRect(), cut = [];

						for (let e = text.parentElement; e !== box; e = e.parentElement)
							if (getComputedStyle(e).overflowX !== 'visible' && e.scrollWidth > e.clientWidth + 1)
								cut.push(e);
						if (r.left < b.left - 1 || r.right > b.right + 1 || cut.length)
							out.push(text.data);
					}
				}
				return { broken, out, outside: window.outside, wide: document.documentElement.scrollWidth,
					first: document.querySelector('#panels .panel .plot').getBoundingClientRect().bottom };
			});

			assert.deepEqual({ ...found, first: found.first <= 800 }, { broken: [], out: [], outside: [], wide: 1280, first: true }, `${path.basename(file)}: ${found.first}`);
			await context.close();
		}
	},

	/* A4 with margins of 1 cm is 718 pixels wide, and does not scroll. Firefox cannot emulate media. */
	async tables_and_colors_are_on_paper() {
		const files = ['trace-panels', 'trace-loader'].map(golden), compared = path.join(folder, 'paper.html');

		execFileSync(dltraced, ['report', '--compare', '--html', compared, ...files], big);
		const alone = path.join(folder, 'paper-loader.html');

		execFileSync(dltraced, ['report', '--html', alone, files[1]], big);
		for (const file of FIREFOX ? [] : [written('paper', REPORTS.training()), compared, alone]) {
			const p = await opened(file, { viewport: { width: 718, height: 1000 } });

			await p.emulateMedia({ media: 'print' });
			assert.deepEqual(await p.locator('.table .scroll').evaluateAll(all => all.filter(e => e.scrollWidth > e.clientWidth + 1)
				.map(e => e.closest('.table').getAttribute('aria-label'))), [], path.basename(file));
			/* what explains colors, and bars, keep theirs where backgrounds are not printed */
			assert.deepEqual(await p.locator('.legend i, .scale i, .bar i, .bar span').evaluateAll(all => all.filter(e =>
				getComputedStyle(e).printColorAdjust !== 'exact').map(e => e.parentElement.className)), []);
			await close(p);
		}
	},

	async every_panel_of_the_golden_trace_is_drawn() {
		const json = JSON.parse(execFileSync(dltraced, ['report', '--json', golden('trace-panels')], big));
		const wanted = ['CPU, all', 'CPU, each: busy', 'GPU, mean of all', 'GPU, mean of all: frame buffer', 'GPU, each: sm', 'GPU, each: mem', 'GPU, each: frame buffer',
			'Files: bytes read and written (read)', 'Files: bytes read and written (write)', 'Files: reads and writes', 'Files: other calls',
			'Disk nvme0n1: bytes (read)', 'Disk nvme0n1: bytes (write)', 'Disk nvme0n1: requests',
			'Disk nvme0n1: mean latency', 'Disk nvme0n1: busy (iostat)', 'Latency: bio read', 'Latency: read', 'Latency: write', 'Latency: open',
			'Memory that programs allocated: in use', 'Memory by address', 'Memory of the machine', 'Memory: pages of files to be written', 'Memory: threads that had to free some', 'Threads: running and waiting', 'Processes'];

		for (const uplot of [true, false]) {
			const p = await opened(written('trace-panels', json, { uplot })), all = await pictures(p);

			for (const title of wanted)
				assert(all.find(x => x.title === title)?.colours >= 3, `${title}: ${JSON.stringify(all.map(x => x.title))}`);
			assert.equal(await p.locator('#cpu .chart').count(), 5);
			await drag(p, await plot(p, 'CPU, all'), 0.2, 0.6);
			assert.deepEqual(changed(all, await pictures(p)).filter(t => wanted.includes(t)).sort(), wanted.slice().sort());
			await close(p);
		}
	},

	/* nvidia-smi's own lines: a part of a GPU (MIG), a GPU without values, one that disappears during the run. */
	async gpus_that_do_not_tell_are_to_be_seen() {
		const p = await opened(written('trace-gpus', JSON.parse(execFileSync(dltraced, ['report', '--json', golden('trace-gpus')], big))));
		const rows = title => p.evaluate(t => Panel.all.find(x => x.title === t).body.members.map(s => [s.label, s.values.length]), title);
		const of = (...n) => n.map((samples, gpu) => [`GPU ${gpu}`, samples]);

		assert.deepEqual(await rows('GPU, each: sm'), of(8, 8, 8, 8, 0, 8, 5, 0));
		assert.deepEqual(await rows('GPU, each: frame buffer'), of(8, 8, 8, 8, 8, 8, 5, 8));
		assert.deepEqual((await pictures(p)).filter(x => x.colours < 3 && x.title !== 'Time').map(x => x.title), []);
		await close(p);
	},

	/* A trace that was killed, one of a single probe, one with headers only, and one with half of its files. */
	async parts_of_a_trace_make_a_page() {
		const whole = golden('trace-panels'), all = fs.readdirSync(whole), rest = name => all.filter(f => f !== name);
		/* status 1: some files are damaged */
		const reported = (...args) => {
			const run = spawnSync(dltraced, ['report', ...args], big);

			assert.ok(run.status <= 1, run.stderr?.toString());
			return run.stdout.toString();
		};
		const page = async (name, kept, spoil = () => {}) => {
			const dir = fs.mkdtempSync(path.join(folder, 'part-')), file = path.join(dir, 'page.html');

			for (const f of kept)
				fs.copyFileSync(path.join(whole, f), path.join(dir, f));
			spoil(dir);
			reported('--html', file, dir);
			const p = await opened(file);

			assert.deepEqual(await p.evaluate(() => Data.report), JSON.parse(reported('--json', dir)), name);
			assert.deepEqual((await pictures(p)).filter(x => x.colours < 2 && x.title !== 'Time'), [], name);
			await close(p);
		};

		for (const only of rest('manifest.json'))
			await page(`${only} alone, cut off`, ['manifest.json', only], dir => fs.truncateSync(path.join(dir, only), fs.statSync(path.join(whole, only)).size - 20));
		for (const without of ['manifest.json', 'pids.out', 'files.out', 'time_align.out'])
			await page(`without ${without}`, rest(without));
		await page('headers alone', all, dir => all.filter(f => f.endsWith('.out')).forEach(f =>
			fs.writeFileSync(path.join(dir, f), fs.readFileSync(path.join(whole, f)).toString().split('\n').slice(0, 2).join('\n') + '\n')));
		await page('nothing but a manifest', ['manifest.json']);
		await page('empty files', all, dir => all.filter(f => f.endsWith('.out')).forEach(f => fs.truncateSync(path.join(dir, f))));
	},

	async the_page_of_a_trace_holds_what_json_says() {
		for (const name of ['trace-small', 'trace-hostile', 'trace-cut', 'trace-cpu', 'trace-switches']) {
			const trace = golden(name), file = path.join(folder, `${name}.html`);

			execFileSync(dltraced, ['report', '--html', file, trace], big);
			const json = JSON.parse(execFileSync(dltraced, ['report', '--json', trace], big));
			const p = await opened(file);

			assert.deepEqual(await p.evaluate(() => Data.report), json);
			assert.equal(await p.evaluate(() => window.evil), undefined);
			/* what is missing is beside the answer, and each reason is among the facts */
			const answer = await p.locator('.verdict h2').first().textContent(), caveat = json.bottleneck.caveat;

			assert.equal(answer.includes(caveat ?? '('), caveat != null, name);
			for (const reason of json.missing_reasons)
				assert((await p.locator('#facts').textContent()).includes(visible(reason.text)), reason.text);
			for (const f of json.files_by_bytes)
				assert((await p.locator('#tables').textContent()).includes(visible(f.path ?? '\u2013')), String(f.path));
			await close(p);
		}
	},

	async hosts_of_one_job_are_on_one_page() {
		const file = path.join(folder, 'job.html');
		const dirs = ['trace-small', 'trace-other'].map(d => path.join(root, 'tests/golden', d));

		execFileSync(dltraced, ['report', '--html', file, ...dirs], big);
		const p = await opened(file), text = await p.locator('#tables').textContent();

		for (const title of ['node1: Files: bytes read and written', 'node2: Files: bytes read and written', 'node1: Latency: read'])
			assert.equal(await p.panel(title).count(), 1, title);
		assert.match(await p.locator('#facts').innerText(), /node1, node2/);
		/* what the whole job waited for, then each host, with its evidence */
		const json = JSON.parse(execFileSync(dltraced, ['report', '--json', ...dirs], big)), answer = await p.locator('main').evaluate(e => e.textContent);

		assert.equal(await p.locator('#answer > .verdict').getAttribute('data-code'), json.bottleneck.code);
		assert.deepEqual(await p.locator('#found > .host > summary').allInnerTexts(), json.hosts.map(h => `${h.name}: ${h.bottleneck.code}`));
		for (const words of [json.bottleneck, ...json.hosts.map(h => h.bottleneck)].flatMap(f => [f.title, ...f.evidence]))
			assert(answer.includes(words), words);
		assert.match(await p.locator('#facts').innerText(), /Between hosts\s*error not known/);
		assert(text.includes('/out/ckpt.pt') && text.includes('/out/train.log'));
		assert.deepEqual(await p.locator('section.table[aria-label="Hosts"] tbody tr td:first-child').allInnerTexts(), ['node1', 'node2']);
		assert.deepEqual((await pictures(p)).filter(x => x.colours < 2 && x.title !== 'Time').map(x => x.title), []);
		await close(p);
	},

	async a_comparison_is_tables_below_one_axis() {
		const file = path.join(folder, 'compare.html');
		const dirs = ['trace-small', 'trace-other', 'trace-hostile'].map(d => path.join(root, 'tests/golden', d));

		execFileSync(dltraced, ['report', '--compare', '--html', file, ...dirs], big);
		const p = await opened(file), run = p.locator('section.table[aria-label="Run"] tbody tr', { hasText: 'lasted' });

		assert.deepEqual((await run.locator('td').allInnerTexts()).slice(0, 4), ['lasted', '2.50 s', '3.00 s', '1.20']);
		assert.match(await p.locator('#missing').textContent(), /\(1\) vfs_rw: 2 lost/);
		assert.equal(await p.evaluate(() => window.evil), undefined);
		for (const n of [1, 2, 3])
			assert.equal(await p.panel(`(${n}): Files: bytes read and written`).count(), 1, `${n}`);
		/* each begins with the axis; what it read in all is what its own report has */
		for (const [i, dir] of dirs.slice(0, 2).entries()) {
			const alone = JSON.parse(execFileSync(dltraced, ['report', '--json', dir], big)).timeline;
			const sums = t => t.series.filter(s => s.panel === 'vfs' && s.name === 'read' && (s.host == null || s.host === `(${i + 1})`))[0].values;
			const together = JSON.parse(await p.locator('#report').evaluate(e => e.textContent)).timeline;
			const [mine, own] = [together, alone].map(t => sums(t).reduce((n, v) => n + (v || 0), 0) * t.bin_ns / 1e9);

			assert.equal(together.begin_ns, 0);
			assert.equal(together.hosts[i].begin_ns, 0);
			assert.equal(together.hosts[i].end_ns, alone.end_ns - alone.begin_ns);
			assert(own > 0 && Math.abs(mine - own) < 0.02 * own, `${dir}: ${mine}, alone ${own}`);
		}
		assert.deepEqual((await pictures(p)).filter(x => x.colours < 2 && x.title !== 'Time').map(x => x.title), []);
		await close(p);
	},

	/* Each number of the text is the JSON's, rounded, and is on the page in this form. */
	async text_json_and_page_agree_to_the_digit() {
		for (const name of ['trace-small', 'trace-panels', 'trace-cpu']) {
			const trace = golden(name), file = path.join(folder, `${name}-agree.html`), report = (...args) => execFileSync(dltraced, ['report', ...args, trace], big).toString();

			execFileSync(dltraced, ['report', '--html', file, trace], big);
			const json = JSON.parse(report('--json'), plainly);
			const text = sections(report('--full')), p = await opened(file);
			const num = v => v == null ? '\u2013' : String(v);
			const table = title => p.locator(`#tables .table[aria-label="${title}"] tbody tr`).evaluateAll(rows => rows.map(r =>
				[...r.querySelectorAll('td')].map(c => c.textContent.replace(/\u202f/g, ''))));
			/* the text omits zeros where there is nothing to measure, the page omits what is not in the JSON */
			const same = (got, wanted, what) => assert.deepEqual(got.map(row => row.map(c => c === '\u2013' || /^0( |$)/.test(c) ? null : c)),
				wanted.map(row => row.map(c => c === null || c === '?' || /^0( |$)/.test(c) ? null : c)), `${name}: ${what}`);
			const compare = async (what, title, jsonRows, pick) => {
				if (!text[what]?.length)
					return assert.equal(jsonRows.length, 0, `${name}: ${what}`);
				same(jsonRows, text[what], `${what}, JSON and text`);
				same((await table(title)).map(pick), text[what], `${what}, page and text`);
			};
			const op = (p, label) => [label, num(p.rows), p.lost === undefined ? '\u2013' : num(p.lost), num(p.failed), p.bytes === undefined ? '\u2013' : bytes(p.bytes),
				...['time_ns', 'p50_ns', 'p99_ns', 'max_ns'].map(k => p[k] === undefined ? '\u2013' : ns(p[k]))];
			const file_ = f => [bytes(f.read_bytes), bytes(f.write_bytes), ns(f.time_ns), num(f.calls), f.path];
			const call = c => [ns(c.lat_ns), c.probe, num(c.pid), num(c.tid), c.comm, c.ended, c.func, c.file];

			const pct = v => v == null ? '\u2013' : `${(100 * v).toFixed(1)} %`, epochs = json.epochs.filter(e => e.reads || json.epochs.length > 1);
			const sizes = e => e.read_sizes.filter(x => x.from), usual = e => sizes(e).reduce((a, x) => !a || x.calls > a.calls ? x : a, null);
			const shared = f => [...file_(f).slice(0, 4), num(f.opens), num(f.users), f.path], fileCells = c => [...c.slice(2, 8), c[0]];
			const use = u => [bytes(u.read_bytes), bytes(u.write_bytes), ns(u.time_ns), num(u.calls), num(u.pid), u.comm, u.path];
			const median = (q, of, unit, text) => text(q.histograms.find(h => h.of === of && h.unit === unit)?.p50 ?? 0);
			const told = findings(report('--full')), answer = (await p.locator('#answer, #found').evaluateAll(all => all.map(e => e.textContent))).join();

			/* the answer and the rules: equal words and numbers in all three */
			assert.deepEqual(told.all.map(f => [f.code, f.title, f.evidence, f.advice]),
				[json.bottleneck, ...json.rules].map(f => [f.code, f.title, f.evidence, f.advice]), `${name}: answer`);
			assert.deepEqual(told.all.slice(1).map(f => f.size), json.rules.map(f => f.size_share == null ? null : `${ns(f.size_ns)}, ${pct(f.size_share)}`));
			assert.deepEqual(told.facts, json.facts.map(f => ({ code: f.code, title: f.title })));
			assert.deepEqual(told.missing, json.rules_missing);
			assert.equal(told.all[0].share, json.bottleneck.share == null ? null : pct(json.bottleneck.share));
			for (const words of told.all.flatMap(f => [f.title, f.advice, ...f.evidence]).concat(told.facts.map(f => f.title), told.missing, json.waited.notes))
				assert(answer.includes(words), `${name}: not on the page: ${words}`);

			await compare('epochs', 'Reads of regular files, by epoch', epochs.map(e => [ns(e.end_ns - e.begin_ns), pct(e.waited_share), num(e.samples), bytes(e.read_bytes), bytes(e.disk_bytes ?? 0),
				num(e.reads), pct(e.sequential_share), bytes(e.again_bytes), num(e.workers.count), e.name]), c => [...c.slice(1, 6), ...c.slice(7, 11), c[0]]);
			if (text.epochs_more?.length) {
				const sum = e => sizes(e).reduce((n, x) => n + x.calls, 0), slow = await table('Slowest files, by epoch');

				same(epochs.map(e => [e.name, bytes(usual(e)?.from ?? 0), usual(e) ? pct(usual(e).calls / sum(e)) : '\u2013', num(e.workers.slowest_pid), ns(e.workers.slowest_ns ?? 0),
					ns(e.workers.median_ns ?? 0), ns(e.slowest_files[0]?.read_ns ?? 0), num(e.slowest_files[0]?.calls), e.slowest_files[0]?.path ?? null]), text.epochs_more, 'epochs, more');
				same((await table('Reads of regular files, by epoch')).map(c => c.slice(11, 14)), text.epochs_more.map(c => [c[3], c[4], c[5]]), 'epochs, more, on the page');
				for (const row of text.epochs_more.filter(c => c[8]))
					assert(slow.some(c => c[0] === row[0] && c[2] === row[6] && c[3] === row[7] && c[1] === row[8]), `${row}: ${slow}`);
			}
			await compare('datasets', 'Data sets', json.datasets.map(d => [num(d.files), num(d.opens), bytes(d.read_bytes), pct(d.disk_share), bytes(d.write_bytes), bytes(d.mapped_bytes),
				bytes(d.fault_bytes), ns(d.time_ns), ns(d.rw_ns), ns(d.open_ns), ns(d.fault_ns), d.kind, d.medium, d.path ?? '(others)']),
			c => [...c.slice(1, 3), ...c.slice(4, 9), ...c.slice(10, 16), c[0] === '\u2013' ? '(others)' : c[0]]);
			for (const [key, title] of [['files_by_written', 'Files with the most bytes written'], ['files_by_opens', 'Files opened most often'],
				['files_shared', 'Files that several processes used, by bytes']])
				await compare(key, title, json[key].map(shared), fileCells);
			for (const [key, title] of [['uses_by_bytes', 'bytes'], ['uses_by_time', 'time']])
				await compare(key, `Processes and their files with the most ${title}`, json[key].map(use), c => [...c.slice(2, 8), c[1]]);
			await compare('medians', 'Processes: medians of calls on files', json.process_histograms.map(q => [num(q.pid), median(q, 'read', 'ns', ns), median(q, 'read', 'B', bytes),
				median(q, 'write', 'ns', ns), median(q, 'write', 'B', bytes), median(q, 'open', 'ns', ns), median(q, 'other', 'ns', ns), q.comm]),
			c => [c[0], ...c.slice(3, 9), c[1]]);
			const known = v => v == null ? '\u2013' : bytes(v);
			const allocated = a => [known(a.at_peak_bytes), known(a.peak_bytes), num(a.blocks), bytes(a.bytes), bytes(a.short_bytes), bytes(a.never_freed_bytes)];

			for (const [key, title] of [['allocs_by_peak', 'Stacks with most memory in use at the peak'], ['allocs_by_bytes', 'Stacks that allocated the most bytes'],
				['allocs_by_short', 'Stacks with the most bytes of short-lived blocks'], ['allocs_by_never_freed', 'Stacks with the most bytes never freed']])
				await compare(key, title, json[key].map(a => [...allocated(a), a.stack]), c => [...c.slice(1, 7), c[0]]);
			await compare('alloc_processes', 'Processes by memory in use', json.alloc_processes.map(a => [...allocated(a), num(a.cross_thread_frees), num(a.failed), num(a.pid), a.comm]),
				c => [...c.slice(1, 10), c[0]]);
			await compare('allocs_untouched', 'Stacks that allocated the most bytes that were never touched', json.allocs_untouched.map(a => [bytes(a.untouched_bytes), num(a.untouched_blocks), known(a.once_bytes),
				bytes(a.bytes), num(a.blocks), a.stack]), c => [...c.slice(1, 6), c[0]]);
			await compare('access_processes', 'Memory that processes touched', json.access_processes.map(a => [a.source, num(a.rows), num(a.count), num(a.intervals), known(a.interval_bytes),
				known(a.most_bytes), bytes(a.touched_bytes), bytes(a.written_bytes), num(a.pid), a.comm]), c => [...c.slice(1, 10), c[0]]);
			await compare('alloc_phases', 'Memory that programs allocated, by phase', json.alloc_phases.slice(0, 20).map(a => [bytes(a.peak_bytes), bytes(a.end_bytes), num(a.blocks), bytes(a.bytes), a.name]),
				c => [...c.slice(1, 5), c[0]]);
			await compare('classes', 'Pipes, sockets, terminals, devices and the like, by class', json.classes.map(q => [q.class, num(q.files), num(q.calls), num(q.reads), bytes(q.read_bytes),
				num(q.writes), bytes(q.write_bytes), ns(q.time_ns)]), c => c);
			await compare('probes', 'Rows by probe', json.probes.flatMap(p => [op(p, p.name)].concat(['reads', 'writes'].filter(k => p[k]).map(k => op(p[k], k)))),
				c => [c[0].replace('vfs_rw ', ''), ...c.slice(1, 4), ...c.slice(5)]);
			await compare('types', 'Read and written, by type of file', json.types.map(t => [t.type, num(t.reads), bytes(t.read_bytes), ns(t.read_ns), num(t.writes), bytes(t.write_bytes), ns(t.write_ns)]), c => c);
			for (const key of ['files_by_bytes', 'files_by_time'])
				await compare(key, key === 'files_by_bytes' ? 'Files with the most bytes' : 'Files with the most time', json[key].map(file_), c => [...c.slice(2, 6), c[0]]);
			await compare('processes', 'Processes, by time in calls on files', json.processes.map(q => [num(q.pid), num(q.ppid), num(q.reads), bytes(q.read_bytes), num(q.writes), bytes(q.write_bytes),
				ns(q.file_ns), ns(q.wait_ns), q.comm + (q.rank ? `, rank ${q.rank}` : '')]),
			c => [...c.slice(2), c[0] + (c[1] !== '\u2013' ? `, rank ${c[1]}` : '')]);
			for (const [key, title] of [['slowest', 'Slowest calls on files'], ['waits', 'Longest waits on pipes, sockets, terminals, devices'], ['running', 'Still running at the end']])
				await compare(key, title, json[key].longest.slice(0, key === 'waits' ? 3 : 10).map(call), c => [...c.slice(1), c[0]]);
			if (text.sources?.length) {
				const known = (s, v) => s.calls > s.unaccounted ? v : '\u2013', numbers = r => [r[1], r[2], r[3], r[5]];

				same(json.read_sources.map(s => [num(s.calls), bytes(s.bytes), known(s, bytes(s.disk_bytes)), known(s, num(s.disk_calls))]),
					text.sources.map(numbers), 'sources, JSON and text');
				same((await table('Where reads of regular files were served from')).map(c => c.slice(1, 5)), text.sources.map(numbers), 'sources, page and text');
			}
			if (text.disks) {
				const ops = json.disks.flatMap(d => d.ops.map(o => [d.name, o.t, num(o.requests), bytes(o.bytes), ns(o.p50_ns), ns(o.p99_ns), ns(o.max_ns)]));

				same(ops, text.disks.map(r => r.slice(0, 7)), 'disks, JSON and text');
				same((await table('Disks, whole machine')).map(c => [c[0], c[2], c[3], c[4], ...c.slice(7, 10)]), text.disks.map(r => r.slice(0, 7)), 'disks, page and text');
			}
			if (json.cpu) {
				const cpuText = sections(report('--cpu')), { cpu } = json, busy = cpu.by_task_ns - cpu.kinds.idle;
				const chart = title => p.locator(`#cpu .chart[aria-label="${title}"] .bars`).evaluate(e => [...e.querySelectorAll('.label')].map((l, i) =>
					[l.textContent, e.querySelectorAll('.num')[i].textContent]));
				const byTask = await chart('CPU time by task');

				assert.deepEqual(JSON.parse(report('--cpu', '--json'), plainly), { dir: trace, ...cpu });
				for (const row of cpuText.tasks.filter(r => !r[8].startsWith('other: '))) {
					const t = cpu.tasks.find(x => x.name === row[8]);

					assert.deepEqual([row[2], row[6], row[7]], [ns(t.run_ns), ns(t.runq_ns), num(t.switches)], `${name}: ${row}`);
					if (t.kind !== 'idle')
						assert(byTask.some(([label, value]) => label === visible(t.name) && value === `${row[2]} ${row[4]}`), `${name}: ${row}: ${byTask}`);
				}
				for (const row of cpuText.cpu_processes.filter(r => !r[7].startsWith('other: ') && r[0] !== null)) {
					const q = cpu.processes.find(x => x.pid === Number(row[0]) && x.comm === row[7]);

					assert.deepEqual([row[1], row[2], row[4], row[5], row[6]], [num(q.threads), ns(q.run_ns), ns(q.runq_ns), num(q.switches), num(q.preempted)]);
				}
				assert.deepEqual(cpuText.cpus.map(r => [r[1], r[2], r[4]]), cpu.cpus.map(c => [ns(c.busy_ns), ns(c.idle_ns), num(c.switches)]));
				assert.deepEqual((await chart('CPU time by CPU')).map(c => c[1]), cpuText.cpus.map(r => `${r[1]} ${r[3]}`));
				assert.equal(cpu.tasks.reduce((n, t) => n + t.run_ns, cpu.other_tasks.run_ns), cpu.by_task_ns);
				assert(busy > 0);
			}
			await close(p);
		}
	},
};

async function main(pattern) {
	let passed = 0, failed = 0, left = 0;

	browser = await launched();
	for (const [name, test] of Object.entries(tests)) {
		if (pattern && !name.includes(pattern))
			continue;
		try {
			const needs = await test();

			needs ? left++ : passed++;
			console.log(needs ? `SKIP ${name}  needs ${needs}` : `ok   ${name}`);
		} catch (e) {
			failed++;
			console.log(`FAIL ${name}\n${String(e.stack).replace(/^/gm, '     ')}`);
		}
	}
	await browser.close();
	fs.rmSync(folder, { recursive: true });
	console.log(`${passed} passed, ${failed} failed, ${left} skipped`);
	process.exitCode = failed ? 1 : 0;
}

main(process.argv[2]);
