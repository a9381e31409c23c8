/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reports that nobody recorded, of the form of `dltraced report --json`, the same in every run: a training
 * job that is slow to read, one as large as a machine holds, a trace with hardly anything in it, one without a
 * timeline, one whose names are out to be markup. `node synth.js NAME` prints one.
 */
'use strict';

/* Numbers from 0 to 1 (xorshift). */
function dice(seed) {
	let s = seed;

	return () => {
		s ^= s << 13;
		s ^= s >>> 17;
		s ^= s << 5;
		return (s >>> 0) / 2 ** 32;
	};
}

const BEGIN = 37713049408036;
const SEC = 1e9;

function training({ secs = 120, bins = 600, gpus = 2, cpus = 8, disks = ['nvme0n1', 'sda'], workers = 8, trainers = 2 } = {}) {
	const bin = secs * SEC / bins, random = dice(4711);
	const round = v => Math.round(v * 1000) / 1000;
	const t = i => i / bins; /* 0 to 1 */
	/* the job's course: start, three epochs that read in bursts, a checkpoint after each */
	const epoch = x => x < 0.1 ? -1 : Math.min(2, Math.floor((x - 0.1) / 0.3));
	const inEpoch = x => ((x - 0.1) / 0.3) % 1;
	const reading = x => x < 0.1 ? 0.2 : inEpoch(x) < 0.85 ? 0.55 + 0.4 * Math.sin(x * 180) ** 2 : 0.03;
	const checkpoint = x => x > 0.1 && inEpoch(x) > 0.9 ? 1 : 0;
	const per = f => Array.from({ length: bins }, (_, i) => round(Math.max(0, f(t(i)) * (0.75 + 0.5 * random()))));
	const row = (panel, name, unit, f) => ({ panel, name, unit, values: per(f) });

	const series = [
		row('vfs', 'read', 'B/s', x => reading(x) * 1.9e9), row('vfs', 'write', 'B/s', x => checkpoint(x) * 8e8 + 2e5),
		row('vfs_calls', 'reads', '1/s', x => reading(x) * 14000), row('vfs_calls', 'writes', '1/s', x => checkpoint(x) * 800 + 12),
		...['open', 'close', 'mmap', 'create', 'delete', 'sync'].map((name, k) =>
			row('calls', name, '1/s', x => (k < 2 ? reading(x) * 2100 : k === 2 ? (x < 0.1 ? 900 : 15) : checkpoint(x) * 4) + 0.3)),
	];
	disks.forEach((d, k) => {
		const part = 1 / (k + 1) / (k + 1);

		series.push(row(`disk:${d}`, 'read', 'B/s', x => reading(x) * 1.1e9 * part), row(`disk:${d}`, 'write', 'B/s', x => checkpoint(x) * 7e8 * part),
			row(`disk_ops:${d}`, 'reads', '1/s', x => reading(x) * 8800 * part), row(`disk_ops:${d}`, 'writes', '1/s', x => checkpoint(x) * 1500 * part),
			{ panel: `disk_lat:${d}`, name: 'queue', unit: 'ns', values: per(x => reading(x) * 90000).map((v, i) => i % 37 === 5 ? null : v) },
			{ panel: `disk_lat:${d}`, name: 'device', unit: 'ns', values: per(x => 120000 + reading(x) * 400000).map((v, i) => i % 37 === 5 ? null : v) });
	});
	/* not known before the first allocation, and where rows are missing */
	series.push({ panel: 'alloc', name: 'in use', unit: 'B', values: per(x => 3e9 + 4e9 * reading(x)).map((v, i) => i < 12 || i % 97 === 5 ? null : v) });
	for (const [name, f] of Object.entries({ run: x => 2 + 3 * reading(x), runq: x => 0.7 * reading(x), disk: x => 3 * reading(x),
		blocked: x => checkpoint(x) * 1.2, sleep: x => 6 - 3 * reading(x) }))
		series.push(row('sched', name, 's/s', f));

	const sampled = [], samples = Math.round(secs);
	const at = Array.from({ length: samples }, (_, i) => BEGIN + Math.round((i + 0.9) * SEC));
	const sample = (panel, name, unit, f, when = at) => sampled.push({
		panel, name, unit, t: when,
		values: when.map(x => Math.round(Math.max(0, f((x - BEGIN) / SEC / secs) * (0.85 + 0.3 * random())) * 10) / 10),
	});

	sample('cpu', 'usr', '%', x => 20 + 30 * reading(x));
	sample('cpu', 'sys', '%', x => 4 + 8 * reading(x));
	sample('cpu', 'iowait', '%', x => 22 * reading(x));
	sample('cpu', 'idle', '%', x => Math.max(5, 45 - 40 * reading(x)));
	for (let c = 0; c < cpus; c++)
		sample('cpu_each', String(c), '%', x => 30 + 60 * reading(x) * ((c * 7) % 5) / 5, at.filter((_, i) => i % 10 === 9));
	if (gpus)
		sample('gpu', 'sm', '%', x => x < 0.1 ? 0 : 85 - 60 * checkpoint(x) - 35 * Math.sin(x * 180) ** 2);
	for (let g = 0; g < gpus; g++) {
		sample(`gpu:${g}`, 'sm', '%', x => x < 0.1 ? 0 : (g === 3 ? 40 : 85) - 30 * checkpoint(x) - 35 * Math.sin(x * 180 + g / 3) ** 2);
		sample(`gpu:${g}`, 'mem', '%', x => x < 0.1 ? 0 : 50 - 25 * Math.sin(x * 180) ** 2);
		sample(`gpu_fb:${g}`, 'fb', 'MiB', x => x < 0.08 ? 500 : 61000);
	}
	disks.forEach(d => {
		sample(`iostat:${d}`, 'queue length', '', x => reading(x) * 12);
		sample(`iostat:${d}`, '%util', '%', x => Math.min(90, reading(x) * 95));
	});

	const heat = ['bio read', 'bio write', 'read', 'write', 'open'].map((name, k) => {
		const counts = [];

		for (let i = 0; i < bins; i++)
			for (let exp = 10 + k; exp < 26; exp++) {
				const hump = Math.exp(-((exp - 13 - k) ** 2) / 3) + 0.05 * Math.exp(-((exp - 21) ** 2) / 2);
				const n = Math.floor((name.includes('write') ? checkpoint(t(i)) : reading(t(i))) * hump * 130 * random());

				if (n)
					counts.push([i, exp, n]);
			}
		return { name, counts };
	});

	/* each second a long call of each kind, and 40 short reads, 1 ms apart, of two processes in turn */
	const events = ['read', 'write', 'open', 'bio read', 'bio write'].map((name, k) => ({
		name, each: 16, rows: Array.from({ length: Math.min(secs, 120) }, (_, i) => [[i * SEC + k * 1e7, 4e8, 4100],
			...name === 'read' ? Array.from({ length: 40 }, (__, n) => [i * SEC + 5e8 + n * 1e6, 7e5, 4100 + n % 2]) : []]).flat(),
	}));

	const lanes = [], wide = bins > 1500 ? 8 : 2; /* large reports have wider bins */
	const lane = (pid, ppid, comm, rank, group, from, to, busy, cpu) => {
		const cells = f => Array.from({ length: Math.ceil(bins / wide) }, (_, i) => [i, round(Math.max(0, f(t(i * wide)) * (0.6 + 0.4 * random())))])
			.filter(([i, v]) => t(i * wide) >= from && t(i * wide) <= to && v > 0.02).map(([i, v]) => [i, +v.toPrecision(2)]);

		lanes.push({
			pid, ppid, comm, rank, group, begin_ns: BEGIN + Math.round(from * secs * SEC), end_ns: BEGIN + Math.round(to * secs * SEC),
			busy: Object.fromEntries(Object.entries({ ...busy, cpu }).map(([k, f]) => [k, cells(f)])),
			/*
			 * one by one: in each tenth of its life, a call of a hundredth of the time, with each kind in turn
			 */
			longest: Object.fromEntries(['read', 'write', 'open', 'other'].map((k, i) => [k, [0, 4, 8].map(n => n + i).filter(n => n < 10)
				.map(n => [Math.round((from + (to - from) * n / 10) * secs * SEC), Math.round((to - from) * secs * SEC / 100)])])),
		});
	};

	lane(4000, 1, 'torchrun', null, 'other', 0, 1, { read: x => x < 0.02 ? 0.6 : 0, write: () => 0, open: x => x < 0.03 ? 0.5 : 0, other: () => 0 }, x => x < 0.05 ? 1 : 0.02);
	for (let r = 0; r < trainers; r++) {
		lane(4100 + r, 4000, 'python', String(r), 'trainer', 0.02, 0.99, { read: x => x < 0.1 ? 0.8 : 0.02, write: x => checkpoint(x) * 1.4,
			open: x => x < 0.1 ? 0.3 : 0, other: x => checkpoint(x) * 0.2 }, x => 0.9 * reading(x) + 0.3);
		for (let w = 0; w < Math.floor(workers / trainers); w++)
			lane(5000 + r * 200 + w, 4100 + r, 'pt_data_worker', String(r), 'loader', 0.1, 0.985, { read: x => reading(x) * (w === 1 ? 2 : 1.1), write: () => 0,
				open: x => reading(x) * 0.3, other: x => reading(x) * 0.08 }, x => reading(x) * 0.8);
	}
	for (let k = 0; k < 3; k++)
		lane(6000 + k, 4000, ['nvidia-smi', 'sh', 'git'][k], null, 'other', 0.03 + 0.2 * k, 0.05 + 0.2 * k, { read: () => 0.4, write: () => 0, open: () => 0.3, other: () => 0 }, () => 0.5);

	const phase = (name, kind, from, to) => ({ name, kind, begin_ns: BEGIN + Math.round(from * secs * SEC), end_ns: BEGIN + Math.round(to * secs * SEC), source: 'mllog' });
	const phases = [phase('init', 'init', 0, 0.1), phase('training', 'training', 0.1, 1)];

	for (let e = 0; e < 3; e++) {
		const from = 0.1 + 0.3 * e;

		phases.push(phase(`epoch ${e + 1}`, 'epoch', from, from + 0.255), phase(`eval ${e + 1}`, 'eval', from + 0.255, from + 0.27),
			phase(`checkpoint ${e + 1}`, 'checkpoint', from + 0.27, from + 0.3));
	}
	phases.push({ ...phase('warm-up over', 'mark', 0.17, 0.17), source: 'marks' });

	/* a file that is read from front to back in each epoch, weights of which a quarter is touched, and two large blocks */
	const memory = [{
		begin_ns: BEGIN, bin_ns: secs * SEC / 60, bins: 60, lines: 40, line_bytes: 1 << 20, sources: ['pages'], min_bytes: 4096, blocks_left_out: 3, parts_left_out: 0, processes_left_out: 0,
		rects: [...[0, 1, 2].flatMap(e => Array.from({ length: 15 }, (_, i) => [6 + 18 * e + i, i, 1, 2, 8, 1])),
			...[0, 1, 2].flatMap(e => [0, 1, 2, 3].map(k => [6 + 18 * e + 4 * k, 20 + 4 * k, 4, 4, 2 + 2 * k, k]))],
		parts: [[0, 20, 4100, '0x7f0000000000'], [20, 20, 4100, '0x7f1000000000']], names: [[0, 20, 4100, '/data/train.bin'], [20, 20, 4100, 'train.py:7:Net.forward']],
		blocks: [[BEGIN + 0.1 * secs * SEC, BEGIN + 0.99 * secs * SEC, 20, 16, 16 << 20, 4100, 0], [BEGIN + 0.2 * secs * SEC, BEGIN + 0.4 * secs * SEC, 37, 2.5, 5 << 19, 4100, null]],
		stacks: ['train.py:7:Net.forward < train.py:31:<module>'],
	}];

	return {
		...facts(secs),
		probes: [probe('bio', 61200, 1.2e11), { ...probe('open', 91000, 0), lost: 0 },
			{ ...probe('vfs_rw', 812345, 1.7e11), lost: 17, reads: probe('', 800000, 1.6e11), writes: probe('', 12345, 1e10) },
			{ name: 'sched', rows: 5120, lost: 2 }],
		files_by_bytes: files(10, 'train'), files_by_time: files(10, 'train'),
		n_processes: lanes.length,
		processes: lanes.slice(0, 20).map((l, i) => ({
			pid: l.pid, ppid: l.ppid, comm: l.comm, rank: l.rank, reads: 40000 - i * 1000, read_bytes: 8e9 - i * 1e8, writes: i, write_bytes: i * 4096,
			file_ns: 6e10 - i * 1e9, wait_ns: 1e9 * i,
		})),
		slowest: { seen: 903345, longest: slow(10) },
		disks: disks.map(name => ({ name, bios: false, failed: 0, self_requests: 3, self_bytes: 12345, ops: [
			{ t: 'R', requests: 61000, bytes: 1.1e11, queue_ns: 5e9, time_ns: 2e10, p50_ns: 131000, p99_ns: 2.1e6, max_ns: 9e7 },
			{ t: 'W', requests: 900, bytes: 9e9, queue_ns: 1e9, time_ns: 9e9, p50_ns: 331000, p99_ns: 6.1e6, max_ns: 1.9e8 }] })),
		timeline: {
			begin_ns: BEGIN, end_ns: BEGIN + secs * SEC, begin_utc: '2026-11-22T05:31:40.780609335Z', bin_ns: bin, bins, lane_bin_ns: bin * wide,
			series, sampled, heat, events, memory, lanes, lanes_left_out: 0, phases,
			gaps: [{ begin_ns: BEGIN + 0.62 * secs * SEC, end_ns: BEGIN + 0.635 * secs * SEC, what: 'lost' }],
		},
		cpu: scheduling(secs, cpus, workers),
		account: [
			{ role: 'main', pid: 4999, comm: 'python', processes: 1, wall_ns: 100 * SEC, cpu_ns: 25 * SEC, others_ns: 75 * SEC, other_ns: 0, others: 'its 8 loaders' },
			{ role: 'loaders', pid: null, comm: null, processes: 8, wall_ns: 800 * SEC, fault_ns: 600 * SEC, read_ns: 199 * SEC, runq_ns: SEC, other_ns: 0, others: null },
			{ role: 'main', pid: 5, comm: 'untold', processes: 1, wall_ns: SEC, cpu_ns: 0, other_ns: SEC, others: null },
		],
		...waited(),
		bottleneck: { code: 'storage-read', title: 'The job waited for reads from storage', share: 0.61, evidence: ['trainers waited 61 % of training for batches, in poll() on pipes of 8 data loaders',
			'meanwhile the loaders stood in read() of /data/train for 92 % of the time', 'nvme0n1 was 94 % busy, 1.02 GiB/s of reads'],
			advice: 'Read more at a time' },
		rules_missing: ['cpu-contention: needs CPU scheduling'],
		epochs: [1, 2, 3].map(n => ({ name: `epoch ${n}`, begin_ns: BEGIN + n * SEC, end_ns: BEGIN + (n + 1.5) * SEC, waited_share: 0.2 * n,
			samples: 1000 * n, reads: 9000, read_bytes: 4e9, disk_bytes: n > 1 ? 0 : 4e9, cache_bytes: n > 1 ? 4e9 : 0, sequential_share: 0.9,
			again_bytes: 0, writes: 0, write_bytes: 0, read_sizes: [], slowest_files: [{ fid: 1, path: '/data/slow.tar', read_ns: 1e9 }],
			workers: { count: 8, slowest_pid: 5001, slowest_ns: 2e6, median_ns: 1e6 } })),
		rules: [
			{ code: 'tiny-reads', share: 0.2, size_ns: 0.12 * secs * SEC, size_share: 0.12, size_bytes: null, evidence: ['161 000 reads of less than 4 KiB'], advice: 'Pack samples into larger files, or read whole files' },
			{ code: 'straggler-worker', share: 0.07, size_ns: 0.07 * secs * SEC, size_share: 0.07, size_bytes: null, evidence: ['worker 5001 took 1.8 times as long as the others'], advice: 'Look at which files it is given' }],
		facts: [{ code: 'read-often', title: 'Nearly all calls that move bytes are reads', share: 0.99, measure: 0.99, threshold: 0.9,
			size_ns: 0.3 * secs * SEC, size_share: 0.3, size_bytes: 4e9, evidence: [], advice: 'As training goes' }],
		missing: ['vfs_rw: 17 rows were lost: the rings were full'],
	};
}

