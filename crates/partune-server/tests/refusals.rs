//! What is refused, and that it harms nothing.

use crate::site::{Reply, site};

/// That it was refused as it should be, with a reason, and that the server goes on.
#[track_caller]
fn refused(reply: &Reply, status: u16, what: &str) {
    assert_eq!(reply.status, status, "{what}: {}", String::from_utf8_lossy(&reply.body));
    if !reply.body.is_empty() {
        let error = reply.json();
        assert!(error["error"].as_str().is_some_and(|text| !text.is_empty()), "{what}: {error}");
        assert!(error["remedy"].is_string(), "{what}: {error}");
    }
    assert_eq!(site().get("runs").status, 200, "after {what}");
}

#[test]
fn without_the_token_nothing_is_told() {
    let site = site();
    let token = &site.token;
    let mut wrong = token.clone();
    wrong.replace_range(31..32, if token.ends_with('0') { "1" } else { "0" });
    let upper = token.to_uppercase();
    let paths = [
        "/",
        "/api/runs",
        "//api/runs",
        "/index.html",
        &format!("/{wrong}/api/runs"),
        &format!("/{}/api/runs", &token[..31]),
    ];
    for path in paths {
        refused(&site.path("GET", path), 403, path);
    }
    refused(&site.path("GET", &format!("/{token}x/api/runs")), 403, "a longer token");
    refused(&site.path("GET", &format!("/api/{token}/runs")), 403, "a token elsewhere");
    if upper != *token {
        refused(&site.path("GET", &format!("/{upper}/")), 403, "a token in upper case");
    }
    assert_eq!(token.len(), 32);
}

#[test]
fn another_host_is_another_site() {
    let site = site();
    for host in ["evil.example", "127.0.0.1.evil.example", "0.0.0.0", "[::1]", "localhost:99999", ""] {
        let request = format!("GET /{}/api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n", site.token);
        refused(&site.send(request.as_bytes()), 403, host);
    }
    let none = format!("GET /{}/api/runs HTTP/1.0\r\n\r\n", site.token);
    refused(&site.send(none.as_bytes()), 403, "no host");
    let local =
        format!("GET /{}/api/runs HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\r\n", site.token, site.port);
    assert_eq!(site.send(local.as_bytes()).status, 200);
}

#[test]
fn nothing_can_be_changed() {
    let site = site();
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "BREW"] {
        refused(&site.path(method, &format!("/{}/api/runs", site.token)), 405, method);
        refused(&site.path(method, &format!("/{}/", site.token)), 405, method);
    }
    let head = site.path("HEAD", &format!("/{}/api/runs", site.token));
    assert_eq!((head.status, head.body.len()), (200, 0));
}

#[test]
fn paths_lead_nowhere_else() {
    let site = site();
    let token = &site.token;
    for path in [
        "../Cargo.toml",
        "..",
        ".",
        "assets/../../x",
        "api/../index.html",
        "%2e%2e/x",
        "%2e%2e%2fetc%2fpasswd",
        "..%5cx",
        "a%00b",
        "a;b",
        "api/runs/%30/pes",
    ] {
        refused(&site.path("GET", &format!("/{token}/{path}")), 400, path);
    }
    for path in [
        "etc/passwd",
        "/etc/passwd",
        "Cargo.toml",
        "api",
        "api/",
        "api/nothing",
        "api/runs/",
        "api/runs/0",
        "api/runs/0/",
        "api/runs/0/nothing",
        "api/runs/0/pes/",
        "api/runs/0/pes/0",
        "api/runs/0/findings/x/next/y",
        "api/runs/0/findings/no-such-id",
        "api/runs/-1/pes",
        "api/runs/99999999999999999999/pes",
        "api/runs/1000/pes",
        "api/runs/x/pes",
        "api/compare?runs=x,0",
        "api/compare?runs=0,1000",
        "api/compare?runs=",
        "api/compare/x",
        "api//runs",
    ] {
        refused(&site.path("GET", &format!("/{token}/{path}")), 404, path);
    }
    let long = "x".repeat(5000);
    refused(&site.get(&format!("runs/0/find?text={long}")), 414, "a long text");
}

