//! Changes the configuration, and applies it at once.

use crate::config::Config;
use crate::notify::ConfigureError;
use crate::store::StoreError;
use crate::web::error::ApiError;
use crate::web::state::Web;

/// Changes the configuration, and applies it at once.
pub(super) async fn configure<T: Send + 'static>(
    web: &Web,
    change: impl FnOnce(&protocol_spec::endpoint::Places) -> Result<T, ConfigureError> + Send + 'static,
) -> Result<T, ApiError> {
    // One change at a time, so that none is lost between reading and writing.
    let _alone = web.configuring.lock().await;
    let places = web.broker.places().clone();
    let changed = tokio::task::spawn_blocking(move || {
        let changed = change(&places)?;
        let loaded = Config::load(&places.config).map_err(|error| error.to_string());
        Ok::<_, ConfigureError>((changed, loaded))
    });
    let changed = changed
        .await
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    let (changed, loaded) = changed.map_err(|error| match error {
        ConfigureError::Wrong(why) => ApiError::bad_request(why),
        ConfigureError::Unknown(_) => ApiError::not_found("there is no such channel"),
        ConfigureError::Io { doing, path, source } => StoreError::Io { doing, path, source }.into(),
    })?;
    web.broker.set_config(loaded);
    Ok(changed)
}
