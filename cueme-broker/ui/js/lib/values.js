/** Values of fields as people say them. */

import { t } from "../i18n/index.js";
import { visible } from "./visible.js";

/** What stands for a secret in the texts of the broker. */
const REDACTED = "[redacted]";

/** A text of the broker, in which secrets are named in the page's language. @param {string} text */
export const masked = (text) => text.replaceAll(REDACTED, t("redacted"));

/** @param {string} value */
export const valueWords = (value) => (value === "true" ? t("yes") : value === "false" ? t("no") : masked(visible(value)));
