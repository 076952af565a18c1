//! The files of the page: those that were built into the binary, or those of a folder, read once.

use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use crate::reply::Error;

/// Names and contents of the files of `ui/dist` when this was built.
static BUILT: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// What is shown where the page was not built.
const MISSING: &str = "<!doctype html><meta charset=utf-8><title>partune view</title><h1>The page is not in this build</h1>\
    <p>The server answers (<a href=\"api/runs\">api/runs</a>), but its page was not built. Run <code>make ui</code> in the sources of \
    partune (it needs Node.js), then build partune again.</p>";

/// Files by name. Only these are ever sent: a path is looked up and never joined to a folder.
pub(crate) struct Assets(Vec<(String, Vec<u8>)>);

impl Assets {
    /// Those in the binary.
    pub(crate) fn built() -> Assets {
        Assets(BUILT.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec())).collect())
    }

    /// All files below a folder.
    pub(crate) fn read(folder: &Path) -> std::io::Result<Assets> {
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(below) = folders.pop() {
            for entry in std::fs::read_dir(folder.join(&below))? {
                let entry = entry?;
                let name = below.join(entry.file_name());
                if entry.file_type()?.is_dir() {
                    folders.push(name);
                } else {
                    files.push((name.to_string_lossy().into_owned(), std::fs::read(entry.path())?));
                }
            }
        }
        Ok(Assets(files))
    }

    /// The file at a path below the token; nothing is its first page.
    pub(crate) fn answer(&self, path: &str) -> Result<Response, Error> {
        let name = if path.is_empty() { "index.html" } else { path };
        match self.0.iter().find(|(known, _)| known == name) {
            Some((name, bytes)) => Ok(file(name, bytes.clone())),
            None if name == "index.html" => Ok(file(name, MISSING.as_bytes().to_vec())),
            None => Err(Error::not_found("there is no such file")),
        }
    }
}

fn file(name: &str, bytes: Vec<u8>) -> Response {
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
    ([(header::CONTENT_TYPE, HeaderValue::from_static(kind))], Body::from(bytes)).into_response()
}