/* Who waited for whom: loaders, and what they and the trainer waited for, in all its kinds. */
function waited() {
	const node = (kind, name, label, more = {}) => ({ kind, name, label, role: null, root: false, processes: 0, folded: 0, ...more });
	const nodes = [
		node('process', 'python', 'python (the first process)', { role: 'own', root: true, processes: 1 }),
		node('process', 'pt_data_worker', 'pt_data_worker (8 workers)', { role: 'worker', processes: 8 }), node('storage', null, 'storage'),
		node('threads', 'python', 'python\'s threads (the first process)', { role: 'own', root: true, processes: 1 }),
		node('peer', '10.0.0.5:9000', '10.0.0.5:9000 (peer)'), node('outside', 'backup', 'backup (outside the job)'),
		node('kernel', 'kworker/#:#', 'kworker/#:# (kernel)'), node('others', null, '(others)', { processes: 3, folded: 7 }),
	].map((n, id) => ({ id, ...n }));
	const edges = [[0, 1, 'pipe', 61, 70, 4000], [1, 2, 'read', 52, 300, 70000], [1, 2, 'fault', 3, 5, 900], [0, 3, 'futex', 9, 9.5, 800], [3, 2, 'write', 8, 31, 120],
		[1, 4, 'socket', 6, 40, 600], [0, 5, 'lock', 2, 2, 1], [3, 3, 'futex', 0.5, 1, 90], [3, 0, 'futex', 0, 88, 7000], [1, 6, 'call', 0.4, 2, 30],
		[0, 7, 'call', 0.3, 1, 12], [1, 1, 'poll', 0.002, 0.002, 0]]
		.map(([from, to, kind, path, all, waits]) => ({ path_ns: path * SEC, wait_ns: all * SEC, waits, kind, waiter: nodes[from].label, waited_for: nodes[to].label, from, to }));

	return { path_nodes: nodes, path_edges: edges };
}

