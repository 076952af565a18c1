//! The socket, and which question goes where.

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Once};

use axum::extract::{Path, RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router, middleware};
use partune_pages::{Assets, Opening, Runs, Sources};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::signal::unix::{SignalKind, signal};

use crate::access::guard;
use crate::assets::asset;
use crate::connections::{self, Known, Limits};
use crate::reply::{Error, reply};
use crate::token::Token;

/// Questions that are worked on at the same time; others wait.
const WORKERS: usize = 8;

/// What to show, and how.
pub struct Settings {
    /// Archives, opened in this order.
    pub archives: Vec<PathBuf>,
    /// The port; 0: one that is free.
    pub port: u16,
    /// Where the token is kept, so that addresses stay what they were; without it each start has its own.
    pub token: Option<PathBuf>,
    pub opening: Opening,
    /// Folders with source files whose text may be shown.
    pub sources: Sources,
    /// Take the page from this folder instead of the binary, to work on it.
    pub page: Option<PathBuf>,
    pub limits: Limits,
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("port {port} of 127.0.0.1 cannot be used: {error}\n  remedy: give another one with --port, or none")]
    Listen { port: u16, error: std::io::Error },
    #[error("{}: {error}\n  remedy: give the folder that the page was built to", path.display())]
    Page { path: PathBuf, error: std::io::Error },
    #[error("{}: {error}\n  remedy: give a file that is yours alone and that this made, or remove it, for a new token", path.display())]
    Token { path: PathBuf, error: std::io::Error },
    #[error("there are no random numbers: {0}")]
    Random(getrandom::Error),
    #[error("cannot start threads: {0}")]
    Threads(std::io::Error),
}

/// A server that listens, and does not answer yet.
pub struct Server {
    runtime: Runtime,
    listener: TcpListener,
    address: SocketAddr,
    token: Token,
    shared: Arc<Shared>,
    settings: Settings,
    /// Whether archives were opened for [`Server::exchange`].
    opened: Once,
}

/// What all questions see.
struct Shared {
    runs: Runs,
    assets: Assets,
}

impl Server {
    /// Takes a port of the loopback, and makes a token.
    pub fn bind(settings: Settings) -> Result<Server, ServeError> {
        let assets = match &settings.page {
            Some(path) => Assets::read(path).map_err(|error| ServeError::Page { path: path.clone(), error })?,
            None => Assets::built(),
        };
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(WORKERS)
            .enable_all()
            .build()
            .map_err(ServeError::Threads)?;
        let port = settings.port;
        let listen = |error| ServeError::Listen { port, error };
        let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, port))).map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let token = Token::new().map_err(ServeError::Random)?;
        let token = match &settings.token {
            Some(path) => token.kept(path).map_err(|error| ServeError::Token { path: path.clone(), error })?,
            None => token,
        };
        let shared = Arc::new(Shared {
            runs: Runs::new(settings.archives.clone()).with_sources(settings.sources.clone()),
            assets,
        });
        Ok(Server { runtime, listener, address, token, shared, settings, opened: Once::new() })
    }

    /// The address of the page.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token.as_str())
    }

    /// The bytes that a client gets for these bytes, without a socket: for whoever tries what can be asked. Archives are opened before the first.
    pub fn exchange(&self, bytes: &[u8]) -> Vec<u8> {
        self.opened.call_once(|| self.shared.runs.open(&self.settings.opening));
        let (client, stream) = tokio::io::duplex(bytes.len() + 1);
        let router = router(Arc::clone(&self.shared), self.token.clone()).layer(Extension(Known::default()));
        let (mut replies, mut asked) = tokio::io::split(client);
        let mut reply = Vec::new();
        self.runtime.block_on(async {
            let ask = async {
                // A server that has read enough may have closed it.
                let _ = asked.write_all(bytes).await;
                let _ = asked.shutdown().await;
            };
            let answers = connections::answer(stream, router, self.settings.limits);
            let _ = tokio::join!(ask, answers, replies.read_to_end(&mut reply));
        });
        reply
    }

    /// Ctrl-C, or a request to terminate, from now on: for [`Server::serve_until`]. Who is to be told of the address is told after this, so that
    /// no end comes before it is heard.
    pub fn signals(&self) -> impl Future<Output = ()> + use<> {
        let _inside = self.runtime.enter();
        let heard = signal(SignalKind::terminate()).and_then(|it| Ok((it, signal(SignalKind::interrupt())?)));
        async {
            // Where signals cannot be heard, the default ends the process.
            let Ok((mut terminate, mut interrupt)) = heard else { return std::future::pending().await };
            tokio::select! {
                _ = terminate.recv() => (),
                _ = interrupt.recv() => (),
            }
        }
    }

    /// Answers until something ends it, and opens the archives meanwhile.
    pub fn serve_until(self, end: impl Future<Output = ()>) {
        let Server { runtime, listener, token, shared, settings, .. } = self;
        let limits = settings.limits;
        let opened = Arc::clone(&shared);
        std::thread::spawn(move || opened.runs.open(&settings.opening));
        let router = router(shared, token);
        runtime.block_on(async {
            tokio::select! {
                () = connections::serve(listener, router, limits) => (),
                () = end => (),
            }
        });
        // What is being worked on is not waited for.
        runtime.shutdown_background();
    }
}

fn router(shared: Arc<Shared>, token: Token) -> Router {
    Router::new()
        .route("/{token}/api/{*question}", get(question))
        .fallback(file)
        .with_state(shared)
        .layer(middleware::from_fn_with_state(token, guard))
}

/// A question to the API. It is worked on where it keeps no other one from being heard.
async fn question(
    State(shared): State<Arc<Shared>>,
    Path((_, question)): Path<(String, String)>,
    RawQuery(query): RawQuery,
) -> Response {
    let work = move || partune_pages::answer(&shared.runs, &question, &query.unwrap_or_default());
    let failed = |_| {
        let error = "partune failed on this question, and should not have";
        Error::new(StatusCode::INTERNAL_SERVER_ERROR, error, "report it with the archive").into_response()
    };
    tokio::task::spawn_blocking(work).await.map_or_else(failed, reply)
}

/// A file of the pages.
async fn file(State(shared): State<Arc<Shared>>, uri: axum::http::Uri) -> Response {
    // The guard has seen the token.
    let mut parts = uri.path().splitn(3, '/').skip(2);
    match parts.next() {
        Some(path) => asset(&shared.assets, path).into_response(),
        // Without the last stroke, links of the page would leave the token out.
        None => axum::response::Redirect::permanent(&format!("{}/", uri.path())).into_response(),
    }
}
