//! R8: every route, asked under every name an attacker can make a browser use, from every page, with every key.

use std::collections::BTreeMap;

use cueme_tests::{Home, Http, eventually};
use protocol_spec::message::{MintToken, Reply, Request, TokenScope};

use crate::contents::{difference, everything};
use crate::load::join_all;
use crate::r07_slow::page;
use crate::trial::{NotRun, Trial};
use cueme_test_kit::request::ask;

/// An answer as the page sends it, which an attacker would like to send.
pub(crate) const ANSWER: &str =
    r#"{"id":"018f0000-0000-7000-8000-000000000000","answer":{"text":"owned"},"hold_ms":0}"#;

/// Tries every combination that must be refused, and some that must not.
pub(crate) fn run(trial: &mut Trial) -> Result<(), NotRun> {
    let home = Home::new();
    home.configure("public_listen = \"127.0.0.1:0\"\n");
    let agent = join_all(&home, 1).remove(0);
    let mut waiting = home.wire();
    let cue = asked(waiting.call(&ask(&agent, "May somebody else answer this?")));
    let (http, cookie) = page(&home);
    let place = Place {
        http,
        public: public_listener(&home),
        agent,
        cue,
    };
    let keys = Keys {
        human: mint(&home, TokenScope::Human, None),
        agent: mint(&home, TokenScope::Agent, Some(&place.agent)),
        cookie,
    };
    let routes = place.routes(&keys.cookie);
    if !trial.is_thorough() {
        trial.leave_to_larger("every origin with every key, for each host and route");
    }
    let before = everything(&home);
    let mut counts: BTreeMap<u16, u64> = BTreeMap::new();
    let attempts: Vec<Attempt> = [Entrance::Page, Entrance::Public]
        .into_iter()
        .flat_map(|entrance| attempts(trial, entrance, &place, &routes, &keys))
        .collect();
    let total = attempts.len() as u64;
    for (number, attempt) in (0..).zip(&attempts) {
        let status = attempt.refused(trial, &place);
        *counts.entry(status).or_default() += 1;
        trial.progress(number, total);
    }
    let changed = difference(&before, &everything(&home));
    trial.check(changed.is_empty(), || {
        format!("a refused request changed something: {changed:?}")
    });
    controls(trial, &home, &place, &keys);
    crate::r08_browser::run(trial, &home, &place);
    let open = home.open_cues();
    trial.check(open.len() == 1 && open[0].cue_id.to_string() == place.cue, || {
        format!("the question was decided: {open:?}")
    });
    trial.figure("routes", routes.len());
    trial.figure("listeners", 2);
    trial.figure("host forms", Host::all(http).len());
    trial.figure("origins", ORIGINS);
    trial.figure("requests that must be refused", total);
    trial.figure("statuses", format!("{counts:?}"));
    Ok(())
}

fn asked(reply: Option<Reply>) -> String {
    match reply {
        Some(Reply::Asked(asked)) => asked.cue_id.to_string(),
        other => panic!("not asked: {other:?}"),
    }
}

fn mint(home: &Home, scope: TokenScope, agent: Option<&str>) -> String {
    let mint = MintToken {
        scope,
        agent: agent.map(str::to_owned),
        name: Some("prove".into()),
        expires_in_ms: None,
    };
    match home.wire().call(&Request::Token(mint)) {
        Some(Reply::Token(made)) => made.token,
        other => panic!("no token: {other:?}"),
    }
}

/// Returns where agents elsewhere are served; only the log knows the port.
fn public_listener(home: &Home) -> Http {
    let port = eventually("agents elsewhere are served", || {
        let log = home.log();
        let line = log
            .lines()
            .find(|line| line.contains("agents elsewhere are served"))?;
        let rest = line.split("127.0.0.1:").nth(1)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    Http::new(port)
}

/// One of the broker's two listeners.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entrance {
    /// The page's.
    Page,
    /// That of agents elsewhere.
    Public,
}

/// The address of the page, and what there is to attack.
pub(crate) struct Place {
    pub(crate) http: Http,
    public: Http,
    agent: String,
    pub(crate) cue: String,
}

/// A method and a path.
#[derive(Debug, Clone)]
struct Route {
    method: String,
    path: String,
}

impl Route {
    fn is_safe(&self) -> bool {
        matches!(self.method.as_str(), "GET" | "HEAD")
    }

    /// Says whether agents speak here.
    fn is_agents(&self) -> bool {
        self.path.starts_with("/api/v1/hap/")
    }

    /// Says whether only the listener for agents elsewhere has it.
    fn is_outside(&self) -> bool {
        !self.path.starts_with("/api/v1/") && self.path.starts_with("/api/")
    }

    /// Says whether it is open to a client that sends its own proof, signed or as a one-time token.
    fn proves_itself(&self) -> bool {
        self.is_outside() && !self.is_safe()
    }

    /// Returns what is sent: where that is worth most, what would be taken from the page.
    fn body(&self) -> &'static str {
        if self.path.ends_with("/answer") {
            ANSWER
        } else {
            "{}"
        }
    }
}

impl Place {
    fn at(&self, entrance: Entrance) -> Http {
        match entrance {
            Entrance::Page => self.http,
            Entrance::Public => self.public,
        }
    }

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

/// The host that a request names.
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

/// The number of [`origins`].
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

/// The valid credentials.
struct Keys {
    cookie: String,
    human: String,
    agent: String,
}

/// The credential of a request.
#[derive(Debug, Clone)]
enum Key {
    None,
    Wrong,
    Cookie(String),
    Human(String),
    Agent(String),
}

impl Key {
    fn all(keys: &Keys) -> [Self; 5] {
        [
            Self::None,
            Self::Wrong,
            Self::Cookie(keys.cookie.clone()),
            Self::Human(keys.human.clone()),
            Self::Agent(keys.agent.clone()),
        ]
    }

