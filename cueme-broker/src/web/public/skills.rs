//! Skills: instructions that an agent elsewhere reads when it needs them, so that its prompt can be short.
//!
//! `hap` is built in. A human adds others as Markdown files in the folder `skills` beside the configuration; the first
//! line of each describes it.

use std::fs;
use std::path::{Path, PathBuf};

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use crate::broker::{Broker, blocking};
use crate::web::door::Visitor;
use crate::web::error::ApiError;
use crate::web::extract::At;
use crate::web::state::Shared;

/// The path of one skill.
pub(super) const PATH: &str = "/api/skills/{name}";

const HAP: &str = include_str!("hap.md");
const HAP_NAME: &str = "hap";
const FOLDER: &str = "skills";
const SKILLS_MAX: usize = 256;
const SKILL_BYTES_MAX: u64 = 256 * 1024;
const NAME_BYTES_MAX: usize = 64;
const ABOUT_CHARS_MAX: usize = 200;

/// All skills.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Skills {
    skills: Vec<Skill>,
}

/// A skill in short.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
struct Skill {
    name: String,
    /// Its purpose.
    description: String,
    /// Its path, below the broker's address.
    path: String,
}

impl Skill {
    fn new(name: &str, text: &str) -> Self {
        let first = text
            .lines()
            .find(|line| !line.trim().is_empty())
            .unwrap_or_default();
        let about = first.trim_start_matches('#').trim();
        Self {
            name: name.to_owned(),
            description: about.chars().take(ABOUT_CHARS_MAX).collect(),
            path: PATH.replace("{name}", name),
        }
    }
}

/// Lists the skills.
pub(super) async fn index(State(web): State<Shared>, _: Visitor) -> Result<Json<Skills>, ApiError> {
    let folder = folder(&web.broker);
    let found = blocking(move || Ok(others(&folder))).await?;
    let mut skills = vec![Skill::new(HAP_NAME, HAP)];
    skills.extend(found.into_iter().map(|(name, text)| Skill::new(&name, &text)));
    Ok(Json(Skills { skills }))
}

/// Returns one skill.
pub(super) async fn skill(
    State(web): State<Shared>,
    _: Visitor,
    At(name): At<String>,
) -> Result<Response, ApiError> {
    let text = if name == HAP_NAME {
        Some(HAP.to_owned())
    } else {
        let folder = folder(&web.broker);
        blocking(move || Ok(read(&folder, &name))).await?
    };
    let text = text.ok_or_else(|| ApiError::not_found("there is no such skill"))?;
    let mut response = text.into_response();
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("text/markdown; charset=utf-8"),
    );
    Ok(response)
}

fn folder(broker: &Broker) -> PathBuf {
    let config = &broker.places().config;
    config.parent().unwrap_or(Path::new("")).join(FOLDER)
}

/// Returns the human's own skills by name.
fn others(folder: &Path) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| Some(entry.file_name().to_str()?.strip_suffix(".md")?.to_owned()))
        .filter(|name| is_name(name) && name != HAP_NAME)
        .collect();
    names.sort();
    names.truncate(SKILLS_MAX);
    names
        .into_iter()
        .filter_map(|name| read(folder, &name).map(|text| (name, text)))
        .collect()
}

/// Reads a skill, unless it is not one or is too large. A name holds no separators, so nothing outside the folder is
/// read.
fn read(folder: &Path, name: &str) -> Option<String> {
    if !is_name(name) {
        return None;
    }
    let path = folder.join(format!("{name}.md"));
    let about = fs::symlink_metadata(&path).ok()?;
    if !about.is_file() || about.len() > SKILL_BYTES_MAX {
        return None;
    }
    fs::read_to_string(path).ok()
}

fn is_name(name: &str) -> bool {
    let is_letter =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_humans_skills_are_found_beside_the_built_in_one_and_nothing_outside_the_folder_is_read() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("skills");
        fs::create_dir(&folder).unwrap();
        fs::write(place.path().join("secret.md"), "no").unwrap();
        fs::write(folder.join("deploy.md"), "\n# How we deploy\n\nSteps.").unwrap();
        fs::write(folder.join("Not A Name.md"), "x").unwrap();
        fs::write(folder.join("huge.md"), vec![b'x'; 300 * 1024]).unwrap();
        std::os::unix::fs::symlink(place.path().join("secret.md"), folder.join("link.md")).unwrap();
        let found = others(&folder);
        assert_eq!(found.len(), 1);
        assert_eq!(Skill::new(&found[0].0, &found[0].1).description, "How we deploy");
        for name in ["../secret", "link", "huge", "", "Not A Name"] {
            assert_eq!(read(&folder, name), None, "{name}");
        }
        assert!(others(&place.path().join("missing")).is_empty());
    }
}
