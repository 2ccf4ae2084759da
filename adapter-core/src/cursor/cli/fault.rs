//! Tells the CLI's known failures apart by the words it uses.
//!
//! The CLI has no error event: a failed turn is an exit code and a sentence on stderr, or on stdout.

use crate::contract::{ErrorCode, ErrorData, Exit};
use crate::guard::redact;

/// The most characters of the CLI's own words in an error message.
const WORDS_CHARS_MAX: usize = 2_000;
/// The exit codes of a shell for a command that is missing or not executable.
const EXIT_NOT_FOUND: i32 = 127;
const EXIT_NOT_EXECUTABLE: i32 = 126;

/// Finds the known failure in what the CLI wrote.
///
/// The last line that says anything known wins: earlier ones may be the noise of a tool.
pub fn classify(words: &str) -> Option<ErrorCode> {
    words
        .lines()
        .rev()
        .find_map(|line| classify_line(&line.to_lowercase()))
}

/// Describes a turn that ended without a result.
pub(crate) fn exit_error(exit: Exit, stderr: &str, notices: &str) -> ErrorData {
    let said = telling(stderr.trim(), notices.trim());
    let code = classify(said).unwrap_or(match exit {
        Exit::Code(EXIT_NOT_FOUND) => ErrorCode::CommandNotFound,
        Exit::Code(EXIT_NOT_EXECUTABLE) => ErrorCode::PermissionDenied,
        Exit::Code(0) => ErrorCode::NoOutput,
        _ => ErrorCode::CliExit,
    });
    let words = if said.is_empty() {
        "(no stderr)".to_owned()
    } else {
        excerpt(said)
    };
    let message = match exit {
        Exit::Code(0) if said.is_empty() => {
            "the CLI exited with code 0 without any event (no stderr)".to_owned()
        }
        Exit::Code(0) => format!("the CLI ended without a result: {words}"),
        _ => format!("{}: {words}", exit.words()),
    };
    ErrorData::new(code, message)
}

/// Chooses the words that say why: those on stderr, unless they say nothing known and those on stdout do.
fn telling<'a>(stderr: &'a str, notices: &'a str) -> &'a str {
    let is_noise = classify(stderr).is_none() && classify(notices).is_some();
    if stderr.is_empty() || is_noise {
        notices
    } else {
        stderr
    }
}

/// Describes a failure the CLI reported in its stream.
pub(crate) fn reported_error(words: &str) -> ErrorData {
    let words = words.trim();
    let code = classify(words).unwrap_or(ErrorCode::Model);
    let message = if words.is_empty() {
        "the CLI reported an error without a message".to_owned()
    } else {
        excerpt(words)
    };
    ErrorData::new(code, message)
}

/// Returns the CLI's words without secrets, and cut when they are long.
///
/// The first line names the problem and the last ones hold the cause, so the middle is what goes.
pub(crate) fn excerpt(words: &str) -> String {
    let words = redact(words);
    let count = words.chars().count();
    if count <= WORDS_CHARS_MAX {
        return words.into_owned();
    }
    let head: String = words
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(WORDS_CHARS_MAX / 4)
        .collect();
    let keep = WORDS_CHARS_MAX - head.chars().count();
    let tail: String = words.chars().skip(count - keep).collect();
    format!("{head}\n[…]\n{tail}")
}

fn classify_line(line: &str) -> Option<ErrorCode> {
    // The proxy wants a password, not Cursor; the disk is full, not the plan.
    if line.contains("proxy authentication required") {
        return Some(ErrorCode::Network);
    }
    if line.contains("disk quota") {
        return None;
    }
    let says = |words: &[&str]| words.iter().any(|word| line.contains(word));
    KNOWN
        .iter()
        .find(|(_, words)| says(words))
        .map(|(code, _)| code.clone())
}

