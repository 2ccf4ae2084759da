// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-hiy5DExGeFioe5nwWXB3UmX8Mtk185R39HWUpTPHBMs='";
const INLINE_STYLES: &str = "'sha256-kYgAJCkUnHYwkK/bXGSXmRyad40rJiEJov4jLL6gFpM=' 'sha256-tDcTNiXqkeCu31+gRSezEGFtvB2cDtEsgFnOfhmXztU='";
const STATE_AT: usize = 14204;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"f67227457df4e3249297\"", is_immutable: false },
    Asset { path: "/zh-IIOBMNCW.js", bytes: include_bytes!("zh-IIOBMNCW.js"), etag: "\"6d1b9f0a95bbbffd25f5\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"b4b181c13bddf1711566\"", is_immutable: false },
];
