//! A service worker in a real browser, over the browser's own debugging protocol.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

/// The timeout of a reply from the browser.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection to a browser, and a session with its service worker.
#[derive(Debug)]
pub struct Worker {
    runtime: Runtime,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    next: u64,
}

impl Worker {
    /// Connects to the browser at a debugging address such as `127.0.0.1:9222`.
    pub fn connect(address: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let socket = runtime.block_on(async {
            let about = reqwest::get(format!("http://{address}/json/version")).await;
            let about: Value = about.expect("a browser").json().await.expect("JSON");
            let url = about["webSocketDebuggerUrl"]
                .as_str()
                .expect("an address")
                .to_owned();
            connect_async(url).await.expect("a connection").0
        });
        Self {
            runtime,
            socket,
            next: 0,
        }
    }

    /// Delivers a push as the browser does when a push service sends one.
    pub fn push(&mut self, origin: &str, message: &Value) {
        let session = self.attach("page");
        self.call(Some(&session), "ServiceWorker.enable", json!({}));
        // The one worker of a new profile.
        let parameters = json!({ "origin": origin, "registrationId": "0", "data": message.to_string() });
        self.call(Some(&session), "ServiceWorker.deliverPushMessage", parameters);
    }

    /// Runs a script in the worker and returns what it gives.
    pub fn script(&mut self, script: &str) -> Value {
        let session = self.attach("service_worker");
        let parameters = json!({
            "expression": format!("(async () => {{ {script} }})()"),
            "awaitPromise": true,
            "returnByValue": true,
        });
        let reply = self.call(Some(&session), "Runtime.evaluate", parameters);
        assert!(reply["exceptionDetails"].is_null(), "{reply}");
        reply["result"]["value"].clone()
    }

    /// Opens a session with the first target of a kind.
    fn attach(&mut self, kind: &str) -> String {
        let targets = self.call(None, "Target.getTargets", json!({}))["targetInfos"].clone();
        let all = targets.as_array().cloned().unwrap_or_default();
        let target = all.iter().find(|target| target["type"] == kind);
        let target = target.unwrap_or_else(|| panic!("no {kind} in {targets}"));
        let parameters = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = self.call(None, "Target.attachToTarget", parameters);
        attached["sessionId"].as_str().expect("a session").to_owned()
    }

    fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut request = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = session {
            request["sessionId"] = json!(session);
        }
        let Self { runtime, socket, .. } = self;
        runtime.block_on(async {
            socket
                .send(Message::text(request.to_string()))
                .await
                .expect("a browser that listens");
            let reply = tokio::time::timeout(PATIENCE, async {
                loop {
                    let frame = socket.next().await.expect("a reply").expect("a frame");
                    let Ok(text) = frame.to_text() else { continue };
                    let reply: Value = serde_json::from_str(text).unwrap_or_default();
                    if reply["id"] == id {
                        return reply;
                    }
                }
            });
            let mut reply = reply.await.expect("a reply in time");
            assert!(reply["error"].is_null(), "{method}: {reply}");
            reply["result"].take()
        })
    }
}
