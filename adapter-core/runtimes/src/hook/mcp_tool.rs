//! The names of our MCP tools in each host.

/// The name under which `init` registers our MCP server.
const SERVER: &str = "cueme";

/// The prefixes that Cursor adds to the name of a server, by where it is registered.
const SERVER_PREFIXES: [&str; 2] = ["user-", "project-"];

/// Returns the verb that a tool's name stands for, if it is one of our server in any host's spelling.
///
/// Hosts join server and tool in many ways: `mcp__cueme__cue`, `mcp_cueme_cue`, `cueme_cue`, `cueme-cue`. The name of
/// another server that only contains ours is not ours.
pub fn verb_of_name(name: &str) -> Option<&str> {
    let parts: Vec<&str> = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    match parts.as_slice() {
        [SERVER, verb] | ["mcp", SERVER, verb] => Some(verb),
        _ => None,
    }
}

/// Tells whether a host means our server.
pub fn is_our_server(name: &str) -> bool {
    let is_prefixed =
        || SERVER_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) && name.ends_with("-cueme");
    name == SERVER || is_prefixed()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_name_is_ours() {
        for name in [
            "mcp__cueme__cue",
            "mcp_cueme_cue",
            "cueme_cue",
            "cueme-cue",
            "cueme.cue",
        ] {
            assert_eq!(verb_of_name(name), Some("cue"), "{name}");
        }
        for name in [
            "cue",
            "cueme",
            "mcp__not_cueme__cue",
            "mcp__cueme_evil__cue",
            "mcp__evil__cueme_cue",
            "evil_cueme_cue",
        ] {
            assert_eq!(verb_of_name(name), None, "{name}");
        }
        assert!(
            is_our_server("cueme") && is_our_server("user-cueme") && is_our_server("project-0-app-cueme")
        );
        assert!(!is_our_server("not-cueme") && !is_our_server("cueme2") && !is_our_server("cuemecueme"));
    }
}
