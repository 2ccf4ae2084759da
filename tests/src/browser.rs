//! A person at a real browser: headless Chromium driven through chromedriver, one of its own for each test.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};
use tempfile::TempDir;
use thirtyfour::prelude::*;
use tokio::runtime::Runtime;

use cueme_test_kit::{PATIENCE, free_port, within};

use crate::worker::Worker;

/// The size of a window on a desk.
pub const DESKTOP: (u32, u32) = (1280, 800);
/// The size of a phone.
pub const PHONE: (u32, u32) = (390, 844);

/// Flags for a browser without a screen, a sandbox or anything it would fetch by itself.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
];

/// Says whether the page has its styles: those of the first look, and those below the script.
pub const ALL_STYLES: &str = "return document.styleSheets.length === 2 && [...document.styleSheets].every((sheet) => sheet.cssRules.length > 20)";

/// A browser.
#[derive(Debug)]
pub struct Browser {
    runtime: Runtime,
    driver: Option<WebDriver>,
    chromedriver: Child,
    profile: TempDir,
}

impl Browser {
    /// Starts a browser of this size that prefers this language.
    pub fn start(size: (u32, u32), language: &str) -> Self {
        let port = free_port();
        let chromedriver = Command::new("chromedriver")
            .arg(format!("--port={port}"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (tests/run installs it)");
        let profile = tempfile::Builder::new()
            .prefix("cueme-browser-")
            .tempdir()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let driver = connect(&runtime, port, profile.path(), language);
        let browser = Self {
            runtime,
            driver: Some(driver),
            chromedriver,
            profile,
        };
        browser.resize(size);
        browser
    }

    /// Starts a browser and signs in with the link that `url` is.
    pub fn open(url: &str, size: (u32, u32)) -> Self {
        let browser = Self::start(size, "en-US");
        browser.goto(url);
        browser.wait_until_ready();
        browser
    }

    /// Opens an address.
    pub fn goto(&self, url: &str) {
        self.run(self.driver().goto(url)).unwrap();
    }

    pub fn reload(&self) {
        self.run(self.driver().refresh()).unwrap();
        self.wait_until_ready();
    }

    /// Waits until the page has its state and listens.
    pub fn wait_until_ready(&self) {
        self.until("return document.documentElement.dataset.ready === 'true'");
    }

    /// Gives the window this size.
    pub fn resize(&self, (width, height): (u32, u32)) {
        let is_phone = width < 500;
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone});
        self.devtools("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Makes the system of the browser prefer dark or light.
    pub fn prefer(&self, scheme: &str) {
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", media);
    }

    /// Calls the browser's own tools.
    pub fn devtools(&self, method: &str, parameters: Value) -> Value {
        self.run(self.driver().cdp().send_raw(method, parameters))
            .unwrap()
    }

    /// Connects to the service worker of the page.
    pub fn worker(&self) -> Worker {
        let file = self.profile.path().join("DevToolsActivePort");
        let written = std::fs::read_to_string(file).expect("the browser's debugging port");
        let port = written.lines().next().unwrap_or_default();
        Worker::connect(&format!("127.0.0.1:{port}"))
    }

    /// Runs a script that returns something.
    pub fn script(&self, script: &str) -> Value {
        self.try_script(script).unwrap()
    }

    fn try_script(&self, script: &str) -> WebDriverResult<Value> {
        self.run(async {
            self.driver()
                .execute(script, Vec::new())
                .await
                .map(|found| found.json().clone())
        })
    }

    /// Waits until a script returns true.
    #[track_caller]
    pub fn until(&self, script: &str) {
        let mut found = Ok(Value::Null);
        let is_true = within(PATIENCE, || {
            found = self.try_script(script);
            matches!(found, Ok(Value::Bool(true))).then_some(())
        });
        assert!(
            is_true.is_some(),
            "never came true: {script}; {found:?}\n{}",
            self.describe()
        );
    }

    /// Waits until something on the page holds a text.
    #[track_caller]
    pub fn sees(&self, selector: &str, text: &str) {
        let (selector, text) = (json!(selector), json!(text));
        self.until(&format!(
            "return [...document.querySelectorAll({selector})].some((el) => el.checkVisibility() && el.innerText.includes({text}))"
        ));
    }

    /// Waits until nothing on the page matches.
    #[track_caller]
    pub fn misses(&self, selector: &str) {
        let selector = json!(selector);
        self.until(&format!(
            "return ![...document.querySelectorAll({selector})].some((el) => el.checkVisibility())"
        ));
    }

    /// Clicks like a mouse: the topmost element gets the click. Waits until the element is ready.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        let ready = json!(selector);
        self.until(&format!(
            "return document.querySelector({ready})?.ariaDisabled !== 'true'"
        ));
        self.on(selector, |element| async move { element.click().await });
    }

    /// Clicks what holds exactly this text.
    #[track_caller]
    pub fn click_text(&self, selector: &str, text: &str) {
        let mark = format!("pick-{}", uuid::Uuid::now_v7().simple());
        let picking = format!(
            "const el = [...document.querySelectorAll({})].find((el) => el.checkVisibility() && el.ariaDisabled !== 'true' && el.innerText.trim() === {}); el?.setAttribute('data-{mark}', ''); return Boolean(el)",
            json!(selector),
            json!(text)
        );
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.until(&picking);
            let clicked = self.run(async {
                let element = self.driver().find(By::Css(format!("[data-{mark}]"))).await?;
                element.click().await
            });
            match clicked {
                Ok(()) => return,
                // The page may have drawn it anew between the look and the click, or something that stays in sight covers it.
                Err(error) => assert!(
                    Instant::now() < deadline,
                    "{selector} {text:?}: {error}\n{}",
                    self.describe()
                ),
            }
            self.script(&format!(
                "document.querySelector('[data-{mark}]')?.scrollIntoView({{ block: 'center' }}); return true"
            ));
        }
    }

