//! The configuration in the shape of `openclaw.json`.

mod model;
mod parse;
mod watch;

pub use model::{AuthProfile, Config, ModelConfig, WebSearchConfig};
pub use parse::{ConfigError, Problem};
pub use watch::{ConfigWatch, watch};
