//! A signed-in browser visits pages of an attacker, which try what pages can try.
//!
//! Each page attacks two targets: us, and a decoy of the attacker's own that allows everything. An attack that works on
//! the decoy and not on us was refused by us, and did not fail by a mistake in the page. One page is on another site,
//! where the browser itself holds the cookie back; the other differs from us in its port alone, and there only we can
//! refuse.

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use cueme_tests::{Home, within};
use protocol_spec::message::{Reply, Request, WebLink};

use crate::contents::{difference, everything};
use crate::r08_cross_site::{ANSWER, Place};
use crate::trial::Trial;

/// A mark that only the page itself contains.
const PAGE_MARK: &str = "class=\"wordmark\"";
/// A mark that only the state contains.
const STATE_MARK: &str = "newest_event";
/// The timeout of a page in the browser, in milliseconds.
const BROWSER_MS: u32 = 15_000;
/// The timeout after which the browser is killed: a stream of events never ends.
const BROWSER_SEC_MAX: &str = "40";
/// The longest delay of the attacker's page before it completes, so that its attacks have time to happen.
const ATTACK_PATIENCE: Duration = Duration::from_secs(12);

/// The attacks of the attacker's page on each target. The script reports when all of them have ended.
const SCRIPT: &str = r"
const log = text => document.getElementById('log').textContent += text + '\n';
const loaded = (element, name) => new Promise(done => {
  element.onload = () => { log(name + ' LOADED'); done(); };
  element.onerror = () => { log(name + ' refused'); done(); };
  document.body.append(element);
});
const go = (name, url, options) => fetch(url, {credentials: 'include', ...options})
  .then(r => r.text().then(t => log(name + (r.type == 'opaque' ? ' sent' : ' READ ' + t.length))))
  .catch(() => log(name + ' refused'));
const listen = (name, url) => new Promise(done => {
  const events = new EventSource(url, {withCredentials: true});
  const end = text => { log(name + ' ' + text); events.close(); done(); };
  events.onopen = () => end('READ');
  events.onmessage = () => end('READ');
  events.addEventListener('ready', () => end('READ'));
  events.onerror = () => end('refused');
});
const submit = (name, url, body) => new Promise(done => {
  const frame = document.createElement('iframe');
  frame.name = name;
  document.body.append(frame);
  const form = document.createElement('form');
  Object.assign(form, {method: 'post', enctype: 'text/plain', action: url, target: name});
  const input = document.createElement('input');
  const half = body.indexOf('owned');
  Object.assign(input, {name: body.slice(0, half), value: body.slice(half)});
  form.append(input);
  document.body.append(form);
  frame.onload = () => { log(name + ' submitted'); done(); };
  form.submit();
});
const attack = (who, origin) => {
  const answer = origin + '/api/v1/cues/' + CUE + '/answer';
  const script = document.createElement('script');
  script.src = origin + '/api/v1/state?script';
  return [
    go(who + ' read', origin + '/api/v1/state'),
    go(who + ' page', origin + '/?page', {headers: {accept: 'text/html'}}),
    go(who + ' blind', answer + '?blind', {method: 'POST', mode: 'no-cors', headers: {'content-type': 'text/plain'}, body: ANSWER}),
    go(who + ' asked', answer + '?asked', {method: 'POST', headers: {'content-type': 'application/json'}, body: ANSWER}),
    listen(who + ' events', origin + '/api/v1/events'),
    submit(who + ' form', answer + '?form', ANSWER),
    loaded(script, who + ' script'),
  ];
};
Promise.all([...attack('us', US), ...attack('decoy', DECOY)]).then(() => { log('all tried'); fetch('/done'); });
";

/// The required log of a page: every attack worked on the decoy; we refused it, or it changes nothing here.
const SAID: [&str; 14] = [
    "us read refused",
    "us page refused",
    "us asked refused",
    "us events refused",
    "us script refused",
    "us form submitted",
    "decoy read READ",
    "decoy page READ",
    "decoy blind sent",
    "decoy asked READ",
    "decoy events READ",
    "decoy form submitted",
    "decoy script LOADED",
    "all tried",
];

