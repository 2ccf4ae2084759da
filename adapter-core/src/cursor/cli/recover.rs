//! Recovery from a failed turn: a retry, then another auth profile, then another model.
//!
//! The decision is pure, and every decision is reported. There is no recovery once the caller has seen events of the
//! failed turn, because the caller would see them twice.

use std::fmt;
use std::time::Duration;

use crate::contract::{ErrorCode, Recovery};

/// The most attempts of one turn.
const ATTEMPTS_MAX: u32 = 8;
/// The pauses before the same is tried again, where the network failed.
const RETRY_PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(8),
];

/// One way to run a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The model's name in the configuration.
    pub model: String,
    /// The auth profile.
    pub profile: String,
}

/// The decision after a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Try this model under this profile again, after a pause.
    Retry {
        /// The pause.
        after: Duration,
        /// Why.
        because: ErrorCode,
    },
    /// Try this model under another profile.
    RotateProfile {
        /// The profile that failed.
        from: String,
        /// The next attempt.
        to: Attempt,
        /// Why.
        because: ErrorCode,
    },
    /// Another model.
    FallBack {
        /// The model that failed.
        from: String,
        /// The next attempt.
        to: Attempt,
        /// Why.
        because: ErrorCode,
    },
    /// Nothing more.
    GiveUp {
        /// Why.
        because: ErrorCode,
    },
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Retry { after, because } => {
                write!(f, "{because}: trying again in {} s", after.as_secs_f32())
            }
            Self::RotateProfile { from, to, because } => {
                write!(
                    f,
                    "{because}: auth profile {from} failed, trying profile {}",
                    to.profile
                )
            }
            Self::FallBack { from, to, because } => {
                write!(
                    f,
                    "{because}: model {from} failed, falling back to model {}",
                    to.model
                )
            }
            Self::GiveUp { because } => write!(f, "{because}: nothing else to try"),
        }
    }
}

/// The attempts of one turn.
#[derive(Debug, Clone)]
pub struct Attempts {
    current: Attempt,
    profiles: Vec<String>,
    /// The models to fall back to, with the profiles of each.
    models: Vec<(String, Vec<String>)>,
    /// The profiles that were used.
    used: Vec<String>,
    retries: usize,
    count: u32,
}

/// The profile that means the environment as it is.
pub const PROFILE_DEFAULT: &str = "default";

impl Attempts {
    /// Plans the attempts: the model under each of its profiles, then each fallback model under its own.
    pub fn new(model: &str, profiles: &[String], fallbacks: Vec<(String, Vec<String>)>) -> Self {
        let (profile, rest) = split(profiles);
        let current = Attempt {
            model: model.to_owned(),
            profile,
        };
        Self {
            current,
            profiles: rest,
            models: fallbacks,
            used: Vec::new(),
            retries: 0,
            count: 1,
        }
    }

    /// Returns the attempt to run now.
    pub fn current(&self) -> &Attempt {
        &self.current
    }

    /// Decides what follows a failure, and moves on to it.
    pub fn next(&mut self, code: &ErrorCode, forwarded: u64) -> Decision {
        let because = code.clone();
        let recovery = if forwarded == 0 && self.count < ATTEMPTS_MAX {
            code.recovery()
        } else {
            Recovery::None
        };
        self.count += 1;
        self.used.push(self.current.profile.clone());
        match recovery {
            Recovery::None => None,
            Recovery::Profile => self.rotate(&because),
            Recovery::ProfileThenAccount => self.rotate(&because).or_else(|| self.change_account(&because)),
            Recovery::ProfileThenModel => self.rotate(&because).or_else(|| self.fall_back(&because)),
            Recovery::RetryThenModel => self.retry(&because).or_else(|| self.fall_back(&because)),
            Recovery::Model => self.fall_back(&because),
        }
        .unwrap_or(Decision::GiveUp { because })
    }

    fn retry(&mut self, because: &ErrorCode) -> Option<Decision> {
        let after = *RETRY_PAUSES.get(self.retries)?;
        self.retries += 1;
        Some(Decision::Retry {
            after,
            because: because.clone(),
        })
    }

    fn rotate(&mut self, because: &ErrorCode) -> Option<Decision> {
        if self.profiles.is_empty() {
            return None;
        }
        let profile = self.profiles.remove(0);
        let from = std::mem::replace(&mut self.current.profile, profile);
        Some(Decision::RotateProfile {
            from,
            to: self.current.clone(),
            because: because.clone(),
        })
    }

