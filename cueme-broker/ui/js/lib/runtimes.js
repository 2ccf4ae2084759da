/** Runtimes as people call them. An unknown one is shown by its tag. */

/** @type {Record<string, { name: string, mark: string }>} */
const KNOWN = {
  claude_code: { name: "Claude Code", mark: "CC" },
  codex: { name: "Codex", mark: "Cx" },
  cursor: { name: "Cursor", mark: "Cu" },
  cursor_cloud: { name: "Cursor cloud", mark: "C☁" },
  gemini_cli: { name: "Gemini CLI", mark: "Ge" },
  kiro: { name: "Kiro", mark: "Ki" },
  opencode: { name: "opencode", mark: "oc" },
  vscode: { name: "VS Code", mark: "VS" },
  windsurf: { name: "Windsurf", mark: "Ws" },
};

/** The runtimes `cueme init` knows, in the order they are taught. */
export const TEACHABLE = ["cursor", "claude_code", "codex", "windsurf", "vscode", "kiro", "opencode"];

/** @param {string} tag */
export const runtimeName = (tag) => KNOWN[tag]?.name ?? tag;

/** @param {string} tag */
export const runtimeMark = (tag) => KNOWN[tag]?.mark ?? tag.slice(0, 2);
