/** Fills the part of the settings that says how people are reached. */

import { channelsSection } from "./channels.js";
import { pushSection } from "./push.js";
import { wordsIn } from "./words.js";

/** @import { Kit } from "../tools/load.js" */

/**
 * @param {Kit} kit
 * @param {HTMLElement} place
 */
export function createReach(kit, place) {
  const w = wordsIn(kit.language());
  kit.fill(place, pushSection(kit, w), channelsSection(kit, w));
}
