//! The page refuses other users of the machine, even with valid credentials.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use cueme_tests::{Client, Home, Http, head, not_run};
use rustix::net::sockopt;
use serde_json::json;
use uuid::Uuid;

use super::door::{NOBODY, is_root};

/// Tells the visitor which port to speak to.
const PORT: &str = "CUEME_TEST_PORT";
/// Tells the visitor how to go: unless it is `stay`, without waiting for an answer.
const MANNER: &str = "CUEME_TEST_MANNER";
/// The number of requests whose sender leaves at once.
const RUNS: u32 = 20;

/// Returns where the page of a home is.
pub(crate) fn page_of(home: &Home) -> Http {
    let url = home.status().web.unwrap();
    Http::new(url.rsplit(':').next().unwrap().parse().unwrap())
}

/// Not a test: the other user that a test starts.
#[test]
#[ignore = "it is the other user that a test starts"]
fn visitor_process() {
    let Some(port) = std::env::var(PORT).ok().and_then(|port| port.parse().ok()) else {
        return;
    };
    let mut request = Vec::new();
    std::io::stdin().read_to_end(&mut request).unwrap();
    let manner = std::env::var(MANNER).unwrap();
    if manner == "stay" {
        let answer = Http::new(port).send_raw(&request).unwrap();
        writeln!(std::io::stdout(), "status={}\n{}", answer.status, answer.text()).unwrap();
        return;
    }
    for _ in 0..RUNS {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(&request).unwrap();
        if manner == "break off" {
            sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
        }
    }
}

/// Another user, with a copy of this program.
struct Stranger<'a> {
    home: &'a Home,
    program: PathBuf,
    page: Http,
}

impl<'a> Stranger<'a> {
    fn arrive(home: &'a Home) -> Self {
        let program = home.scratch().join("stranger");
        let own = std::env::current_exe().unwrap();
        assert!(
            Command::new("cp")
                .arg(own)
                .arg(&program)
                .status()
                .unwrap()
                .success()
        );
        for path in [home.scratch(), &program] {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self {
            home,
            program,
            page: page_of(home),
        }
    }

    /// Sends a request in a manner, and returns what was heard.
    fn sends(
        &self,
        manner: &str,
        method: &str,
        target: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> String {
        let host = self.page.host();
        let mut all = vec![("host", host.as_str()), ("content-type", "application/json")];
        all.extend(headers);
        let mut request = head(method, target, &all, (!body.is_empty()).then_some(body.len()));
        request.extend_from_slice(body.as_bytes());
        let words = [
            "--exact",
            "door_of_the_page::visitor_process",
            "--ignored",
            "--nocapture",
        ];
        let mut command = self.home.command_of(&self.program, &words);
        let port = host.rsplit(':').next().unwrap_or_default();
        command.env(PORT, port).env(MANNER, manner);
        command.uid(NOBODY).gid(NOBODY);
        let run = Client::start(&mut command, &request).finish();
        run.printed(0).to_owned()
    }
}

fn answer_of_a_stranger() -> String {
    json!({ "id": Uuid::now_v7(), "answer": { "text": "hacked" }, "hold_ms": 0 }).to_string()
}

#[test]
fn another_user_is_not_served_by_the_page_whatever_they_carry() {
    if !is_root() {
        return not_run("only root can become another user");
    }
    let home = Home::new();
    let agent = home.join();
    let (client, cue) = home.ask(&agent, "Which port?", None);
    let stranger = Stranger::arrive(&home);
    let page = stranger.page;
    let cookie = page.sign_in(home.ok(&["ui", "--print-url"]).trim());
    let bearer = format!("Bearer {}", home.ok(&["token", "--scope", "human"]).trim());
    let origin = page.origin();
    let with_cookie = [("cookie", cookie.as_str()), ("origin", origin.as_str())];
    let with_token = [("authorization", bearer.as_str())];
    let answer = format!("/api/v1/cues/{cue}/answer");
    for carried in [&with_cookie[..], &with_token, &[]] {
        for (method, target, body) in [
            ("GET", "/", String::new()),
            ("GET", "/api/v1/state", String::new()),
            ("GET", "/nothing", String::new()),
            ("POST", answer.as_str(), answer_of_a_stranger()),
        ] {
            let heard = stranger.sends("stay", method, target, carried, &body);
            assert!(heard.contains("status=403"), "{method} {target}: {heard}");
            assert!(heard.contains("another user"), "{method} {target}: {heard}");
        }
    }
    // A connection whose client has gone before its owner is checked has no owner any more; that does not let it in.
    for manner in ["leave", "break off"] {
        for carried in [&with_cookie[..], &with_token] {
            stranger.sends(manner, "POST", &answer, carried, &answer_of_a_stranger());
        }
    }
    let link = home.ok(&["ui", "--print-url"]);
    let target = format!("/login/{}", link.trim().rsplit('/').next().unwrap());
    let heard = stranger.sends("stay", "GET", &target, &[], "");
    assert!(heard.contains("status=403"), "{heard}");
    page.sign_in(link.trim());
    assert!(client.is_running(), "nothing reached the agent");
    assert_eq!(home.show(&cue)["outcome"], "open");
    assert_eq!(page.get("/api/v1/state", Some(&cookie)).status, 200);
    home.ok(&["answer", &cue, "8080"]);
    assert!(client.finish().printed(0).starts_with("8080\n"));
}

#[test]
fn a_proxy_in_front_of_the_page_may_be_another_user() {
    if !is_root() {
        return not_run("only root can become another user");
    }
    let home = Home::new();
    home.configure("[web]\nurl = \"https://cue.example.org\"\n");
    home.join();
    let stranger = Stranger::arrive(&home);
    let cookie = stranger.page.sign_in(home.ok(&["ui", "--print-url"]).trim());
    let carried = [("cookie", cookie.as_str())];
    let heard = stranger.sends("stay", "GET", "/api/v1/state", &carried, "");
    assert!(heard.contains("status=200"), "{heard}");
}
