/** Characters that nobody sees, spelled out as the broker does in questions. Answers repeat the text as it was written. */

const HIDDEN = /[\p{DI}\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** A joiner or a selector belongs to what it follows, if that is an emoji or a letter of another script. */
const SHAPES = /[\u200c\u200d\ufe00-\ufe0f]/;

/** @param {string} text */
export const visible = (text) =>
  text.replace(HIDDEN, (letter, at) => ("\n\t".includes(letter) || (SHAPES.test(letter) && text.charCodeAt(at - 1) > 0x2ff && !SHAPES.test(text[at - 1] ?? "")) ? letter : `⟨U+${letter.codePointAt(0)?.toString(16).toUpperCase().padStart(4, "0")}⟩`));
