//! Connections: who may hold one, how many there are, and for how long one may say nothing.
//!
//! Everybody on this machine can connect, whoever knows the token or not, so connections are what a stranger can take away. There are at most
//! so many; when one more comes, the oldest that has not shown the token is closed for it. A connection that does not send the whole head of
//! a request in time is closed too, also between two requests. Where the system has no descriptors left, accepting goes on after a pause.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// What connections may ask for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections at one time; a browser takes six.
    pub connections: usize,
    /// Until the head of a request is there, counted from the connection's begin or the end of the request before.
    pub head: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { connections: 128, head: Duration::from_secs(30) }
    }
}

/// Set once a connection has shown the token.
#[derive(Clone, Default)]
pub(crate) struct Known(Arc<AtomicBool>);

impl Known {
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Bytes of a request's head; a longer one is refused.
const HEAD: usize = 16 << 10;

/// How long accepting rests when the system refuses, since it has no descriptors: until a connection that was closed for it is gone; or
/// until somebody else gives one back.
const PAUSES: [Duration; 2] = [Duration::from_millis(1), Duration::from_millis(50)];

/// Connections that are open, the oldest first.
struct Open(VecDeque<(Known, AbortHandle)>);

/// Accepts and answers, forever. A panic of one connection is that connection's end.
pub(crate) async fn serve(listener: TcpListener, router: Router, limits: Limits) {
    let mut open = Open(VecDeque::new());
    loop {
        match listener.accept().await {
            Ok((stream, _)) => {
                if !open.make_room(limits.connections) {
                    continue;
                }
                let known = Known::default();
                let answers = answer(stream, router.clone().layer(Extension(known.clone())), limits);
                open.0.push_back((known, tokio::spawn(answers).abort_handle()));
            }
            // The other side went away before it was accepted.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => {}
            Err(_) => {
                let [short, long] = PAUSES;
                tokio::time::sleep(if open.close_stranger() { short } else { long }).await;
            }
        }
    }
}

/// Answers what comes on one connection. A client that says that nothing more will follow gets the answers to what it has asked.
pub(crate) async fn answer(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    limits: Limits,
) {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.head).max_buf_size(HEAD).half_close(true);
    // What went wrong is between the two sides: the browser shows it.
    let _ = builder.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router)).await;
}

impl Open {
    /// Whether there is room for one more, if need be in place of a stranger.
    fn make_room(&mut self, limit: usize) -> bool {
        self.0.retain(|(_, task)| !task.is_finished());
        self.0.len() < limit || self.close_stranger()
    }

    /// Closes the oldest connection that has not shown the token.
    fn close_stranger(&mut self) -> bool {
        let oldest = self.0.iter().position(|(known, _)| !known.is_set());
        let closed = oldest.and_then(|at| self.0.remove(at));
        closed.inspect(|(_, task)| task.abort()).is_some()
    }
}
