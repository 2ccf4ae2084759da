#!/usr/bin/env node
// Starts the platform's binary, for installations that run no install scripts; install.js replaces this file.
const { spawn } = require("child_process");

let binary;
try {
  binary = require.resolve(`@cueme/${process.platform}-${process.arch}/bin/cueme`);
} catch {
  console.error(`cueme: there is no package for ${process.platform}-${process.arch}; build it with: cargo install cueme`);
  process.exit(69);
}
const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of signals) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  for (const own of signals) process.removeAllListeners(own);
  signal ? process.kill(process.pid, signal) : process.exit(code);
});
