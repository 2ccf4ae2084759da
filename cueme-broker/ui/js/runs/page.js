/** What the part about runs uses of the page: it is loaded when it is opened, and is handed this then. */

import { en } from "./en.js";

/** @import { Kit } from "../tools/load.js" */

/** @type {Kit["ApiError"]} */
export let ApiError;
/** @type {Kit["askText"]} */
export let askText;
/** @type {Kit["clock"]} */
export let clock;
/** @type {Kit["fill"]} */
export let fill;
/** @type {Kit["freshId"]} */
export let freshId;
/** @type {Kit["h"]} */
export let h;
/** @type {Kit["icon"]} */
export let icon;
/** @type {Kit["json"]} */
export let json;
/** @type {Kit["keyed"]} */
export let keyed;
/** @type {Kit["on"]} */
export let on;
/** @type {Kit["openDialog"]} */
export let openDialog;
/** @type {Kit["send"]} */
export let send;
/** @type {Kit["setText"]} */
export let setText;
/** @type {Kit["t"]} */
export let t;
/** @type {Kit["textButton"]} */
export let textButton;
/** @type {Kit["toast"]} */
export let toast;
/** The words about runs in the language of the page. */
export let words = en;

/**
 * @param {Kit} kit
 * @param {typeof en} own
 */
export const usePage = (kit, own) => void ({ ApiError, askText, clock, fill, freshId, h, icon, json, keyed, on, openDialog, send, setText, t, textButton, toast } = kit, words = own);
