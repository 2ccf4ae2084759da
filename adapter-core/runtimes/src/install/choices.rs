//! The choices of a person when they installed, read from the files themselves.
//!
//! An outdated installation matches nothing that this version would write, and a project's files may come from another
//! machine. The choices are still visible: in the language of the rule, and in which of our gates exist.

use super::{
    Extras, Request, Snapshot, managed_block,
    recipe::{Content, FileRecipe, recipe},
};
use crate::{Language, Runtime};

/// Stands in every Chinese rule that there ever was, and in no English one.
const CHINESE_LETTER: char = '的';

/// Returns the language and the extras of what is installed, or `None` when our rule is not there.
pub fn choices(request: &Request<'_>, snapshot: &Snapshot) -> Option<(Language, Extras)> {
    let files: Vec<(FileRecipe, &str)> = recipe(request)
        .into_iter()
        .filter_map(|file| {
            let bytes = snapshot.files.get(&file.path)?;
            Some((file, std::str::from_utf8(bytes).ok()?))
        })
        .collect();
    let rule = files.iter().find_map(|(file, text)| match file.content {
        Content::Rule { .. } => managed_block::body(text),
        Content::Json(_) | Content::Toml(_) | Content::Own(_) => None,
    })?;
    let language = if rule.contains(CHINESE_LETTER) {
        Language::Chinese
    } else {
        Language::English
    };
    let settings: Vec<&str> = files
        .iter()
        .filter(|(file, _)| matches!(file.content, Content::Json(_)))
        .map(|(_, text)| *text)
        .collect();
    Some((language, extras(request.runtime, &settings)))
}

fn extras(runtime: Runtime, settings: &[&str]) -> Extras {
    let calls = |event: &str| {
        let call = format!("hook {runtime} {event}");
        settings.iter().any(|text| text.contains(&call))
    };
    match runtime {
        Runtime::ClaudeCode => {
            // The same hook serves both; the one for questions alone names the tool.
            let is_for_questions = settings.iter().any(|text| {
                let squeezed: String = text.split_whitespace().collect();
                squeezed.contains(r#""matcher":"AskUserQuestion""#)
            });
            Extras {
                approvals: calls("permission") && !is_for_questions,
                questions: calls("permission") && is_for_questions,
            }
        }
        Runtime::Codex => Extras {
            approvals: calls("permission"),
            questions: calls("pre_tool"),
        },
        _ => Extras {
            approvals: calls("pre_tool") || calls("permission"),
            questions: false,
        },
    }
}
