/** How cueme reaches people who do not look at the page: pushes and channels, loaded when somebody opens that part of the settings. */

import { fill, freshId, h } from "../lib/dom.js";
import { json, send } from "../api.js";
import { language, t } from "../i18n/index.js";
import { textButton } from "../view/buttons.js";
import { section, toggle } from "../view/section.js";
import { toast } from "../view/toast.js";

/** What the part that is loaded uses of the page. */
const kit = { fill, freshId, h, json, send, language, t, textButton, section, toggle, toast };

/** @typedef {typeof kit} Kit */

export function reachSection() {
  const place = h("div", null);
  const details = h("details", { class: "settings-section", id: "settings-reach" }, h("summary", null, t("reach")), place);
  const load = () =>
    import("./reach.js").then(
      ({ createReach }) => createReach(kit, place),
      () => fill(place, h("p", { class: "field-error" }, t("error.try-again"))),
    );
  details.addEventListener("toggle", () => details.open && place.children.length === 0 && void load());
  return details;
}