#[test]
fn questions_that_make_no_sense_are_told_so() {
    let site = site();
    let questions = [
        "runs?x=1",
        "runs/0/pes?x=1",
        "runs/0/kinds?run=0",
        "runs/0/summary?x",
        "runs/0/timeline?from=x",
        "runs/0/timeline?from=1.5",
        "runs/0/timeline?from=",
        "runs/0/timeline?from=5&to=5",
        "runs/0/timeline?from=9&to=3",
        "runs/0/timeline?from=99999999999999999999",
        "runs/0/timeline?from=1&from=2",
        "runs/0/timeline?columns=0",
        "runs/0/timeline?columns=4097",
        "runs/0/timeline?columns=-1",
        "runs/0/timeline?rows=0",
        "runs/0/timeline?rows=513",
        "runs/0/timeline?pes=0",
        "runs/0/timeline?first=4294967295",
        "runs/0/timeline?first=4294967296",
        "runs/0/timeline?group=planet",
        "runs/0/timeline?rows=%zz",
        "runs/0/timeline?rows=%ff",
        "runs/0/at",
        "runs/0/at?pe=0",
        "runs/0/at?time=0",
        "runs/0/at?pe=4294967295&time=0",
        "runs/0/at?pe=-1&time=0",
        "runs/0/find",
        "runs/0/find?text=",
        "runs/0/next?after=0",
        "runs/0/next?region=0",
        "runs/0/next?region=4294967295&after=0",
        "runs/0/next?region=0&after=0&back=2",
        "runs/0/tree?path=4294967295",
        "runs/0/tree?depth=0",
        "runs/0/tree?depth=65",
        "runs/0/balance?rows=513",
        "runs/0/balance?columns=201",
        "runs/0/matrix?by=colour",
        "runs/0/matrix?rows=257",
        "compare?runs=0",
        "compare?runs=0,0",
        "compare?run=0,1",
        "scaling?runs=0,1&mode=odd",
        "scaling?runs=0",
    ];
    for question in questions {
        refused(&site.get(question), 400, question);
    }
}

#[test]
fn a_run_that_is_not_there_does_not_keep_the_others() {
    let site = site();
    let runs = site.ask("runs");
    let last = runs.as_array().unwrap().last().unwrap();
    assert_eq!(last["state"], "failed");
    assert!(last["message"].as_str().unwrap().contains("/no/such/archive"), "{last}");
    assert!(!last["remedy"].as_str().unwrap().is_empty());
    refused(&site.get(&format!("runs/{}/pes", last["run"])), 409, "a run that failed");
}

#[test]
fn bytes_that_are_no_question_end_the_connection_only() {
    let site = site();
    for bytes in
        [&b"\0\0\0\0\r\n\r\n"[..], b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", &[0xff; 3000], &vec![b'a'; 70_000]]
    {
        let reply = site.send_all(bytes);
        assert!(reply.status == 0 || (400..500).contains(&reply.status), "{}", reply.status);
        assert_eq!(site.get("runs").status, 200);
    }
}

#[test]
fn every_answer_keeps_the_page_to_itself() {
    let site = site();
    let paths = [format!("/{}/", site.token), format!("/{}/api/runs", site.token), "/wrong".to_owned()];
    for path in paths {
        let head = site.path("GET", &path).head;
        for header in [
            "content-security-policy: default-src 'none'",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "cache-control: no-store",
        ] {
            assert!(head.contains(header), "{path} lacks {header}:\n{head}");
        }
        assert!(!head.contains("access-control"), "{head}");
    }
    let plain = site.path("GET", &format!("/{}", site.token));
    assert_eq!(plain.status, 308);
    assert!(plain.head.contains(&format!("location: /{}/", site.token)), "{}", plain.head);
}
