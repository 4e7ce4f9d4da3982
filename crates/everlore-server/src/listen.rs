//! Connections: taken one by one, each with a limit of time for its headers, and finished before the server ends.

use std::{sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

/// The longest that a client may take to send its headers, or to send nothing between two requests.
const MAX_HEADER_TIME: Duration = Duration::from_secs(10);

/// Connections at once: each costs some memory, and a machine has few clients.
const MAX_CONNECTIONS: usize = 512;

/// The size of a buffer; the headers of a request may be twice as long at most.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// The longest that requests under way are waited for when the server is to end.
const MAX_CLOSING_TIME: Duration = Duration::from_secs(30);

/// The pause after connections could not be taken, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers until `shutdown` comes, then finishes what is under way.
pub(crate) async fn run(
    listener: TcpListener,
    router: Router,
    closing: watch::Sender<bool>,
    shutdown: impl Future<Output = ()>,
) {
    let (graceful, room) = (GracefulShutdown::new(), Arc::new(Semaphore::new(MAX_CONNECTIONS)));
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            () = &mut shutdown => break,
            (stream, place) = taken(&listener, &room) => serve(stream, place, router.clone(), &graceful),
        }
    }
    drop(listener);
    // Nobody may be listening, which is no failure.
    closing.send_replace(true);
    tracing::info!(connections = graceful.count(), "closing");
    if tokio::time::timeout(MAX_CLOSING_TIME, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests took too long and were cut off");
    }
}

/// The next connection, once there is room for it.
async fn taken(listener: &TcpListener, room: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        let place = Arc::clone(room).acquire_owned().await;
        match (listener.accept().await, place) {
            (Ok((stream, _)), Ok(place)) => return (stream, place),
            (failed, _) => {
                tracing::warn!(error = ?failed.err(), "a connection could not be taken");
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

fn serve(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    router: Router,
    graceful: &GracefulShutdown,
) {
    // Answers are small and whole: waiting to fill a packet only costs time.
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(MAX_HEADER_TIME)
        .max_buf_size(MAX_HEADER_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let connection = graceful.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection broke off");
        }
        drop(place);
    });
}
