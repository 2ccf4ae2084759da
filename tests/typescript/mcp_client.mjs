// Runs the four tools of `cueme mcp` with the official TypeScript SDK; a human answers through the command line.
//
// Usage: mcp_client.mjs <folder with the SDK> <path of cueme>. CUEME_HOME names the home. Prints "ok" at the end.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const [, , folder, cueme] = process.argv;
const require = createRequire(join(folder, "package.json"));
const load = (name) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${name}`)).href);
const { Client } = await load("client/index.js");
const { StdioClientTransport } = await load("client/stdio.js");
const { ElicitRequestSchema, LATEST_PROTOCOL_VERSION } = await load("types.js");

const execute = promisify(execFile);
const run = async (...words) => (await execute(cueme, words)).stdout;
const json = async (...words) => JSON.parse(await run(...words));

const eventually = async (look) => {
  for (let tries = 0; tries < 600; tries += 1) {
    const found = await look();
    if (found) return found;
    await sleep(50);
  }
  throw new Error("waited in vain");
};
const open = async (prompt) => (await json("inbox", "--json")).find((cue) => cue.prompt === prompt);
const waitedFor = (prompt) =>
  eventually(async () => {
    const cue = await open(prompt);
    return cue && cue.waiting > 0 && cue.cue_id;
  });
const acknowledged = (cue) =>
  eventually(async () => (await json("show", cue, "--json")).delivery === "acknowledged");

const connect = async (capabilities = {}) => {
  const client = new Client({ name: "test", version: "1" }, { capabilities });
  const transport = new StdioClientTransport({ command: cueme, args: ["mcp"], env: { ...process.env } });
  await client.connect(transport);
  return client;
};
const text = (result) => result.content[0].text;

const shapes = async (client) => {
  assert.equal(client.getServerVersion().name, "cueme");
  console.log("protocol", LATEST_PROTOCOL_VERSION);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name), ["join", "recall", "cue", "pause"]);
  for (const tool of tools) {
    assert.ok(tool.title && tool.description, tool.name);
    assert.equal(tool.inputSchema.type, "object");
    assert.equal(tool.outputSchema.type, "object", `${tool.name} says what it returns`);
    assert.equal(tool.annotations.destructiveHint, false);
  }
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((prompt) => prompt.name), ["hap"]);
  const prompt = await client.getPrompt({ name: "hap", arguments: { runtime: "cursor", language: "zh" } });
  assert.equal(prompt.messages[0].content.text, await run("protocol", "cursor", "--language", "zh"));
  const { resources } = await client.listResources();
  for (const { uri } of resources) {
    const read = await client.readResource({ uri });
    assert.ok(read.contents[0].text.includes("cueme"), uri);
  }
  await assert.rejects(client.readResource({ uri: "cueme://nothing" }));
  // The SDK itself holds every result against the schema of its tool.
  await assert.rejects(client.callTool({ name: "rm", arguments: {} }), { code: -32602 });
  await assert.rejects(client.callTool({ name: "cue", arguments: { agent_id: 7 } }), { code: -32602 });
  const unknown = await client.callTool({ name: "cue", arguments: { agent_id: "nobody-here", prompt: "A?" } });
  assert.equal(unknown.isError, true);
};

const fourTools = async (client) => {
  const joined = await client.callTool({ name: "join", arguments: { agent_runtime: "claude_code" } });
  const agent = joined.structuredContent.agent_id;
  assert.ok(text(joined).startsWith(`agent_id=${agent}\nproject_dir=`), text(joined));

  const question = { agent_id: agent, prompt: "Which database?", payload: { type: "choice", options: ["SQLite", "Postgres"] } };
  const heard = [];
  const asking = client.callTool({ name: "cue", arguments: question }, undefined, {
    onprogress: (progress) => heard.push(progress),
  });
  const cue = await waitedFor("Which database?");
  await run("answer", cue, "--select", "SQLite");
  const answer = await asking;
  assert.deepEqual(answer.structuredContent.answer.reply.selected, ["SQLite"]);
  assert.ok(heard.length > 0, "no progress was reported");
  await acknowledged(cue);

  // The same question and answer through the command: the very same text.
  const words = execute(cueme, ["cue", agent, "-"]);
  words.child.stdin.end(
    `<cueme_prompt>\nWhich database?\n</cueme_prompt>\n\n<cueme_payload>\n${JSON.stringify(question.payload)}\n</cueme_payload>\n`,
  );
  await run("answer", await waitedFor("Which database?"), "--select", "SQLite");
  assert.equal(text(answer), (await words).stdout);

  const pausing = client.callTool({ name: "pause", arguments: { agent_id: agent, prompt: "Look at it." } });
  await run("answer", await waitedFor("Look at it."), "--confirm");
  assert.ok(text(await pausing).startsWith("Continue\n"));

  const recalled = await client.callTool({ name: "recall", arguments: { hints: "database" } });
  assert.equal(text(recalled), await run("recall", "database"));
  assert.equal(recalled.structuredContent.matches[0].agent.agent_id, agent);
  return agent;
};

// The client gives up after a second unless it hears of progress; the human takes longer than the ten seconds between reports.
const longWait = async (client, agent) => {
  const asking = client.callTool({ name: "cue", arguments: { agent_id: agent, prompt: "Slow?" } }, undefined, {
    timeout: 11_000,
    resetTimeoutOnProgress: true,
    onprogress: () => {},
  });
  const cue = await waitedFor("Slow?");
  await sleep(12_500);
  await run("answer", cue, "at last");
  assert.ok(text(await asking).startsWith("at last\n"));
};

const cancelAndReattach = async (client, agent) => {
  const call = { name: "cue", arguments: { agent_id: agent, prompt: "Ship it?" } };
  const giveUp = new AbortController();
  const asking = client.callTool(call, undefined, { signal: giveUp.signal });
  const cue = await waitedFor("Ship it?");
  giveUp.abort("no patience");
  await assert.rejects(asking);
  await eventually(async () => (await open("Ship it?"))?.waiting === 0);
  const again = client.callTool(call);
  assert.equal(await waitedFor("Ship it?"), cue, "it is the same question");
  await run("answer", cue, "ship it");
  const answer = await again;
  assert.ok(text(answer).startsWith("ship it\n"), text(answer));
  assert.equal(answer.structuredContent.cue_id, cue);
};

const pictures = async (client, agent) => {
  const path = join(process.env.CUEME_HOME, "shot.png");
  const bytes = Buffer.from("89504e470d0a1a0a", "hex");
  writeFileSync(path, bytes);
  const asking = client.callTool({ name: "cue", arguments: { agent_id: agent, prompt: "How should it look?" } });
  await run("answer", await waitedFor("How should it look?"), "like this", "--attach", path);
  const answer = await asking;
  assert.ok(text(answer).includes(path), text(answer));
  const [picture] = answer.content.filter((block) => block.type === "image");
  assert.equal(picture.mimeType, "image/png");
  assert.equal(picture.data, bytes.toString("base64"));
};

// A client that can show a dialog: the first answer wins, wherever it comes from.
const elicitation = async () => {
  const client = await connect({ elicitation: {} });
  const joined = await client.callTool({ name: "join", arguments: { agent_runtime: "terminal" } });
  const agent = joined.structuredContent.agent_id;
  const shown = [];
  let answer;
  client.setRequestHandler(ElicitRequestSchema, async (request, extra) => {
    shown.push({ params: request.params, signal: extra.signal });
    return answer(extra.signal);
  });
  const payload = { type: "choice", options: ["red", "blue"] };
  const ask = (prompt) =>
    client.callTool({ name: "cue", arguments: { agent_id: agent, prompt, payload } });

  answer = async () => ({ action: "accept", content: { choice: "blue", comment: "dark" } });
  const dialogs = await ask("Which colour?");
  assert.ok(text(dialogs).startsWith("blue\n\ndark\n"), text(dialogs));
  assert.equal(shown[0].params.message, "Which colour?");
  assert.deepEqual(shown[0].params.requestedSchema.properties.choice.enum, ["red", "blue"]);
  const kept = (await json("history", "--json")).find((cue) => cue.prompt === "Which colour?");
  assert.equal(kept.outcome, "answered", "the broker knows");
  assert.equal(kept.by, "the client's dialog");

  answer = (signal) => new Promise((resolve) => signal.addEventListener("abort", () => resolve({ action: "cancel" })));
  const elsewhere = ask("And the border?");
  await run("answer", await waitedFor("And the border?"), "--select", "red");
  assert.ok(text(await elsewhere).startsWith("red\n"));
  await eventually(async () => shown[1].signal.aborted);

  answer = async () => {
    await sleep(1_200);
    return { action: "decline" };
  };
  const declined = await ask("Any wishes?");
  assert.ok(text(declined).startsWith("declined: "), text(declined));
  assert.equal(declined.structuredContent.outcome, "declined");

  // A client without a person at it declines at once; the human can still answer.
  answer = async () => ({ action: "decline" });
  const automatic = ask("Nobody there?");
  await run("answer", await waitedFor("Nobody there?"), "--select", "red");
  assert.ok(text(await automatic).startsWith("red\n"));

  answer = async () => ({ action: "cancel" });
  const closed = ask("Really?");
  await run("answer", await waitedFor("Really?"), "--select", "blue");
  assert.ok(text(await closed).startsWith("blue\n"), "closing the dialog decided nothing");
  await client.close();
};

const client = await connect();
await shapes(client);
const agent = await fourTools(client);
await cancelAndReattach(client, agent);
await pictures(client, agent);
await longWait(client, agent);
await client.close();
await elicitation();
console.log("ok");
process.exit(0);
