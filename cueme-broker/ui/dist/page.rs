// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-1AKtiuRCEDzTbsGXk5iqYGiCKDfcGcD3iJje2gY91T0='";
const INLINE_STYLES: &str = "'sha256-RANLzb+05YjTY0ex6ZXxrtG4UGfnLpilKJB5iL644fw=' 'sha256-PqXcJ0Ggc9Lt7+Uldu7ZkS4Q5e+/QYCKLnlrrRkpePE='";
const STATE_AT: usize = 15304;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"62919cb0ab2e809af6df\"", is_immutable: false },
    Asset { path: "/zh-GJL5CPUG.js", bytes: include_bytes!("zh-GJL5CPUG.js"), etag: "\"f7e1c3b81003d642f731\"", is_immutable: true },
    Asset { path: "/tools-WVX4CKDW.js", bytes: include_bytes!("tools-WVX4CKDW.js"), etag: "\"881057f1ea1ab6637294\"", is_immutable: true },
    Asset { path: "/dialogs-2TBIRXSG.js", bytes: include_bytes!("dialogs-2TBIRXSG.js"), etag: "\"ad5fd01f3d4952fe040a\"", is_immutable: true },
    Asset { path: "/rules-UXPK6LNA.js", bytes: include_bytes!("rules-UXPK6LNA.js"), etag: "\"d8e115c7ec2c3244460a\"", is_immutable: true },
    Asset { path: "/runs-6OJ6VRNF.js", bytes: include_bytes!("runs-6OJ6VRNF.js"), etag: "\"3f772216792d8fea73f2\"", is_immutable: true },
    Asset { path: "/aids-CKO44P3I.js", bytes: include_bytes!("aids-CKO44P3I.js"), etag: "\"46f7ef2f8ae47f97f308\"", is_immutable: true },
    Asset { path: "/review-Q5E7C2Q2.js", bytes: include_bytes!("review-Q5E7C2Q2.js"), etag: "\"da5226f52853fbc4e1fa\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"2e5ad0df0a5a06686a7a\"", is_immutable: false },
];
