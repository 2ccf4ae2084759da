//! R8: every route, asked under every name an attacker can make a browser use, from every page, with every key.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;
use std::time::Duration;

use cueme_tests::{Home, Http};
use protocol_spec::message::{MintToken, Reply, Request, TokenScope};
use rusqlite::Connection;

use crate::load::join_all;
use crate::r07_slow::page;
use crate::talk::ask;
use crate::trial::{NotRun, Trial};

/// What only the page itself holds: its script.
const PAGE_MARK: &str = "src=\"/js/page-";
/// How long a browser has for an attack, in milliseconds.
const BROWSER_MS: u32 = 4_000;

/// How long the attacker's page takes to be complete.
const SLOW_IMAGE: Duration = Duration::from_millis(1500);

/// Tries every combination that must be refused, and some that must not.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let home = Home::new();
    let agent = join_all(&home, 1).remove(0);
    let mut waiting = home.wire();
    let Some(Reply::Asked(asked)) = waiting.call(&ask(&agent, "May somebody else answer this?")) else {
        panic!("not asked");
    };
    let (http, cookie) = page(&home);
    let token = mint(&home);
    let place = Place {
        http,
        agent,
        cue: asked.cue_id.to_string(),
    };
    let routes = place.routes(&cookie);
    let keys = Key::all(&cookie, &token);
    let before = everything(&home);
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    let attempts = attempts(trial, http, &routes, &keys);
    let total = attempts.len() as u64;
    for (number, attempt) in (0..).zip(&attempts) {
        let status = attempt.refused(trial, http);
        *counts.entry(status).or_default() += 1;
        trial.progress(number, total);
    }
    trial.check(everything(&home) == before, || {
        "a refused request changed something".into()
    });
    controls(trial, http, &cookie, &token);
    in_a_browser(trial, &home, http, &place);
    trial.check(home.open_cues().len() == 1, || "the question was decided".into());
    trial.figure("routes", routes.len());
    trial.figure("host forms", Host::all(http).len());
    trial.figure("origins", ORIGINS);
    trial.figure("requests that must be refused", total);
    trial.figure("statuses", format!("{counts:?}"));
    Ok(())
}

fn mint(home: &Home) -> String {
    let mint = MintToken {
        scope: TokenScope::Human,
        agent: None,
        name: Some("prove".into()),
    };
    match home.wire().call(&Request::Token(mint)) {
        Some(Reply::Token(made)) => made.token,
        other => panic!("no token: {other:?}"),
    }
}

/// Where the page is, and what there is to attack.
struct Place {
    http: Http,
    agent: String,
    cue: String,
}

/// A method and a path.
#[derive(Debug, Clone)]
struct Route {
    method: String,
    path: String,
}

impl Place {
    /// Returns every route the broker describes, and the page's own.
    fn routes(&self, cookie: &str) -> Vec<Route> {
        let description = self.http.get("/api/v1/openapi.json", Some(cookie)).json();
        let prefix = description["servers"][0]["url"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        let paths = description["paths"].as_object().cloned().unwrap_or_default();
        assert!(
            paths.len() > 20,
            "the description names too few routes: {}",
            paths.len()
        );
        let mut routes = vec![
            Route {
                method: "GET".into(),
                path: "/".into(),
            },
            Route {
                method: "GET".into(),
                path: "/login/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".into(),
            },
        ];
        for (path, methods) in paths {
            let path = if path.starts_with("/api/") {
                path
            } else {
                format!("{prefix}{path}")
            };
            let path = path
                .replace("{cue_id}", &self.cue)
                .replace("{agent_id}", &self.agent)
                .replace("{name}", "rule")
                .replace("{device_id}", "x")
                .replace("{token_id}", "x")
                .replace("{upload_id}", "x")
                .replace("{message_id}", "018f0000-0000-7000-8000-000000000000");
            for method in methods.as_object().into_iter().flat_map(|methods| methods.keys()) {
                routes.push(Route {
                    method: method.to_uppercase(),
                    path: path.clone(),
                });
            }
        }
        routes
    }
}

/// What a request says of the host it speaks to.
#[derive(Debug, Clone)]
struct Host {
    headers: Vec<String>,
    /// The target is written with this in front.
    absolute: Option<String>,
    is_ours: bool,
}

impl Host {
    fn named(name: &str, is_ours: bool) -> Self {
        Self {
            headers: vec![name.to_owned()],
            absolute: None,
            is_ours,
        }
    }