/// Requests that the decoy must have received, as proof that a browser sends them.
const SENT: [&str; 6] = [
    "GET /?page ",
    "GET /api/v1/state ",
    "/answer?blind ",
    "/answer?asked ",
    "/answer?form ",
    "GET /api/v1/events ",
];

/// Lets a signed-in browser visit the attacker's pages.
pub(crate) fn run(trial: &mut Trial, home: &Home, place: &Place) {
    if let Err(error) = Command::new("chromium").arg("--version").output()
        && error.kind() == ErrorKind::NotFound
    {
        return trial.lack("a real browser", "chromium");
    }
    let browser = Browser {
        profile: home.scratch().join("profile"),
    };
    let own = place.http.origin();
    let signed_in = browser.visit(&link(home));
    trial.check(signed_in.contains(PAGE_MARK), || {
        format!("the page was not shown after signing in: {signed_in}")
    });
    let state = browser.visit(&format!("{own}/api/v1/state"));
    trial.check(state.contains(STATE_MARK), || {
        format!("a signed-in browser cannot read the state, so nothing is proved: {state}")
    });
    let before = everything(home);
    for (host, carries_cookie) in [("evil.test", false), ("127.0.0.1", true)] {
        attack(trial, &browser, place, host, carries_cookie);
        let changed = difference(&before, &everything(home));
        trial.check(changed.is_empty(), || {
            format!("a page on {host} changed something: {changed:?}")
        });
    }
    let rebound = browser.visit(&format!("{}/", own.replace("127.0.0.1", "evil.test")));
    trial.check(
        rebound.contains("host name") && !rebound.contains(PAGE_MARK),
        || format!("the page was shown under another name: {rebound}"),
    );
    let state = browser.visit(&format!("{own}/api/v1/state"));
    trial.check(state.contains(STATE_MARK), || {
        format!("the browser was not signed in until the end: {state}")
    });
}

fn link(home: &Home) -> String {
    match home.wire().call(&Request::WebLink(WebLink::default())) {
        Some(Reply::WebLink(link)) => link.url,
        other => panic!("no link: {other:?}"),
    }
}

