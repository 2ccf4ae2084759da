/** What an agent reads of a review: a block `path:line: comment` for each, in the order of the patch. Lines that are gone have their old numbers. */

/** @import * as T from "../types.js" */

/** @param {T.Comment} comment */
export const linesOf = ({ from, to }) => (from === to ? String(from) : `${from}-${to}`);

/** @param {T.Comment[]} comments */
export const reviewText = (comments) => comments.map((comment) => `${comment.path}:${linesOf(comment)}: ${comment.side === "old" ? `(removed ${comment.from === comment.to ? "line" : "lines"}) ` : ""}${comment.text.trim()}`).join("\n\n");
