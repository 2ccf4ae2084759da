// The files of the page that are embedded in the broker; see `src/web/assets.rs`.
&[asset!("index.html")]
