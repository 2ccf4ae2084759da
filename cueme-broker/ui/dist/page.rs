// Written by build.mjs.
const INLINE_SCRIPTS: &str = "'sha256-viQObFElopIFuj0oSDGpNMIT1bmwZBNS0IqHMwzrSzI=' 'sha256-9V4H97INB63vTjDKAka/qIRDbIj65xP0Dbq1aYQ9Qmw='";
const INLINE_STYLES: &str = "'sha256-r+sll5kVv4OMP62ha7XvTKK73g2f4IXUVnGvqJLflCU=' 'sha256-103nTZ9Gn5fmM5ZG0FSzqd8hd9XrkV1GqS+6NhkLrgo='";
const STATE_AT: usize = 15872;
const ASSETS: &[Asset] = &[
    Asset { path: "/", bytes: include_bytes!("index.html"), etag: "\"dc11930aabc787ad6621\"", is_immutable: false },
    Asset { path: "/review-WKWRNLXR.js", bytes: include_bytes!("review-WKWRNLXR.js"), etag: "\"6716becaa849467cec3c\"", is_immutable: true },
    Asset { path: "/zh-K3JTRHHY.js", bytes: include_bytes!("zh-K3JTRHHY.js"), etag: "\"8f8fa1027c4f5dbbc0ef\"", is_immutable: true },
    Asset { path: "/reach-SP2KGKSE.js", bytes: include_bytes!("reach-SP2KGKSE.js"), etag: "\"32803b5249df1f5497bb\"", is_immutable: true },
    Asset { path: "/tools-HIH7E6XT.js", bytes: include_bytes!("tools-HIH7E6XT.js"), etag: "\"0f5e9b26e8d6a76346c8\"", is_immutable: true },
    Asset { path: "/dialogs-P7EWC7FN.js", bytes: include_bytes!("dialogs-P7EWC7FN.js"), etag: "\"468212400c65fef025fe\"", is_immutable: true },
    Asset { path: "/rules-ISNIVXPS.js", bytes: include_bytes!("rules-ISNIVXPS.js"), etag: "\"b5cfac25988fac6d6cbb\"", is_immutable: true },
    Asset { path: "/runs-6OJ6VRNF.js", bytes: include_bytes!("runs-6OJ6VRNF.js"), etag: "\"3f772216792d8fea73f2\"", is_immutable: true },
    Asset { path: "/aids-BVAYEQ4Y.js", bytes: include_bytes!("aids-BVAYEQ4Y.js"), etag: "\"e428d4fc287476886a24\"", is_immutable: true },
    Asset { path: "/icons/icon-192.png", bytes: include_bytes!("../icons/icon-192.png"), etag: "\"677f59afbbbb889df529\"", is_immutable: false },
    Asset { path: "/icons/icon-512.png", bytes: include_bytes!("../icons/icon-512.png"), etag: "\"1f2fe8cd92d5a946c7d5\"", is_immutable: false },
    Asset { path: "/icons/icon-waiting.svg", bytes: include_bytes!("../icons/icon-waiting.svg"), etag: "\"6ab13d64691c9362f514\"", is_immutable: false },
    Asset { path: "/icons/icon.svg", bytes: include_bytes!("../icons/icon.svg"), etag: "\"f6eaa7afff8925fd0b6e\"", is_immutable: false },
    Asset { path: "/manifest.webmanifest", bytes: include_bytes!("../manifest.webmanifest"), etag: "\"6c6e196b63cf3fcda2fe\"", is_immutable: false },
    Asset { path: "/sw.js", bytes: include_bytes!("sw.js"), etag: "\"53e72c5401ff89fab3f4\"", is_immutable: false },
];