function facts(secs) {
	return {
		dir: 'traces/train_20261122053140', version: '0.1.0', command: 'torchrun --nproc_per_node 2 train.py --data /data/train', user: 'ada',
		host: 'node1', kernel: 'Linux 6.8.0-48-generic x86_64', started: '2026-11-22T05:31:40.780609335Z', duration_ns: secs * SEC, exit_code: 0,
		complete: true, trace_bytes: 104857600, own_cpu_ns: 2.1e9, clock: { error_ns: 310, steps: 0 },
		collectors: [{ name: 'cpu', state: 'stopped' }, { name: 'gpu', state: 'stopped' }],
	};
}

/* The sums of report/cpu: every CPU is half busy, mostly with the loaders. */
function scheduling(secs, cpus, workers) {
	const total = secs * SEC * cpus;
	const sums = share => ({ run_ns: total * share, runq_ns: total * share / 10, disk_ns: total * share / 2, blocked_ns: total * share / 20,
		sleep_ns: total * share / 3, switches: Math.round(1e5 * share), preempted: 17 });
	const spread = share => Array.from({ length: cpus }, () => secs * SEC * share);
	const task = (name, kind, share) => ({ name, kind, workers: kind === 'kernel', pids: 3, threads: 5, ...sums(share), by_cpu: spread(share) });
	const process = (pid, comm, share) => ({ pid, comm, kind: 'target', threads: 2, life_ns: secs * SEC, ...sums(share) });
	const wait = (comm, share, calls) => {
		const parts = sums(share), known = ['run_ns', 'runq_ns', 'disk_ns', 'blocked_ns', 'sleep_ns'].reduce((n, k) => n + parts[k], 0);

		return { comm, threads: 5, wall_ns: known * 1.02, unknown_ns: known * 0.02, ...parts, calls };
	};
	const call = (name, disk) => ({ call: name, waits: 4711, disk_ns: disk * total / 10, blocked_ns: 1e7, sleep_ns: 2e9, max_ns: 3.3e8 });

	return {
		sums: true, switches: false, wall_ns: secs * SEC, by_cpu_ns: total, by_task_ns: total,
		kinds: { target: 0.4 * total, kernel: 0.05 * total, self: 0.01 * total, other: 0.04 * total, idle: 0.5 * total },
		cpus: Array.from({ length: cpus }, (_, i) => ({ cpu: i, busy_ns: secs * SEC * 0.5, idle_ns: secs * SEC * 0.5, switches: 50000 + i })),
		tasks: [task('idle', 'idle', 0.5), task('pt_data_worker', 'target', 0.25), task('python', 'target', 0.15), task('kworker', 'kernel', 0.05),
			task('(others)', 'other', 0.03), task('(dltraced itself)', 'self', 0.01)],
		other_tasks: { n: 12, ...sums(0.01), by_cpu: spread(0.01) },
		processes: Array.from({ length: Math.min(workers, 40) }, (_, i) => process(5000 + i, 'pt_data_worker', 0.25 / workers)).concat(process(4100, 'python', 0.15)),
		other_processes: { n: 3, ...sums(0.02) },
		threads: [{ tid: 4100, pid: 4100, comm: 'python', kind: 'target', life_ns: secs * SEC, ...sums(0.15) }], other_threads: { n: 9, ...sums(0.1) },
		lifespans: [{ pattern: 'python*', threads: 5, cut: 1, life_ns: 5 * secs * SEC, run_ns: secs * SEC, idle_ns: 4 * secs * SEC }],
		waits: [wait('pt_data_worker', 0.25, [call('read', 1), call('openat', 0.2)]), wait('python', 0.15, [call('futex', 0), call('fault', 0.1)])],
		gaps: [], more_gaps: 0, missing: [],
	};
}