    fn header(&self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Wrong => Some("authorization: Bearer AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".into()),
            Self::Cookie(cookie) => Some(format!("cookie: {cookie}")),
            Self::Human(token) | Self::Agent(token) => Some(format!("authorization: Bearer {token}")),
        }
    }
}

/// One request that must be refused.
struct Attempt {
    entrance: Entrance,
    route: Route,
    host: Host,
    origin: Option<String>,
    key: Key,
}

/// Returns what is tried: everything, or in the smallest tier each pair of route and host with the rest in turn.
fn attempts(
    trial: &mut Trial,
    entrance: Entrance,
    place: &Place,
    routes: &[Route],
    keys: &Keys,
) -> Vec<Attempt> {
    let http = place.at(entrance);
    let (origins, keys) = (origins(http), Key::all(keys));
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
                    entrance,
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
        let route = &self.route;
        match (self.entrance, &self.key) {
            _ if !self.is_from_us() => false,
            (_, Key::None | Key::Wrong) => false,
            (Entrance::Page, Key::Cookie(_)) => {
                (self.origin.is_some() || route.is_safe()) && !route.is_agents()
            }
            (Entrance::Page, Key::Human(_)) => !route.is_agents(),
            (Entrance::Page, Key::Agent(_)) => route.is_agents(),
            (Entrance::Public, Key::Cookie(_) | Key::Human(_)) => false,
            (Entrance::Public, Key::Agent(_)) => route.is_agents() || route.is_outside(),
        }
    }

    /// Says whether host and origin are as our page, or no page at all, would say them.
    fn is_from_us(&self) -> bool {
        let named = self.host.headers.first().map(|host| format!("http://{host}"));
        self.host.is_ours && (self.origin.is_none() || self.origin == named)
    }

    fn refused(&self, trial: &mut Trial, place: &Place) -> u16 {
        let Some(answer) = place.at(self.entrance).send_raw(&self.bytes()) else {
            trial.violation(format!("no answer to {}", self.words()));
            return 0;
        };
        trial.check(self.is_refusal(answer.status), || {
            format!("{} was let in: {} {}", self.words(), answer.status, answer.text())
        });
        trial.check(!answer.has_cors(), || {
            format!("{} allows other origins", self.words())
        });
        answer.status
    }

    fn is_refusal(&self, status: u16) -> bool {
        let has_guessed = matches!(self.key, Key::Wrong) || self.route.path.starts_with("/login/");
        match status {
            401 | 403 => true,
            // The reply to a client that guessed too often.
            429 => has_guessed,
            // A client with valid credentials finds nothing of the page at the other listener.
            404 => {
                self.is_from_us() && self.entrance == Entrance::Public && matches!(self.key, Key::Agent(_))
            }
            // A request that has to prove itself, and is not even readable.
            400 => self.is_from_us() && self.entrance == Entrance::Public && self.route.proves_itself(),
            _ => false,
        }
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
            let body = self.route.body();
            head.push_str(&format!(
                "content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            ));
        } else {
            head.push_str("\r\n");
        }
        head.into_bytes()
    }

    fn words(&self) -> String {
        format!(
            "{:?}: {} {} at {:?}{} from {:?} with {:?}",
            self.entrance,
            self.route.method,
            self.route.path,
            self.host.headers,
            self.host.absolute.as_deref().unwrap_or_default(),
            self.origin,
            self.key
        )
    }
}

/// The control: allowed requests work; otherwise a broker that refuses everything would pass.
fn controls(trial: &mut Trial, home: &Home, place: &Place, keys: &Keys) {
    let get = |http: Http, path: &str, name: &str, value: &str| {
        let host = http.host();
        let headers = [("host", host.as_str()), (name, value)];
        http.send("GET", path, &headers, b"").status
    };
    let (human, agent) = (format!("Bearer {}", keys.human), format!("Bearer {}", keys.agent));
    let state = "/api/v1/state";
    for (what, status) in [
        ("the cookie", get(place.http, state, "cookie", &keys.cookie)),
        ("the token", get(place.http, state, "authorization", &human)),
        (
            "an agent's token",
            get(place.public, "/api/skills/index", "authorization", &agent),
        ),
    ] {
        trial.check(status == 200, || format!("{what} was refused: {status}"));
    }
    our_page_answers(trial, home, place, &keys.cookie);
}

/// A request that is refused from other origins works from our page, byte for byte, and changes something.
fn our_page_answers(trial: &mut Trial, home: &Home, place: &Place, cookie: &str) {
    let cue = asked(home.wire().call(&ask(&place.agent, "May our page answer this?")));
    let before = everything(home);
    let route = Route {
        method: "POST".into(),
        path: format!("/api/v1/cues/{cue}/answer"),
    };
    let allowed = Attempt {
        entrance: Entrance::Page,
        host: Host::named(&place.http.host(), true),
        origin: Some(place.http.origin()),
        key: Key::Cookie(cookie.to_owned()),
        route,
    };
    assert!(allowed.is_allowed(), "{}", allowed.words());
    let answer = place.http.send_raw(&allowed.bytes());
    let status = answer.map_or(0, |answer| answer.status);
    trial.check(status == 200, || format!("our own page was refused: {status}"));
    let changed = difference(&before, &everything(home));
    trial.check(changed.iter().any(|row| row.contains("decisions")), || {
        format!("an answer of our own page is not seen to change anything: {changed:?}")
    });
}