    /// Types into an element.
    #[track_caller]
    pub fn write(&self, selector: &str, text: &str) {
        let text = text.to_owned();
        self.on(selector, move |element| {
            let text = text.clone();
            async move { element.send_keys(text).await }
        });
    }

    /// Presses keys wherever the focus is.
    #[track_caller]
    pub fn press(&self, keys: &str) {
        self.on(":focus, body", |_| async {
            self.driver().active_element().await?.send_keys(keys).await
        });
    }

    /// Returns the text of the first match.
    pub fn text(&self, selector: &str) -> String {
        let found = self.script(&format!(
            "return document.querySelector({})?.innerText ?? ''",
            json!(selector)
        ));
        found.as_str().unwrap().to_owned()
    }

    /// Returns the value of the first match.
    pub fn value(&self, selector: &str) -> String {
        let found = self.script(&format!(
            "return document.querySelector({})?.value ?? ''",
            json!(selector)
        ));
        found.as_str().unwrap().to_owned()
    }

    /// Returns how many match.
    pub fn count(&self, selector: &str) -> u64 {
        self.script(&format!(
            "return document.querySelectorAll({}).length",
            json!(selector)
        ))
        .as_u64()
        .unwrap()
    }

    /// Takes a picture of the page.
    pub fn screenshot(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        self.run(self.driver().screenshot(path)).unwrap();
    }

    /// Opens another tab and returns both, the first one first.
    pub fn new_tab(&self, url: &str) -> (WindowHandle, WindowHandle) {
        let first = self.run(self.driver().window()).unwrap();
        let second = self.run(self.driver().new_tab()).unwrap();
        self.switch_to(&second);
        self.goto(url);
        self.wait_until_ready();
        (first, second)
    }

    /// Switches to a tab.
    pub fn switch_to(&self, tab: &WindowHandle) {
        self.run(self.driver().switch_to_window(tab.clone())).unwrap();
    }

    /// Retries until the element is there and takes the action: the page moves while a person looks at it.
    #[track_caller]
    fn on<F, Fut>(&self, selector: &str, act: F)
    where
        F: Fn(WebElement) -> Fut,
        Fut: Future<Output = WebDriverResult<()>>,
    {
        let mut failure = None;
        let done = within(PATIENCE, || {
            let done = self.run(async {
                let element = self.driver().find(By::Css(selector)).await?;
                act(element).await
            });
            done.map_err(|error| failure = Some(error)).ok()
        });
        assert!(done.is_some(), "{selector}: {failure:?}\n{}", self.describe());
    }

    fn describe(&self) -> String {
        self.try_script("return document.body.innerText.slice(0, 3000)")
            .map_or_else(|error| error.to_string(), |text| text.to_string())
    }

    fn driver(&self) -> &WebDriver {
        self.driver.as_ref().unwrap()
    }

    fn run<T>(&self, action: impl Future<Output = T>) -> T {
        self.runtime.block_on(action)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some(driver) = self.driver.take() {
            let _ = self.runtime.block_on(driver.quit());
        }
        let _ = self.chromedriver.kill();
        let _ = self.chromedriver.wait();
    }
}

fn connect(runtime: &Runtime, port: u16, profile: &Path, language: &str) -> WebDriver {
    let mut wanted = DesiredCapabilities::chrome();
    for flag in FLAGS {
        wanted.add_arg(flag).unwrap();
    }
    wanted
        .add_arg(&format!("--user-data-dir={}", profile.display()))
        .unwrap();
    wanted.add_arg(&format!("--accept-lang={language}")).unwrap();
    adapter_core::http::choose_cryptography();
    let mut failure = None;
    let driver = within(PATIENCE, || {
        let started = WebDriver::new(format!("http://127.0.0.1:{port}"), wanted.clone());
        let started = runtime.block_on(started);
        started.map_err(|error| failure = Some(error)).ok()
    });
    driver.unwrap_or_else(|| panic!("no browser: {failure:?}"))
}

/// Keys as WebDriver spells them.
pub mod key {
    pub const RELEASE: &str = "\u{e000}";
    pub const TAB: &str = "\u{e004}";
    pub const ENTER: &str = "\u{e007}";
    pub const SHIFT: &str = "\u{e008}";
    pub const CONTROL: &str = "\u{e009}";
    pub const ESCAPE: &str = "\u{e00c}";
    pub const DOWN: &str = "\u{e015}";
}