function probe(name, rows, bytes) {
	return { name, rows, failed: 3, running: 0, bytes, time_ns: rows * 91000, p50_ns: 20100, p99_ns: 2010000, max_ns: 91000000, lost: 0 };
}

function files(n, stem) {
	return Array.from({ length: n }, (_, i) => ({
		fid: i + 1, path: `/data/${stem}/shard-${String(i * 37 % 64).padStart(5, '0')}.tar`, fstype: 'ext4', read_bytes: 1e9 - i * 7e7, write_bytes: 0,
		calls: 4000 - i * 11, time_ns: 3e9 + (i * 7 % 5) * 1e9,
	}));
}

function slow(n) {
	return Array.from({ length: n }, (_, i) => ({
		lat_ns: 9e8 - i * 4e7, probe: 'vfs_rw', func: 'pread64', pid: 5000 + i, tid: 5000 + i, comm: 'pt_data_worker', ended: `2026-11-22T05:32:${10 + i}.123456789Z`,
		file: `/data/train/shard-${i}.tar`,
	}));
}

/* The largest report for one machine: it must stay within the page's limit. */
function large() {
	const all = training({ secs: 4000, bins: 2000, gpus: 16, cpus: 256, workers: 128, trainers: 16,
		disks: Array.from({ length: 10 }, (_, i) => `nvme${i}n1`) });

	/* as in a report of limited size: three digits, wider bins */
	for (const s of all.timeline.sampled) {
		s.t = s.t.filter((_, i) => i % 8 === 0);
		s.values = s.values.filter((_, i) => i % 8 === 0);
	}
	for (const s of all.timeline.series)
		s.values = s.values.map(v => v === null ? v : +v.toPrecision(3));
	all.timeline.lanes_left_out = 17;
	return all;
}

