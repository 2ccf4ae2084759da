//! The page behind a real nginx.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc;

use cueme_test_kit::free_port;
use cueme_test_kit::nginx::Nginx;
use cueme_tests::{Home, Http, PATIENCE};

#[test]
fn events_arrive_through_nginx_as_they_happen() {
    let home = Home::new();
    let port = free_port();
    let directory = home.scratch().join("nginx");
    std::fs::create_dir(&directory).unwrap();
    let Some(proxy) = Nginx::start(&directory, &[port]) else {
        return;
    };
    home.configure(&format!(
        "listen = \"127.0.0.1:{port}\"\n[web]\nurl = \"https://localhost:{}\"\n",
        proxy.port
    ));
    let agent = home.join();
    let link = home.ok(&["ui", "--print-url"]);
    let (_, path) = link.trim().split_once("/login/").unwrap();
    let cookie = Http::new(port).sign_in(&format!("/login/{path}"));

    let mut browser = Command::new("openssl")
        .args(["s_client", "-quiet", "-verify_return_error", "-connect"])
        .arg(format!("localhost:{}", proxy.port))
        .arg("-CAfile")
        .arg(&proxy.certificate)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost:{}\r\nCookie: {cookie}\r\n\r\n",
        proxy.port
    );
    let mut sending = browser.stdin.take().unwrap();
    sending.write_all(head.as_bytes()).unwrap();
    let received = BufReader::new(browser.stdout.take().unwrap());
    let (lines, heard) = mpsc::channel();
    std::thread::spawn(move || {
        for line in received.lines().map_while(Result::ok) {
            let _ = lines.send(line);
        }
    });
    let hears = |wanted: &str| {
        while let Ok(line) = heard.recv_timeout(PATIENCE) {
            if line.contains(wanted) {
                return;
            }
        }
        panic!("{wanted:?} did not arrive");
    };
    hears("event: ready");
    // Nothing follows the question, so a proxy that buffers would keep it.
    let asking = home.start_cue(&agent, "Which port?", None);
    hears("\"asked\"");
    home.ok(&["answer", &home.wait_for("Which port?", 1), "8080"]);
    hears("\"answered\"");
    asking.finish().printed(0);
    browser.kill().and_then(|()| browser.wait()).unwrap();
}