/// Visits the attacker's page under this name.
fn attack(trial: &mut Trial, browser: &Browser, place: &Place, host: &str, carries_cookie: bool) {
    let decoy = Server::start(String::new());
    let page = format!(
        "<!doctype html><title>attack</title><body><pre id=log></pre><iframe src='{own}/'></iframe><script>
         const US = '{own}', DECOY = 'http://{decoy}', CUE = '{cue}', ANSWER = '{ANSWER}';{SCRIPT}
         </script><img src=/slow>",
        own = place.http.origin(),
        decoy = decoy.address,
        cue = place.cue,
    );
    let attacker = Server::start(page);
    let seen = browser.visit(&format!("http://{host}:{}/", attacker.address.port()));
    let log = seen
        .split("<pre id=\"log\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next());
    let log = log.unwrap_or_default().trim().replace('\n', ", ");
    for said in SAID {
        trial.check(log.contains(said), || {
            format!("a page on {host} did not say {said:?}: {log:?} in {seen}")
        });
    }
    trial.check(
        !["us read READ", "us page READ", "us events READ"]
            .iter()
            .any(|read| log.contains(read)),
        || format!("a page on {host} could read: {log}"),
    );
    let heads = decoy.heads().clone();
    for sent in SENT {
        trial.check(heads.iter().any(|head| head.contains(sent)), || {
            format!("a page on {host} never sent {sent:?}: {heads:?}")
        });
    }
    // The decoy is on our host, at another port: cookies know no ports, so what it gets we get too.
    let posts = heads.iter().filter(|head| head.contains("?form "));
    let has_cookie = posts.clone().any(|head| head.contains("\ncookie: cueme_"));
    trial.check(has_cookie == carries_cookie, || {
        format!("the cookie went along with a form from {host}: {has_cookie}, not {carries_cookie}")
    });
    trial.figure(
        &format!("a browser on {host}"),
        log.split(", ")
            .filter(|line| line.starts_with("us "))
            .collect::<Vec<_>>()
            .join(", "),
    );
}

/// A browser with a profile of its own.
struct Browser {
    profile: PathBuf,
}

impl Browser {
    /// Returns the page as it is when it is complete, or why there is none.
    fn visit(&self, url: &str) -> String {
        let output = Command::new("timeout")
            .args(["--kill-after=5", BROWSER_SEC_MAX, "chromium", "--headless"])
            .args(["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .arg("--dump-dom")
            .arg(format!("--timeout={BROWSER_MS}"))
            .arg("--host-resolver-rules=MAP evil.test 127.0.0.1")
            .arg(format!("--user-data-dir={}", Path::display(&self.profile)))
            .arg(url)
            .output();
        match output {
            Ok(output) if !output.stdout.is_empty() => String::from_utf8_lossy(&output.stdout).into_owned(),
            Ok(output) => format!(
                "nothing was shown, {}: {}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ),
            Err(error) => error.to_string(),
        }
    }
}

/// A server of the attacker: it shows a page, allows everything, and keeps what it was sent.
struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    page: String,
    heads: Mutex<Vec<String>>,
    is_done: AtomicBool,
    has_ended: AtomicBool,
}

impl Server {
    fn start(page: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap_or_else(|error| panic!("{error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("{error}"));
        let shared = Arc::new(Shared {
            page,
            heads: Mutex::default(),
            is_done: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
        });
        let of_thread = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if of_thread.has_ended.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&of_thread);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// Returns the heads of all requests, with the names of their headers in lower case.
    fn heads(&self) -> MutexGuard<'_, Vec<String>> {
        self.shared.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.has_ended.store(true, Ordering::Relaxed);
        // Wakes the thread that accepts; what it is told does not matter.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        let _ = stream.set_read_timeout(Some(ATTACK_PATIENCE));
        let Some(head) = read_head(&stream) else { return };
        let origin = head.lines().find_map(|line| line.strip_prefix("origin: "));
        let origin = origin.unwrap_or("*").to_owned();
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        self.heads
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(head);
        let (kind, body) = match path.as_str() {
            "/done" => {
                self.is_done.store(true, Ordering::Relaxed);
                ("text/plain", "")
            }
            "/slow" => {
                self.wait_until_done();
                ("text/plain", "")
            }
            "/api/v1/events" => ("text/event-stream", "event: ready\ndata: 1\n\n"),
            "/api/v1/state" | "/api/v1/state?script" => ("text/javascript", "1"),
            _ => ("text/html", self.page.as_str()),
        };
        // A client that has gone needs no answer.
        let _ = write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\ncontent-length: {}\r\n\
             access-control-allow-origin: {origin}\r\naccess-control-allow-credentials: true\r\n\
             access-control-allow-headers: content-type\r\n\r\n{body}",
            body.len()
        );
    }

    /// The page is not complete before this.
    fn wait_until_done(&self) {
        within(ATTACK_PATIENCE, || {
            self.is_done.load(Ordering::Relaxed).then_some(())
        });
    }
}

/// Reads a head, and the body behind it so that no answer is lost by a reset.
fn read_head(stream: &TcpStream) -> Option<String> {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        if line.trim().is_empty() {
            break;
        }
        match line.split_once(": ") {
            Some((name, value)) => head.push_str(&format!("{}: {value}", name.to_lowercase())),
            None => head.push_str(&line),
        }
    }
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .and_then(|length| length.trim().parse::<u64>().ok());
    let mut body = std::io::Read::take(reader, length.unwrap_or(0));
    let _ = std::io::copy(&mut body, &mut std::io::sink());
    Some(head)
}
