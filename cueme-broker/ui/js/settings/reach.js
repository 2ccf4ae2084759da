/** How cueme reaches people who do not look at the page: pushes and channels, loaded when somebody opens that part of the settings. */

/** @import { Kit } from "../tools/load.js" */
/** @import { Words } from "./words.js" */

/**
 * @param {Kit} kit
 * @param {Words} w
 */
export function reachSection(kit, w) {
  const { fill, h, t } = kit;
  const place = h("div", null);
  const details = h("details", { class: "settings-section", id: "settings-reach" }, h("summary", null, w("reach")), place);
  const load = () =>
    import("../reach/reach.js").then(
      ({ createReach }) => createReach(kit, place),
      () => fill(place, h("p", { class: "field-error" }, t("error.try-again"))),
    );
  details.addEventListener("toggle", () => details.open && place.children.length === 0 && void load());
  return details;
}
