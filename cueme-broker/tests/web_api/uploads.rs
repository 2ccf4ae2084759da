//! Files: in under random names, out without anything that could run.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::harness::{Browser, TestBroker};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn upload(browser: &Browser, name: &str, bytes: &[u8]) -> serde_json::Value {
    browser
        .send_bytes("POST", &format!("/uploads?name={name}"), "text/html", bytes)
        .ok(201)
}

#[test]
fn an_answer_carries_a_file_as_an_absolute_path() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let mut waiting = broker.ask(&agent, "Show me");
    let upload = upload(&browser, "%E6%88%AA%E5%9B%BE%201.png", PNG);
    assert_eq!(
        (upload["media_type"].as_str(), upload["name"].as_str()),
        (Some("image/png"), Some("截图 1.png"))
    );
    let id = upload["upload_id"].as_str().unwrap();
    browser
        .answer(
            waiting.cue,
            &json!({ "text": "here", "attachments": [{ "upload_id": id }] }),
            0,
        )
        .ok(200);
    let text = waiting.told().text;
    let path = text.lines().last().unwrap();
    assert!(text.starts_with("here\n\nattachments:\n/"), "{text}");
    assert_eq!(std::fs::read(path).unwrap(), PNG);
    let mode = std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let directory = std::fs::metadata(std::path::Path::new(path).parent().unwrap()).unwrap();
    assert_eq!(directory.permissions().mode() & 0o777, 0o700);
    let shown = browser.get(&format!("/cues/{}", waiting.cue)).ok(200);
    let attachment = &shown["answer"]["attachments"][0];
    assert_eq!(attachment["name"], "截图 1.png");
    let back = browser.get(attachment["url"].as_str().unwrap());
    assert_eq!(
        (back.header("content-type"), back.body()),
        (Some("image/png"), PNG)
    );
    // A file that an answer carries stays.
    browser
        .delete(&format!("/uploads/{id}"))
        .refused(409, "already_released");
}

#[test]
fn names_that_climb_out_of_the_directory_stay_inside() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    for name in [
        "..%2F..%2Fescape.txt",
        "%2Fetc%2Fpasswd",
        "..%5C..%5Cescape.txt",
        "%00x",
        "a%0d%0aset-cookie:x",
        ".",
    ] {
        upload(&browser, name, b"text");
    }
    let directory = broker.places().attachments();
    for file in std::fs::read_dir(&directory).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(
            name.len() >= 24
                && name
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || letter == '.'),
            "{name}"
        );
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 6);
    assert!(!broker.places().data_dir.join("escape.txt").exists());
    for path in [
        "/uploads/..%2Fcueme.db",
        "/uploads/..%2f..%2fetc%2fpasswd",
        "/uploads/%2e%2e",
        "/uploads/x",
    ] {
        assert_eq!(browser.get(path).status, 404, "{path}");
    }
}

#[test]
fn html_in_disguise_is_never_served_as_html() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let attacks: [(&str, &[u8]); 4] = [
        ("x.html", b"<!doctype html><script>alert(1)</script>"),
        ("x.png", b"<html><script>alert(1)</script>"),
        (
            "x.svg",
            b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
        ),
        ("x.gif", b"\0\0<script>alert(1)</script>"),
    ];
    for (name, bytes) in attacks {
        let upload = upload(&browser, name, bytes);
        let back = browser.get(upload["url"].as_str().unwrap());
        let kind = back.header("content-type").unwrap();
        assert!(
            kind.starts_with("text/plain") || kind == "application/octet-stream",
            "{name} {kind}"
        );
        assert!(
            back.header("content-disposition")
                .unwrap()
                .starts_with("attachment"),
            "{name}"
        );
        assert!(
            back.header("content-security-policy")
                .unwrap()
                .contains("sandbox"),
            "{name}"
        );
        assert_eq!(back.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn a_file_that_was_never_uploaded_cannot_be_attached() {
    let broker = TestBroker::start();
    let browser = broker.sign_in();
    let agent = broker.join("cursor");
    let waiting = broker.ask(&agent, "Show me");
    for attachment in [
        json!({ "upload_id": "nope" }),
        json!({ "path": "/etc/passwd" }),
        json!({ "upload_id": "x", "path": "/etc/passwd" }),
    ] {
        let answer = browser.answer(
            waiting.cue,
            &json!({ "text": "x", "attachments": [attachment] }),
            0,
        );
        assert_eq!(answer.status, 400, "{}", answer.text());
    }
    assert_eq!(
        browser.get(&format!("/cues/{}", waiting.cue)).ok(200)["outcome"],
        "open"
    );
    let unused = upload(&browser, "a.txt", b"x");
    assert_eq!(
        browser
            .delete(&format!("/uploads/{}", unused["upload_id"].as_str().unwrap()))
            .status,
        204
    );
    assert_eq!(browser.get(unused["url"].as_str().unwrap()).status, 404);
    browser
        .send_bytes("POST", "/uploads?name=x", "x/y", b"")
        .refused(400, "bad_request");
}
