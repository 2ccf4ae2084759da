// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-h3Z1Gv9OubdmbQ8BYxh6kd81QGpvH4VHq0X8oDG/c6Q='";
const INLINE_STYLES: &str = "'sha256-8WqyypNtmhUc8NnAlgD26Z4TV4Jtqq6OyzKiKieKyic=' 'sha256-85usHBafSOXtxp5bw2lHE/uxrVWsIXmvlAoznKE/gZk='";
const STATE_AT: usize = 15330;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"7f3938e07201cc11a644\"", is_immutable: false },
    Asset { path: "/settings-CIMXECZN.js", bytes: include_bytes!("settings-CIMXECZN.js"), etag: "\"e0833eb26773895c3cec\"", is_immutable: true },
    Asset { path: "/runs-REAY7IV5.js", bytes: include_bytes!("runs-REAY7IV5.js"), etag: "\"57068f607d7df725cc1b\"", is_immutable: true },
    Asset { path: "/guide-WKGWYRJN.js", bytes: include_bytes!("guide-WKGWYRJN.js"), etag: "\"5a1a4574b05dc67d026d\"", is_immutable: true },
    Asset { path: "/tokens-ZBQNRNXM.js", bytes: include_bytes!("tokens-ZBQNRNXM.js"), etag: "\"980d92ac13898d199958\"", is_immutable: true },
    Asset { path: "/review-BBLGIDYY.js", bytes: include_bytes!("review-BBLGIDYY.js"), etag: "\"517c41b5ac6564f76ca2\"", is_immutable: true },
    Asset { path: "/offer-6E6AIMOI.js", bytes: include_bytes!("offer-6E6AIMOI.js"), etag: "\"d91f9e7e87eac5c90050\"", is_immutable: true },
    Asset { path: "/aids-YCVGAZU3.js", bytes: include_bytes!("aids-YCVGAZU3.js"), etag: "\"b6ba95d203b2aecdd757\"", is_immutable: true },
    Asset { path: "/reach-PITBL3VR.js", bytes: include_bytes!("reach-PITBL3VR.js"), etag: "\"61bb4430b1840eb93be6\"", is_immutable: true },
    Asset { path: "/zh-SWE33XRR.js", bytes: include_bytes!("zh-SWE33XRR.js"), etag: "\"fd689a9a3f6b3748861d\"", is_immutable: true },
    Asset { path: "/zh-SYQYM7WX.js", bytes: include_bytes!("zh-SYQYM7WX.js"), etag: "\"66f54421c2b86857c3ed\"", is_immutable: true },
    Asset { path: "/sound-P2KLT6FZ.js", bytes: include_bytes!("sound-P2KLT6FZ.js"), etag: "\"ea844606aadd1f2b43f2\"", is_immutable: true },
    Asset { path: "/tools-4LZMMYUE.js", bytes: include_bytes!("tools-4LZMMYUE.js"), etag: "\"fe0110a824de31a8a83e\"", is_immutable: true },
    Asset { path: "/zh-TAADFOEX.js", bytes: include_bytes!("zh-TAADFOEX.js"), etag: "\"0fb8be9496eaeabf6ec0\"", is_immutable: true },
    Asset { path: "/dialogs-RMZYTH5P.js", bytes: include_bytes!("dialogs-RMZYTH5P.js"), etag: "\"0c2ff72df5edcf97962a\"", is_immutable: true },
    Asset { path: "/rules-EVF3EUJW.js", bytes: include_bytes!("rules-EVF3EUJW.js"), etag: "\"94a3a3bf17337505135f\"", is_immutable: true },
    Asset { path: "/zh-Z535R3ZQ.js", bytes: include_bytes!("zh-Z535R3ZQ.js"), etag: "\"1f445762de56ec230d82\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"c61ced03ab2841217b72\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"d6eecfa76adb771421f8\"", is_immutable: false },
];
