//! The files of the pages as replies.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use partune_pages::Assets;

use crate::reply::Error;

/// What is shown where the pages were not built.
const MISSING: &str = "<!doctype html><meta charset=utf-8><title>partune view</title><h1>The page is not in this build</h1>\
    <p>The server answers (<a href=\"api/runs\">api/runs</a>), but its page was not built. Run <code>make ui</code> in the sources of \
    partune (it needs Node.js), then build partune again.</p>";

/// The file at a path below the token; nothing is its first page.
pub(crate) fn asset(assets: &Assets, path: &str) -> Result<Response, Error> {
    let name = if path.is_empty() { "index.html" } else { path };
    let missing = (name == "index.html").then_some(MISSING.as_bytes());
    let bytes = assets.get(name).or(missing).ok_or_else(|| Error::not_found("there is no such file"))?;
    let kind = match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "json" | "map" => "application/json",
        "txt" => "text/plain; charset=utf-8",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    };
    Ok(([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from(bytes.to_vec())).into_response())
}