    fn all(http: Http) -> Vec<Self> {
        let own = http.host();
        let port = own.rsplit(':').next().unwrap_or_default();
        let mut all = vec![
            Self::named(&own, true),
            Self::named(&format!("localhost:{port}"), true),
        ];
        let foreign = [
            format!("evil.test:{port}"),
            "evil.test".to_owned(),
            format!("127.0.0.1.evil.test:{port}"),
            format!("evil.127.0.0.1:{port}"),
            format!("localhost.evil.test:{port}"),
            format!("localhost.:{port}"),
            format!("xlocalhost:{port}"),
            format!("user@127.0.0.1:{port}"),
            format!("127.0.0.1:{port}@evil.test"),
            "127.0.0.1:1".to_owned(),
            "127.0.0.1".to_owned(),
            format!("0.0.0.0:{port}"),
            format!("[::]:{port}"),
            format!("[::ffff:127.0.0.1]:{port}"),
            format!("127.1:{port}"),
            format!("2130706433:{port}"),
            format!("0x7f000001:{port}"),
            format!("127.0.0.1:{port}:{port}"),
            format!("127.0.0.1:{port}/"),
            String::new(),
        ];
        all.extend(foreign.iter().map(|name| Self::named(name, false)));
        all.push(Self {
            headers: Vec::new(),
            absolute: None,
            is_ours: false,
        });
        all.push(Self {
            headers: vec![own.clone(), "evil.test".to_owned()],
            absolute: None,
            is_ours: false,
        });
        all.push(Self {
            headers: vec![own.clone()],
            absolute: Some("http://evil.test".to_owned()),
            is_ours: false,
        });
        all.push(Self {
            headers: vec!["evil.test".to_owned()],
            absolute: Some(format!("http://{own}")),
            is_ours: false,
        });
        all
    }
}

/// How many [`origins`] there are.
const ORIGINS: usize = 6;

/// Returns the pages a request may come from: none, ours, and others.
fn origins(http: Http) -> [Option<String>; ORIGINS] {
    let own = http.origin();
    [
        None,
        Some(own.clone()),
        Some("null".into()),
        Some("http://evil.test".into()),
        Some(format!("{own}.evil.test")),
        Some("http://127.0.0.1:1".into()),
    ]
}

/// What a request carries to be let in.
#[derive(Debug, Clone)]
enum Key {
    None,
    Wrong,
    Cookie(String),
    Bearer(String),
}

impl Key {
    fn all(cookie: &str, token: &str) -> [Self; 4] {
        [
            Self::None,
            Self::Wrong,
            Self::Cookie(cookie.to_owned()),
            Self::Bearer(token.to_owned()),
        ]
    }

    fn header(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Wrong => Some("authorization: Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".into()),
            Self::Cookie(cookie) => Some(format!("cookie: {cookie}")),
            Self::Bearer(token) => Some(format!("authorization: Bearer {token}")),
        }
    }
}

/// One request that must be refused.
struct Attempt {
    route: Route,
    host: Host,
    origin: Option<String>,
    key: Key,
}

/// Returns what is tried: everything, or in the smallest tier each pair of route and host with the rest in turn.
fn attempts(trial: &mut Trial, http: Http, routes: &[Route], keys: &[Key; 4]) -> Vec<Attempt> {
    let origins = origins(http);
    let is_thorough = trial.is_thorough();
    let mut attempts = Vec::new();
    for route in routes {
        for host in Host::all(http) {
            let turn = trial.random.index(ORIGINS * keys.len());
            for (number, (origin, key)) in origins
                .iter()
                .flat_map(|origin| keys.iter().map(move |key| (origin, key)))
                .enumerate()
            {
                let attempt = Attempt {
                    route: route.clone(),
                    host: host.clone(),
                    origin: origin.clone(),
                    key: key.clone(),
                };
                let is_chosen = is_thorough || number == turn || host.is_ours && number % 2 == turn % 2;
                if is_chosen && !attempt.is_allowed() {
                    attempts.push(attempt);
                }
            }
        }
    }
    attempts
}

