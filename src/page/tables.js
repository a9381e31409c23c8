/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of the report, with the same columns as on the terminal. */
const Tables = (() => {
	const r = Data.report;
	const ns = v => Format.value(v, 'ns'), bytes = v => Format.value(v, 'B');
	const number = (title, key, text = Format.count, hint) => ({ title, value: row => row[key], text, num: true, hint });
	const word = (title, key, hint) => ({ title, value: row => row[key], hint });

	const LATENCY = [number('Time', 'time_ns', ns, 'all latencies, but of calls still running'), number('p50', 'p50_ns', ns),
		number('p99', 'p99_ns', ns), number('Max', 'max_ns', ns)];
	const FILES = [word('File', 'path'), word('File system', 'fstype'), number('Read', 'read_bytes', bytes),
		number('Written', 'write_bytes', bytes), number('Calls', 'calls'), number('Time', 'time_ns', ns)];
	const CALLS = [number('Latency', 'lat_ns', ns), word('Probe', 'probe'), word('Call', 'func'), word('PID', 'pid'), word('TID', 'tid'),
		word('Thread', 'comm'), word('Ended', 'ended'), word('File', 'file')];

	function probes() {
		return (r.probes || []).flatMap(p => [p].concat(['reads', 'writes'].filter(k => p[k])
			.map(k => ({ ...p[k], name: `${p.name}, ${k}` }))));
	}

	function epochs() {
		return (r.epochs || []).map(e => ({
			...e, lasted: e.end_ns - e.begin_ns, workers: e.workers?.count, slowest: e.workers?.slowest_ns,
			median: e.workers?.median_ns, file: e.slowest_files?.[0]?.path,
		}));
	}

	function disks() {
		return (r.disks || []).flatMap(d => (d.ops || []).map(op => ({
			...op, disk: d.name + (d.bios ? ' (bios)' : ''), failed: d.failed, self: d.self_bytes,
		})));
	}

	function calls(key) {
		return r[key]?.longest || [];
	}

	const of = (key, n) => r[key] && r[key].seen > n ? `the longest of ${Format.count(r[key].seen)}` : null;

	/* [title, columns, rows, note]; those without rows are left out. */
	const list = () => [
		['Rows by probe', [word('Probe', 'name'), number('Rows', 'rows'), number('Lost', 'lost'), number('Failed', 'failed'),
			number('Running', 'running', Format.count, 'had not ended when the trace did'),
			number('Bytes', 'bytes', bytes), ...LATENCY], probes()],
		['Epochs', [word('Epoch', 'name'), number('Lasted', 'lasted', ns), number('Waited', 'waited_share', Format.percent, 'of the time of those that train'),
			number('Samples', 'samples', Format.count, 'regular files opened to be read'), number('Read', 'read_bytes', bytes),
			number('From disk', 'disk_bytes', bytes), number('From cache', 'cache_bytes', bytes), number('Reads', 'reads'),
			number('In order', 'sequential_share', Format.percent, 'of reads of a file that had been read before: those that went on there'),
			number('Again', 'again_bytes', bytes, 'read a second time in it'), number('Workers', 'workers'),
			number('Slowest worker', 'slowest', ns, 'in calls on files for a sample'), number('Median', 'median', ns),
			word('Slowest file', 'file')], epochs()],
		['Files with the most bytes', FILES, r.files_by_bytes || []],
		['Files with the most time', FILES, r.files_by_time || []],
		['Processes', [word('PID', 'pid'), word('Parent', 'ppid'), word('Name', 'comm'), word('Rank', 'rank'), number('Reads', 'reads'),
			number('Read', 'read_bytes', bytes), number('Writes', 'writes'), number('Written', 'write_bytes', bytes),
			number('In files', 'file_ns', ns, 'time in calls on files'),
			number('Waiting', 'wait_ns', ns, 'time in calls on pipes, sockets, terminals, devices')], r.processes || [],
			r.n_processes > (r.processes || []).length ? `those with the most time in calls on files, of ${r.n_processes}` : null],
		['Disks', [word('Disk', 'disk'), word('Kind', 't', 'R read, W write, D discard, F flush, Z zero, O other'),
			number('Requests', 'requests'), number('Bytes', 'bytes', bytes), number('Queued', 'queue_ns', ns), ...LATENCY,
			number('Failed', 'failed', Format.count, 'of the disk'), number('Of dltraced', 'self', bytes, 'written by dltraced itself, of the disk')], disks()],
		['Slowest calls on files', CALLS, calls('slowest'), of('slowest', calls('slowest').length)],
		['Longest waits for others', CALLS, calls('waits'), of('waits', calls('waits').length)],
		['Calls on files that had not ended', CALLS, calls('running'), of('running', calls('running').length)],
		['Still waiting at the end', CALLS, calls('running_waits'), of('running_waits', calls('running_waits').length)],
		['Where reads of regular files were served from', [word('Reads', 'source'), number('Calls', 'calls'), number('Bytes', 'bytes', bytes),
			number('From disk', 'disk_bytes', bytes), number('Calls to disk', 'disk_calls'), number('Not accounted', 'unaccounted')], r.read_sources || []],
		['Sizes of reads from files', [number('From', 'from', bytes), number('To', 'to', bytes), number('Reads', 'calls'),
			number('Bytes', 'bytes', bytes)], r.read_sizes || []],
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