/* A trace that ended before anything happened. */
function empty() {
	return {
		...facts(0.002), probes: [], missing: ['no row in any file'], files_by_bytes: [], processes: [],
		timeline: { begin_ns: BEGIN, end_ns: BEGIN, begin_utc: '2026-11-22T05:31:40.780609335Z', bin_ns: 1000, bins: 0, series: [], sampled: [], heat: [], lanes: [], phases: [], gaps: [] },
	};
}

/* As a version without a timeline would write it. */
function bare() {
	return { ...facts(3), probes: [probe('open', 12, 0)], files_by_bytes: files(2, 'x'), missing: [] };
}

/* One bin, one sample, one of everything, half of it unknown. */
function sparse() {
	return {
		...facts(1), started: null, host: null, probes: [{ ...probe('open', 1, 0), lost: null }],
		timeline: {
			begin_ns: 5, end_ns: 1005, begin_utc: null, bin_ns: 1000, bins: 1,
			series: [{ panel: 'vfs', name: 'read', unit: 'B/s', values: [null] }, { panel: 'strange', name: 'what', unit: 'furlongs', values: [3] }],
			sampled: [{ panel: 'cpu', name: 'usr', unit: '%', t: [505], values: [50] }, { panel: 'gpu:0', name: 'sm', unit: '%', t: [], values: [] }],
			heat: [{ name: 'open', counts: [[0, 0, 1]] }],
			lanes: [{ pid: 1, ppid: 0, comm: 'x', rank: null, group: 'new', begin_ns: 5, end_ns: 5, busy: {} }],
			phases: [{ name: 'm', kind: 'mark', begin_ns: 100, end_ns: 100, source: 'marks' }],
		},
		bottleneck: { code: 'constructor', share: null },
	};
}

