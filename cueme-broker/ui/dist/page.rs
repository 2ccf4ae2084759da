// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-xDg2yZ34+uMHEq7s17GwDtXuXjbmpIMCIX4ULqqu+ig='";
const INLINE_STYLES: &str = "'sha256-JVDy1fjAVPOQGECKACM5YNBR7Rs6EwilpABuKwT3JE4=' 'sha256-2Dtok2rvi9ai8TLqGTYJl6drVEo+wZv3qoR2VYBmJew='";
const STATE_AT: usize = 15720;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"d3a478ba24c6fba3c3b6\"", is_immutable: false },
    Asset { path: "/reach-MMJKDSAK.js", bytes: include_bytes!("reach-MMJKDSAK.js"), etag: "\"e862472e6518fc6f6ca5\"", is_immutable: true },
    Asset { path: "/zh-SWE33XRR.js", bytes: include_bytes!("zh-SWE33XRR.js"), etag: "\"fd689a9a3f6b3748861d\"", is_immutable: true },
    Asset { path: "/settings-PG6YOZME.js", bytes: include_bytes!("settings-PG6YOZME.js"), etag: "\"2ec648f12dcc2bcf5ebe\"", is_immutable: true },
    Asset { path: "/runs-YHNEDUP7.js", bytes: include_bytes!("runs-YHNEDUP7.js"), etag: "\"675c0eed1c73a8b6df7c\"", is_immutable: true },
    Asset { path: "/guide-GM2N43OF.js", bytes: include_bytes!("guide-GM2N43OF.js"), etag: "\"068625a1c0dfea4ed0d7\"", is_immutable: true },
    Asset { path: "/tokens-ZBQNRNXM.js", bytes: include_bytes!("tokens-ZBQNRNXM.js"), etag: "\"980d92ac13898d199958\"", is_immutable: true },
    Asset { path: "/patch-WDZ6NTSG.js", bytes: include_bytes!("patch-WDZ6NTSG.js"), etag: "\"064cdcf81560ea394d08\"", is_immutable: true },
    Asset { path: "/queue-PAZPCIJV.js", bytes: include_bytes!("queue-PAZPCIJV.js"), etag: "\"6b26339606cc5388c408\"", is_immutable: true },
    Asset { path: "/review-SP45S4CU.js", bytes: include_bytes!("review-SP45S4CU.js"), etag: "\"c574d274a0d14bb893b3\"", is_immutable: true },
    Asset { path: "/offer-4Q4QWHRR.js", bytes: include_bytes!("offer-4Q4QWHRR.js"), etag: "\"fd117f09008112bca7dc\"", is_immutable: true },
    Asset { path: "/aids-WGGSHVQG.js", bytes: include_bytes!("aids-WGGSHVQG.js"), etag: "\"930481db62620aae1c60\"", is_immutable: true },
    Asset { path: "/zh-I7KSCZCU.js", bytes: include_bytes!("zh-I7KSCZCU.js"), etag: "\"12fb8a5445284e8586df\"", is_immutable: true },
    Asset { path: "/sound-P2KLT6FZ.js", bytes: include_bytes!("sound-P2KLT6FZ.js"), etag: "\"ea844606aadd1f2b43f2\"", is_immutable: true },
    Asset { path: "/tools-ZKHQM5KV.js", bytes: include_bytes!("tools-ZKHQM5KV.js"), etag: "\"6ee12adee963e6e94771\"", is_immutable: true },
    Asset { path: "/zh-QHUGO6WZ.js", bytes: include_bytes!("zh-QHUGO6WZ.js"), etag: "\"50e6b9cc5c596b20631b\"", is_immutable: true },
    Asset { path: "/dialogs-FD7MN4JX.js", bytes: include_bytes!("dialogs-FD7MN4JX.js"), etag: "\"a1478eed3307c60ce1f3\"", is_immutable: true },
    Asset { path: "/rules-Z36NITTT.js", bytes: include_bytes!("rules-Z36NITTT.js"), etag: "\"a7c1339a2d86a3454890\"", is_immutable: true },
    Asset { path: "/zh-K35IIGTF.js", bytes: include_bytes!("zh-K35IIGTF.js"), etag: "\"85b747ca76881800928b\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"c61ced03ab2841217b72\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"5bd0b9b1e857cb8ff419\"", is_immutable: false },
];
