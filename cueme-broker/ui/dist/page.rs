// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-PRPAelQVItyNK7qSohssLjBLlEL3SdXOpeCLJr83gwM='";
const INLINE_STYLES: &str = "'sha256-75zu7ftN7YxWiOR6+zxogF+AUfLOngRLd/2RzC7oTzU=' 'sha256-IoeJ6R1LhNoXcsK1F5sOp8b2ylBi2hwkQXRJP09c0q4='";
const STATE_AT: usize = 15149;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"8bf9df4478cf4f574da6\"", is_immutable: false },
    Asset { path: "/aids-EWDKSKGI.js", bytes: include_bytes!("aids-EWDKSKGI.js"), etag: "\"c9c746240b9d4ce3085b\"", is_immutable: true },
    Asset { path: "/review-WKWRNLXR.js", bytes: include_bytes!("review-WKWRNLXR.js"), etag: "\"6716becaa849467cec3c\"", is_immutable: true },
    Asset { path: "/zh-PYBXXDHA.js", bytes: include_bytes!("zh-PYBXXDHA.js"), etag: "\"ee7dc04e0b56c7e79f59\"", is_immutable: true },
    Asset { path: "/reach-TDO5LFKE.js", bytes: include_bytes!("reach-TDO5LFKE.js"), etag: "\"e151563128e300685b7b\"", is_immutable: true },
    Asset { path: "/tools-WSD3GWT5.js", bytes: include_bytes!("tools-WSD3GWT5.js"), etag: "\"16c26adc707ed4cc0a59\"", is_immutable: true },
    Asset { path: "/dialogs-TIEKHK4W.js", bytes: include_bytes!("dialogs-TIEKHK4W.js"), etag: "\"ed7435580ff8c6276709\"", is_immutable: true },
    Asset { path: "/rules-ISNIVXPS.js", bytes: include_bytes!("rules-ISNIVXPS.js"), etag: "\"b5cfac25988fac6d6cbb\"", is_immutable: true },
    Asset { path: "/runs-TA2R2TPV.js", bytes: include_bytes!("runs-TA2R2TPV.js"), etag: "\"5d67e2f3cb0d89903486\"", is_immutable: true },
    Asset { path: "/guide-CRF6X5X4.js", bytes: include_bytes!("guide-CRF6X5X4.js"), etag: "\"84ff7f6e6128359f170f\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"961d0126ee1eac9d8205\"", is_immutable: false },
];