    /// Goes on to the first model with a profile that was not used yet.
    fn change_account(&mut self, because: &ErrorCode) -> Option<Decision> {
        while !self.models.is_empty() {
            let used = self.used.clone();
            self.models[0].1.retain(|profile| !used.contains(profile));
            if !self.models[0].1.is_empty() {
                return self.fall_back(because);
            }
            self.models.remove(0);
        }
        None
    }

    fn fall_back(&mut self, because: &ErrorCode) -> Option<Decision> {
        if self.models.is_empty() {
            return None;
        }
        let (model, profiles) = self.models.remove(0);
        let (profile, rest) = split(&profiles);
        self.profiles = rest;
        self.retries = 0;
        let from = std::mem::replace(&mut self.current, Attempt { model, profile }).model;
        Some(Decision::FallBack {
            from,
            to: self.current.clone(),
            because: because.clone(),
        })
    }
}

fn split(profiles: &[String]) -> (String, Vec<String>) {
    match profiles.split_first() {
        Some((first, rest)) => (first.clone(), rest.to_vec()),
        None => (PROFILE_DEFAULT.to_owned(), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attempts() -> Attempts {
        let profiles = ["default", "work"].map(str::to_owned);
        Attempts::new("auto", &profiles, vec![("slow".into(), vec!["work".into()])])
    }

    #[test]
    fn auth_failures_rotate_profiles_and_then_give_up() {
        let mut attempts = attempts();
        assert!(matches!(
            attempts.next(&ErrorCode::ModelAuth, 0),
            Decision::RotateProfile { .. }
        ));
        assert_eq!(
            attempts.current(),
            &Attempt {
                model: "auto".into(),
                profile: "work".into()
            }
        );
        assert!(matches!(
            attempts.next(&ErrorCode::ModelAuth, 0),
            Decision::GiveUp { .. }
        ));
    }

    #[test]
    fn an_auth_failure_goes_on_to_a_model_that_has_a_profile_of_its_own() {
        let profiles = ["default".to_owned()];
        let fallbacks = vec![
            ("same".into(), vec!["default".into()]),
            ("none".into(), Vec::new()),
            ("other".into(), vec!["default".into(), "work".into()]),
        ];
        let mut attempts = Attempts::new("auto", &profiles, fallbacks);
        assert!(matches!(
            attempts.next(&ErrorCode::ModelAuth, 0),
            Decision::FallBack { .. }
        ));
        let expected = Attempt {
            model: "other".into(),
            profile: "work".into(),
        };
        assert_eq!(attempts.current(), &expected);
        assert!(matches!(
            attempts.next(&ErrorCode::ModelAuth, 0),
            Decision::GiveUp { .. }
        ));
    }

    #[test]
    fn a_network_failure_is_tried_again_before_another_model() {
        let mut attempts = attempts();
        for pause in RETRY_PAUSES {
            assert!(
                matches!(attempts.next(&ErrorCode::Network, 0), Decision::Retry { after, .. } if after == pause)
            );
            assert_eq!(attempts.current().model, "auto");
        }
        assert!(matches!(
            attempts.next(&ErrorCode::Network, 0),
            Decision::FallBack { .. }
        ));
    }

    #[test]
    fn rate_limits_try_profiles_before_models() {
        let mut attempts = attempts();
        assert!(matches!(
            attempts.next(&ErrorCode::RateLimited, 0),
            Decision::RotateProfile { .. }
        ));
        assert!(matches!(
            attempts.next(&ErrorCode::RateLimited, 0),
            Decision::FallBack { .. }
        ));
        assert_eq!(attempts.current().model, "slow");
        assert!(matches!(
            attempts.next(&ErrorCode::RateLimited, 0),
            Decision::GiveUp { .. }
        ));
    }

    #[test]
    fn an_exhausted_quota_never_changes_the_model() {
        let mut attempts = attempts();
        attempts.next(&ErrorCode::QuotaExceeded, 0);
        assert!(matches!(
            attempts.next(&ErrorCode::QuotaExceeded, 0),
            Decision::GiveUp { .. }
        ));
        assert_eq!(attempts.current().model, "auto");
    }

    #[test]
    fn nothing_is_tried_once_events_were_seen_or_when_it_cannot_help() {
        assert!(matches!(
            attempts().next(&ErrorCode::RateLimited, 1),
            Decision::GiveUp { .. }
        ));
        assert!(matches!(
            attempts().next(&ErrorCode::TrustRequired, 0),
            Decision::GiveUp { .. }
        ));
    }
}
