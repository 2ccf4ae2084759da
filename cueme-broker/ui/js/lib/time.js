/** Times as people say them: UTC inside, local on screen. */

import { language, locale, t } from "../i18n/index.js";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far this device's clock is from the broker's, in milliseconds. */
let skew = 0;

/**
 * Learns the broker's clock, so that waiting times are right on a phone whose clock is not.
 * @param {string | null | undefined} serverTime
 */
export function learnClock(serverTime) {
  const at = Date.parse(serverTime ?? "");
  if (!Number.isNaN(at)) skew = Math.abs(at - Date.now()) > 2_000 ? at - Date.now() : 0;
}

/** The broker's time, in milliseconds. */
export const now = () => Date.now() + skew;

/**
 * Returns how long something has lasted, in one or two units: `12s`, `4m`, `2h 05m`, `3d`.
 * @param {string | number} since
 * @param {boolean} [precise] also seconds below an hour
 */
export function span(since, precise = false) {
  const seconds = Math.max(0, Math.floor((now() - toMs(since)) / 1000));
  if (seconds < MINUTE) return `${seconds}${t("unit.s")}`;
  if (seconds < HOUR) {
    const minutes = `${Math.floor(seconds / MINUTE)}${t("unit.m")}`;
    return precise ? minutes + rest(seconds % MINUTE, "unit.s") : minutes;
  }
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}${t("unit.h")}${rest(Math.floor((seconds % HOUR) / MINUTE), "unit.m")}`;
  return `${Math.floor(seconds / DAY)}${t("unit.d")}`;
}

/**
 * The smaller of two units: `2h 05m`, but `2小时5分`.
 * @param {number} n
 * @param {"unit.s" | "unit.m"} unit
 */
const rest = (n, unit) => (language() === "en" ? ` ${String(n).padStart(2, "0")}` : n) + t(unit);

/** @param {string | number} at */
export const toMs = (at) => (typeof at === "number" ? at : Date.parse(at));

/** @type {Map<string, Intl.DateTimeFormat>} */
const formats = new Map();

/**
 * Returns how dates are written. Learning how the language writes them takes the browser milliseconds, so each is kept.
 * @param {Intl.DateTimeFormatOptions} options
 */
function format(options) {
  const key = JSON.stringify(options);
  const kept = formats.get(key) ?? new Intl.DateTimeFormat(locale(), options);
  formats.set(key, kept);
  return kept;
}

/** Names the year of a date of another one. @param {Date} date @returns {Intl.DateTimeFormatOptions} */
const yearOf = (date) => (date.getFullYear() === new Date(now()).getFullYear() ? {} : { year: "numeric" });

/**
 * Returns the time of day, with the date when it was not today. A 24-hour clock has two digits for the hour.
 * @param {string | number} at
 */
export function clock(at) {
  const date = new Date(toMs(at));
  const today = new Date(now()).toDateString() === date.toDateString();
  const isTwelve = format({ hour: "numeric" }).resolvedOptions().hour12;
  /** @type {Intl.DateTimeFormatOptions} */
  const time = { hour: isTwelve ? "numeric" : "2-digit", minute: "2-digit" };
  return format(today ? time : { ...time, month: "short", day: "numeric", ...yearOf(date) }).format(date);
}

/**
 * Returns date and time in full, for titles.
 * @param {string | number} at
 */
export const full = (at) => format({ dateStyle: "full", timeStyle: "medium" }).format(toMs(at));

/**
 * Returns the name of a day: today, yesterday, or the date.
 * @param {string | number} at
 */
export function day(at) {
  const date = new Date(toMs(at));
  const start = (/** @type {Date} */ d) => new Date(d.getFullYear(), d.getMonth(), d.getDate()).getTime();
  const ago = Math.round((start(new Date(now())) - start(date)) / 86_400_000);
  if (ago === 0) return t("day.today");
  if (ago === 1) return t("day.yesterday");
  return format({ weekday: "long", month: "long", day: "numeric", ...yearOf(date) }).format(date);
}
