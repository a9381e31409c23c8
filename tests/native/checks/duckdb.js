// SPDX-License-Identifier: BSD-2-Clause
//
// The SQL on stdin, run by DuckDB; its rows as lines of fields separated by TABs. For machines that
// have the package @duckdb/node-api and not the duckdb command.
'use strict';
const { readFileSync } = require('fs');
const { DuckDBInstance } = require('@duckdb/node-api');

async function main() {
	const instance = await DuckDBInstance.create(':memory:');
	const connection = await instance.connect();
	const reader = await connection.runAndReadAll(readFileSync(0, 'utf8'));

	for (const row of reader.getRows())
		console.log(row.map(String).join('\t'));
}

main().catch((e) => {
	console.error(String(e));
	process.exit(1);
});
