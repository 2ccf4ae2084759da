/** The form that starts an agent in the cloud. What is left as it was is as configured. */

import { freshId, h, openDialog, t, toast } from "./page.js";
import { runsApi } from "./api.js";
import { secretField } from "./secret-field.js";
import { w } from "./words.js";

/** @import * as R from "../types.js" */

/** @param {() => void} changed */
export async function openLaunch(changed) {
  /** @type {R.CloudForm} */
  let form;
  try {
    form = await runsApi.form();
  } catch {
    return toast(t("error.try-again"), "bad");
  }
  const { config } = form;
  const prompt = h("textarea", { class: "input", name: "prompt", rows: "5", dir: "auto", required: true, oninput: () => void (start.disabled = prompt.value.trim() === "") });
  const start = h("button", { type: "submit", class: "button primary", disabled: true }, w("form.send"));
  const texts = {
    repository: input("repository", "url", config.repository),
    ref: input("ref", "text", config.ref, "main"),
    model: input("model", "text", config.model),
    branch_name: input("branch_name", "text", config.branch_name),
    public_url: input("public_url", "url", config.public_url),
  };
  const numbers = {
    poll_interval_sec: input("poll_interval_sec", "number", config.poll_interval_sec, "10"),
    timeout_sec: input("timeout_sec", "number", config.timeout_sec, "0"),
    grace_sec: input("grace_sec", "number", config.grace_sec, "20"),
  };
  const switches = {
    auto_create_pr: toggle("auto_create_pr", config.auto_create_pr ?? false),
    enable_webhooks: toggle("enable_webhooks", config.enable_webhooks ?? true),
  };
  const secrets = {
    CURSOR_API_KEY: secretField("CURSOR_API_KEY", w("form.key"), form.has_api_key),
    CURSOR_WEBHOOK_SECRET: secretField("CURSOR_WEBHOOK_SECRET", w("form.secret"), form.has_webhook_secret),
  };
  const error = h("p", { class: "field-error", role: "alert" });

  /** @returns {R.CloudConfig} */
  const read = () => {
    /** @type {Record<string, any>} */
    const filled = {};
    for (const [name, el] of Object.entries(texts)) if (el.value.trim()) filled[name] = el.value.trim();
    for (const [name, el] of Object.entries(numbers)) if (el.value) filled[name] = Number(el.value);
    for (const [name, el] of Object.entries(switches)) filled[name] = el.checked;
    const env = Object.entries(secrets).flatMap(([name, field]) => {
      const binding = field.binding();
      return binding ? [[name, binding]] : [];
    });
    return { ...filled, env: Object.fromEntries(env) };
  };
  const send = async (/** @type {() => void} */ close) => {
    error.textContent = "";
    try {
      await runsApi.launch(prompt.value, read());
      close();
      toast(w("started"));
      changed();
    } catch (problem) {
      const { message, hint } = /** @type {{ message?: string, hint?: string }} */ (problem);
      error.textContent = [message || t("error.try-again"), hint].filter(Boolean).join(" — ");
    }
  };

  openDialog(
    w("form.title"),
    (close) => [
      h(
        "form",
        { class: "stack launch", onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), void send(close)) },
        !form.is_public && h("p", { class: "hint" }, w("form.private")),
        field(w("form.prompt"), prompt),
        field(w("form.repository"), texts.repository),
        field(w("form.ref"), texts.ref),
        field(w("form.model"), texts.model),
        line(w("form.pr"), switches.auto_create_pr),
        h(
          "details",
          { class: "stack" },
          h("summary", null, w("form.more")),
          field(w("form.branch"), texts.branch_name),
          field(w("form.poll"), numbers.poll_interval_sec),
          field(w("form.timeout"), numbers.timeout_sec),
          field(w("form.grace"), numbers.grace_sec),
          field(w("form.url"), texts.public_url),
          line(w("form.webhooks"), switches.enable_webhooks),
          secrets.CURSOR_API_KEY.el,
          secrets.CURSOR_WEBHOOK_SECRET.el,
        ),
        error,
        h("div", { class: "dialog-actions" }, h("button", { type: "button", class: "button", onclick: close }, t("cancel")), start),
      ),
    ],
    { wide: true },
  );
  prompt.focus();
}

/**
 * @param {string} name
 * @param {string} type
 * @param {string | number | undefined} value
 * @param {string} [placeholder]
 */
const input = (name, type, value, placeholder = "") => h("input", { class: "input", name, type, value: value ?? "", placeholder, autocomplete: "off", ...(type === "number" && { min: "0" }) });

/**
 * @param {string} name
 * @param {boolean} checked
 */
const toggle = (name, checked) => h("input", { type: "checkbox", class: "switch", name, checked });

/**
 * @param {string} label
 * @param {HTMLElement} el
 */
function field(label, el) {
  el.id = freshId("launch");
  return h("div", { class: "launch-field" }, h("label", { class: "field-label", htmlFor: el.id }, label), el);
}

/**
 * @param {string} label
 * @param {HTMLElement} el
 */
function line(label, el) {
  el.id = freshId("launch");
  return h("div", { class: "line" }, h("label", { htmlFor: el.id }, label), el);
}
