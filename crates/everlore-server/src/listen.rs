//! Accepting connections: a bounded number, each with a time limit for its headers, finished before the server ends.

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

use crate::{app::App, response::BoxFuture, tasks, timeouts::Timeouts, tls::TlsContext};

/// Concurrent connections: each costs some memory, and one machine has few clients.
const MAX_CONNECTIONS: usize = 512;

/// Read buffer of a connection; the headers of a request may be at most twice as long.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Pause after a failed accept, as when the process has too many open files.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Open ports of a server.
pub(crate) struct Listeners {
    /// Listener on the advertised address.
    pub(crate) main: TcpListener,
    /// TLS of the main listener.
    pub(crate) tls: Option<Arc<TlsContext>>,
    /// Plain HTTP on the loopback address for local programs, where the main listener has TLS.
    pub(crate) local: Option<TcpListener>,
}

/// Byte stream of a client, with or without TLS. One type for both: hyper's connection is large to compile.
trait ClientStream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> ClientStream for T {}

/// State that all connections share.
struct ConnectionContext {
    router: Router,
    graceful: GracefulShutdown,
    shutting_down: watch::Sender<bool>,
    timeouts: Timeouts,
}

/// Answers until `shutdown` completes, then finishes running requests.
pub(crate) async fn serve(
    listeners: Listeners,
    router: Router,
    app: &App,
    mut shutdown: BoxFuture<'static, ()>,
) {
    let free_slots = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let context = ConnectionContext {
        router,
        graceful: GracefulShutdown::new(),
        shutting_down: app.shutting_down.clone(),
        timeouts: app.options.timeouts.clone(),
    };
    let reload = listeners.tls.clone().map(|tls| spawn_reload(tls, &context.timeouts));
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            (stream, permit) = accept(&listeners.main, &free_slots) => {
                context.spawn_connection(stream, permit, listeners.tls.clone());
            }
            (stream, permit) = accept_optional(listeners.local.as_ref(), &free_slots) => {
                context.spawn_connection(stream, permit, None);
            }
        }
    }
    drop(listeners);
    reload.inspect(JoinHandle::abort);
    context.finish().await;
}

fn spawn_reload(tls: Arc<TlsContext>, timeouts: &Timeouts) -> JoinHandle<()> {
    tasks::spawn(Box::pin(tls.watch_files(timeouts.certificate_poll)))
}

/// Accepts like [`accept`] on a listener that may not exist.
async fn accept_optional(
    listener: Option<&TcpListener>,
    free_slots: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    match listener {
        Some(listener) => accept(listener, free_slots).await,
        None => std::future::pending().await,
    }
}

/// Accepts the next connection, once a slot is free for it.
async fn accept(
    listener: &TcpListener,
    free_slots: &Arc<Semaphore>,
) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let permit = Arc::clone(free_slots).acquire_owned().await;
        match (listener.accept().await, permit) {
            (Ok((stream, _)), Ok(permit)) => return (stream, permit),
            (failed, _) => {
                tracing::warn!(error = ?failed.err(), "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
}

impl ConnectionContext {
    /// Serves a client in a task of its own, so that a slow client delays no other.
    fn spawn_connection(
        &self,
        stream: TcpStream,
        permit: OwnedSemaphorePermit,
        tls: Option<Arc<TlsContext>>,
    ) {
        // Responses are small and complete: waiting to fill a packet only costs time.
        let _ = stream.set_nodelay(true);
        let (router, watcher) = (self.router.clone(), self.graceful.watcher());
        let (timeouts, mut shutting_down) = (self.timeouts.clone(), self.shutting_down.subscribe());
        tasks::spawn(Box::pin(async move {
            let stream: Option<Box<dyn ClientStream>> = match tls {
                None => Some(Box::new(stream)),
                Some(tls) => tokio::select! {
                    stream = tls.handshake(stream, timeouts.tls_handshake) => {
                        stream.map(|stream| Box::new(stream) as Box<dyn ClientStream>)
                    }
                    _ = shutting_down.wait_for(|is_shutting_down| *is_shutting_down) => None,
                },
            };
            if let Some(stream) = stream {
                serve_connection(stream, router, watcher, timeouts.headers).await;
            }
            drop(permit);
        }));
    }

    /// Asks open connections to end and waits for their running requests.
    async fn finish(self) {
        // No subscriber is no failure.
        self.shutting_down.send_replace(true);
        tracing::info!(connections = self.graceful.count(), "closing");
        if tokio::time::timeout(self.timeouts.shutdown, self.graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests took too long and were cut off");
        }
    }
}

/// Answers the requests of a connection, one after the other.
async fn serve_connection(
    stream: Box<dyn ClientStream>,
    router: Router,
    watcher: Watcher,
    header_timeout: Duration,
) {
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection was interrupted");
    }
}
