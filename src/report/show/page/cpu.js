/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPU time of the whole trace, where the probes of scheduling were on: by task, by process, by CPU, tasks by CPUs, and the
 * waits of threads. Bars are elements, so that they are read aloud, found and printed.
 */
const Cpu = (() => {
	const c = Data.report.cpu;
	const ns = v => Format.value(v, 'ns');
	const sum = (rows, f) => rows.reduce((n, row) => n + (f(row) || 0), 0);
	const list = key => Array.isArray(c[key]) ? c[key] : [];

	/* The parts of a thread's time, in the order of the bars. */
	const PARTS = [
		['run_ns', 'running', '--c3'], ['runq_ns', 'runnable', '--c7'], ['disk_ns', 'waiting for a disk', '--c5'],
		['blocked_ns', 'blocked', '--c4'], ['sleep_ns', 'asleep', '--c0'], ['unknown_ns', 'not known', '--lane'],
	];
	const KINDS = { target: '--c1', kernel: '--c2', self: '--c5', other: '--c0', idle: '--lane' };

	/* A box with a title, an explanation, and its body. */
	function chart(title, note, ...body) {
		return el('section', { class: 'chart', 'aria-label': title }, el('h3', null, title),
			note && el('p', { class: 'aside' }, note), body);
	}

	function part(colour, share, hint) {
		const e = el('i', { title: hint && Dom.safe(hint) });

		e.style.width = `${Math.max(0, Math.min(100, share * 100))}%`;
		e.style.background = `var(${colour})`;
		return e;
	}

	/* ROWS: [{ label, parts: [[color, share of the bar's length, hint]], value }]. */
	function bars(rows) {
		return el('div', { class: 'bars scroll', tabindex: '0' }, rows.flatMap(row => [
			el('span', { class: 'label', title: Dom.safe(row.label) }, row.label),
			el('span', { class: 'bar' }, row.parts.map(p => part(...p))),
			el('span', { class: 'num' }, row.value),
		]));
	}

	/* A bar for each of ROWS, the longest for the most CPU time, with its share of all time that was not idle. */
	function times(rows, label, others) {
		const all = rows.filter(t => t.kind !== 'idle').concat(others && others.run_ns ? [{ ...others, kind: 'other', rest: true }] : []);
		const most = Math.max(1, ...all.map(t => t.run_ns)), busy = busyTime();

		return bars(all.map(t => ({
			label: t.rest ? `${Format.count(t.n)} others` : label(t),
			parts: [[Format.own(KINDS, t.kind) ?? '--c0', t.run_ns / most, `runnable for ${ns(t.runq_ns)}, ${Format.count(t.switches)} switches`]],
			value: `${ns(t.run_ns)} ${Format.share(t.run_ns, busy)}`,
		})));
	}

	const busyTime = () => Math.max(0, (c.by_task_ns || 0) - (c.kinds?.idle || 0));

	function legend(entries) {
		return el('ul', { class: 'legend' }, entries.map(([name, colour]) => el('li', null, part(colour, 1), name)));
	}

	function cpus() {
		return bars(list('cpus').map(cpu => {
			const all = cpu.busy_ns + cpu.idle_ns;

			return {
				label: `CPU ${cpu.cpu}`,
				parts: [['--c1', all ? cpu.busy_ns / all : 0, `${Format.count(cpu.switches)} switches`]],
				value: `${ns(cpu.busy_ns)} ${Format.share(cpu.busy_ns, all)}`,
			};
		}));
	}

	/* A row for each task, a cell for each CPU: the share of the CPU's time. */
	function matrix() {
		const cpus = list('cpus'), wholes = cpus.map(cpu => cpu.busy_ns + cpu.idle_ns);
		const rest = c.other_tasks && c.other_tasks.n ? [{ name: `${c.other_tasks.n} others`, by_cpu: c.other_tasks.by_cpu }] : [];
		const written = cpus.length <= 24;
		const cell = (v, i, t) => {
			const share = wholes[i] ? v / wholes[i] : 0;
			const e = el('td', { class: 'num', title: `${Dom.safe(t.name)}, CPU ${cpus[i].cpu}: ${ns(v)}, ${Format.share(v, wholes[i])}` },
				written ? Format.fixed(share * 100, 1) : '');

			e.style.background = `color-mix(in srgb, var(--c1) ${Math.round(100 * Math.sqrt(Math.min(1, share)) * 0.75)}%, transparent)`;
			return e;
		};

		return el('div', { class: 'matrix scroll', tabindex: '0' }, el('table', null,
			el('thead', null, el('tr', null, el('th', { scope: 'col' }, written ? '% of the CPU' : 'CPU'),
				cpus.map((cpu, i) => el('th', { scope: 'col', class: 'num' }, written || i % 8 === 0 ? cpu.cpu : '')))),
			el('tbody', null, list('tasks').concat(rest).map(t => el('tr', null, el('th', { scope: 'row', title: Dom.safe(t.name) }, t.name),
				(t.by_cpu || []).slice(0, cpus.length).map((v, i) => cell(v, i, t)))))));
	}

	/* --- waits -------------------------------------------------------------------------------- */

	const off = new Set(); /* parts that are switched off */

	function waitBars() {
		return bars(list('waits').map(w => {
			const shown = PARTS.filter(p => !off.has(p[0])), whole = sum(shown, p => w[p[0]]);

			return {
				label: w.comm,
				parts: shown.map(([key, name, colour]) => [colour, whole ? (w[key] || 0) / whole : 0,
					`${name}: ${ns(w[key])}, ${Format.share(w[key], w.wall_ns)}`]),
				value: `${ns(whole)}`,
			};
		}));
	}

	function waitLegend(redraw) {
		return el('ul', { class: 'legend' }, PARTS.map(([key, name, colour]) => {
			const b = el('button', { type: 'button', 'aria-pressed': 'true', title: 'show or hide', onclick: () => {
				off[off.has(key) ? 'delete' : 'add'](key);
				b.setAttribute('aria-pressed', String(!off.has(key)));
				redraw();
			} }, part(colour, 1), name);

			return el('li', null, b);
		}));
	}

	/* The calls that they waited in: one row for each. */
	function waitCalls() {
		const rows = list('waits').flatMap(w => (w.calls || []).map(call => ({ ...call, comm: w.comm })));
		const time = (title, key) => ({ title, value: row => row[key], text: ns, num: true });

		return rows.length > 0 && new Table('Calls in which threads waited', [
			{ title: 'Thread', value: row => row.comm }, { title: 'Call', value: row => row.call },
			{ title: 'Waits', value: row => row.waits, text: Format.count, num: true }, time('For a disk', 'disk_ns'),
			time('Blocked', 'blocked_ns'), time('Asleep', 'sleep_ns'), time('Max', 'max_ns')], rows).element;
	}

	function waits() {
		const host = el('div'), redraw = () => fill(host, waitBars());

		redraw();
		return chart('What threads waited for', 'sums over the job\u2019s threads of one name', waitLegend(redraw), host);
	}

	function build() {
		const root = document.getElementById('cpu');

		root.hidden = !c;
		if (!c)
			return;
		fill(root, el('h2', null, 'CPU time'),
			el('p', { class: 'aside' }, `${ns(busyTime())} of ${ns(c.by_cpu_ns)} on ${Format.counted(list('cpus').length, 'CPU', 'CPUs')} were busy.`),
			el('div', { class: 'charts' },
				chart('CPU time by task', 'threads of one name are a task; shares are of the busy time',
					legend([['the job', KINDS.target], ['kernel', KINDS.kernel], ['dltraced', KINDS.self], ['others', KINDS.other]]),
					times(list('tasks'), t => t.name, c.other_tasks)),
				chart('CPU time by process', null, times(list('processes'), p => p.pid ? `${p.comm} ${p.pid}` : '(others)', c.other_processes)),
				chart('CPU time by CPU', 'busy, share of its time', cpus()),
				list('waits').length > 0 && waits()),
			chart('Tasks by CPUs', 'the CPU time of each task on each CPU, with idle time', matrix()),
			waitCalls());
	}

	return { build };
})();