/// The sentences each failure is known by, most specific first.
const KNOWN: [(ErrorCode, &[&str]); 12] = [
    (
        ErrorCode::TrustRequired,
        &["workspace trust required", "workspace is not trusted"],
    ),
    (
        ErrorCode::ModelAuth,
        &[
            "authentication required",
            "not authenticated",
            "unauthenticated",
            "not logged in",
            "authentication failed",
            "api key is invalid",
            "invalid api key",
            "invalid user api key",
            "unauthorized",
            "error_not_logged_in",
            "authenticationerror",
            "token expired",
            "agent login'",
        ],
    ),
    (
        ErrorCode::PlanLimit,
        &[
            "named models unavailable",
            "model unavailable on",
            "free plans can only use",
            "not available on your",
            "not available on the free",
        ],
    ),
    (
        ErrorCode::QuotaExceeded,
        &[
            "usage limit",
            "monthly limit",
            "hit your limit",
            "out of usage",
            "free requests limit",
            "quota",
            "spend limit",
            "spending limit",
            "out of credits",
            "insufficient credits",
            "payment required",
        ],
    ),
    (
        ErrorCode::RateLimited,
        &[
            "rate limit",
            "rate_limit",
            "ratelimit",
            "too many requests",
            "resource_exhausted",
        ],
    ),
    (
        ErrorCode::Network,
        &[
            "econnrefused",
            "econnreset",
            "enotfound",
            "enetunreach",
            "ehostunreach",
            "etimedout",
            "eai_again",
            "enetdown",
            "econnaborted",
            "epipe",
            "eproto",
            "und_err_",
            "fetch failed",
            "network error",
            "network request failed",
            "connection failed",
            "connection lost",
            "check your internet connection",
            "trouble connecting to the model provider",
            "enetreset",
            "ehostdown",
            "getaddrinfo",
            "socket disconnected before secure tls",
            "tls handshake",
            "unable to verify the first certificate",
            "self signed certificate",
            "self-signed certificate",
            "unable to get local issuer certificate",
            "unable_to_get_issuer_cert",
            "cert_has_expired",
            "certificate has expired",
            "err_tls_",
            "ssl routines",
            "bad gateway",
            "service unavailable",
            "gateway timeout",
            "gateway time-out",
            "deadline_exceeded",
            "premature close",
            "socket hang up",
            "http/2 stream closed",
            "nghttp2",
            "ping timed out",
            "connection stalled",
            "[unavailable]",
            "failed to establish a socket connection",
            "something went wrong communicating with the server",
            "retriableerror: [aborted]",
            "retriableerror: [canceled]",
        ],
    ),
    (
        ErrorCode::BadModel,
        &[
            "cannot use this model",
            "model not found",
            "invalid model",
            "unknown model",
            "no such model",
            "model not available",
            "not available or invalid",
            "not available in your region",
            "serve your region",
            "available models:",
        ],
    ),
    (
        ErrorCode::SessionNotFound,
        &[
            "session not found",
            "chat not found",
            "no such chat",
            "no such session",
            "no previous chats",
        ],
    ),
    (
        ErrorCode::DatabaseLocked,
        &["database is locked", "sqlite_busy", "database table is locked"],
    ),
    (
        ErrorCode::UnknownOption,
        &["unknown option", "unknown command", "unexpected argument"],
    ),
    (
        ErrorCode::CommandNotFound,
        &["command not found", "no such file or directory (os error 2)"],
    ),
    (
        ErrorCode::PermissionDenied,
        &["permission denied", "operation not permitted", "eacces", "eperm"],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_known_failure_has_its_own_code() {
        let cases = [
            (
                "Error: Authentication required. Please run 'agent login' first",
                ErrorCode::ModelAuth,
            ),
            ("Error: Not authenticated", ErrorCode::ModelAuth),
            ("Error: The provided API key is invalid.", ErrorCode::ModelAuth),
            ("Error: Session not found", ErrorCode::SessionNotFound),
            ("sh: cursor-agent: command not found", ErrorCode::CommandNotFound),
            (
                "Error: permission denied by deny list",
                ErrorCode::PermissionDenied,
            ),
            ("Error: database is locked", ErrorCode::DatabaseLocked),
            (
                "Error: [resource_exhausted] Too many requests",
                ErrorCode::RateLimited,
            ),
            (
                "You've hit your usage limit. Upgrade your plan",
                ErrorCode::QuotaExceeded,
            ),
            (
                "ActionRequiredError: Increase limits for faster responses You're out of usage.",
                ErrorCode::QuotaExceeded,
            ),
            (
                "Error: You've hit your usage limit\n  Get Cursor Pro for more Agent usage\n  fallbackModel:\n  \
                 spendLimitHit: false\n  chatMessage: *You've hit your free requests limit.*\n  spendLimits: [50,100,200]",
                ErrorCode::QuotaExceeded,
            ),
            (
                "ActionRequiredError: Named models unavailable Free plans can only use Auto. Switch to Auto or upgrade \
                 plans to continue.",
                ErrorCode::PlanLimit,
            ),
            (
                "ConnectError: [unavailable] getaddrinfo ENOTFOUND api2.cursor.sh",
                ErrorCode::Network,
            ),
            ("Error: connect ECONNREFUSED 127.0.0.1:443", ErrorCode::Network),
            (
                "Error: RetriableError: [canceled] http/2 stream closed with error code CANCEL (0x8)",
                ErrorCode::Network,
            ),
            ("Error: Premature close", ErrorCode::Network),
            ("Error: read ECONNRESET", ErrorCode::Network),
            ("Error: write EPIPE", ErrorCode::Network),
            ("Error: connect ETIMEDOUT 10.0.0.1:443", ErrorCode::Network),
            ("Error: getaddrinfo EAI_AGAIN api2.cursor.sh", ErrorCode::Network),
            ("TypeError: fetch failed", ErrorCode::Network),
            (
                "Error: Client network socket disconnected before secure TLS connection was established",
                ErrorCode::Network,
            ),
            (
                "Error: unable to verify the first certificate",
                ErrorCode::Network,
            ),
            (
                "Error: self-signed certificate in certificate chain SELF_SIGNED_CERT_IN_CHAIN",
                ErrorCode::Network,
            ),
            ("ConnectError: [unknown] HTTP 502 Bad Gateway", ErrorCode::Network),
            ("Error: 503 Service Unavailable", ErrorCode::Network),
            ("Error: 407 Proxy Authentication Required", ErrorCode::Network),
            (
                "Error: RetriableError: [unavailable] PING timed out",
                ErrorCode::Network,
            ),
            (
                "\n⚠ Workspace Trust Required\n\n  Pass --trust",
                ErrorCode::TrustRequired,
            ),
            (
                "Cannot use this model: nope. Available models: auto, gpt-5",
                ErrorCode::BadModel,
            ),
            (
                "Model not available\nThis model provider doesn’t serve your region. Visit https://docs.cursor.com/account/regions",
                ErrorCode::BadModel,
            ),
            (
                "Error: Model 'gpt-5-high' is not available or invalid.",
                ErrorCode::BadModel,
            ),
            (
                "Error: Model 'opus' is not available on your plan",
                ErrorCode::PlanLimit,
            ),
            (
                "ActionRequiredError: You've reached your usage limit",
                ErrorCode::QuotaExceeded,
            ),
            ("Error: T: [resource_exhausted] Error", ErrorCode::RateLimited),
            ("Error: RetriableError: [aborted] terminated", ErrorCode::Network),
            (
                "RetriableError: [invalid_argument] unknown option '--system-prompt'",
                ErrorCode::UnknownOption,
            ),
            (
                "Connection failed. If the problem persists, please check your internet connection or VPN",
                ErrorCode::Network,
            ),
            (
                "We're having trouble connecting to the model provider. This might be temporary - please try again in a moment.",
                ErrorCode::Network,
            ),
            (
                "error: unknown option '--system-prompt'",
                ErrorCode::UnknownOption,
            ),
        ];
        for (words, code) in cases {
            assert_eq!(classify(words), Some(code), "{words}");
        }
        for unknown in [
            "something else broke",
            "Error: EDQUOT: disk quota exceeded, write",
        ] {
            assert_eq!(classify(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn the_last_known_line_wins_over_earlier_noise() {
        let words = "npm: Authentication required for registry\nError: database is locked\n    at x.js:1";
        assert_eq!(classify(words), Some(ErrorCode::DatabaseLocked));
    }

    #[test]
    fn a_silent_failure_says_so_and_how_to_look() {
        let error = exit_error(Exit::Code(1), "", "");
        assert_eq!(error.code, ErrorCode::CliExit);
        assert!(error.message.contains("exited with code 1") && error.message.contains("(no stderr)"));
        assert!(error.remedy.unwrap().contains("stream-json"));
    }

    #[test]
    fn a_refusal_on_stdout_is_not_hidden_by_noise_on_stderr() {
        let noise = "(node:1) Warning: something is deprecated";
        let error = exit_error(Exit::Code(1), noise, "Cannot use this model: nope.");
        assert_eq!(error.code, ErrorCode::BadModel);
        assert!(error.message.contains("Cannot use this model"));
        let error = exit_error(Exit::Code(1), "Error: database is locked", "Update available");
        assert_eq!(error.code, ErrorCode::DatabaseLocked);
    }

    #[test]
    fn shells_that_could_not_run_the_cli_are_recognised_by_their_code() {
        assert_eq!(
            exit_error(Exit::Code(127), "", "").code,
            ErrorCode::CommandNotFound
        );
        assert_eq!(
            exit_error(Exit::Code(126), "", "").code,
            ErrorCode::PermissionDenied
        );
    }

    #[test]
    fn long_words_keep_their_first_line_and_their_end_and_no_secret() {
        let words = format!(
            "first line\n{}\nCURSOR_API_KEY=abcdef123456\nlast line",
            "x\n".repeat(5_000)
        );
        let cut = excerpt(&words);
        assert!(cut.starts_with("first line") && cut.ends_with("last line"));
        assert!(!cut.contains("abcdef123456"));
        assert!(cut.chars().count() < WORDS_CHARS_MAX + 16);
    }
}
