//! Who may ask what: the token, the host, the method, and addresses that mean one thing only.

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::connections::Known;
use crate::reply::Error;
use crate::token::Token;

/// Bytes of an address.
const ADDRESS: usize = 4096;

/// Nothing but what the server itself sends.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const HEADERS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cache-control", "no-store"),
];

/// Lets only those questions through that may be asked, and puts the same headers on every answer.
pub(crate) async fn guard(
    State(token): State<Token>,
    Extension(known): Extension<Known>,
    request: Request,
    next: Next,
) -> Response {
    let mut response = match allowed(&token, &request) {
        Ok(()) => {
            known.set();
            next.run(request).await
        }
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn allowed(token: &Token, request: &Request) -> Result<(), Error> {
    if !is_local(request.headers()) {
        let remedy = "use the address that partune view printed";
        return Err(Error::new(StatusCode::FORBIDDEN, "another host is meant", remedy));
    }
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let remedy = "ask with GET or HEAD";
        return Err(Error::new(StatusCode::METHOD_NOT_ALLOWED, "nothing can be changed here", remedy));
    }
    let path = request.uri().path();
    let query = request.uri().query().unwrap_or_default();
    if path.len() + query.len() > ADDRESS {
        return Err(Error::new(StatusCode::URI_TOO_LONG, "the address is too long", "ask for less"));
    }
    let mut parts = path.strip_prefix('/').unwrap_or(path).split('/');
    if !token.is(parts.next().unwrap_or_default()) {
        let remedy = "use the address that partune view printed, with all of its letters";
        return Err(Error::new(StatusCode::FORBIDDEN, "the token is missing or wrong", remedy));
    }
    let odd = |part: &str| part == "." || part == ".." || part.contains(['%', '\\', ';']);
    if parts.any(odd) {
        let remedy = "paths have plain letters only";
        return Err(Error::new(StatusCode::BAD_REQUEST, "the path does not mean one thing", remedy));
    }
    Ok(())
}

/// Whether a page of another name that leads to this machine cannot be the one that asks.
fn is_local(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(host) = host.to_str() else { return false };
    let (name, port) = host.rsplit_once(':').unwrap_or((host, "0"));
    (name == "127.0.0.1" || name == "localhost") && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_meant() {
        let check = |hosts: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for host in hosts {
                headers.append(header::HOST, HeaderValue::from_static(host));
            }
            is_local(&headers)
        };
        assert!(check(&["127.0.0.1:8080"]) && check(&["localhost:1"]) && check(&["localhost"]));
        let wrong = ["evil.example:8080", "127.0.0.1.evil.example", "localhost:x", "", "127.0.0.1@evil:1", "[::1]:1"];
        assert!(wrong.iter().all(|host| !check(&[host])));
        assert!(!check(&[]) && !check(&["localhost", "localhost"]));
    }
}
