//! Connections: taken one by one, each with a limit of time for its headers, and finished before the server ends.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::JoinHandle,
};

use crate::tls::TlsContext;

/// The longest that a client may take to send its headers, or to send nothing between two requests.
const MAX_HEADER_TIME: Duration = Duration::from_secs(10);

/// Connections at once: each costs some memory, and a machine has few clients.
const MAX_CONNECTIONS: usize = 512;

/// The size of a buffer; the headers of a request may be twice as long at most.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The longest that requests under way are waited for when the server is to end.
const MAX_SHUTDOWN_TIME: Duration = Duration::from_secs(30);

/// The pause after connections could not be taken, as when there are too many open files.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Where clients come in.
pub(crate) struct Listeners {
    /// The address that is told to everyone.
    pub(crate) main: TcpListener,
    /// What closes lines through it to others.
    pub(crate) tls: Option<Arc<TlsContext>>,
    /// Without TLS, for programs of this machine, where the other has it.
    pub(crate) local: Option<TcpListener>,
}

/// What connections share.
struct ConnectionContext {
    router: Router,
    graceful: GracefulShutdown,
    shutting_down: watch::Sender<bool>,
}

/// Answers until `shutdown` comes, then finishes what is under way.
pub(crate) async fn serve(
    doors: Listeners,
    router: Router,
    closing: watch::Sender<bool>,
    shutdown: impl Future<Output = ()>,
) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let house =
        ConnectionContext { router, graceful: GracefulShutdown::new(), shutting_down: closing };
    let renewing = doors.tls.clone().map(|tls| tokio::spawn(tls.watch_files()));
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            (stream, place) = accept(&doors.main, &room) => house.spawn_connection(stream, place, doors.tls.clone()),
            (stream, place) = accept_optional(doors.local.as_ref(), &room) => house.spawn_connection(stream, place, None),
        }
    }
    drop(doors);
    renewing.inspect(JoinHandle::abort);
    // Nobody may be listening, which is no failure.
    house.shutting_down.send_replace(true);
    tracing::info!(connections = house.graceful.count(), "closing");
    if tokio::time::timeout(MAX_SHUTDOWN_TIME, house.graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests took too long and were cut off");
    }
}

/// The same as [`taken`], by a door that may not be there.
async fn accept_optional(
    listener: Option<&TcpListener>,
    room: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    match listener {
        Some(listener) => accept(listener, room).await,
        None => std::future::pending().await,
    }
}

/// The next connection, once there is room for it.
async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let place = Arc::clone(room).acquire_owned().await;
        match (listener.accept().await, place) {
            (Ok((stream, _)), Ok(place)) => return (stream, place),
            (failed, _) => {
                tracing::warn!(error = ?failed.err(), "a connection could not be taken");
                tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
}

impl ConnectionContext {
    /// Answers a client in a task of its own, so that one that is slow holds up nobody.
    fn spawn_connection(
        &self,
        stream: TcpStream,
        place: OwnedSemaphorePermit,
        tls: Option<Arc<TlsContext>>,
    ) {
        // Answers are small and whole: waiting to fill a packet only costs time.
        let _ = stream.set_nodelay(true);
        let (router, watcher) = (self.router.clone(), self.graceful.watcher());
        let Some(tls) = tls else {
            let answered = serve_connection(stream, router, watcher);
            tokio::spawn(async move {
                answered.await;
                drop(place);
            });
            return;
        };
        let mut closing = self.shutting_down.subscribe();
        tokio::spawn(async move {
            let shaken = tokio::select! {
                shaken = tls.handshake(stream) => shaken,
                _ = closing.wait_for(|is_closing| *is_closing) => None,
            };
            if let Some(stream) = shaken {
                serve_connection(stream, router, watcher).await;
            }
            drop(place);
        });
    }
}

/// Answers the requests of a connection, one after the other.
async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    router: Router,
    watcher: Watcher,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(MAX_HEADER_TIME)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection broke off");
    }
}
