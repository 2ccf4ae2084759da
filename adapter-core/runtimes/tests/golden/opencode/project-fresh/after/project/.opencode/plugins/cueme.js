// managed by `cueme init`: edits in here are replaced
// Tells cueme when an opencode session starts, is prompted and falls idle, and brings the human's words back.
// It never throws into opencode: when cueme cannot be reached, the session goes on as if the plugin were not there.
import { spawn } from "node:child_process";

const CUEME = "cueme";
const ENVIRONMENT = {};

const ask = (event, input) =>
  new Promise((resolve) => {
    const child = spawn(CUEME, ["hook", "opencode", event], {
      env: { ...process.env, ...ENVIRONMENT },
      stdio: ["pipe", "pipe", "ignore"],
    });
    let output = "";
    child.on("error", () => resolve({}));
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk) => (output += chunk));
    child.on("close", () => {
      try {
        resolve(JSON.parse(output));
      } catch {
        resolve({});
      }
    });
    // The hook may start after `opencode run` has ended; by this it knows that nobody waits for it.
    child.stdin.end(JSON.stringify({ hook_event_name: event, host_pid: process.pid, ...input }));
  });

// Each step of a turn is a message of its own: the turn is all of them since the last that the user sent.
const turnOf = (messages) => {
  const start = messages.findLastIndex((message) => message.info.role === "user");
  return messages.slice(start + 1).filter((message) => message.info.role === "assistant");
};

const textOf = (parts) =>
  (parts ?? [])
    .filter((part) => part.type === "text" && !part.synthetic)
    .map((part) => part.text)
    .join("\n");

export const Cueme = async ({ client, directory }) => {
  const environment = new Map();
  // Sessions that are being given words of ours: those are not typed by the human here.
  const ours = new Set();

  const isChild = async (id) => {
    const session = await client.session.get({ path: { id } });
    return Boolean(session.data?.parentID);
  };

  const start = async (id) => {
    if (environment.has(id)) return;
    environment.set(id, {});
    const reply = await ask("session_start", { session_id: id, cwd: directory });
    environment.set(id, reply.env ?? {});
  };

  const idle = async (id) => {
    if (await isChild(id)) return;
    const messages = (await client.session.messages({ path: { id } })).data ?? [];
    const turn = turnOf(messages);
    const last = turn.at(-1);
    if (!last) return;
    const tool = turn.flatMap((message) => message.parts.filter((part) => part.type === "tool")).at(-1);
    const reply = await ask("stop", {
      session_id: id,
      turn_id: last.info.id,
      cwd: directory,
      status: last.info.error ? "error" : "completed",
      last_assistant_message: turn.map((message) => textOf(message.parts)).findLast((text) => text.trim()),
      last_tool: tool && {
        name: tool.tool,
        input: tool.state?.input,
        status: tool.state?.status,
        exit: tool.state?.metadata?.exit,
      },
    });
    if (reply.prompt) {
      ours.add(id);
      await client.session.prompt({ path: { id }, body: { parts: [{ type: "text", text: reply.prompt }] } });
    }
  };

  return {
    event: async ({ event }) => {
      // Not awaited: opencode waits for its plugins, and a human may take hours.
      if (event.type === "session.created" && !event.properties.info.parentID) {
        start(event.properties.info.id).catch(() => {});
      } else if (event.type === "session.idle") {
        idle(event.properties.sessionID).catch(() => {});
      } else if (event.type === "session.deleted" && !event.properties.info.parentID) {
        environment.delete(event.properties.info.id);
        ask("session_end", { session_id: event.properties.info.id, cwd: directory }).catch(() => {});
      }
    },
    "chat.message": async (input, output) => {
      try {
        await start(input.sessionID);
        if (ours.delete(input.sessionID)) return;
        const reply = await ask("prompt_submit", {
          session_id: input.sessionID,
          cwd: directory,
          prompt: textOf(output.parts),
        });
        const text = output.parts.find((part) => part.type === "text");
        if (reply.context && text) text.text += `\n\n${reply.context}`;
      } catch {
        // The prompt goes on without our context.
      }
    },
    "shell.env": async (input, output) => {
      Object.assign(output.env, environment.get(input.sessionID) ?? {});
    },
  };
};
