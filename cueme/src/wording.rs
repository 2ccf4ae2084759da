//! Our texts for agents, in the language that their rule was installed in.
//!
//! `cueme init` notes the language of a runtime in the configuration; the default is English. Texts of humans are never
//! translated.

use protocol_spec::endpoint::Places;
use protocol_spec::id::{AgentId, RuntimeTag};
use protocol_spec::message::Join;
use runtime_settings::AgentLanguage;
use runtimes::Language;

/// Returns the language of the agents of a runtime.
pub(crate) fn language_of(places: &Places, runtime: &RuntimeTag) -> Language {
    // A configuration that cannot be read is reported by the wait budget, which needs it too.
    let settings = runtime_settings::load(&places.config, runtime.as_str()).unwrap_or_default();
    match settings.language {
        Some(AgentLanguage::Zh) => Language::Chinese,
        Some(AgentLanguage::En) | None => Language::English,
    }
}

/// Says that the wait ended and the question did not.
pub(crate) fn still_open(language: Language) -> &'static str {
    match language {
        Language::English => {
            "still open: the human has not answered yet. Run exactly the same command again now to go on waiting. This \
             is not an answer and not a refusal."
        }
        Language::Chinese => {
            "still open（仍未关闭）：用户还没有回答。请立即原样再次运行同一条命令，继续等待。这既不是回答，也不是拒绝。"
        }
    }
}

/// Says that the human is away and that a hook takes over the wait.
pub(crate) fn away(language: Language) -> &'static str {
    match language {
        Language::English => {
            "still open: the human has been away for an hour. End your turn now and do not decide in their place: a \
             hook holds your turn and brings the answer."
        }
        Language::Chinese => {
            "still open（仍未关闭）：用户已离开一个小时。现在结束你的回合，不要替用户做决定：钩子会保持你的回合，并带来回答。"
        }
    }
}

/// Says that the outcome of an earlier question came instead of an answer.
pub(crate) fn new_question_open(language: Language) -> &'static str {
    match language {
        Language::English => {
            "[your new question is open and nobody has answered it yet: run the same command again to wait for its \
             answer]"
        }
        Language::Chinese => "[你的新问题已提出，还没有人回答：请再次运行同一条命令等待它的回答]",
    }
}

/// Says to an agent that has joined who it is and how to ask.
pub(crate) fn joined(language: Language, agent: &AgentId, join: &Join) -> String {
    let Join {
        runtime,
        project_dir,
        terminal,
        ..
    } = join;
    let (before, after) = match language {
        Language::English => (
            "You have joined. Keep your agent_id; joining again in this session returns the same one. Before each \
             summary and\nbefore you finish, ask the human and wait, in the foreground and without a timeout of your \
             own:",
            format!(
                "The payload block is optional (choice, confirm or form). What the command prints is the human's \
                 answer. Exit code 75\nmeans that the question is still open: run exactly the same command again. \
                 `cueme pause {agent}` waits until the\nhuman lets you continue."
            ),
        ),
        Language::Chinese => (
            "你已加入。请记住 agent_id；在本会话中再次 join 得到同一个。每次阶段性总结之前和结束之前，都要询问用户并等待：\n\
             在前台运行，不要自己设置超时：",
            format!(
                "payload 块可选（choice、confirm 或 form）。命令的输出就是用户的回答。退出码 75 表示问题仍未关闭：\n\
                 原样再次运行同一条命令。`cueme pause {agent}` 会等到用户让你继续。"
            ),
        ),
    };
    format!(
        "\
agent_id={agent}
project_dir={project_dir}
agent_terminal={terminal}
agent_runtime={runtime}

{before}

cueme cue {agent} - <<'CUEME'
<cueme_prompt>
Your question
</cueme_prompt>
<cueme_payload>
{{\"type\":\"choice\",\"options\":[\"Continue\",\"Stop\"]}}
</cueme_payload>
CUEME

{after}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol_spec::envelope;

    #[test]
    fn the_message_has_the_four_facts_on_lines_of_their_own_and_an_example_that_parses() {
        let join = Join {
            runtime: "cursor".parse().unwrap(),
            project_dir: "/home/a/my project".into(),
            terminal: "zsh".into(),
            session: None,
        };
        for language in Language::ALL {
            let text = joined(language, &"bako-nefi".parse().unwrap(), &join);
            let lines: Vec<&str> = text.lines().take(4).collect();
            assert_eq!(
                lines,
                [
                    "agent_id=bako-nefi",
                    "project_dir=/home/a/my project",
                    "agent_terminal=zsh",
                    "agent_runtime=cursor"
                ]
            );
            let (_, example) = text.split_once("<<'CUEME'\n").unwrap();
            let (example, _) = example.split_once("CUEME\n").unwrap();
            assert!(envelope::parse_cue(example).unwrap().payload.is_some());
        }
    }

    #[test]
    fn a_wait_that_ends_is_neither_an_answer_nor_a_refusal() {
        assert!(still_open(Language::English).contains("same command again"));
        assert!(still_open(Language::Chinese).contains("原样再次运行同一条命令"));
        for (text, words) in [
            (away(Language::English), "End your turn"),
            (away(Language::Chinese), "结束你的回合"),
        ] {
            assert!(text.contains(words), "{text}");
            assert!(
                !text.contains("command again") && !text.contains("同一条命令"),
                "{text}"
            );
        }
    }
}
