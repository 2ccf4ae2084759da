//! The words sent to a cloud agent.

use cloud_settings::{EXCHANGE_PATH, RUN_HEADER, SKILLS_INDEX_PATH, Secret};

use super::api::Prompt;

/// The address and the token by which a cloud agent reaches us in one run.
#[derive(Debug, Clone)]
pub struct Callback {
    /// Our address.
    pub public_url: String,
    /// The token to exchange, good once and not for long.
    pub bootstrap_token: Secret,
    /// Our own id for the agent.
    pub agent_id: String,
    /// Our own id for the run.
    pub run_id: String,
}

/// Fills a template: `{{name}}` becomes the value of that name.
///
/// A name without a value is left as it stands, so that a mistake shows.
pub fn render_template(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let filled = after.split_once("}}").and_then(|(name, next)| {
            let value = values.iter().find(|(key, _)| *key == name.trim())?.1;
            Some((value, next))
        });
        match filled {
            Some((value, next)) => {
                out.push_str(value);
                rest = next;
            }
            None => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Makes the prompt of a turn: the words, and how to reach us if the agent can.
pub fn compose_prompt(words: &str, callback: Option<&Callback>) -> Prompt {
    match callback {
        Some(callback) => Prompt {
            text: format!("{}\n\n{}", words.trim_end(), callback_block(callback)),
            secrets: vec![callback.bootstrap_token.clone()],
        },
        None => Prompt::new(words),
    }
}

fn callback_block(callback: &Callback) -> String {
    let Callback {
        public_url,
        bootstrap_token,
        agent_id,
        run_id,
    } = callback;
    let token = bootstrap_token.expose();
    format!(
        "<cueme_callback>\n\
         A person follows this run and answers questions. To reach them:\n\
         1. Exchange this one-time token, which expires in minutes:\n\
         \x20  curl -sS -X POST {public_url}{EXCHANGE_PATH} -H 'Content-Type: application/json' \
         -d '{{\"token\":\"{token}\",\"runId\":\"{run_id}\"}}'\n\
         2. Send the returned token as 'Authorization: Bearer …' together with '{RUN_HEADER}: {run_id}' \
         in every further call. Your agent_id is {agent_id}.\n\
         3. Read GET {public_url}{SKILLS_INDEX_PATH}, then the skill 'hap', and follow it: ask before you \
         end your work, and wait for the answer.\n\
         Do not print or store either token.\n\
         </cueme_callback>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_once_and_mistakes_are_left_standing() {
        let values = [("prompt", "say {{name}}"), ("name", "x")];
        assert_eq!(
            render_template("a {{ prompt }} b {{nobody}} {{", &values),
            "a say {{name}} b {{nobody}} {{"
        );
    }

    #[test]
    fn omits_callback_when_no_run_jwt() {
        let prompt = compose_prompt("do it", None);
        assert_eq!(prompt.text, "do it");
        assert!(prompt.secrets.is_empty());
    }

    #[test]
    fn the_callback_names_the_way_back_and_only_the_one_time_token() {
        let callback = Callback {
            public_url: "https://broker.example".to_owned(),
            bootstrap_token: Secret::new("cmb_once"),
            agent_id: "calm-otter".to_owned(),
            run_id: "run-7".to_owned(),
        };
        let prompt = compose_prompt("do it\n", Some(&callback));
        assert!(prompt.text.starts_with("do it\n\n<cueme_callback>"));
        for part in [
            "https://broker.example/api/agent-auth/exchange",
            "cmb_once",
            "/api/skills/index",
            "run-7",
        ] {
            assert!(prompt.text.contains(part), "{part}");
        }
        assert!(!format!("{prompt:?} {callback:?}").contains("cmb_once"));
    }
}
