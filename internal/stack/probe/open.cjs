// Says, when a process of node ends, which servers, timers and the like that
// code of the project opened would keep it from ending by itself.
const { createHook } = require("node:async_hooks");

const kinds = /^(?:TCPSERVERWRAP|TCPWRAP|PIPESERVERWRAP|UDPWRAP|TLSWRAP|Timeout|PROCESSWRAP|WORKER|FSEVENTWRAP|STATWATCHER)$/;
const here = process.cwd() + "/";
const open = new Map();

function place() {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 30;
  const lines = new Error().stack.split("\n");
  Error.stackTraceLimit = limit;
  for (const l of lines) {
    const m = /(?:file:\/\/)?(\/[^()]+:\d+:\d+)\)?$/.exec(l);
    if (m && m[1].startsWith(here) && !m[1].includes("/node_modules/")) return m[1];
  }
  return "";
}

createHook({
  init(id, kind, _, resource) {
    if (!kinds.test(kind)) return;
    const at = place();
    if (at) open.set(id, { kind, at, resource: new WeakRef(resource) });
  },
  destroy(id) {
    open.delete(id);
  },
}).enable();

process.on("exit", () => {
  for (const { kind, at, resource } of open.values()) {
    const r = resource.deref();
    if (r && (typeof r.hasRef !== "function" || r.hasRef())) {
      process._rawDebug("nexus: still open: " + kind + " at " + at);
    }
  }
});
