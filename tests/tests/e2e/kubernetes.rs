//! The Kubernetes manifest of the documentation, by the same processes on this machine.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};

use cueme_test_kit::free_port;
use cueme_test_kit::postgres::Server;
use cueme_tests::{Client, Home, Http, envelope, eventually};
use rustix::process::{Pid, Signal, kill_process};
use saphyr::{LoadableYamlNode, Yaml};

/// The page that contains the manifest.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cueme/docs/team-and-remote.md");

/// A deployment as far as the processes of one machine can follow it.
struct Deployment {
    replicas: usize,
    arguments: Vec<String>,
    /// The environment; a value from a secret is absent.
    variables: BTreeMap<String, Option<String>>,
    port: u16,
    liveness: String,
    readiness: String,
}

impl Deployment {
    fn documented() -> Self {
        let page = std::fs::read_to_string(PAGE).unwrap();
        let blocks = page
            .split("```yaml\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next());
        let manifest = blocks.filter(|block| block.contains("kind: Deployment"));
        let manifest = manifest.last().expect("a manifest");
        let documents = Yaml::load_from_str(manifest).unwrap();
        let root = &documents[0];
        assert_eq!(root["apiVersion"].as_str(), Some("apps/v1"));
        assert_eq!(root["kind"].as_str(), Some("Deployment"));
        let spec = &root["spec"];
        let labels = &spec["template"]["metadata"]["labels"];
        assert_eq!(
            &spec["selector"]["matchLabels"], labels,
            "the selector finds its pods"
        );
        let container = &spec["template"]["spec"]["containers"][0];
        let port = number(&container["ports"][0]["containerPort"]);
        let probe = |name: &str| {
            let get = &container[name]["httpGet"];
            assert_eq!(number(&get["port"]), port, "{name}");
            text(&get["path"])
        };
        Self {
            replicas: number(&spec["replicas"]).into(),
            arguments: items(&container["args"]).iter().map(text).collect(),
            variables: items(&container["env"])
                .iter()
                .map(|variable| {
                    let value = variable.as_mapping_get("value").map(text);
                    let is_secret = variable.contains_mapping_key("valueFrom");
                    assert!(value.is_some() != is_secret, "{variable:?}");
                    (text(&variable["name"]), value)
                })
                .collect(),
            port,
            liveness: probe("livenessProbe"),
            readiness: probe("readinessProbe"),
        }
    }

    /// Starts one replica. What is its own in a pod is its own here: the home directory, and the port.
    fn start(&self, store: &str) -> Pod {
        let (home, port) = (Home::new(), free_port());
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut command = home.command(&arguments);
        for (name, value) in &self.variables {
            let value = match (name.as_str(), value) {
                ("CUEME_HOME", Some(_)) => continue,
                ("CUEME_STORE", None) => store.to_owned(),
                (_, Some(value)) => value.replace(&self.port.to_string(), &port.to_string()),
                (_, None) => panic!("no secret is known for {name}"),
            };
            command.env(name, value);
        }
        let process = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Pod { home, process, port }
    }
}

fn items<'a, 'y>(list: &'a Yaml<'y>) -> &'a [Yaml<'y>] {
    list.as_vec().expect("a list")
}

fn text(value: &Yaml) -> String {
    value.as_str().expect("a text").to_owned()
}

fn number(value: &Yaml) -> u16 {
    value.as_integer().expect("a number").try_into().unwrap()
}

/// One replica.
struct Pod {
    home: Home,
    process: Child,
    port: u16,
}

impl Pod {
    fn probe(&self, path: &str) -> Option<u16> {
        let http = Http::new(self.port);
        let head = format!("GET {path} HTTP/1.1\r\nhost: 10.1.2.3:7000\r\nconnection: close\r\n\r\n");
        std::net::TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        Some(http.send_raw(head.as_bytes())?.status)
    }
}

impl Drop for Pod {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_documented_deployment_serves_one_inbox_and_loses_no_call_when_a_pod_ends() {
    let Some(server) = Server::start() else { return };
    let store = server.database();
    let deployment = Deployment::documented();
    let mut pods: Vec<Pod> = (0..deployment.replicas)
        .map(|_| deployment.start(&store))
        .collect();
    assert!(pods.len() >= 2, "a deployment that survives the end of a pod");
    for pod in &pods {
        for path in [&deployment.liveness, &deployment.readiness] {
            eventually("the probe", || (pod.probe(path) == Some(200)).then_some(()));
        }
    }
    let token = pods[0].home.ok(&["token"]).trim().to_owned();
    let machine = Home::new();
    // The service leads a call to a pod that is ready.
    let call = |pod: &Pod, words: &[&str]| -> Command {
        let mut command = machine.command(words);
        command
            .env("CUEME_URL", format!("http://127.0.0.1:{}", pod.port))
            .env("CUEME_TOKEN", &token);
        command
    };
    let agent = eventually("joined", || {
        let joined = Client::start(&mut call(&pods[1], &["join", "patient"]), b"").finish();
        let id = joined
            .stdout
            .lines()
            .find_map(|line| line.strip_prefix("agent_id="));
        id.map(str::to_owned)
    });
    let question = envelope("Which port?", None);
    let ask = |pod: &Pod| Client::start(&mut call(pod, &["cue", &agent, "-"]), question.as_bytes());
    let first = ask(&pods[0]);
    let cue = pods[1].home.wait_for("Which port?", 1);

    let ending = Pid::from_child(&pods[0].process);
    kill_process(ending, Signal::TERM).unwrap();
    eventually("it leaves the service", || {
        (pods[0].probe(&deployment.readiness) == Some(503)).then_some(())
    });
    assert_eq!(
        pods[0].probe(&deployment.liveness),
        Some(200),
        "it is not restarted while it drains"
    );
    assert!(pods[0].process.wait().unwrap().success());
    // Its port is gone; the same call through the service reaches the other pod and continues the same wait.
    drop(first);
    let again = ask(&pods[1]);
    pods[1].home.wait_for("Which port?", 1);
    pods[1].home.ok(&["answer", &cue, "8080"]);
    assert!(again.finish().printed(0).contains("8080"));
}
