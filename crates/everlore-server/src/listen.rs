//! Accepting connections: a bounded number (`connections.rs`), each with time limits for its headers and its writes,
//! finished before the server ends.

use std::{
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    Router,
    body::{Body, HttpBody},
    extract::Request,
    response::Response,
};
use hyper::{
    body::{Bytes, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinHandle,
};

use crate::{
    BoxFuture,
    client_stream::{ByteStream, ClientStream},
    connections::{AnswerGuard, Connection, ConnectionGuard, ConnectionTable, ReservedConnection},
    tasks,
    timeouts::Timeouts,
    tls::TlsContext,
};

/// Read buffer of a connection; the headers of a request may be at most twice as long.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Pause after a failed accept, as when the process has too many open files.
const ACCEPT_RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Response to a connection for which there is no room, written without waiting.
const BUSY_RESPONSE: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Open ports of a server.
pub(crate) struct Listeners {
    /// Listener on the advertised address.
    pub(crate) main: TcpListener,
    /// TLS of the main listener.
    pub(crate) tls: Option<Arc<TlsContext>>,
    /// Plain HTTP on the loopback address for local programs, where the main listener has TLS.
    pub(crate) local: Option<TcpListener>,
}

/// State that all connections share.
pub(crate) struct ConnectionContext {
    router: Router,
    table: Arc<ConnectionTable>,
    graceful: GracefulShutdown,
    shutting_down: watch::Sender<bool>,
    timeouts: Timeouts,
}

/// Parts of a server that its connections need.
pub(crate) struct ListenContext {
    /// Set to `true` when the connections should end.
    pub(crate) shutting_down: watch::Sender<bool>,
    pub(crate) timeouts: Timeouts,
}

/// Answers until `shutdown` completes and returns the open connections. The caller may close the ports before it finishes
/// them.
pub(crate) async fn serve(
    listeners: &Listeners,
    router: Router,
    listen: ListenContext,
    mut shutdown: BoxFuture<'static, ()>,
) -> ConnectionContext {
    let context = ConnectionContext {
        router,
        table: Arc::default(),
        graceful: GracefulShutdown::new(),
        shutting_down: listen.shutting_down,
        timeouts: listen.timeouts,
    };
    let reload = listeners.tls.clone().map(|tls| spawn_reload(tls, &context.timeouts));
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            (stream, peer) = accept(&listeners.main) => {
                context.spawn_connection(stream, peer, listeners.tls.clone());
            }
            (stream, peer) = accept_optional(listeners.local.as_ref()) => {
                context.spawn_connection(stream, peer, None);
            }
        }
    }
    reload.inspect(JoinHandle::abort);
    context
}

fn spawn_reload(tls: Arc<TlsContext>, timeouts: &Timeouts) -> JoinHandle<()> {
    tasks::spawn(Box::pin(tls.watch_files(timeouts.certificate_poll)))
}

/// Accepts like [`accept`] on a listener that may not exist.
async fn accept_optional(listener: Option<&TcpListener>) -> (TcpStream, SocketAddr) {
    match listener {
        Some(listener) => accept(listener).await,
        None => std::future::pending().await,
    }
}

/// Accepts the next connection.
async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_RETRY_PAUSE).await;
            }
        }
    }
}

impl ConnectionContext {
    /// Serves a client in a task of its own, so that a slow client delays no other.
    fn spawn_connection(&self, stream: TcpStream, peer: SocketAddr, tls: Option<Arc<TlsContext>>) {
        // An IPv4 client of a socket for both families is the same peer.
        let Some(guard) = self.table.admit(peer.ip().to_canonical()) else {
            tracing::warn!("a connection was refused: all places are in use");
            // Over TLS the client could not read it, and a full buffer is no reason to wait.
            let _ = stream.try_write(if tls.is_none() { BUSY_RESPONSE } else { &[] });
            return;
        };
        // Responses are small and complete: waiting to fill a packet only costs time.
        let _ = stream.set_nodelay(true);
        let (router, watcher) = (self.router.clone(), self.graceful.watcher());
        let (timeouts, shutting_down) = (self.timeouts.clone(), self.shutting_down.subscribe());
        tasks::spawn(Box::pin(async move {
            let connection = Arc::clone(&guard.connection);
            let served = async {
                if let Some(stream) = open_stream(stream, tls, &timeouts, shutting_down).await {
                    serve_connection(stream, router, watcher, &timeouts, &guard).await;
                }
            };
            tokio::select! {
                () = served => {}
                () = connection.closed() => tracing::debug!("a connection was closed to make room"),
            }
        }));
    }

    /// Asks open connections to end and waits for their running requests.
    pub(crate) async fn finish(self) {
        // No subscriber is no failure.
        self.shutting_down.send_replace(true);
        tracing::info!(connections = self.graceful.count(), "closing");
        if tokio::time::timeout(self.timeouts.shutdown, self.graceful.shutdown()).await.is_err() {
            tracing::warn!("some requests took too long and were cut off");
        }
    }
}

/// Returns the stream of a client, after a TLS handshake where there is a certificate; `None` if that fails.
async fn open_stream(
    stream: TcpStream,
    tls: Option<Arc<TlsContext>>,
    timeouts: &Timeouts,
    mut shutting_down: watch::Receiver<bool>,
) -> Option<Box<dyn ByteStream>> {
    let Some(tls) = tls else { return Some(Box::new(stream)) };
    tokio::select! {
        stream = tls.handshake(stream, timeouts.tls_handshake) => {
            stream.map(|stream| Box::new(stream) as Box<dyn ByteStream>)
        }
        _ = shutting_down.wait_for(|is_shutting_down| *is_shutting_down) => None,
    }
}

/// Answers the requests of a connection, one after the other.
async fn serve_connection(
    stream: Box<dyn ByteStream>,
    router: Router,
    watcher: Watcher,
    timeouts: &Timeouts,
    guard: &ConnectionGuard,
) {
    let connection = Arc::clone(&guard.connection);
    let stream = ClientStream::new(stream, Arc::clone(&connection), timeouts.write);
    let answer =
        service_fn(move |request| answer(router.clone(), Arc::clone(&connection), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeouts.headers)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), answer);
    if let Err(error) = watcher.watch(connection).await {
        tracing::debug!(%error, "a connection was interrupted");
    }
}

/// Answers one request; its connection counts as busy until the response is sent.
async fn answer(
    router: Router,
    connection: Arc<Connection>,
    request: hyper::Request<Incoming>,
) -> Result<Response<TrackedBody>, std::convert::Infallible> {
    let guard = connection.begin_answer();
    let mut request: Request = request.map(Body::new);
    if connection.is_reserved {
        request.extensions_mut().insert(ReservedConnection);
    }
    let response = TowerToHyperService::new(router).call(request).await;
    response.map(|response| response.map(|body| TrackedBody { body, _guard: guard }))
}

/// Response body that marks its connection as busy.
struct TrackedBody {
    body: Body,
    _guard: AnswerGuard,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
