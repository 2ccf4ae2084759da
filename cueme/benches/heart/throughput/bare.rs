//! The least that serves the same clients: one thread that reads what has arrived, writes its rows in one durable
//! commit, and replies. It checks nothing, limits nothing, and trusts everybody.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use protocol_spec::frame::Splitter;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{
    Acked, Asked, Decided, DeliveredOutcome, Reply, Request, decode_request, encode_reply,
};
use protocol_spec::outcome::{Kind, Outcome};
use rustix::event::{PollFd, PollFlags};

use crate::rows::{AT, Rows};

/// The server, until the last of all the connections it expects has ended.
pub(super) struct Bare {
    directory: tempfile::TempDir,
    pub(super) agents: Vec<AgentId>,
    thread: Option<JoinHandle<()>>,
}

impl Bare {
    /// Starts it for this many agents, and as many connections as they and their humans make.
    pub(super) fn start(agents: usize, connections: usize) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let (server, agents) = FloorServer::open(directory.path(), agents, connections);
        Self {
            directory,
            agents,
            thread: Some(std::thread::spawn(move || server.work())),
        }
    }

    pub(super) fn socket(&self) -> PathBuf {
        socket_in(self.directory.path())
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("a server that ended well");
        }
    }
}

/// Serves in this process, in a directory; says which agents there are when it is ready.
pub(super) fn serve(directory: &Path, agents: usize, connections: usize) {
    let (server, agents) = FloorServer::open(directory, agents, connections);
    println!(
        "{}",
        agents.iter().map(AgentId::as_str).collect::<Vec<_>>().join(" ")
    );
    server.work();
}

pub(super) fn socket_in(directory: &Path) -> PathBuf {
    directory.join("bare.sock")
}

struct Peer {
    stream: UnixStream,
    splitter: Splitter,
    replies: Vec<u8>,
}

impl Peer {
    fn new(stream: UnixStream) -> Self {
        stream.set_nonblocking(true).expect("a socket");
        Self {
            stream,
            splitter: Splitter::default(),
            replies: Vec::new(),
        }
    }

    /// Takes what has arrived; returns whether the other end is still there.
    fn read(&mut self) -> bool {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(count) => {
                self.splitter.push(&buffer[..count]);
                count > 0
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                true
            }
        }
    }

    fn reply(&mut self, id: RequestId, reply: &Reply) {
        self.replies.append(&mut encode_reply(id, reply).expect("a line"));
    }
}

/// A waiting caller, and the place to send the outcome to.
struct Waiting {
    peer: usize,
    call: RequestId,
    agent: AgentId,
    question: String,
}

/// A request that arrived: its peer, its key, and itself.
type Arrived = (usize, RequestId, Request);

struct FloorServer {
    rows: Rows,
    listener: UnixListener,
    /// The number of connections still to accept.
    expected: usize,
    /// The connected clients; a slot is free again when its client has left.
    peers: Vec<Option<Peer>>,
    waiting: HashMap<CueId, Waiting>,
}

impl FloorServer {
    fn open(directory: &Path, agents: usize, connections: usize) -> (Self, Vec<AgentId>) {
        let mut rows = Rows::open(&directory.join("bare.db"));
        let agents = rows.join(agents);
        let listener = UnixListener::bind(socket_in(directory)).expect("a socket");
        listener.set_nonblocking(true).expect("a socket");
        let server = Self {
            rows,
            listener,
            expected: connections,
            peers: Vec::new(),
            waiting: HashMap::new(),
        };
        (server, agents)
    }

    fn work(mut self) {
        while self.expected > 0 || self.peers.iter().any(Option::is_some) {
            let requests = self.arrived();
            if requests.is_empty() {
                continue;
            }
            let Self {
                rows, peers, waiting, ..
            } = &mut self;
            rows.commit(|rows| {
                for (peer, id, request) in requests {
                    carry_out(rows, peers, waiting, peer, id, request);
                }
            });
            for peer in peers.iter_mut().flatten() {
                if !peer.replies.is_empty() {
                    peer.stream.write_all(&peer.replies).expect("a client that reads");
                    peer.replies.clear();
                }
            }
        }
    }

