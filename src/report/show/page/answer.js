/* SPDX-License-Identifier: BSD-2-Clause */
/* The top of the page: what the job waited for, other findings, and the facts of the trace. */
const Answer = (() => {
	const r = Data.report;
	const HOSTS_OPEN = 4, FAILED_SHOWN = 10;

	/* R: the report, or that of one of several hosts. */
	function bottleneck(r) {
		const b = r.bottleneck;

		if (!b)
			return null;
		return el('div', { class: 'verdict', 'data-code': b.code },
			el('h2', null, b.title ?? b.code,
				b.share != null && el('span', { class: 'share' }, Format.percent(b.share)),
				b.caveat && el('span', { class: 'bad' }, ` (${b.caveat})`)),
			el('p', { class: 'aside' }, el('code', null, b.code)),
			items(b.evidence),
			b.advice && el('p', { class: 'advice' }, b.advice));
	}

	/* Which part of the job it covers, as in the text. */
	const size = rule => rule.size_share != null && el('span', { class: 'share' },
		`${Format.value(rule.size_ns, 'ns')}, ${Format.percent(rule.size_share)}`);

	/* A share, or a number. */
	const measure = rule => rule.share != null ? ` (${Format.percent(rule.share)})` :
		rule.measure != null && ` (${Format.value(rule.measure, '')})`;

	const notes = r => items(r.waited?.notes, { class: 'aside notes' });
	const untried = r => fold('Rules that this trace has too little data for', r.rules_missing);

	function rules(r) {
		if (!r.rules?.length)
			return null;
		return el('div', { class: 'rules' }, el('h2', null, 'Also found'), r.rules.map(rule =>
			el('details', { open: r.rules.length <= 3 },
				el('summary', null, el('code', null, rule.code), size(rule),
					rule.title && el('span', null, ` ${rule.title}. `),
					rule.advice && el('span', { class: 'advice' }, rule.advice)),
				items(rule.evidence))));
	}

	/* What failed, whatever the answer is. */
	function failed(r) {
		if (!r.failed?.length)
			return null;
		return el('div', { class: 'rules' }, el('h2', null, 'What failed'), r.failed.slice(0, FAILED_SHOWN).map(f =>
			el('details', { open: r.failed.length <= 3 },
				el('summary', null, f.text),
				f.advice && el('p', { class: 'advice' }, f.advice))));
	}

	/* Without evidence and advice: nothing is to be done. */
	function described(r) {
		return r.facts?.length > 0 && el('details', { class: 'facts' },
			el('summary', null, `Facts: what describes the job, or takes less than 1\u00a0% of its time (${r.facts.length})`),
			el('ul', null, r.facts.map(fact => el('li', null, el('code', null, fact.code),
				` ${fact.title ?? ''}`, measure(fact)))));
	}

	function lost() {
		const probes = r.probes || [], lost = probes.filter(p => p.lost > 0);

		if (!lost.length)
			return probes.some(p => p.lost == null) ? 'not known for some probes' :
				(r.missing || []).some(note => /\blost\b/.test(note)) ? 'see below' : 'nothing';
		return lost.map(p => `${Format.count(p.lost)} of ${p.name}`).join(', ');
	}

	function facts() {
		const rows = (r.probes || []).reduce((n, p) => n + p.rows, 0);
		const list = [
			['Host', r.host], ['User', r.user], ['Kernel', r.kernel],
			['Started', r.started], ['Lasted', Format.value(r.duration_ns, 'ns')],
			['Ended', r.exit_code == null ? 'not known' : `exit status ${r.exit_code}`],
			['Rows', Format.count(rows)], ['Lost', lost()],
			['Trace', `${Format.value(r.trace_bytes, 'B')}${r.complete ? '' : ', NOT complete'}`],
			['Missing', r.missing_reasons && (r.missing_reasons.length ?
				r.missing_reasons.map(reason => reason.text).join('; ') : 'nothing that dltraced knows of')],
			['Clock', r.clock && `UTC within ${Format.value(r.clock.error_ns, 'ns')}, steps: ${r.clock.steps}`],
			['Between hosts', r.between_hosts && (r.between_hosts.error_ns == null ? 'error not known' :
				`within ${Format.value(r.between_hosts.error_ns, 'ns')}`)],
			['Only', r.only && `calls on files at or below ${r.only.path}; left out: ${Format.count(r.only.left_out)} of ` +
				Format.counted(r.only.rows, 'row', 'rows')],
			['dltraced\u2019s CPU', Format.value(r.own_cpu_ns, 'ns')],
			['Collectors', (r.collectors || []).map(c => `${c.name}: ${c.state}`).join(', ') || null],
		];

		return el('dl', null, list.filter(([, v]) => v != null && v !== '').map(([name, v]) =>
			el('div', null, el('dt', null, name),
				el('dd', { class: ((name === 'Lost' && v !== 'nothing') || (name === 'Missing' && r.missing_reasons.length > 0)) && 'bad' }, v))));
	}

	/* What is below the timeline: a press leads there. */
	function jumps() {
		const parts = [['found', `Also found${r.rules?.length ? ` (${r.rules.length})` : ''}`], ['facts', 'Facts'],
			['missing', `What is missing${r.missing?.length ? ` (${r.missing.length})` : ''}`], ['cpu', 'CPU time'], ['tables', 'Tables']];

		fill(document.getElementById('jump'), parts.map(([id, text]) => [id, document.getElementById(id), text])
			.filter(([, section]) => section.childElementCount && !section.hidden)
			.map(([, section, text]) => el('button', { type: 'button', onclick: () => section.scrollIntoView() }, text)));
	}

	function build() {
		fill(document.getElementById('title'), Dom.plain(r.command || r.dir || 'dltraced'));
		fill(document.getElementById('subtitle'), r.command && Dom.plain(r.dir), r.duration_ns != null && `, ${Format.value(r.duration_ns, 'ns')}`,
			lost() !== 'nothing' && el('span', { class: 'bad' }, `, lost: ${lost()}`), r.complete === false && el('span', { class: 'bad' }, ', NOT complete'));
		document.title = `dltraced: ${Dom.visible(r.command || r.dir)}`;
		const hosts = (r.hosts || []).map(h => el('details', { class: 'host', open: r.hosts.length <= HOSTS_OPEN },
			el('summary', null, h.name, h.bottleneck && [': ', el('code', null, h.bottleneck.code)]),
			bottleneck(h), failed(h), Account.build(h), rules(h), notes(h), described(h), untried(h)));

		fill(document.getElementById('answer'), bottleneck(r), failed(r), Account.build(r));
		fill(document.getElementById('found'), rules(r), notes(r), described(r), untried(r), ...hosts);
		fill(document.getElementById('facts'), facts());
		fill(document.getElementById('missing'), fold('What is missing or odd', r.missing, r.missing?.length <= 4));
		fill(document.getElementById('made'), `Made by dltraced ${r.version || ''} from `, Dom.plain(r.dir), `. The numbers are those of ` +
			'dltraced report --json; the rows are in the trace folder.');
	}

	return { build, jumps };
})();
