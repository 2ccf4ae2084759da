// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-FWSTGPSkUxj1RYGLBnegjXE6dTB/DvJvYo3G7mrGeco='";
const INLINE_STYLES: &str = "'sha256-MfFOWJAaQDY4Zg8mL9JSOoVJueUCl504OHNQdWIDmiE=' 'sha256-PqXcJ0Ggc9Lt7+Uldu7ZkS4Q5e+/QYCKLnlrrRkpePE='";
const STATE_AT: usize = 15742;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"179e69553f6c09a0b17a\"", is_immutable: false },
    Asset { path: "/zh-WFHZ6BUL.js", bytes: include_bytes!("zh-WFHZ6BUL.js"), etag: "\"c0a37ed54d6d3323f4ca\"", is_immutable: true },
    Asset { path: "/tools-HIH7E6XT.js", bytes: include_bytes!("tools-HIH7E6XT.js"), etag: "\"0f5e9b26e8d6a76346c8\"", is_immutable: true },
    Asset { path: "/dialogs-M7TY54JY.js", bytes: include_bytes!("dialogs-M7TY54JY.js"), etag: "\"76961e7d8f1698aed094\"", is_immutable: true },
    Asset { path: "/rules-UXPK6LNA.js", bytes: include_bytes!("rules-UXPK6LNA.js"), etag: "\"d8e115c7ec2c3244460a\"", is_immutable: true },
    Asset { path: "/runs-6OJ6VRNF.js", bytes: include_bytes!("runs-6OJ6VRNF.js"), etag: "\"3f772216792d8fea73f2\"", is_immutable: true },
    Asset { path: "/aids-CKO44P3I.js", bytes: include_bytes!("aids-CKO44P3I.js"), etag: "\"46f7ef2f8ae47f97f308\"", is_immutable: true },
    Asset { path: "/review-Q5E7C2Q2.js", bytes: include_bytes!("review-Q5E7C2Q2.js"), etag: "\"da5226f52853fbc4e1fa\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"1bc30ee7ef01fa9e29e0\"", is_immutable: false },
];
