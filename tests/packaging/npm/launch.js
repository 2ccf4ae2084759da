#!/usr/bin/env node
// Starts the platform's binary, for installations that run no install scripts; install.js replaces this file.
const { spawn } = require("child_process");

const part = `@cueme/${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${part}/bin/cueme`);
} catch {
  console.error(`cueme: ${part} is not installed: npm omitted optional dependencies, or there is no package for this platform`);
  console.error("hint: install again with --include=optional, or build cueme with: cargo install cueme");
  process.exit(69);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  for (const own of signals) process.removeAllListeners(own);
  signal ? process.kill(process.pid, signal) : process.exit(code);
});
