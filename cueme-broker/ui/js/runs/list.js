/** What agents do on this machine and in the cloud. */

import { h, icon, keyed, on, openDialog, t } from "./page.js";
import { runsApi } from "./api.js";
import { createCard, updateCard } from "./card.js";
import { openLaunch } from "./launch.js";
import { w } from "./words.js";

/** Opens the list, which follows what happens for as long as it is open. */
export function openRuns() {
  const list = h("ul", { class: "cards runs" });
  const note = h("p", { class: "muted", role: "status" });
  const draw = async () => {
    try {
      const { runs } = await runsApi.list();
      keyed(list, runs, (run) => run.run_id, () => createCard(() => void draw()), updateCard);
      note.textContent = runs.length ? "" : w("none");
    } catch {
      note.textContent = t("error.try-again");
    }
  };
  const offs = [on("runs", () => void draw()), on("reread", () => void draw())];
  openDialog(
    w("title"),
    () => [
      h("button", { type: "button", class: "button primary launch-button", onclick: () => void openLaunch(() => void draw()) }, icon("play"), w("launch")),
      note,
      list,
    ],
    { wide: true, onclose: () => offs.forEach((off) => off()) },
  );
  void draw();
}
