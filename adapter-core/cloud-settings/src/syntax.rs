//! Syntax checks for names of repositories, branches and addresses.

use crate::error::{ConfigError, invalid};

/// Returns what two spellings of one repository have in common; none if the text names no repository.
pub fn repository_key(text: &str) -> Option<String> {
    let text = text.trim();
    let rest = match text.split_once("://") {
        Some(("https" | "http", rest)) => rest,
        Some(_) => return None,
        None => text,
    };
    let path_and_host = rest.trim_end_matches('/');
    let path_and_host = path_and_host.strip_suffix(".git").unwrap_or(path_and_host);
    let parts: Vec<_> = path_and_host.split('/').collect();
    let is_name = |part: &&str| {
        !part.is_empty()
            && part
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
    };
    // No user, password, port or query: a repository's URL is stored and shown.
    let is_repository = parts.len() >= 3 && parts[0].contains('.') && parts.iter().all(is_name);
    is_repository.then(|| path_and_host.to_ascii_lowercase())
}

/// Returns what is wrong with an address under which we are to be reached.
pub(crate) fn public_url_problem(url: &str) -> Option<&'static str> {
    let Some(rest) = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))
    else {
        return Some("it must start with https://");
    };
    if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Some("it contains blanks");
    }
    let authority = rest.split('/').next().unwrap_or_default();
    if authority.is_empty() {
        return Some("it names no host");
    }
    if authority.contains('@') {
        return Some("it contains a user or a password");
    }
    rest.contains(['?', '#']).then_some("it contains a query")
}

/// Checks that git accepts the name.
pub(crate) fn check_git_name(field: &'static str, name: &str) -> Result<(), ConfigError> {
    let forbidden = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    if name.contains(forbidden) || name.contains("..") || name.starts_with('-') || name.ends_with(['/', '.'])
    {
        return Err(invalid(
            field,
            format!("\"{}\" is not a name git accepts", name.escape_debug()),
        ));
    }
    Ok(())
}
