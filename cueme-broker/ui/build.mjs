/**
 * Builds the page into `dist/`: `npm ci && npm run build`, after each change of what is below this folder.
 *
 * The result is committed, so that cargo alone builds the broker; a test builds it again and compares. Styles, script and a
 * place for the state are in the document: a browser has to ask for nothing else before it shows the inbox.
 */

import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { build, transform } from "esbuild";

const ui = fileURLToPath(new URL(".", import.meta.url));
const dist = process.argv[2] ?? `${ui}dist`;
const target = ["chrome123", "firefox120", "safari17.5"];
const STATE = '<script type="application/json" id="state">';

const read = (/** @type {string} */ name) => readFile(ui + name, "utf8");
const sha256 = (/** @type {string | Uint8Array} */ text) => createHash("sha256").update(text);
const minified = async (/** @type {string} */ text, /** @type {"js" | "css"} */ loader) => (await transform(text, { loader, target, minify: true })).code.trim();

/** Gives a style sheet that a part brings along as its minified text. */
const minifiedStyles = {
  name: "styles",
  setup: (/** @type {import("esbuild").PluginBuild} */ build) =>
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => ({ contents: await minified(await readFile(path, "utf8"), "css"), loader: "text" })),
};

/** The script of the document, and the words of other languages as files beside it. */
async function bundle() {
  const { outputFiles, metafile } = await build({
    entryPoints: [`${ui}js/main.js`],
    absWorkingDir: ui,
    bundle: true,
    splitting: true,
    format: "esm",
    minify: true,
    target,
    charset: "utf8",
    plugins: [minifiedStyles],
    write: false,
    metafile: true,
    outdir: dist,
    chunkNames: "[name]-[hash]",
  });
  const unused = (await sources("js")).filter((name) => !(name in metafile.inputs) && !["js/early.js", "js/types.js"].includes(name));
  if (unused.length > 0) throw new Error(`nobody imports ${unused.join(", ")}`);
  const partOf = (/** @type {string} */ name) => Object.entries(metafile.outputs).find(([path]) => path.endsWith(name))?.[1].entryPoint;
  const files = outputFiles.map(({ path, text }) => {
    const name = path.slice(path.lastIndexOf("/") + 1);
    return { name, text: text.trim(), isRare: partOf(name) !== "js/i18n/zh.js" };
  });
  const main = files.find(({ name }) => name === "main.js");
  const chunks = files.filter((file) => file !== main);
  if (!main || /^import\b|[;}]import["{]/.test(main.text)) throw new Error("the script of the document imports a chunk");
  return { script: main.text, chunks };
}

/** @returns {Promise<string[]>} */
async function sources(/** @type {string} */ folder) {
  const entries = await readdir(ui + folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => `${entry.parentPath}/${entry.name}`.slice(ui.length));
  return files.sort();
}

/** Replaces style sheets and scripts that the document names by their text; style sheets in a row become one. */
async function inline(/** @type {string} */ html, /** @type {string} */ script) {
  const hashes = { script: /** @type {string[]} */ ([]), style: /** @type {string[]} */ ([]) };
  const element = (/** @type {"script" | "style"} */ tag, /** @type {string} */ text, attributes = "") => {
    hashes[tag].push(`'sha256-${sha256(text).digest("base64")}'`);
    return `<${tag}${attributes}>${text}</${tag}>`;
  };
  const lines = [];
  let styles = "";
  for (const line of html.split("\n").map((line) => line.trim())) {
    const [, style] = /^<link rel="stylesheet" href="\/(.+)">$/.exec(line) ?? [];
    const [, early] = /^<script src="\/(.+)"><\/script>$/.exec(line) ?? [];
    if (style) {
      styles += await read(style);
      continue;
    }
    if (styles) lines.push(element("style", await minified(styles, "css")));
    styles = "";
    if (early) lines.push(element("script", await minified(await read(early), "js")));
    else if (line === '<script type="module" src="/js/main.js"></script>') lines.push(element("script", script, ' type="module"'));
    else lines.push(line);
  }
  const text = lines.join("\n");
  if (text.split(STATE).length !== 2) throw new Error(`index.html has no place for the state: ${STATE}`);
  return { text, hashes, stateAt: Buffer.byteLength(text.slice(0, text.indexOf(STATE) + STATE.length)) };
}

/** The service worker keeps files of the page in a cache that is named after all of them. */
async function worker(/** @type {Asset[]} */ assets) {
  const version = sha256(Buffer.concat(assets.map(({ bytes }) => bytes))).digest("hex").slice(0, 20);
  const define = { SHELL: JSON.stringify(`cueme-shell-${version}`), FILES: JSON.stringify(assets.map(({ path }) => path)), NEEDED: JSON.stringify(assets.filter(({ isRare }) => !isRare).map(({ path }) => path)) };
  return (await transform(await read("sw.js"), { target, minify: true, define })).code.trim();
}

/** @typedef {{ path: string, file: string, bytes: Uint8Array, immutable: boolean, isRare?: boolean }} Asset */

const { script, chunks } = await bundle();
const document = await inline(await read("index.html"), script);
await rm(dist, { recursive: true, force: true });
await mkdir(dist, { recursive: true });
/** @type {Asset[]} */
const assets = [];
const built = async (/** @type {string} */ path, /** @type {string} */ name, /** @type {string} */ text, immutable = false, isRare = false) => {
  await writeFile(`${dist}/${name}`, text);
  assets.push({ path, file: name, bytes: Buffer.from(text), immutable, isRare });
};
await built("/", "index.html", document.text);
for (const { name, text, isRare } of chunks) await built(`/${name}`, name, text, true, isRare);
for (const name of [...(await sources("icons")), "manifest.webmanifest"]) assets.push({ path: `/${name}`, file: `../${name}`, bytes: await readFile(ui + name), immutable: false });
await built("/sw.js", "sw.js", await worker(assets));

const rust = assets.map(({ path, file, bytes, immutable }) => `    Asset { path: "${path}", bytes: include_bytes!("${file}"), etag: "\\"${sha256(bytes).digest("hex").slice(0, 20)}\\"", is_immutable: ${immutable} },`);
await writeFile(
  `${dist}/page.rs`,
  `// Written by build.mjs.
const INLINE_SCRIPTS: &str = "${document.hashes.script.join(" ")}";
const INLINE_STYLES: &str = "${document.hashes.style.join(" ")}";
const STATE_AT: usize = ${document.stateAt};
const ASSETS: &[Asset] = &[
${rust.join("\n")}
];
`,
);
