/** Runtimes as people call them, with a glyph for each. An unknown one is shown by its tag. */

/** @type {Record<string, { name: string, glyph: import("./icons.js").IconName }>} */
const KNOWN = {
  claude_code: { name: "Claude Code", glyph: "star" },
  codex: { name: "Codex", glyph: "prompt" },
  cursor: { name: "Cursor", glyph: "cube" },
  cursor_cloud: { name: "Cursor cloud", glyph: "cloud" },
  gemini_cli: { name: "Gemini CLI", glyph: "spark" },
  kiro: { name: "Kiro", glyph: "diamond" },
  opencode: { name: "opencode", glyph: "brackets" },
  vscode: { name: "VS Code", glyph: "window" },
  windsurf: { name: "Windsurf", glyph: "wave" },
};

/** @param {string} tag */
export const runtimeName = (tag) => KNOWN[tag]?.name ?? tag;

/**
 * @param {string} tag
 * @returns {import("./icons.js").IconName}
 */
export const runtimeGlyph = (tag) => KNOWN[tag]?.glyph ?? "prompt";
