//! The kernel's tables of TCP sockets: a lookup of one socket by its two ends, or all of them read as text.
//!
//! The lookup is `NETLINK_SOCK_DIAG` (`sock_diag(7)`): it finds one entry, independent of the number of connections.
//! The text is `/proc/net/tcp` and `tcp6`, for kernels and sandboxes without it.

use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};

#[cfg(target_os = "linux")]
pub(super) use kernel::KernelTable;
#[cfg(not(target_os = "linux"))]
pub(super) use nowhere::KernelTable;

/// The states of `tcp_states.h` that matter here.
const ESTABLISHED: u8 = 1;

/// The two addresses of a socket, in canonical form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// The socket's own.
    pub(super) own: SocketAddr,
    /// The one it is connected to.
    pub(super) other: SocketAddr,
}

impl Ends {
    /// Returns the ends from the other socket's side.
    pub(super) fn turned(self) -> Self {
        Self {
            own: self.other,
            other: self.own,
        }
    }
}

/// The facts of a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) user: u32,
    /// Its inode; 0 once no process has it any more.
    pub(super) inode: u32,
    pub(super) state: u8,
}

impl Socket {
    /// Says whether a process has it. Otherwise the kernel reports root's number as the user.
    pub(super) fn has_owner(self) -> bool {
        self.inode != 0
    }

    pub(super) fn is_established(self) -> bool {
        self.state == ESTABLISHED
    }
}

/// The reason why a table has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TableError {
    /// There is no table here, or we have no access.
    Missing,
    /// It could not be read this time.
    Failed,
}

/// Looks for a socket in the tables of `/proc`.
pub(super) fn proc_find(ends: Ends) -> Result<Option<Socket>, TableError> {
    // A socket for IPv6 may speak IPv4, so both are read.
    match search_file("/proc/net/tcp", ends)? {
        Some(socket) => Ok(Some(socket)),
        None => search_file("/proc/net/tcp6", ends).or_else(|error| match error {
            // IPv6 may be off.
            TableError::Missing => Ok(None),
            TableError::Failed => Err(error),
        }),
    }
}

fn search_file(path: &str, ends: Ends) -> Result<Option<Socket>, TableError> {
    let file = std::fs::File::open(path).map_err(|error| table_error(&error))?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| table_error(&error))?;
        if let Some((found, socket)) = parse_line(&line)
            && found == ends
        {
            return Ok(Some(socket));
        }
    }
    Ok(None)
}

fn table_error(error: &io::Error) -> TableError {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported => {
            TableError::Missing
        }
        _ => TableError::Failed,
    }
}

/// Reads a line such as `0: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000 1000 0 4242 …`.
fn parse_line(line: &str) -> Option<(Ends, Socket)> {
    let mut words = line.split_ascii_whitespace().skip(1);
    let ends = Ends {
        own: parse_address(words.next()?)?,
        other: parse_address(words.next()?)?,
    };
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    // Queues, timer, retransmissions.
    let user = words.nth(3)?.parse().ok()?;
    let inode = words.nth(1)?.parse().ok()?;
    Some((ends, Socket { user, inode, state }))
}

/// Reads an address as `/proc` writes it: words of four bytes as the machine reads them, then the port, all in hex.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (digits, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| u32::from_str_radix(digits.get(at..at + 8)?, 16).ok();
    let ip = match digits.len() {
        8 => IpAddr::from(word(0)?.to_ne_bytes()),
        32 => {
            let mut bytes = [0; 16];
            for (index, four) in bytes.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&word(index * 8)?.to_ne_bytes());
            }
            IpAddr::from(bytes)
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip.to_canonical(), port))
}

/// Encodes and decodes netlink messages, without sending them.
#[cfg(target_os = "linux")]
mod message {
    use std::net::IpAddr;

    use super::{Ends, Socket, TableError};

