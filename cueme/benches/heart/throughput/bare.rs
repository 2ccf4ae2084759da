//! The least that serves the same clients: one thread that reads what has arrived, writes its rows in one durable
//! commit, and replies. It checks nothing, limits nothing, and trusts everybody.

use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread::JoinHandle;

use protocol_spec::frame::Splitter;
use protocol_spec::id::{AgentId, CueId, RequestId};
use protocol_spec::message::{Acked, Asked, Decided, Reply, Request, Told, decode_request, encode_reply};
use protocol_spec::outcome::{Kind, Outcome};
use rustix::event::{PollFd, PollFlags};

use crate::rows::{AT, Rows};

/// The server, until its last client leaves.
pub(super) struct Bare {
    directory: tempfile::TempDir,
    pub(super) agents: Vec<AgentId>,
    thread: Option<JoinHandle<()>>,
}

impl Bare {
    /// Starts it for this many agents, and as many connections as they and their humans make.
    pub(super) fn start(agents: usize, connections: usize) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let mut rows = Rows::open(&directory.path().join("bare.db"));
        let joined = rows.join(agents);
        let listener = UnixListener::bind(directory.path().join("bare.sock")).expect("a socket");
        let thread = std::thread::spawn(move || {
            let peers = (0..connections).map(|_| Peer::accept(&listener)).collect();
            Desk {
                rows,
                peers,
                waiting: HashMap::new(),
            }
            .work();
        });
        Self {
            directory,
            agents: joined,
            thread: Some(thread),
        }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.directory.path().join("bare.sock")
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            thread.join().expect("a server that ended well");
        }
    }
}

struct Peer {
    stream: UnixStream,
    splitter: Splitter,
    replies: Vec<u8>,
    is_gone: bool,
}

impl Peer {
    fn accept(listener: &UnixListener) -> Self {
        let (stream, _) = listener.accept().expect("a client");
        stream.set_nonblocking(true).expect("a socket");
        Self {
            stream,
            splitter: Splitter::default(),
            replies: Vec::new(),
            is_gone: false,
        }
    }

    fn read(&mut self) {
        let mut buffer = [0; 16 * 1024];
        match self.stream.read(&mut buffer) {
            Ok(0) => self.is_gone = true,
            Ok(count) => self.splitter.push(&buffer[..count]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
    }

    fn reply(&mut self, id: RequestId, reply: &Reply) {
        self.replies.append(&mut encode_reply(id, reply).expect("a line"));
    }
}

/// Who asked, and where the outcome goes.
struct Waiting {
    peer: usize,
    call: RequestId,
    agent: AgentId,
    question: String,
}

struct Desk {
    rows: Rows,
    peers: Vec<Peer>,
    waiting: HashMap<CueId, Waiting>,
}

impl Desk {
    fn work(mut self) {
        while self.peers.iter().any(|peer| !peer.is_gone) {
            let requests = self.arrived();
            let Self { rows, peers, waiting } = &mut self;
            rows.commit(|rows| {
                for (peer, id, request) in requests {
                    carry_out(rows, peers, waiting, peer, id, request);
                }
            });
            for peer in peers.iter_mut().filter(|peer| !peer.replies.is_empty()) {
                peer.stream.write_all(&peer.replies).expect("a client that reads");
                peer.replies.clear();
            }
        }
    }

    /// Waits until something arrives, and takes everything that has.
    fn arrived(&mut self) -> Vec<(usize, RequestId, Request)> {
        let mut polled: Vec<PollFd<'_>> = Vec::with_capacity(self.peers.len());
        let present: Vec<usize> = (0..self.peers.len())
            .filter(|index| !self.peers[*index].is_gone)
            .collect();
        polled.extend(
            present
                .iter()
                .map(|index| PollFd::new(&self.peers[*index].stream, PollFlags::IN)),
        );
        rustix::event::poll(&mut polled, None).expect("a poll");
        let ready: Vec<bool> = polled.iter().map(|polled| !polled.revents().is_empty()).collect();
        let mut requests = Vec::new();
        for (index, _) in present.into_iter().zip(ready).filter(|(_, is_ready)| *is_ready) {
            let peer = &mut self.peers[index];
            peer.read();
            while let Some(line) = peer.splitter.next_line().expect("a line") {
                let (id, request) = decode_request(line).expect("a request");
                requests.push((index, id, request));
            }
        }
        requests
    }
}

fn carry_out(
    rows: &mut Rows,
    peers: &mut [Peer],
    waiting: &mut HashMap<CueId, Waiting>,
    peer: usize,
    id: RequestId,
    request: Request,
) {
    match request {
        Request::Ask(ask) => {
            let cue_id = rows.ask(id, &ask.agent_id, &ask.prompt);
            let asked = Asked {
                cue_id,
                agent_runtime: "terminal".parse().expect("a tag"),
                again: false,
            };
            peers[peer].reply(id, &Reply::Asked(asked));
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
            peers[peer].reply(id, &Reply::Decided(decided));
            let told = Told {
                cue_id,
                kind: Kind::Cue,
                outcome: Outcome::Answered,
                text,
                reminder: Some(cueme_broker::config::DEFAULT_REMINDER.into()),
                answer: Some(give.answer),
                decided_at: AT,
                by: None,
                question: asker.question.clone(),
                repeat_of: None,
            };
            peers[asker.peer].reply(asker.call, &Reply::Outcome(told));
        }
        Request::Ack(ack) => {
            for cue in &ack.cue_ids {
                let asker = waiting.remove(cue).expect("a question");
                rows.acknowledge(*cue, &asker.agent);
            }
            peers[peer].reply(id, &Reply::Acked(Acked { cue_ids: ack.cue_ids }));
        }
        other => panic!("nobody asks for {}", other.name()),
    }
}
