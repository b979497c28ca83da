// Asks Perfetto's own trace processor, compiled to WebAssembly, about a trace. Prints a JSON array of rows for each query.
//
// usage: node trace_processor.mjs FOLDER TRACE QUERY...     FOLDER holds trace_processor.wasm and its two scripts
//
// The scripts are made for a browser's worker: this file gives them what they look for there.
import { readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [folder, trace, ...queries] = process.argv.slice(2);
const wasm = readFileSync(path.join(folder, "trace_processor.wasm"));

globalThis.self = globalThis;
globalThis.WorkerGlobalScope = class {};
globalThis.location = { href: pathToFileURL(folder).href + "/" };
globalThis.XMLHttpRequest = class {
    open() {}
    send() {
        this.response = wasm;
    }
};
const { Module } = WebAssembly;
WebAssembly.Module = function (bytes) {
    if (bytes[8] === 5 && bytes.length < 32) throw new Error("no 64-bit memory"); // a probe: the build is a 32-bit one
    return new Module(bytes);
};
console.warn = () => {}; // progress

vm.runInThisContext(readFileSync(path.join(folder, "engine_bundle.node.js"), "utf8"));
await new Promise(setImmediate); // what the script does when it is ready comes first
const { port1, port2 } = new MessageChannel();
self.onmessage({ data: port1 });

const { EngineBase } = await import(pathToFileURL(path.join(folder, "engine.mjs")).href);
class Engine extends EngineBase {
    constructor() {
        super();
        this.mode = "WASM";
        this.id = "test";
        port2.onmessage = (m) => this.onRpcResponseBytes(m.data);
    }
    rpcSendRequestBytes(bytes) {
        port2.postMessage(bytes);
    }
}

const engine = new Engine();
await engine.parse(new Uint8Array(readFileSync(trace)));
await engine.notifyEof();
for (const query of queries) {
    const result = await engine.query(query);
    const rows = [];
    for (const it = result.iter({}); it.valid(); it.next())
        rows.push(Object.fromEntries(result.columns().map((c) => [c, typeof it.get(c) === "bigint" ? Number(it.get(c)) : it.get(c)])));
    console.log(JSON.stringify(rows));
}
process.exit(0);
