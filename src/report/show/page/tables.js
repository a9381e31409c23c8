/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the report, with the same columns as on the terminal. */
const Tables = (() => {
	const r = Data.report;
	const ns = v => Format.value(v, 'ns'), bytes = v => Format.value(v, 'B');
	const number = (title, key, text = Format.count, hint) => ({ title, value: row => row[key], text, num: true, hint });
	const word = (title, key, hint) => ({ title, value: row => row[key], hint });

	const LATENCY = [number('Time', 'time_ns', ns, 'all latencies, but of calls still running'), number('p50', 'p50_ns', ns),
		number('p99', 'p99_ns', ns), number('Max', 'max_ns', ns)];
	/* Of several hosts, what each has, with its name. */
	const each = key => r.hosts ? r.hosts.flatMap(h => (h[key] || []).map(row => ({ ...row, host: h.name }))) : r[key] || [];
	const HOST = r.hosts ? [word('Host', 'host')] : [];
	const FILES = [...HOST, word('File', 'path'), word('File system', 'fstype'), number('Read', 'read_bytes', bytes),
		number('Written', 'write_bytes', bytes), number('Calls', 'calls'), number('Time', 'time_ns', ns)];
	const SHARED = [...FILES, number('Opens', 'opens'), number('Users', 'users', Format.count, 'processes that did more with it than a close')];
	const USES = [...HOST, word('PID', 'pid'), word('Process', 'comm'), word('Rank', 'rank'), ...FILES.slice(HOST.length)
		.filter(c => c.title !== 'File system')];
	const CALLS = [...HOST, number('Latency', 'lat_ns', ns), word('Probe', 'probe'), word('Call', 'func'), word('PID', 'pid'), word('TID', 'tid'),
		word('Thread', 'comm'), word('Ended', 'ended'), word('File', 'file')];

	function probes() {
		return (r.probes || []).flatMap(p => [p].concat(['reads', 'writes'].filter(k => p[k])
			.map(k => ({ ...p[k], name: `${p.name}, ${k}` }))));
	}

	function epochs() {
		/* all of a trace in which nothing was read or written is none */
		return each('epochs').filter(e => e.samples || e.reads || e.writes || each('epochs').length > 1).map(e => ({
			...e, lasted: e.end_ns - e.begin_ns, workers: e.workers?.count, slowest: e.workers?.slowest_ns,
			slow_pid: e.workers?.slowest_pid, median: e.workers?.median_ns, file: e.slowest_files?.[0]?.path,
		}));
	}

	const FEW_EPOCHS = 20; /* of more, what is told of each in several rows would be a long page */
	const someEpochs = () => each('epochs').slice(0, FEW_EPOCHS);
	const epochRows = key => someEpochs().flatMap(e => (e[key] || []).map(row => ({ ...row, host: e.host, epoch: e.name })));

	function disks() {
		return each('disks').flatMap(d => (d.ops || []).map(op => ({
			...op, host: d.host, disk: d.name + (d.bios ? ' (bios)' : ''), failed: d.failed, self: d.self_bytes,
		})));
	}

	function calls(key) {
		return inner(key, 'longest');
	}

	/* The rows under KEY.LIST, of each host. */
	function inner(key, list) {
		return r.hosts ? r.hosts.flatMap(h => (h[key]?.[list] || []).map(row => ({ ...row, host: h.name }))) : r[key]?.[list] || [];
	}

	/* A row for each power of two, a column for each histogram of UNIT in LIST, whose name is NAME(histogram). */
	function histograms(title, list, unit, name) {
		const mine = (list || []).filter(h => h.unit === unit), text = unit === 'B' ? bytes : ns;
		const at = from => Object.fromEntries(mine.map((h, i) => [i, (h.counts || []).find(c => c[0] === from)?.[1]]));
		const froms = [...new Set(mine.flatMap(h => (h.counts || []).map(c => c[0])))].sort((a, b) => a - b);

		return [title, [number('From', 'from', text), ...mine.map((h, i) => number(name(h), i, Format.count, `median ${text(h.p50)}`))],
			froms.map(from => ({ from, ...at(from) })), mine.length > 0 &&
			`up to twice as much, not itself; medians: ${mine.map(h => `${name(h)} ${text(h.p50)}`).join(', ')}`];
	}

	/* The medians of each process, out of its histograms. */
	function medians() {
		return each('process_histograms').map(p => Object.assign({ ...p }, ...(p.histograms || [])
			.map(h => ({ [`${h.of} ${h.unit}`]: h.p50 }))));
	}

	function hosts() {
		return (r.hosts || []).map(h => ({
			...h, rows: (h.probes || []).reduce((n, p) => n + p.rows, 0), lost: (h.probes || []).reduce((n, p) => n + (p.lost || 0), 0),
			clock_ns: h.clock?.error_ns, whole: h.complete ? 'yes' : 'NO', why: h.bottleneck?.code,
		}));
	}

	const of = (key, n) => r[key] && r[key].seen > n ? `the longest of ${Format.count(r[key].seen)}` : null;

	/* Of a list that the page does not have whole. */
	const more = n => n > 0 ? `and ${Format.count(n)} more` : null;

	/* [title, columns, rows, note]; those without rows are left out. */
	const list = () => [
		['Rows by probe', [word('Probe', 'name'), number('Rows', 'rows'), number('Lost', 'lost'), number('Failed', 'failed'),
			number('Running', 'running', Format.count, 'had not ended when the trace did'),
			number('Bytes', 'bytes', bytes), ...LATENCY], probes()],
		['Epochs', [...HOST, word('Epoch', 'name'), number('Lasted', 'lasted', ns), number('Waited', 'waited_share', Format.percent, 'of the time of those that train'),
			number('Samples', 'samples', Format.count, 'regular files opened to be read'), number('Read', 'read_bytes', bytes),
			number('From disk', 'disk_bytes', bytes), number('From cache', 'cache_bytes', bytes), number('Reads', 'reads'),
			number('In order', 'sequential_share', Format.percent, 'of reads of a file that had been read before: those that went on there'),
			number('Again', 'again_bytes', bytes, 'read a second time in it'), number('Workers', 'workers'),
			word('Slowest worker', 'slow_pid', 'its PID'), number('A sample', 'slowest', ns, 'in its calls on files'),
			number('Median', 'median', ns, 'of all workers'), word('Slowest file', 'file')], epochs(), more(r.epochs_left_out)],
		['Sizes of reads, by epoch', [...HOST, word('Epoch', 'epoch'), number('From', 'from', bytes), number('To', 'to', bytes), number('Reads', 'calls')],
			epochRows('read_sizes'), each('epochs').length > FEW_EPOCHS && `of the first ${FEW_EPOCHS}`],
		['Slowest files, by epoch', [...HOST, word('Epoch', 'epoch'), number('Time', 'read_ns', ns, 'in reads of it'), number('Reads', 'calls'),
			number('Read', 'read_bytes', bytes), word('File', 'path')], epochRows('slowest_files'),
		each('epochs').length > FEW_EPOCHS && `of the first ${FEW_EPOCHS}`],
		['Hosts', [word('Host', 'name'), word('Folder', 'dir'), word('Command', 'command'), word('Started', 'started'),
			number('After', 'after_ns', ns, 'began so long after the first'), number('Lasted', 'duration_ns', ns), number('Rows', 'rows'),
			number('Lost', 'lost'), word('Whole', 'whole'), word('Exit', 'exit_code'),
			number('Clock read within', 'clock_ns', ns), number('Off by at most', 'maxerror_ns', ns, 'by the kernel, where the clock is synchronised'),
			word('Waited for', 'why')], hosts()],
		['Files with the most bytes', FILES, each('files_by_bytes')],
		['Files with the most time', FILES, each('files_by_time')],
		['Files with the most bytes written', SHARED, each('files_by_written')],
		['Files opened most often', SHARED, each('files_by_opens')],
		['Files that several processes used', SHARED, each('files_shared')],
		['Processes and their files with the most bytes', USES, each('uses_by_bytes'), r.n_uses && `of ${Format.count(r.n_uses)} pairs`],
		['Processes and their files with the most time', USES, each('uses_by_time'), r.n_uses && `of ${Format.count(r.n_uses)} pairs`],
		['Shared memory in /dev/shm', [...HOST, word('File', 'path'), number('Size', 'size_bytes', bytes, 'the largest that was seen'),
			number('Mappings', 'mappings'), number('Mapped', 'mapped_bytes', bytes, 'the lengths of all of them'), number('Calls', 'calls'),
			number('Time', 'time_ns', ns)], inner('shm', 'largest')],
		['Pipes, sockets, devices and the like', [...HOST, word('Class', 'class'), number('Files', 'files'), number('Calls', 'calls'),
			number('Reads', 'reads'), number('Read', 'read_bytes', bytes), number('Writes', 'writes'), number('Written', 'write_bytes', bytes),
			number('Time', 'time_ns', ns)], each('classes')],
		['Output and logs', [...HOST, word('PID', 'pid'), word('Process', 'comm'), word('Rank', 'rank'), word('As', 'as'), word('File', 'path'),
			number('Writes', 'writes'), number('Written', 'write_bytes', bytes), number('Time', 'time_ns', ns),
			number('Per second', 'per_s', v => Format.value(v, '')), number('Gap', 'gap_p50_ns', ns, 'median between two writes')], inner('logs', 'busiest')],
		['Processes', [...HOST, word('PID', 'pid'), word('Parent', 'ppid'), word('Name', 'comm'), word('Rank', 'rank'), number('Reads', 'reads'),
			number('Read', 'read_bytes', bytes), number('Writes', 'writes'), number('Written', 'write_bytes', bytes),
			number('In files', 'file_ns', ns, 'time in calls on files'),
			number('Waiting', 'wait_ns', ns, 'time in calls on pipes, sockets, terminals, devices')], each('processes'),
			r.n_processes > each('processes').length ? `those with the most time in calls on files, of ${r.n_processes}` : null],
		['Processes: medians of calls on files', [...HOST, word('PID', 'pid'), word('Name', 'comm'), word('Rank', 'rank'),
			number('Read', 'read ns', ns), number('bytes', 'read B', bytes), number('Write', 'write ns', ns), number('bytes', 'write B', bytes),
			number('Open', 'open ns', ns), number('Other', 'other ns', ns, 'close, mmap, create, delete, sync')], medians()],
		['Disks', [...HOST, word('Disk', 'disk'), word('Kind', 't', 'R read, W write, D discard, F flush, Z zero, O other'),
			number('Requests', 'requests'), number('Bytes', 'bytes', bytes), number('Queued', 'queue_ns', ns), ...LATENCY,
			number('Failed', 'failed', Format.count, 'of the disk'), number('Of dltraced', 'self', bytes, 'written by dltraced itself, of the disk')], disks(), more(r.disks_left_out)],
		['Slowest calls on files', CALLS, calls('slowest'), of('slowest', calls('slowest').length)],
		['Longest waits for others', CALLS, calls('waits'), of('waits', calls('waits').length)],
		['Calls on files that had not ended', CALLS, calls('running'), of('running', calls('running').length)],
		['Still waiting at the end', CALLS, calls('running_waits'), of('running_waits', calls('running_waits').length)],
		['Where reads of regular files were served from', [word('Reads', 'source'), number('Calls', 'calls'), number('Bytes', 'bytes', bytes),
			number('From disk', 'disk_bytes', bytes), number('Calls to disk', 'disk_calls'), number('Not accounted', 'unaccounted')], r.read_sources || []],
		['Sizes of reads from files', [number('From', 'from', bytes), number('To', 'to', bytes), number('Reads', 'calls'),
			number('Bytes', 'bytes', bytes)], r.read_sizes || []],
		histograms('Latencies', r.histograms, 'ns', h => h.of ? `${h.probe}, ${h.of}` : h.probe),
		histograms('Sizes', r.histograms, 'B', h => h.of ? `${h.probe}, ${h.of}` : h.probe),
		['By type of file', [word('Type', 'type'), number('Reads', 'reads'), number('Read', 'read_bytes', bytes), number('In reads', 'read_ns', ns),
			number('Writes', 'writes'), number('Written', 'write_bytes', bytes), number('In writes', 'write_ns', ns)], r.types || []],
		['Sums of rows that are no longer there', [word('File', 'name'), number('Rows', 'rows'), number('Failed', 'failed'),
			number('Bytes', 'bytes', bytes), number('Time', 'time_ns', ns), number('Max', 'max_ns', ns)], r.rollup || []],
	];

	function build() {
		const tables = list().filter(([, , rows]) => rows.length > 0);

		fill(document.getElementById('tables'), tables.length > 0 && el('h2', null, 'Tables'),
			tables.map(t => new Table(...t).element));
	}

	return { build };
})();
