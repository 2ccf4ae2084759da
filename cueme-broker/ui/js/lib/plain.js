/** The beginning of a question without its Markdown marks, for lists. */

/** @param {string} beginning */
export const plain = (beginning) => beginning.replace(/!?\[([^\]\n]*)\]\([^()\s]*\)/g, "$1").replace(/^#+\s+|\*\*|__|`/g, "");