/* Every string of a report may come from an attacker. */
const EVIL = [
	'</script><script>window.evil=1</script>', '<img src=x onerror="window.evil=2">', '"\'><svg onload=window.evil=3>', '<!--<script>',
	'\u202egnp.exe\u202c', '\\040\\011<b>octal</b>', '\u2028window.evil=4\u2029', ']]>&lt;i&gt;', '__proto__', 'javascript:window.evil=5', '${window.evil=6}',
	'\u0000\u0007\u200b', '\\\\\\', 'a'.repeat(4000),
];

function hostile() {
	let n = 0;
	const evil = v => typeof v === 'string' ? EVIL[n++ % EVIL.length] : Array.isArray(v) ? v.map(evil) :
		v && typeof v === 'object' ? Object.fromEntries(Object.entries(v).map(([k, x]) => [k, ['t', 'values'].includes(k) ? x : evil(x)])) : v;
	const small = training({ secs: 20, bins: 40, workers: 4 });
	const keep = small.timeline.begin_utc, panels = small.timeline.series.map(s => s.panel), sampled = small.timeline.sampled.map(s => s.panel);
	const out = evil(small);

	/* so that panels are drawn as well */
	out.timeline.begin_utc = keep;
	out.timeline.series.forEach((s, i) => { s.panel = i % 7 ? panels[i] : s.panel; });
	out.timeline.sampled.forEach((s, i) => { s.panel = i % 7 ? sampled[i] : s.panel; });
	out.timeline.series.push({ panel: `disk:${EVIL[0]}`, name: EVIL[1], unit: EVIL[2], values: small.timeline.series[0].values });
	out.files_by_bytes.push({ fid: 99, path: EVIL.join('|'), fstype: EVIL[3], read_bytes: 1, write_bytes: 1, calls: 1, time_ns: 1 });
	return out;
}

const REPORTS = { training, large, empty, bare, sparse, hostile };

module.exports = { REPORTS, EVIL };
if (require.main === module)
	process.stdout.write(JSON.stringify(REPORTS[process.argv[2]](), null, 2) + '\n');
