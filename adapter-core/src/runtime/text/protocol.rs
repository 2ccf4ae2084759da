//! Picks the HAP text and the guidance for one runtime and language.

use std::str::FromStr;

use crate::runtime::Runtime;

/// The most characters that a rule (HAP text with guidance) may have.
///
/// Windsurf cuts its global rules at this length, the shortest limit among the runtimes.
pub const RULE_CHARS_MAX: usize = 6_000;

/// A language the protocol text exists in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// Every language.
    pub const ALL: [Language; 2] = [Language::English, Language::Chinese];

    /// Picks the language for a POSIX locale name such as `zh_CN.UTF-8`.
    pub fn from_locale(locale: &str) -> Language {
        if locale.starts_with("zh") {
            Language::Chinese
        } else {
            Language::English
        }
    }
}

/// A language name that is none of ours.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown language {0:?}: write en or zh")]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name {
            "en" => Ok(Language::English),
            "zh" => Ok(Language::Chinese),
            other => Err(UnknownLanguage(other.to_owned())),
        }
    }
}

/// Returns the HAP text, followed by the guidance for a runtime if one is named.
pub fn protocol(runtime: Option<Runtime>, language: Language) -> String {
    let hap = match language {
        Language::English => include_str!("en/hap.md"),
        Language::Chinese => include_str!("zh/hap.md"),
    };
    match runtime {
        Some(runtime) => format!("{hap}\n{}", guidance(runtime, language)),
        None => hap.to_owned(),
    }
}

/// Returns what an agent in this runtime needs to know beyond HAP.
pub fn guidance(runtime: Runtime, language: Language) -> &'static str {
    match language {
        Language::English => english(runtime),
        Language::Chinese => chinese(runtime),
    }
}

fn english(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Cursor => include_str!("en/cursor.md"),
        Runtime::ClaudeCode => include_str!("en/claude_code.md"),
        Runtime::Codex => include_str!("en/codex.md"),
        Runtime::Windsurf => include_str!("en/windsurf.md"),
        Runtime::Vscode => include_str!("en/vscode.md"),
        Runtime::Kiro => include_str!("en/kiro.md"),
        Runtime::Opencode => include_str!("en/opencode.md"),
        Runtime::GeminiCli => include_str!("en/gemini_cli.md"),
        Runtime::CopilotCli => include_str!("en/copilot_cli.md"),
        Runtime::Terminal => include_str!("en/terminal.md"),
    }
}

fn chinese(runtime: Runtime) -> &'static str {
    match runtime {
        Runtime::Cursor => include_str!("zh/cursor.md"),
        Runtime::ClaudeCode => include_str!("zh/claude_code.md"),
        Runtime::Codex => include_str!("zh/codex.md"),
        Runtime::Windsurf => include_str!("zh/windsurf.md"),
        Runtime::Vscode => include_str!("zh/vscode.md"),
        Runtime::Kiro => include_str!("zh/kiro.md"),
        Runtime::Opencode => include_str!("zh/opencode.md"),
        Runtime::GeminiCli => include_str!("zh/gemini_cli.md"),
        Runtime::CopilotCli => include_str!("zh/copilot_cli.md"),
        Runtime::Terminal => include_str!("zh/terminal.md"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_hap_is_in_every_language() {
        let must_say = [
            "`cueme cue`",
            "`cueme pause`",
            "`join()`",
            "`cue()`",
            "TOOLS_UNAVAILABLE",
            "`cueme join <agent_runtime>`",
            "agent_id=",
            "project_dir=",
            "agent_terminal=",
            "agent_runtime=",
            "`cueme recall <hints>`",
            "`cueme cue <agent_id> -`",
            "\n<cueme_prompt>\n",
            "\n</cueme_prompt>\n",
            "\n<cueme_payload>\n",
            "\n</cueme_payload>\n",
            "\"type\":\"choice\"",
            "\"type\":\"confirm\"",
            "\"type\":\"form\"",
            "allow_multiple",
            "confirm_label",
            "cancel_label",
            "`cueme pause <agent_id> [<prompt> | -]`",
        ];
        for language in Language::ALL {
            let text = protocol(None, language);
            for words in must_say {
                assert!(text.contains(words), "{language:?} does not say {words:?}");
            }
            for tag in [
                "windsurf",
                "cursor",
                "vscode",
                "claude_code",
                "terminal",
                "codex",
                "kiro",
                "opencode",
            ] {
                assert!(
                    text.contains(&format!("`{tag}`")),
                    "{language:?} lacks the example tag {tag}"
                );
            }
        }
        assert!(protocol(None, Language::English).contains("in the background"));
        assert!(protocol(None, Language::Chinese).contains("不可放在后台运行"));
    }

    #[test]
    fn guidance_names_the_tag_and_says_to_run_the_command_again_on_75() {
        for runtime in Runtime::ALL {
            for language in Language::ALL {
                let text = guidance(runtime, language);
                assert!(
                    text.contains(&format!("`cueme join {runtime}`")),
                    "{runtime} {language:?}"
                );
                assert!(text.contains("75"), "{runtime} {language:?}");
                assert!(
                    text.ends_with('\n') && text.starts_with("## "),
                    "{runtime} {language:?}"
                );
            }
        }
    }

    #[test]
    fn every_rule_fits_the_shortest_limit_of_a_runtime() {
        for runtime in Runtime::ALL {
            for language in Language::ALL {
                let length = protocol(Some(runtime), language).chars().count();
                assert!(
                    length <= RULE_CHARS_MAX,
                    "{runtime} {language:?}: {length} characters"
                );
            }
        }
    }

    #[test]
    fn a_locale_picks_the_language() {
        assert_eq!(Language::from_locale("zh_CN.UTF-8"), Language::Chinese);
        assert_eq!(Language::from_locale("C"), Language::English);
        assert_eq!("zh".parse(), Ok(Language::Chinese));
        assert!("fr".parse::<Language>().is_err());
    }
}
