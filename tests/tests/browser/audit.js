// Returns what a person without eyesight, or with little of it, would stumble over.
const problems = [];
const visible = (el) => el.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });

for (const el of document.querySelectorAll("button, a[href], input, textarea, select")) {
  if (!visible(el)) continue;
  const label = el.getAttribute("aria-label") || el.innerText?.trim() || el.labels?.[0]?.innerText.trim() || el.title;
  if (!label) problems.push(`no name: ${el.outerHTML.slice(0, 100)}`);
}

const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const rgba = (color) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const luminance = (color) => {
  const [r, g, b] = color.map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const behind = (el) => {
  for (let at = el; at; at = at.parentElement) {
    const color = rgba(getComputedStyle(at).backgroundColor);
    if (color[3] === 255) return color;
  }
  return [255, 255, 255, 255];
};
const seen = new Set();
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let node = walker.nextNode(); node; node = walker.nextNode()) {
  const el = node.parentElement;
  if (!node.data.trim() || !visible(el) || el.closest(".sr, :disabled, noscript")) continue;
  const style = getComputedStyle(el);
  const [front, back] = [luminance(rgba(style.color)), luminance(behind(el))];
  const ratio = (Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05);
  const key = `${el.className} ${ratio.toFixed(2)}`;
  if (ratio < 4.5 && !seen.has(key)) problems.push(`contrast ${ratio.toFixed(2)}: .${el.className} “${node.data.trim().slice(0, 30)}”`);
  seen.add(key);
}
return problems;
