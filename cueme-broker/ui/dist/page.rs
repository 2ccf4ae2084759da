// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-JmDM/Yx8iFmgXK/pWAraDM+5Z3y/xlV7iQXkbPfduH8='";
const INLINE_STYLES: &str = "'sha256-RANLzb+05YjTY0ex6ZXxrtG4UGfnLpilKJB5iL644fw=' 'sha256-JCUIxFvfkbCoJ6JatBq7wVm+m6WnT8wgQNpO1PGPN4c='";
const STATE_AT: usize = 15304;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"26a6251b1dd42aa6c50e\"", is_immutable: false },
    Asset { path: "/zh-ZXAGYQDP.js", bytes: include_bytes!("zh-ZXAGYQDP.js"), etag: "\"b364c77a0b4cdcaa1709\"", is_immutable: true },
    Asset { path: "/tools-3KIWH2QT.js", bytes: include_bytes!("tools-3KIWH2QT.js"), etag: "\"3636e5d9fedcfdfb596d\"", is_immutable: true },
    Asset { path: "/review-Q5E7C2Q2.js", bytes: include_bytes!("review-Q5E7C2Q2.js"), etag: "\"da5226f52853fbc4e1fa\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"0d724e4df3a2afc66fbe\"", is_immutable: false },
];