impl Attempt {
    /// Says whether this is what a browser on our page, or a program with a token, does.
    fn is_allowed(&self) -> bool {
        let is_safe = matches!(self.route.method.as_str(), "GET" | "HEAD");
        let named = self.host.headers.first().map(|host| format!("http://{host}"));
        let is_ours = self.origin.is_some() && self.origin == named;
        if !self.host.is_ours || !(self.origin.is_none() || is_ours) {
            return false;
        }
        match self.key {
            Key::None | Key::Wrong => false,
            Key::Cookie(_) => is_ours || is_safe,
            Key::Bearer(_) => true,
        }
    }

    fn refused(&self, trial: &mut Trial, http: Http) -> u16 {
        let Some(answer) = http.send_raw(&self.bytes()) else {
            trial.violation(format!("no answer to {}", self.words()));
            return 0;
        };
        // 400 is a head that no server may read; 429 is 401 to whoever guessed too often.
        let has_guessed = matches!(self.key, Key::Wrong) || self.route.path.starts_with("/login/");
        let is_refused = matches!(answer.status, 400 | 401 | 403) || has_guessed && answer.status == 429;
        trial.check(is_refused, || {
            format!("{} was let in: {} {}", self.words(), answer.status, answer.text())
        });
        trial.check(!answer.has_cors(), || {
            format!("{} allows other origins", self.words())
        });
        answer.status
    }

    fn bytes(&self) -> Vec<u8> {
        let target = format!(
            "{}{}",
            self.host.absolute.as_deref().unwrap_or_default(),
            self.route.path
        );
        let mut head = format!("{} {target} HTTP/1.1\r\nconnection: close\r\n", self.route.method);
        for host in &self.host.headers {
            head.push_str(&format!("host: {host}\r\n"));
        }
        if let Some(origin) = &self.origin {
            head.push_str(&format!("origin: {origin}\r\n"));
        }
        if let Some(key) = self.key.header() {
            head.push_str(&format!("{key}\r\n"));
        }
        if self.route.method != "GET" {
            head.push_str("content-type: application/json\r\ncontent-length: 2\r\n\r\n{}");
        } else {
            head.push_str("\r\n");
        }
        head.into_bytes()
    }

    fn words(&self) -> String {
        format!(
            "{} {} at {:?}{} from {:?} with {:?}",
            self.route.method,
            self.route.path,
            self.host.headers,
            self.host.absolute.as_deref().unwrap_or_default(),
            self.origin,
            self.key
        )
    }
}

/// What is allowed works; otherwise refusing everything would pass.
fn controls(trial: &mut Trial, http: Http, cookie: &str, token: &str) {
    let host = http.host();
    let with = |name: &str, value: &str| {
        let headers = [("host", host.as_str()), (name, value)];
        http.send("GET", "/api/v1/state", &headers, b"").status
    };
    let bearer = format!("Bearer {token}");
    for (what, status) in [
        ("the cookie", with("cookie", cookie)),
        ("the token", with("authorization", &bearer)),
    ] {
        trial.check(status == 200, || format!("{what} was refused: {status}"));
    }
}

