//! Checks of a database that brokers share.

use cueme_store_postgres::{Inspection, Runtime, Settings, inspect};

use super::{Finding, millis};

/// Looks at the server beside the broker, and says what it means for answers.
pub(super) fn check_server(settings: &Settings) -> Vec<Finding> {
    let location = settings.location().display();
    let runtime = match Runtime::start() {
        Ok(runtime) => runtime,
        Err(error) => return vec![Finding::fail("database server", error.to_string(), "try again")],
    };
    match inspect(settings, &runtime) {
        Ok(found) => {
            let server = format!(
                "PostgreSQL {} at {location}, round trip {}",
                found.version,
                millis(found.round_trip)
            );
            vec![
                Finding::ok("database server", server),
                durability(&found),
                replication(&found),
                Finding::ok(
                    "notifications",
                    format!("arrive after {}", millis(found.notified_after)),
                ),
                brokers(&found),
            ]
        }
        Err(error) => {
            let remedy = error
                .hint()
                .unwrap_or_else(|| "waiting calls keep waiting; check the server".to_owned());
            vec![Finding::fail("database server", error.to_string(), remedy)]
        }
    }
}

fn durability(found: &Inspection) -> Finding {
    let settings: Vec<String> = found
        .durability
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let settings = settings.join(", ");
    let is_whole = found
        .durability
        .iter()
        .all(|(name, value)| name != "full_page_writes" || value == "on");
    if is_whole {
        Finding::ok("durability", settings)
    } else {
        Finding::warn(
            "durability",
            settings,
            "turn full_page_writes on, unless the file system never tears a page",
        )
    }
}

fn replication(found: &Inspection) -> Finding {
    let count = |number: u32, kind: &str| match number {
        1 => format!("1 {kind} standby"),
        _ => format!("{number} {kind} standbys"),
    };
    match (found.synchronous_standbys, found.asynchronous_standbys) {
        (0, 0) => Finding::ok("replication", "no standby"),
        (0, behind) => Finding::warn(
            "replication",
            format!(
                "{}: a promoted standby may lack the newest answers",
                count(behind, "asynchronous")
            ),
            "set synchronous_standby_names on the server",
        ),
        (whole, 0) => Finding::ok("replication", count(whole, "synchronous")),
        (whole, behind) => Finding::ok(
            "replication",
            format!(
                "{}, {}",
                count(whole, "synchronous"),
                count(behind, "asynchronous")
            ),
        ),
    }
}

fn brokers(found: &Inspection) -> Finding {
    match found.brokers.len() {
        0 => Finding::ok("brokers", "none uses it now"),
        1 => Finding::ok("brokers", format!("{} uses it", found.brokers.join(", "))),
        _ => Finding::ok("brokers", format!("{} share it", found.brokers.join(", "))),
    }
}
