/* SPDX-License-Identifier: BSD-2-Clause */
/* The panels, in the order of the page: one row for each kind of series of the timeline. */
const Catalog = (() => {
	/*
	 * panel: the panel's name in the series (a disk or GPU is in brackets); each: one panel for each name of a series,
	 * with a line for each GPU or CPU, or where there are many a row of color; max: of the axis, if it is fixed.
	 */
	const KINDS = [
		{ panel: /^path$/, group: 'Path', title: () => 'Where the time of the job\'s first process went', stacked: true, max: 1, height: 120 },
		{ panel: /^cpu$/, group: 'CPU', title: () => 'CPU, all', stacked: true, max: 100, height: 120 },
		{ panel: /^cpu_each$/, group: 'CPU', title: () => 'CPU, each: busy', each: 'CPU', rows: 0, max: 100 },
		{ panel: /^gpu$/, group: 'GPU', title: () => 'GPU, mean of all', max: 100, height: 120 },
		{ panel: /^gpu_fb$/, group: 'GPU', title: () => 'GPU, mean of all: frame buffer' },
		{ panel: /^gpu:(.+)$/, group: 'GPU', title: n => `GPU, each: ${n}`, each: 'GPU', rows: 4, max: 100 },
		{ panel: /^gpu_fb:(.+)$/, group: 'GPU', title: () => 'GPU, each: frame buffer', each: 'GPU', rows: 4 },
		{ panel: /^vfs$/, group: 'Files', title: () => 'Files: bytes read and written', height: 130 },
		{ panel: /^vfs_calls$/, group: 'Files', title: () => 'Files: reads and writes' },
		{ panel: /^calls$/, group: 'Files', title: () => 'Files: other calls' },
		{ panel: /^disk:(.+)$/, group: 'Disks', title: (n, d) => `Disk ${d}: bytes`, perDisk: true, height: 110 },
		{ panel: /^disk_ops:(.+)$/, group: 'Disks', title: (n, d) => `Disk ${d}: requests`, perDisk: true },
		{ panel: /^disk_lat:(.+)$/, group: 'Disks', title: (n, d) => `Disk ${d}: mean latency`, perDisk: true, stacked: true },
		{ panel: /^iostat:(.+)$/, group: 'Disks', title: (n, d) => `Disk ${d}: ${n} (iostat)`, perDisk: true, perUnit: true },
		{ panel: /^alloc$/, group: 'Memory', title: () => 'Memory that programs allocated: in use', height: 120 },
		{ panel: /^memory$/, group: 'Memory', title: () => 'Memory of the machine', stacked: true },
		{ panel: /^memory_dirty$/, group: 'Memory', title: () => 'Memory: pages of files to be written' },
		{ panel: /^reclaim$/, group: 'Memory', title: () => 'Memory: threads that had to free some', stacked: true },
		{ panel: /^sched$/, group: 'Threads', title: () => 'Threads: running and waiting', stacked: true, height: 120 },
	];
	const OTHER = { group: 'Other', title: n => n };
	/* The order of groups; lanes and heat maps have their own kinds of panel. */
	const GROUPS = ['Path', 'Phases', 'Regions', 'CPU', 'GPU', 'Files', 'Disks', 'Memory', 'Latency', 'Single calls', 'Threads', 'Processes', 'Other'];
	const COLORS = {
		read: 1, reads: 1, run: 3, write: 2, writes: 2, open: 3, close: 6, mmap: 4, create: 7, delete: 5, sync: 8,
		fault: 6, faults: 6, usr: 1, sys: 2, iowait: 5, idle: 0, sm: 3, mem: 4, fb: 6, queue: 7, device: 1,
		'on a CPU': 3, 'waiting for a CPU': 8, 'reading storage': 2, 'names of files': 4, writing: 5, network: 1, others: 6,
		sleeping: 0, 'not known': 0,
		runq: 7, disk: 5, blocked: 4, sleep: 0, programs: 2, 'page cache': 1, free: 0, dirty: 2, 'write-back': 5, 'in use': 4, cgroup: 2, machine: 5,
	};
	const APART = 8; /* times as high as: of less than an eighth of the height nothing can be read */
	const DISKS_SHOWN = 3, HOSTS_SHOWN = 4; /* of more, the others are there to be switched on */

	/* What is missing, why it may be missing, and how to get it. */
	const NEEDS = [
		['Path', 'the path of the first process over time', 'the probes waits and sched, which are on by default'],
		['CPU', 'CPU use', 'the collector cpu (mpstat, of the package sysstat)'],
		['GPU', 'GPU use', 'the collectors gpu and gpu_dev (nvidia-smi)'],
		['Files', 'reads and writes of files', 'the probes vfs_rw, open, close, mmap, create_del and sync'],
		['Disks', 'disks', 'the probe bio, or the collector disk (iostat, of the package sysstat)'],
		['Memory', 'memory of the machine', 'the probe memory'],
		['Latency', 'latency heat maps', 'the probes bio, vfs_rw, open and fault'],
		['Threads', 'running and waiting of threads', 'the probe sched, which is on by default, with --all by --probes +sched'],
		['Processes', 'lanes of processes', 'any probe of files; CPU in them, the probe sched'],
		['Phases', 'phases of the job', 'dltraced mark TEXT during the run, or MLPerf log lines with --log'],
	];

	function color(name, i) {
		return Theme.color('c' + (Format.own(COLORS, name) ?? 1 + i % 8));
	}

	/* The host of a panel, before its title, where there are several hosts. */
	const of = host => host ? `${host}: ` : '';

	function kindOf(s) {
		const kind = KINDS.find(k => k.panel.test(s.panel)) || OTHER;

		return { kind, which: (kind.panel && kind.panel.exec(s.panel)[1]) || '', rank: KINDS.indexOf(kind) };
	}

	/* The properties that series of one panel share. */
	function keyOf(s) {
		const { kind, which, rank } = kindOf(s);

		return `${s.host}\0` + (kind === OTHER ? s.panel : kind.each ?
			`${rank} ${kind.panel.source.includes('(') ? s.name : ''}` :
			`${rank} ${which} ${kind.perUnit ? s.unit : ''}`);
	}

	/* [{ kind, group, title, series }]: a panel each. */
	function panels() {
		const byKey = new Map(), shown = new Set(Data.series.filter(s => s.values.length > 0).map(s => keyOf(s)));

		/* a series without values appears beside those with values: a GPU that reports none, among others */
		for (const s of Data.series.filter(x => shown.has(keyOf(x)))) {
			const { kind, which, rank } = kindOf(s), key = keyOf(s);

			if (!byKey.has(key))
				byKey.set(key, {
					kind, rank, which, host: s.host, group: kind.group, series: [],
					title: of(s.host) + kind.title(kind === OTHER ? s.panel : s.name, which),
				});
			byKey.get(key).series.push(s);
			s.label = kind.each ? `${kind.each} ${which || s.name}` : s.name;
		}
		return inOrder([...byKey.values()]).flatMap(bySize);
	}

	const nameOf = s => `${s.panel}\0${s.name}`;
	let found = null;

	/* The largest value of each series, over all hosts. */
	function peaks() {
		if (found)
			return found;
		found = new Map();
		for (const s of Data.series)
			found.set(nameOf(s), s.values.reduce((m, v) => v > m ? v : m, found.get(nameOf(s)) || 0));
		return found;
	}

	/*
	 * Series of very different size have panels of their own: a checkpoint's writes would flatten the reads. Series of
	 * zeros stay with the largest. All hosts have the same panels.
	 */
	function bySize(p) {
		if (p.kind.stacked || p.kind.max || p.kind.each)
			return [p];
		const peak = new Map(p.series.map(s => [s, peaks().get(nameOf(s)) || 0]));
		const groups = [];

		for (const s of p.series.slice().sort((a, b) => peak.get(b) - peak.get(a)))
			if (groups.length && (!peak.get(s) || peak.get(groups.at(-1)[0]) < APART * peak.get(s)))
				(peak.get(s) ? groups.at(-1) : groups[0]).push(s);
			else
				groups.push([s]);
		if (groups.length < 2)
			return [p];
		const place = s => p.series.indexOf(s);

		return groups.map(all => all.sort((a, b) => place(a) - place(b))).sort((a, b) => place(a[0]) - place(b[0]))
			.map(series => ({ ...p, series, title: `${p.title} (${series.map(s => s.label).join(', ')})` }));
	}

	/* By group; the busiest disks first, and all panels of a disk together. */
	function inOrder(all) {
		const bytes = new Map(), hosts = [...new Set(all.map(p => p.host))];
		const disk = p => `${p.host}\0${p.which}`;

		for (const p of all.filter(x => x.kind.perDisk))
			if (p.rank === KINDS.findIndex(k => k.panel.test('disk:x')))
				bytes.set(disk(p), p.series.reduce((sum, s) => sum + s.values.reduce((a, v) => a + (v || 0), 0), 0));
		const disks = [...new Set(all.filter(p => p.kind.perDisk).map(disk))]
			.sort((a, b) => (bytes.get(b) || 0) - (bytes.get(a) || 0) || (a < b ? -1 : 1));

		for (const p of all) {
			p.order = p.kind.perDisk ? disks.indexOf(disk(p)) : 0;
			p.off = (p.kind.perDisk && p.order >= DISKS_SHOWN) || hosts.indexOf(p.host) >= HOSTS_SHOWN;
		}
		return all.sort((a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) ||
			a.order - b.order || a.rank - b.rank || hosts.indexOf(a.host) - hosts.indexOf(b.host));
	}

	return { panels, color, of, GROUPS, NEEDS };
})();