/// A signed-in browser visits a page of an attacker, which tries what pages can try.
fn in_a_browser(trial: &mut Trial, home: &Home, http: Http, place: &Place) {
    let Ok(listener) = TcpListener::bind("127.0.0.1:0") else {
        return trial.omit("a real browser", "no port to serve the attacker's page on");
    };
    let Ok(attacker) = listener.local_addr() else {
        return;
    };
    let profile = home.scratch().join("profile");
    let visit = |url: &str| {
        // A page whose stream of events never ends is stopped from outside, should its own limit not do it.
        Command::new("timeout")
            .args([
                "--kill-after=5",
                "20",
                "chromium",
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
            ])
            .args(["--disable-dev-shm-usage", "--dump-dom"])
            .arg(format!("--timeout={BROWSER_MS}"))
            .arg("--host-resolver-rules=MAP evil.test 127.0.0.1")
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(url)
            .output()
    };
    let link = match home
        .wire()
        .call(&Request::WebLink(protocol_spec::message::WebLink::default()))
    {
        Some(Reply::WebLink(link)) => link.url,
        other => panic!("no link: {other:?}"),
    };
    let signed_in = match visit(&link) {
        Ok(output) if output.stdout.is_empty() => {
            return trial.omit("a real browser", "chromium is not installed, or shows nothing");
        }
        Ok(output) => String::from_utf8_lossy(&output.stdout).into_owned(),
        Err(error) => return trial.omit("a real browser", &format!("chromium cannot be run: {error}")),
    };
    trial.check(signed_in.contains(PAGE_MARK), || {
        format!("the page was not shown after signing in: {signed_in}")
    });
    let before = everything(home);
    let own = http.origin();
    let cue = &place.cue;
    let html = format!(
        "<!doctype html><title>attack</title><pre id=log></pre><script>
         const log = text => document.getElementById('log').textContent += text + '\\n';
         const go = (name, url, options) => fetch(url, options).then(r => r.text().then(t => log(name + ' ' + r.type + ' ' + t.length))).catch(e => log(name + ' refused'));
         go('read', '{own}/api/v1/state', {{credentials: 'include'}});
         go('blind', '{own}/api/v1/cues/{cue}/answer', {{method: 'POST', mode: 'no-cors', credentials: 'include', headers: {{'content-type': 'text/plain'}}, body: '{{\"id\":\"018f0000-0000-7000-8000-000000000000\",\"answer\":{{\"text\":\"owned\"}}}}'}});
         new EventSource('{own}/api/v1/events', {{withCredentials: true}}).onmessage = () => log('events READ');
         </script><form id=f method=post enctype=text/plain action='{own}/api/v1/cues/{cue}/decline'><input name='{{\"id\":\"018f0000-0000-7000-8000-000000000001\",\"x\":\"' value='\"}}'></form>
         <iframe src='{own}/'></iframe><img src=/slow>"
    );
    let server = std::thread::spawn(move || {
        listener.set_nonblocking(true).ok();
        let deadline = std::time::Instant::now() + Duration::from_secs(40);
        while std::time::Instant::now() < deadline {
            let Ok((mut stream, _)) = listener.accept() else {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            };
            stream.set_nonblocking(false).ok();
            let mut request = [0; 4096];
            let count = stream.read(&mut request).unwrap_or(0);
            if request[..count].starts_with(b"GET /stop") {
                return;
            }
            if request[..count].starts_with(b"GET /slow") {
                // The page is not complete before this, so what it tries has time to happen.
                std::thread::sleep(SLOW_IMAGE);
            }
            let _ = write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{html}",
                html.len()
            );
        }
    });
    let attack = visit(&format!("http://evil.test:{}/", attacker.port()));
    let rebound = visit(&format!("{}/", own.replace("127.0.0.1", "evil.test")));
    // Ends the attacker's server, which would end by itself later.
    if let Ok(mut stream) = std::net::TcpStream::connect(attacker) {
        let _ = stream.write_all(b"GET /stop HTTP/1.1\r\n\r\n");
    }
    let _ = server.join();
    let text = |output: std::io::Result<std::process::Output>| {
        output.map_or_else(
            |error| error.to_string(),
            |output| String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let (attack, rebound) = (text(attack), text(rebound));
    let log = attack
        .split("<pre id=\"log\">")
        .nth(1)
        .and_then(|rest| rest.split("</pre>").next());
    let log = log.unwrap_or_default().trim().replace('\n', ", ");
    trial.check(log.contains("read refused") && !log.contains("READ"), || {
        format!("the attacker's page could read: {log:?} in {attack}")
    });
    trial.check(
        rebound.contains("host name") && !rebound.contains(PAGE_MARK),
        || format!("the page was shown under another name: {rebound}"),
    );
    trial.check(everything(home) == before, || {
        "the attacker's page changed something".into()
    });
    trial.figure("a browser on the attacker's page", log);
}

/// Returns everything a refused request must not change.
fn everything(home: &Home) -> String {
    let database = Connection::open(home.database()).unwrap_or_else(|error| panic!("{error}"));
    let mut seen = String::new();
    let tables = [
        "agents",
        "cues",
        "questions",
        "decisions",
        "messages",
        "drafts",
        "uploads",
        "settings",
        "tokens",
        "events",
    ];
    for table in tables {
        let sql = if table == "tokens" {
            "SELECT token_id, scope, agent_id, name FROM tokens".to_owned()
        } else {
            format!("SELECT * FROM {table}")
        };
        let mut statement = database.prepare(&sql).unwrap_or_else(|error| panic!("{error}"));
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap_or_else(|error| panic!("{error}"));
        while let Ok(Some(row)) = rows.next() {
            for column in 0..columns {
                seen.push_str(&format!("{table} {:?}\n", row.get_ref(column)));
            }
        }
    }
    seen
}
