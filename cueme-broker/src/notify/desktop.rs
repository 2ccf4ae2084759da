//! Notifications on the screen of the machine the broker runs on, where it has one.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

use super::escape::for_notify_send;
use super::notice::Notice;
use super::send::SendError;

/// The timeout of the program that shows it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Says whether there is a session to show something in.
pub(super) fn has_session() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(target_os = "macos") || is_set("WAYLAND_DISPLAY") || is_set("DISPLAY")
}

/// Shows a notification; returns the session's id of it, if it can be withdrawn.
pub(super) async fn show(notice: &Notice) -> Result<Option<String>, SendError> {
    if cfg!(target_os = "macos") {
        // The texts are arguments, so AppleScript takes nothing in them for code.
        let script =
            "on run argv\ndisplay notification (item 1 of argv) with title (item 2 of argv)\nend run";
        run("osascript", &["-e", script, "--", notice.body(), &notice.title()]).await?;
        return Ok(None);
    }
    // The title is plain text to every desktop; the body is not.
    let (title, body) = (notice.title(), for_notify_send(notice.body()));
    let arguments = ["--app-name=cueme", "--print-id", "--", &title, &body];
    let printed = run("notify-send", &arguments).await?;
    Ok(Some(printed.trim().to_owned())
        .filter(|id| id.bytes().all(|byte| byte.is_ascii_digit()) && !id.is_empty()))
}

/// Replaces a notification by one that says it is over and goes away.
pub(super) async fn take_back(id: &str) -> Result<(), SendError> {
    if cfg!(target_os = "macos") {
        return Ok(());
    }
    let replaces = format!("--replace-id={id}");
    run(
        "notify-send",
        &[
            "--app-name=cueme",
            &replaces,
            "--expire-time=1500",
            "--",
            "cueme",
            "answered",
        ],
    )
    .await
    .map(drop)
}

async fn run(program: &'static str, arguments: &[&str]) -> Result<String, SendError> {
    let failed = |why: String| SendError::Failed(format!("{program}: {why}"));
    let running = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = tokio::time::timeout(PATIENCE, running)
        .await
        .map_err(|_| failed("took too long".to_owned()))?
        .map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
