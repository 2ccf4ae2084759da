//! The time limit of a wait in the runtime of the agent.
//!
//! A human takes as long as they take; the budget only makes a wait end a little before the runtime would end it.

use std::time::Duration;

use protocol_spec::endpoint::Places;
use protocol_spec::id::RuntimeTag;
use protocol_spec::visible::quoted;
use runtimes::wait_ceiling;

use crate::duration::parse_duration;
use crate::environment;
use crate::error::CliError;
use crate::output;

/// The variable by which the agent's starter sets the budget.
const VARIABLE: &str = "CUEME_WAIT";
/// The least time left between the end of a wait and the runtime's ceiling.
const MARGIN_MIN: Duration = Duration::from_secs(2);
/// The most time left there.
const MARGIN_MAX: Duration = Duration::from_secs(10);

/// Returns the budget set in the environment; the outer `None` means that none is set, the inner that there is no limit.
pub(super) fn from_environment() -> Result<Option<Option<Duration>>, CliError> {
    let Some(text) = environment::variable(VARIABLE) else {
        return Ok(None);
    };
    match parse_duration(&text) {
        Ok(budget) => Ok(Some(limit(budget))),
        Err(_) => Err(CliError::usage(format!(
            "{VARIABLE} is {}, which is not a duration",
            quoted(&text)
        ))
        .with_hint(format!("set {VARIABLE} to 90s, 5m or 1h; 0 means no limit"))),
    }
}

/// Returns the budget of an agent in the runtime `tag`, where the environment sets none.
pub(super) fn of_runtime(places: &Places, tag: &RuntimeTag) -> Option<Duration> {
    match configured(places, tag) {
        Some(budget) => limit(budget),
        None => wait_ceiling(tag.as_str()).map(wait_below),
    }
}

fn configured(places: &Places, tag: &RuntimeTag) -> Option<Duration> {
    match runtime_settings::load(&places.config, tag.as_str()) {
        Ok(settings) => settings.wait,
        Err(error) => {
            output::tell(&format!(
                "warning: {error}; waiting as if there were no configuration"
            ));
            None
        }
    }
}

/// Zero stands for no limit.
fn limit(budget: Duration) -> Option<Duration> {
    (budget > Duration::ZERO).then_some(budget)
}

/// Returns a wait that ends a little below `ceiling`.
pub(crate) fn wait_below(ceiling: Duration) -> Duration {
    let margin = (ceiling / 10).clamp(MARGIN_MIN, MARGIN_MAX);
    ceiling.saturating_sub(margin).max(ceiling / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_a_little_below_the_ceiling() {
        for (ceiling, budget) in [(10, 8), (30, 27), (120, 110), (600, 590), (3, 1)] {
            let found = wait_below(Duration::from_secs(ceiling));
            assert_eq!(found.as_secs(), budget, "{ceiling}");
        }
    }

    #[test]
    fn zero_means_no_limit() {
        assert_eq!(limit(Duration::ZERO), None);
        assert_eq!(limit(Duration::from_secs(5)), Some(Duration::from_secs(5)));
    }
}
