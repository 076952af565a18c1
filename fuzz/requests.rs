//! What the fuzz target of the server does with its input: the bytes of a connection, in which `TOKEN` stands for the token.
//!
//! For `fuzz_targets/requests.rs` and for the tests of `partune-server`. Without the token nothing is answered but refusals; with it,
//! every answer of the API is JSON, and none says that the server failed.

use std::path::Path;
use std::sync::OnceLock;

use partune_pages::{Opening, Sources};
use partune_server::{Limits, Server, Settings};

/// What stands for the token in an input.
const TOKEN: &[u8] = b"TOKEN";

/// The bytes of a connection; the status of the first reply, if there is one.
pub(crate) fn requests(bytes: &[u8]) -> Option<u16> {
    let server = server();
    let url = server.url();
    let token = url.trim_end_matches('/').rsplit('/').next().expect("an address has a token").as_bytes();
    let sent = replaced(bytes, token);
    let reply = server.exchange(&sent);
    let has_token = sent.windows(token.len()).any(|part| part == token);
    let head_end = reply.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&reply[..head_end]).to_lowercase();
    let status: u16 = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a reply has a status");
    assert!((200..500).contains(&status), "{head}");
    assert!(has_token || status >= 400, "{head}");
    let field = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    let length = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let body = reply[head_end + 4..].get(..length).filter(|_| !bytes.starts_with(b"HEAD"));
    if let (Some("application/json"), Some(body)) = (field("content-type"), body) {
        let read: Result<serde_json::Value, _> = serde_json::from_slice(body);
        assert!(read.is_ok(), "{head}\n{}", String::from_utf8_lossy(body));
    }
    Some(status)
}

/// One server for all inputs, with an archive, a profile, another archive, and none.
fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR"));
        let examples =
            examples.ancestors().map(|folder| folder.join("examples/archives")).find(|folder| folder.is_dir());
        let examples = examples.expect("the examples are above");
        let settings = Settings {
            archives: ["ring", "ring_profile", "addresses", "none"].map(|name| examples.join(name)).into(),
            port: 0,
            token: None,
            opening: Opening::default(),
            sources: Sources::default(),
            page: None,
            limits: Limits::default(),
        };
        Server::bind(settings).expect("a port is free")
    })
}

fn replaced(bytes: &[u8], token: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    let mut rest = bytes;
    while let Some(at) = rest.windows(TOKEN.len()).position(|part| part == TOKEN) {
        sent.extend_from_slice(&rest[..at]);
        sent.extend_from_slice(token);
        rest = &rest[at + TOKEN.len()..];
    }
    sent.extend_from_slice(rest);
    sent
}