    /// Waits until something arrives, and takes everything that has.
    fn arrived(&mut self) -> Vec<Arrived> {
        let present: Vec<usize> = (0..self.peers.len())
            .filter(|index| self.peers[*index].is_some())
            .collect();
        let mut polled = vec![PollFd::new(&self.listener, PollFlags::IN)];
        polled.extend(
            self.peers
                .iter()
                .flatten()
                .map(|peer| PollFd::new(&peer.stream, PollFlags::IN)),
        );
        rustix::event::poll(&mut polled, None).expect("a poll");
        let mut ready = polled.iter().map(|polled| !polled.revents().is_empty());
        let has_newcomers = ready.next().unwrap_or_default();
        let ready: Vec<usize> = present
            .into_iter()
            .zip(ready)
            .filter_map(|(index, is_ready)| is_ready.then_some(index))
            .collect();
        drop(polled);
        let mut requests = Vec::new();
        for index in ready {
            self.take(index, &mut requests);
        }
        if has_newcomers {
            self.let_in(&mut requests);
        }
        requests
    }

    fn take(&mut self, index: usize, requests: &mut Vec<Arrived>) {
        let Some(peer) = &mut self.peers[index] else {
            return;
        };
        let is_there = peer.read();
        while let Some(line) = peer.splitter.next_line().expect("a line") {
            let (id, request) = decode_request(line).expect("a request");
            requests.push((index, id, request));
        }
        if !is_there {
            self.peers[index] = None;
        }
    }

    fn let_in(&mut self, requests: &mut Vec<Arrived>) {
        while self.expected > 0
            && let Ok((stream, _)) = self.listener.accept()
        {
            self.expected -= 1;
            let place = self.peers.iter().position(Option::is_none);
            let place = place.unwrap_or_else(|| {
                self.peers.push(None);
                self.peers.len() - 1
            });
            self.peers[place] = Some(Peer::new(stream));
            self.take(place, requests);
        }
    }
}

fn carry_out(
    rows: &mut Rows,
    peers: &mut [Option<Peer>],
    waiting: &mut HashMap<CueId, Waiting>,
    peer: usize,
    id: RequestId,
    request: Request,
) {
    let mut reply = |peer: usize, id, reply: &Reply| {
        // A client that has left gets no reply.
        if let Some(peer) = &mut peers[peer] {
            peer.reply(id, reply);
        }
    };
    match request {
        Request::Ask(ask) => {
            let cue_id = rows.ask(id, &ask.agent_id, &ask.prompt);
            let asked = Asked {
                cue_id,
                agent_runtime: "terminal".parse().expect("a tag"),
                again: false,
            };
            reply(peer, id, &Reply::Asked(asked));
            waiting.insert(
                cue_id,
                Waiting {
                    peer,
                    call: id,
                    agent: ask.agent_id,
                    question: ask.prompt,
                },
            );
        }
        Request::Answer(give) => {
            let cue_id: CueId = give.cue.parse().expect("an id");
            let asker = &waiting[&cue_id];
            let text = give.answer.text.clone().unwrap_or_default();
            rows.decide(id, cue_id, &asker.agent, &text);
            let decided = Decided {
                cue_id,
                agent_id: asker.agent.clone(),
                outcome: Outcome::Answered,
                handed_to: 1,
                released_at: None,
            };
            reply(peer, id, &Reply::Decided(decided));
            let told = DeliveredOutcome {
                cue_id,
                kind: Kind::Cue,
                outcome: Outcome::Answered,
                text,
                reminder: Some(cueme_broker::config::DEFAULT_REMINDER.into()),
                answer: Some(give.answer),
                ends_run: false,
                decided_at: AT,
                by: None,
                question: asker.question.clone(),
                repeat_of: None,
            };
            reply(asker.peer, asker.call, &Reply::Outcome(told));
        }
        Request::Ack(ack) => {
            for cue in &ack.cue_ids {
                let asker = waiting.remove(cue).expect("a question");
                rows.acknowledge(*cue, &asker.agent);
            }
            reply(peer, id, &Reply::Acked(Acked { cue_ids: ack.cue_ids }));
        }
        other => panic!("nobody asks for {}", other.name()),
    }
}
