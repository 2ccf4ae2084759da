//! Picks the HAP text and the guidance for one runtime and language.

use std::str::FromStr;

use crate::Runtime;

/// Stands in the HAP texts where it is said whether the human has accepted HAP.
const ACCEPTANCE: &str = "{acceptance}";

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
///
/// It holds once the human has accepted HAP: printing a text is no acceptance.
pub fn protocol(runtime: Option<Runtime>, language: Language) -> String {
    let accepted = match language {
        Language::English => "Once the human has accepted HAP, you MUST",
        Language::Chinese => "当用户接受 HAP 后，你必须",
    };
    joined(accepted, runtime, language)
}

/// Returns the text to install: the human has accepted HAP by installing it.
pub fn rule(runtimes: impl IntoIterator<Item = Runtime>, language: Language) -> String {
    let accepted = match language {
        Language::English => "The human has accepted HAP by installing this rule: you MUST",
        Language::Chinese => "用户安装本规则即已接受 HAP：你必须",
    };
    joined(accepted, runtimes, language)
}

fn joined(accepted: &str, runtimes: impl IntoIterator<Item = Runtime>, language: Language) -> String {
    let hap = match language {
        Language::English => include_str!("en/hap.md"),
        Language::Chinese => include_str!("zh/hap.md"),
    };
    let mut text = hap.replacen(ACCEPTANCE, accepted, 1);
    for runtime in runtimes {
        text.push('\n');
        text.push_str(guidance(runtime, language));
    }
    text
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
        Runtime::QwenCode => include_str!("en/qwen_code.md"),
        Runtime::Droid => include_str!("en/droid.md"),
        Runtime::AgentsMd => include_str!("en/agents_md.md"),
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
        Runtime::QwenCode => include_str!("zh/qwen_code.md"),
        Runtime::Droid => include_str!("zh/droid.md"),
        Runtime::AgentsMd => include_str!("zh/agents_md.md"),
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
    fn guidance_names_the_tag() {
        for runtime in Runtime::ALL {
            for language in Language::ALL {
                let text = guidance(runtime, language);
                assert!(
                    text.contains(&format!("`cueme join {runtime}`")),
                    "{runtime} {language:?}"
                );
                assert!(
                    text.ends_with('\n') && text.starts_with("## "),
                    "{runtime} {language:?}"
                );
            }
        }
    }

    /// Returns the exit codes that the list of a text explains, in its order.
    fn codes(text: &str) -> Vec<&str> {
        text.lines()
            .filter_map(|line| line.strip_prefix("- "))
            .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
            .flat_map(|line| {
                let end = line.find([':', '：']).unwrap_or(line.len());
                line[..end]
                    .split(|c: char| !c.is_ascii_digit())
                    .filter(|code| !code.is_empty())
            })
            .collect()
    }

    #[test]
    fn every_exit_code_of_an_agent_is_explained_once() {
        for runtime in Runtime::ALL {
            for language in Language::ALL {
                let text = rule([runtime], language);
                assert_eq!(
                    codes(&text),
                    ["0", "1", "2", "3", "4", "69", "74", "75", "76"],
                    "{runtime} {language:?}"
                );
                for code in ["69", "74", "75", "76"] {
                    let mentions = text
                        .split(|c: char| !c.is_ascii_digit())
                        .filter(|word| *word == code)
                        .count();
                    assert_eq!(mentions, 1, "{runtime} {language:?} {code}");
                }
            }
        }
    }

    #[test]
    fn only_an_installed_text_says_that_the_human_has_accepted() {
        for (language, condition, accepted) in [
            (
                Language::English,
                "Once the human has accepted HAP, you MUST call",
                "by installing this rule: you MUST call",
            ),
            (
                Language::Chinese,
                "当用户接受 HAP 后，你必须在每次",
                "用户安装本规则即已接受 HAP：你必须在每次",
            ),
        ] {
            for runtime in Runtime::ALL {
                let (printed, installed) = (protocol(Some(runtime), language), rule([runtime], language));
                assert!(
                    printed.contains(condition) && !printed.contains(accepted),
                    "{printed}"
                );
                assert!(
                    installed.contains(accepted) && !installed.contains(condition),
                    "{installed}"
                );
                assert!(!printed.contains(ACCEPTANCE) && !installed.contains(ACCEPTANCE));
            }
        }
    }

    #[test]
    fn both_languages_have_the_same_parts() {
        let shape = |text: &str| {
            text.lines()
                .map(|line| {
                    let kind = line.split(' ').next().unwrap_or_default();
                    if matches!(kind, "#" | "##" | "###" | "-" | "```") {
                        kind.to_owned()
                    } else {
                        (!line.is_empty()).to_string()
                    }
                })
                .collect::<Vec<_>>()
        };
        for runtime in Runtime::ALL {
            let [english, chinese] = Language::ALL.map(|language| rule([runtime], language));
            assert_eq!(shape(&english), shape(&chinese), "{runtime}");
            let code = |text: &str| {
                let mut spans: Vec<String> = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
                spans.retain(|span| !span.contains('\n'));
                spans.sort();
                spans
            };
            assert_eq!(code(&english), code(&chinese), "{runtime}");
        }
    }

    #[test]
    fn every_rule_is_short() {
        /// Every turn of every agent carries it. Windsurf truncates its global rules at 6,000 characters, which is more.
        const RULE_BYTES_MAX: usize = 3_500;
        for runtime in Runtime::ALL {
            for language in Language::ALL {
                for text in [protocol(Some(runtime), language), rule([runtime], language)] {
                    assert!(
                        text.len() <= RULE_BYTES_MAX,
                        "{runtime} {language:?}: {} bytes",
                        text.len()
                    );
                }
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
