//! Connections as strangers hold them: many, idle, half a request, and what that costs who knows the token.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use partune_server::Limits;

use crate::site::{Site, start};

/// Longer than any test.
const NEVER: Duration = Duration::from_hours(1);

fn connect(site: &Site) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", site.port)).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_mins(1))).expect("a socket has time-outs");
    stream
}

/// Asks over a connection that stays open. The status; none if it was closed.
fn ask(stream: &mut TcpStream, site: &Site, token: &str) -> Option<String> {
    let request = format!("HEAD /{token}/api/runs HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", site.port);
    // What is closed cannot be written to, which reading shows.
    let _ = stream.write_all(request.as_bytes());
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return None,
        }
    }
    String::from_utf8_lossy(&head).split(' ').nth(1).map(str::to_owned)
}

/// What comes until the other side closes; fails if it does not.
fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut bytes = Vec::new();
    match stream.read_to_end(&mut bytes) {
        Ok(_) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => bytes,
        Err(error) => panic!("it stays open: {error}"),
    }
}

#[test]
fn strangers_make_room() {
    let site = start(Vec::new(), Limits { connections: 8, head: NEVER });
    let mut known = connect(&site);
    assert_eq!(ask(&mut known, &site, &site.token).as_deref(), Some("200"));
    let mut wrong = connect(&site);
    assert_eq!(ask(&mut wrong, &site, "guess").as_deref(), Some("403"));
    let mut idle: Vec<TcpStream> = (0..100).map(|_| connect(&site)).collect();
    assert_eq!(site.get("runs").status, 200, "one more is answered");
    assert_eq!(ask(&mut known, &site, &site.token).as_deref(), Some("200"), "who showed the token stays");
    assert_eq!(ask(&mut wrong, &site, &site.token), None, "who did not was closed, and the oldest first");
    assert_eq!(rest(&mut idle[0]), b"");
    assert_eq!(ask(&mut idle[99], &site, &site.token).as_deref(), Some("200"), "the newest were not");
}

#[test]
fn who_knows_the_token_keeps_the_connection() {
    let site = start(Vec::new(), Limits { connections: 4, head: NEVER });
    let mut known: Vec<TcpStream> = (0..4).map(|_| connect(&site)).collect();
    for stream in &mut known {
        assert_eq!(ask(stream, &site, &site.token).as_deref(), Some("200"));
    }
    assert_eq!(ask(&mut connect(&site), &site, &site.token), None, "there is no room");
    for stream in &mut known {
        assert_eq!(ask(stream, &site, &site.token).as_deref(), Some("200"));
    }
    known.truncate(3);
    // The server sees the end of a connection a moment after it.
    let asked = (0..600).find(|_| {
        std::thread::sleep(Duration::from_millis(50));
        ask(&mut connect(&site), &site, &site.token).is_some()
    });
    assert!(asked.is_some(), "there is room again");
}

#[test]
fn who_says_nothing_is_closed() {
    let site = start(Vec::new(), Limits { head: Duration::from_millis(200), ..Limits::default() });
    for said in ["", "GET /", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"] {
        let mut stream = connect(&site);
        stream.write_all(said.as_bytes()).unwrap();
        let bytes = rest(&mut stream);
        assert!(!String::from_utf8_lossy(&bytes).contains("200"), "{said}");
    }
    // On a busy machine the first may come too late.
    let answered = (0..100).find_map(|_| {
        let mut stream = connect(&site);
        ask(&mut stream, &site, &site.token).map(|status| (stream, status))
    });
    let (mut stream, status) = answered.expect("what is said in time is answered");
    assert_eq!(status, "200");
    assert_eq!(rest(&mut stream), b"", "a connection that asks no more is closed");
}
