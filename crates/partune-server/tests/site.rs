//! One server for all tests, with all archives that are present, and a client that sends bytes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use partune_pages::{Opening, Sources};
use partune_server::{Limits, Server, Settings};
use serde_json::Value;

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}: {text:.200}", self.status))
    }
}

/// Where the server is.
pub(crate) struct Site {
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Site {
    /// Sends bytes as they are, and reads until the other side is done.
    pub(crate) fn send(&self, bytes: &[u8]) -> Reply {
        self.exchange(bytes, false)
    }

    /// The same, and nothing will follow.
    pub(crate) fn send_all(&self, bytes: &[u8]) -> Reply {
        self.exchange(bytes, true)
    }

    fn exchange(&self, bytes: &[u8], end: bool) -> Reply {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket has time-outs");
        // A server that has read enough may have closed it.
        let _ = stream.write_all(bytes);
        if end {
            // It may have been closed already.
            let _ = stream.shutdown(Shutdown::Write);
        }
        let mut reply = Vec::new();
        // A server that closes early has said what it wanted to.
        let _ = stream.read_to_end(&mut reply);
        let split = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or(reply.len());
        let head = String::from_utf8_lossy(&reply[..split]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head, body: reply.get(split + 4..).unwrap_or_default().to_vec() }
    }

    /// Asks for a path as it is.
    pub(crate) fn path(&self, method: &str, path: &str) -> Reply {
        let port = self.port;
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").as_bytes())
    }

    /// Asks the API.
    pub(crate) fn get(&self, question: &str) -> Reply {
        self.path("GET", &format!("/{}/api/{question}", self.token))
    }

    /// An answer that must be there, and no larger than any answer may be.
    #[track_caller]
    pub(crate) fn ask(&self, question: &str) -> Value {
        let reply = self.get(question);
        assert_eq!(reply.status, 200, "{question}: {}", String::from_utf8_lossy(&reply.body));
        assert!(reply.body.len() < 8 << 20, "{question}: {} bytes", reply.body.len());
        reply.json()
    }
}

/// The server, when all of its runs are open or failed.
pub(crate) fn site() -> &'static Site {
    static SITE: OnceLock<Site> = OnceLock::new();
    SITE.get_or_init(|| {
        let mut archives = archives();
        archives.push(PathBuf::from("/no/such/archive"));
        let site = start(archives, Limits::default());
        let begin = Instant::now();
        while site.ask("runs").as_array().unwrap().iter().any(|run| run["state"] == "opening") {
            assert!(begin.elapsed() < Duration::from_mins(10), "archives are not opened");
            std::thread::sleep(Duration::from_millis(50));
        }
        site
    })
}

pub(crate) fn start(archives: Vec<PathBuf>, limits: Limits) -> Site {
    let settings = Settings {
        archives,
        port: 0,
        token: None,
        sources: Sources::default(),
        opening: Opening::default(),
        page: None,
        limits,
    };
    let server = Server::bind(settings).expect("a port is free");
    let url = server.url();
    let (address, token) = url.strip_prefix("http://127.0.0.1:").unwrap().split_once('/').unwrap();
    let site = Site { port: address.parse().unwrap(), token: token.trim_end_matches('/').to_owned() };
    std::thread::spawn(move || server.serve_until(std::future::pending()));
    site
}

/// All archives that are present: shared ones, and those of the examples.
fn archives() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = partune_testkit::outside::traces().map_or_else(Vec::new, |shared| folders(&shared.join("otf2")));
    found.extend(folders(&workspace.join("examples/archives")));
    assert!(!found.is_empty(), "those of the examples are always there");
    found
}

fn folders(collection: &Path) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(collection).into_iter().flatten().flatten().map(|folder| folder.path());
    let mut folders: Vec<PathBuf> = folders.filter(|folder| folder.is_dir()).collect();
    folders.sort();
    folders
}
