// SPDX-License-Identifier: BSD-2-Clause
// trace_processor.mjs FOLDER TRACE: load TRACE into Perfetto's trace processor, as FOLDER (trace-processor) has it, and run the
// queries that a JSON object on stdin has by name. Prints {name: [row, ...]}, numbers as text where they exceed 2^53.
import { readFileSync } from "node:fs";
import vm from "node:vm";

const [folder, trace] = process.argv.slice(2);
const wasm = readFileSync(`${folder}/trace_processor.wasm`);

// It was built for a worker of a browser.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: "" };
globalThis.XMLHttpRequest = class {
  open() {}
  send() {
    this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length);
  }
};
console.log = console.warn = (line) => process.stderr.write(`${line}\n`);
vm.runInThisContext(readFileSync(`${folder}/engine_bundle.node.js`, "utf8"));
const { EngineBase } = await import(`${folder}/engine.mjs`);

class Engine extends EngineBase {
  port = { postMessage: (bytes) => this.onRpcResponseBytes(bytes) };

  constructor() {
    super();
    self.onmessage({ data: this.port });
  }

  rpcSendRequestBytes(bytes) {
    this.port.onmessage({ data: bytes.slice() });
  }
}

const engine = new Engine();
// Its start resolves promises; nothing else has to be awaited.
await new Promise((resolve) => setImmediate(resolve));
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
const answers = {};
for (const [name, sql] of Object.entries(JSON.parse(readFileSync(0, "utf8")))) {
  const result = await engine.query(sql);
  answers[name] = [];
  for (const row = result.iter({}); row.valid(); row.next())
    answers[name].push(result.columns().map((column) => row.get(column)));
}
process.stdout.write(JSON.stringify(answers, (_, value) =>
  typeof value !== "bigint" ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value)));