    /// A head of 16 bytes and `struct inet_diag_req_v2`.
    pub(super) const REQUEST_BYTES: usize = 72;
    /// More than a head and `struct inet_diag_msg` with its attributes.
    pub(super) const REPLY_BYTES_MAX: usize = 1024;
    const HEAD_BYTES: usize = 16;
    /// `SOCK_DIAG_BY_FAMILY`.
    const BY_FAMILY: u16 = 20;
    /// `NLM_F_REQUEST`.
    const IS_REQUEST: u16 = 1;
    /// `NLMSG_ERROR`.
    const ERROR: u16 = 2;
    /// `-ENOENT`.
    const NO_SUCH: i32 = -2;
    const AF_INET: u8 = 2;
    const AF_INET6: u8 = 10;
    const TCP: u8 = 6;

    /// Asks for exactly one socket.
    pub(super) fn encode(ends: Ends, sequence: u32) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(REQUEST_BYTES);
        bytes.extend_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
        bytes.extend_from_slice(&BY_FAMILY.to_ne_bytes());
        bytes.extend_from_slice(&IS_REQUEST.to_ne_bytes());
        bytes.extend_from_slice(&sequence.to_ne_bytes());
        // From the port that the kernel reports to us.
        bytes.extend_from_slice(&[0; 4]);
        let family = if ends.own.is_ipv4() { AF_INET } else { AF_INET6 };
        bytes.extend_from_slice(&[family, TCP, 0, 0]);
        // In any state.
        bytes.extend_from_slice(&u32::MAX.to_ne_bytes());
        bytes.extend_from_slice(&ports(ends));
        for end in [ends.own, ends.other] {
            bytes.extend_from_slice(&address(end.ip()));
        }
        // On any interface, with any cookie.
        bytes.extend_from_slice(&[0; 4]);
        bytes.extend_from_slice(&[0xff; 8]);
        bytes
    }

    /// Parses the reply to the request of this number; `None` when it belongs to another.
    pub(super) fn decode(
        reply: &[u8],
        ends: Ends,
        sequence: u32,
    ) -> Option<Result<Option<Socket>, TableError>> {
        if word(reply, 8)? != sequence {
            return None;
        }
        let kind = u16::from_ne_bytes(reply.get(4..6)?.try_into().ok()?);
        let body = reply.get(HEAD_BYTES..)?;
        match kind {
            BY_FAMILY => Some(decode_socket(body, ends).ok_or(TableError::Failed)),
            ERROR if word(body, 0)?.cast_signed() == NO_SUCH => Some(Ok(None)),
            _ => Some(Err(TableError::Failed)),
        }
    }

    /// Parses `struct inet_diag_msg`. A socket that is not connected to the other end only listens at the same address.
    fn decode_socket(body: &[u8], ends: Ends) -> Option<Option<Socket>> {
        let socket = Socket {
            state: *body.get(1)?,
            user: word(body, 64)?,
            inode: word(body, 68)?,
        };
        Some((body.get(4..8)? == ports(ends)).then_some(socket))
    }

    fn ports(ends: Ends) -> [u8; 4] {
        let [[a, b], [c, d]] = [ends.own, ends.other].map(|end| end.port().to_be_bytes());
        [a, b, c, d]
    }

    fn address(ip: IpAddr) -> [u8; 16] {
        match ip {
            IpAddr::V4(ip) => {
                let [a, b, c, d] = ip.octets();
                [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            }
            IpAddr::V6(ip) => ip.octets(),
        }
    }

    fn word(bytes: &[u8], at: usize) -> Option<u32> {
        Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn ends(own: &str, other: &str) -> Ends {
            Ends {
                own: own.parse().unwrap(),
                other: other.parse().unwrap(),
            }
        }

        fn reply(ends: Ends, sequence: u32, state: u8, user: u32, inode: u32) -> Vec<u8> {
            let mut bytes = vec![0; HEAD_BYTES + 72];
            bytes[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
            bytes[8..12].copy_from_slice(&sequence.to_ne_bytes());
            bytes[HEAD_BYTES + 1] = state;
            bytes[HEAD_BYTES + 4..HEAD_BYTES + 8].copy_from_slice(&ports(ends));
            bytes[HEAD_BYTES + 64..HEAD_BYTES + 68].copy_from_slice(&user.to_ne_bytes());
            bytes[HEAD_BYTES + 68..HEAD_BYTES + 72].copy_from_slice(&inode.to_ne_bytes());
            bytes
        }

        #[test]
        fn a_request_names_both_ends_in_the_order_of_the_network() {
            let four = encode(ends("127.0.0.1:50000", "127.0.0.2:7000"), 9);
            assert_eq!(four.len(), REQUEST_BYTES);
            assert_eq!(four[16..20], [AF_INET, TCP, 0, 0]);
            assert_eq!(four[24..28], [0xc3, 0x50, 0x1b, 0x58]);
            assert_eq!(four[28..32], [127, 0, 0, 1]);
            assert_eq!(four[44..48], [127, 0, 0, 2]);
            let six = encode(ends("[::1]:50000", "[::1]:7000"), 9);
            assert_eq!(six.len(), REQUEST_BYTES);
            assert_eq!(six[16], AF_INET6);
            assert_eq!((six[43], six[59]), (1, 1));
        }

        #[test]
        fn a_reply_tells_the_user_and_only_of_the_socket_that_was_asked_for() {
            let asked = ends("127.0.0.1:50000", "127.0.0.1:7000");
            let socket = Socket {
                user: 1000,
                inode: 7,
                state: 1,
            };
            let told = reply(asked, 9, 1, 1000, 7);
            assert_eq!(decode(&told, asked, 9), Some(Ok(Some(socket))));
            assert_eq!(decode(&told, asked, 10), None, "an older request's");
            let listening = reply(ends("127.0.0.1:50000", "0.0.0.0:0"), 9, 10, 0, 8);
            assert_eq!(decode(&listening, asked, 9), Some(Ok(None)));
            assert_eq!(decode(&told[..60], asked, 9), Some(Err(TableError::Failed)));
            assert_eq!(decode(&[], asked, 9), None);
        }

        #[test]
        fn what_is_not_there_is_told_from_what_went_wrong() {
            let asked = ends("[::1]:50000", "[::1]:7000");
            let error = |number: i32| {
                let mut bytes = vec![0; HEAD_BYTES + 20];
                bytes[4..6].copy_from_slice(&ERROR.to_ne_bytes());
                bytes[8..12].copy_from_slice(&9_u32.to_ne_bytes());
                bytes[16..20].copy_from_slice(&number.to_ne_bytes());
                bytes
            };
            assert_eq!(decode(&error(NO_SUCH), asked, 9), Some(Ok(None)));
            assert_eq!(decode(&error(-22), asked, 9), Some(Err(TableError::Failed)));
        }
    }
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::os::fd::OwnedFd;
    use std::sync::{Mutex, PoisonError};

    use rustix::net::{
        AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    };

    use super::message::{REPLY_BYTES_MAX, decode, encode};
    use super::{Ends, Socket, TableError};

    /// The most replies that are searched for the right one; there is no other unless an error happened before.
    const REPLIES_MAX: usize = 4;

    /// A connection to the kernel, opened once, so that it is there when descriptors run out.
    #[derive(Debug)]
    pub(in crate::web::door) struct KernelTable {
        line: Option<Mutex<Line>>,
    }

    #[derive(Debug)]
    struct Line {
        socket: OwnedFd,
        sequence: u32,
        /// Whether it has found any socket yet.
        has_told: bool,
    }

    impl KernelTable {
        /// Opens the connection to the kernel, if there is one.
        pub(in crate::web::door) fn open() -> Self {
            let socket = socket_with(
                AddressFamily::NETLINK,
                SocketType::RAW,
                SocketFlags::CLOEXEC,
                Some(netlink::SOCK_DIAG),
            );
            let line = socket
                .inspect_err(|error| tracing::debug!(%error, "the kernel cannot be asked about sockets"))
                .ok()
                .map(|socket| Line {
                    socket,
                    sequence: 0,
                    has_told: false,
                });
            Self {
                line: line.map(Mutex::new),
            }
        }

        /// Looks for a socket.
        ///
        /// A kernel without the table gives the same reply as one whose table does not have the socket; it is trusted
        /// only after it has found one.
        pub(in crate::web::door) fn find(&self, ends: Ends) -> Result<Option<Socket>, TableError> {
            let line = self.line.as_ref().ok_or(TableError::Missing)?;
            let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
            let found = line.ask(ends);
            line.has_told |= matches!(found, Ok(Some(_)));
            if line.has_told {
                found
            } else {
                Err(TableError::Missing)
            }
        }
    }

    impl Line {
        /// Sends a request and reads the reply, which the kernel has written by the time the request is sent: this
        /// never blocks.
        fn ask(&mut self, ends: Ends) -> Result<Option<Socket>, TableError> {
            self.sequence = self.sequence.wrapping_add(1);
            let request = encode(ends, self.sequence);
            send(&self.socket, &request, SendFlags::DONTWAIT).map_err(|_| TableError::Failed)?;
            let mut buffer = [0; REPLY_BYTES_MAX];
            for _ in 0..REPLIES_MAX {
                let (bytes, _) =
                    recv(&self.socket, &mut buffer, RecvFlags::DONTWAIT).map_err(|_| TableError::Failed)?;
                if let Some(found) = decode(&buffer[..bytes], ends, self.sequence) {
                    return found;
                }
            }
            Err(TableError::Failed)
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod nowhere {
    use super::{Ends, Socket, TableError};

    /// Other systems have no such interface.
    #[derive(Debug)]
    pub(in crate::web::door) struct KernelTable;

    impl KernelTable {
        pub(in crate::web::door) fn open() -> Self {
            Self
        }

        pub(in crate::web::door) fn find(&self, _: Ends) -> Result<Option<Socket>, TableError> {
            Err(TableError::Missing)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_line_of_the_table_tells_ends_user_and_number() {
        let four = "   3: 0100007F:1F90 0200007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 4242 1 x";
        let (ends, socket) = parse_line(four).unwrap();
        assert_eq!(
            (ends.own, ends.other),
            (address("127.0.0.1:8080"), address("127.0.0.2:50000"))
        );
        assert_eq!((socket.user, socket.inode, socket.state), (1000, 4242, 1));
        assert!(socket.has_owner() && socket.is_established());
        let six = "0: 00000000000000000000000001000000:1F90 B80D0120000000000000000001000000:C350 08 0:0 0:0 0 7 0 0 1";
        let (ends, socket) = parse_line(six).unwrap();
        assert_eq!(
            (ends.own, ends.other),
            (address("[::1]:8080"), address("[2001:db8::1]:50000"))
        );
        assert!(!socket.has_owner() && !socket.is_established());
        let mapped = "0: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:C350 01 0:0 0:0 0 7 0 9 1";
        let (ends, _) = parse_line(mapped).unwrap();
        assert_eq!(ends.own, address("127.0.0.1:8080"));
    }

    #[test]
    fn what_is_no_line_of_the_table_is_passed_over() {
        for line in [
            "",
            "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode",
            "0: 0100007F:1F90",
            "0: 0100007:1F90 0200007F:C350 01 0:0 0:0 0 7 0 9",
            "0: 0100007F:1F90 0200007F:C350 01 0:0 0:0 0 x 0 9",
            "0: ééé:1F90 0200007F:C350 01 0:0 0:0 0 7 0 9",
        ] {
            assert_eq!(parse_line(line), None, "{line:?}");
        }
    }

    /// Both tables agree, also on a socket for IPv6 that speaks IPv4.
    #[test]
    #[cfg(target_os = "linux")]
    fn both_tables_find_the_same_socket() {
        use std::net::{TcpListener, TcpStream};
        let kernel = KernelTable::open();
        for to in ["127.0.0.1:0", "[::1]:0", "[::ffff:127.0.0.1]:0"] {
            let Ok(listener) = TcpListener::bind(to) else {
                continue;
            };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let canonical = |end: SocketAddr| SocketAddr::new(end.ip().to_canonical(), end.port());
            let ends = Ends {
                own: canonical(client.local_addr().unwrap()),
                other: canonical(client.peer_addr().unwrap()),
            };
            let read = proc_find(ends).unwrap().unwrap();
            assert_eq!(read.user, rustix::process::getuid().as_raw());
            assert!(read.has_owner() && read.is_established());
            // A kernel without the one still has the other.
            if let Ok(Some(asked)) = kernel.find(ends) {
                assert_eq!(asked, read, "{to}");
            }
            drop(listener);
        }
    }
}
