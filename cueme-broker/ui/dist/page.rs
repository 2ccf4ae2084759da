// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-iFf8ST5LiAc22OG/niqFwMdu02Z8QLcnWZd1HUJ68JA='";
const INLINE_STYLES: &str = "'sha256-6U86SE5gkn+cbnPCLdU/BoHqWtlX52vClnbWv6NTrvs=' 'sha256-Z5eoZMRe9vNqDVDTrPktOwEAspv9y9zTHlXrGtIgShw='";
const STATE_AT: usize = 15547;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"c69950b47a141726af15\"", is_immutable: false },
    Asset { path: "/zh-YFESZVKS.js", bytes: include_bytes!("zh-YFESZVKS.js"), etag: "\"2ca87bb78389cca5327b\"", is_immutable: true },
    Asset { path: "/review-QG6QVNTY.js", bytes: include_bytes!("review-QG6QVNTY.js"), etag: "\"6776a5d44337c60f18a8\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"c1395d5d5ab2415b42d0\"", is_immutable: false },
];
