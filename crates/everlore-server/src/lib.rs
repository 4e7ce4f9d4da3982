//! Everlore over HTTP: memory for agents and programs on one machine.
//!
//! One request, with `POST /v1/turns` as the example:
//!
//! 1. `listen::serve` accepts the connection, after a TLS handshake where there is a certificate (`tls.rs`), and
//!    `serve_connection` reads requests with time limits for their headers and for what the client reads
//!    (`client_stream.rs`). Connections that stand still make room for new ones (`connections.rs`). `api::router` has
//!    all routes and middleware.
//! 2. `trace::trace_request` runs the request in a task of its own, beside the async threads if its body is large
//!    (`offload.rs`), and gives it an id. At the end it writes the body of an error, which has that id, and metrics, log
//!    and audit log: routes and statuses, never texts. `timeouts.rs` has every time limit.
//! 3. `error_format::format_errors` gives errors the shape that clients of the route read (see `error_format.rs`);
//!    `host_guard::check_host_and_origin` refuses foreign hosts and origins; on the last places of the connection table,
//!    `connections::check_reserved` answers only the owner.
//! 4. `auth::authenticate` finds the caller by token, key or the page's cookie (`credentials.rs`), applies the rate limit
//!    (`rate_limit.rs`), takes a permit among the key's requests (`caller_permits.rs`), determines the scope, and attaches
//!    an `Access` to the request.
//! 5. The handler (`observe` in `api/turns.rs`; `api/` has one file per noun) takes a `Writer`, which checks the role,
//!    and a `JsonBody` (`body.rs`), which limits size and time; `deny_unknown_fields` of each body type refuses unknown
//!    fields. With an `Idempotency-Key`, `IdempotentWrite` (`idempotency.rs`) looks for an earlier result in the
//!    journal: a digest of the key is the run.
//! 6. It calls the engine as the caller (`Access::engine`, then `Engine::observe`), which stores the turn in the
//!    database, and returns a `JsonResponse`. An error becomes a `Problem` (`problem.rs`), which travels with an empty
//!    response to `trace`; causes below the engine are only logged.
//!
//! The routes of `mcp`, `proxy` and `compat` (mem0, OpenViking) pass the same middleware; `proxy` and `compat`
//! authenticate their clients themselves.

mod app;
mod tasks;
mod offload;
mod timeouts;
mod response;
mod problem;
mod params;
mod body;
mod host_guard;
mod error_format;
mod auth;
mod credentials;
mod decided_drafts;
mod keys;
mod token;
mod rate_limit;
mod caller_permits;
mod heartbeat;
mod journal_watch;
mod idempotency;
mod agent_moves;
mod etag;
mod trace;
mod metrics;
mod fifo_cache;
mod audit;
mod instance_lock;
mod connections;
mod client_stream;
mod listen;
mod pending;
mod tls;
mod docs_page;
mod web_page;
mod sign_in;
mod browsers;
mod api;
mod mcp;
mod compat;
#[cfg(feature = "remote")]
mod proxy;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
};

use everlore::{Engine, Error, Result, Scope, tools::ToolSet};
use tokio::net::{TcpListener, TcpSocket};

pub use auth::KeyRole;
pub use instance_lock::ServerInfo;
pub use keys::{ApiKey, ApiKeys};
pub use mcp::{McpContext, McpServer};
pub use pending::PendingServer;
#[cfg(feature = "remote")]
pub use proxy::Providers;
pub use timeouts::Timeouts;
pub use tls::TlsFiles;

pub(crate) use everlore::internal::{BoxFuture, lock};
/// Re-exports that every route uses.
pub(crate) use {
    app::App,
    auth::{Access, Admin, Reader, Writer},
    body::{JsonBody, PathParam},
    params::QueryParams,
    problem::Problem,
    response::{ApiResult, JsonResponse},
};

/// Send buffer of a connection: the system would give megabytes to a client that never reads.
const SEND_BUFFER_BYTES: u32 = 256 * 1024;

/// Connections that wait to be accepted; the usual number.
const BACKLOG: u32 = 1_024;

/// Options of a server.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// Home folder: database, settings, token, keys and logs.
    pub home: PathBuf,
    /// Address to listen on; port 0 takes any free port.
    pub address: SocketAddr,
    /// Allows an address that other machines can reach without TLS.
    pub allow_remote: bool,
    /// TLS certificate and key; `None` serves plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Host names accepted beside those of this machine and of the certificate; with TLS the first one is advertised.
    pub allowed_hosts: Vec<String>,
    /// Scope of requests that name none.
    pub scope: Scope,
    /// Largest request body in bytes.
    pub max_body_bytes: usize,
    /// Requests per second that a key may make.
    pub requests_per_second: u32,
    /// Tool sets that MCP offers to requests that name none.
    pub mcp_tools: Vec<ToolSet>,
    /// Model providers that the proxy forwards to.
    #[cfg(feature = "remote")]
    pub providers: Providers,
    /// Digest of the settings; other processes compare it with their own before they ask this server.
    pub settings_digest: String,
    /// Time limits.
    pub timeouts: Timeouts,
}

/// HTTP server that listens already and answers once [`Server::run`] is called.
pub struct Server {
    app: app::App,
    listeners: listen::Listeners,
    info: ServerInfo,
    lock: instance_lock::InstanceLock,
}

impl Server {
    /// Locks the home, opens the port, and creates the owner's token if there is none.
    pub async fn bind(engine: Engine, options: ServerOptions) -> Result<Self> {
        PendingServer::bind(options).await?.start(engine)
    }

    /// Returns the address, process and version of the server.
    pub fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// Returns the path of the file with the owner's token.
    pub fn token_file(&self) -> PathBuf {
        token::token_path(&self.app.options.home)
    }

    /// Creates a link that signs a browser in as the owner: once, and within some minutes.
    pub fn sign_in_link(&self) -> Result<String> {
        let code = self.app.sign_in_codes.issue(std::time::Instant::now())?;
        Ok(format!("{}/#sign-in={code}", self.info.url()))
    }

    /// Answers until `shutdown` completes, then finishes running requests. Meanwhile a worker extracts memories from
    /// observed turns, and the heartbeat runs jobs that are due. The engine stays open; its owner closes it.
    pub async fn run(self, shutdown: impl Future<Output = ()> + Send + 'static) {
        self.run_until(Box::pin(shutdown)).await;
    }

    async fn run_until(self, shutdown: BoxFuture<'static, ()>) {
        let router = api::router(self.app.clone());
        let worker = self.app.engine.spawn_worker();
        let heartbeat = tasks::spawn(Box::pin(heartbeat::run(self.app.clone())));
        let context = listen::ListenContext {
            shutting_down: self.app.shutting_down.clone(),
            timeouts: self.app.options.timeouts.clone(),
        };
        let connections = listen::serve(&self.listeners, router, context, shutdown).await;
        // Clients that come now look for another server.
        drop(self.listeners);
        connections.finish().await;
        #[cfg(feature = "remote")]
        self.app.proxy.flush().await;
        worker.stop(self.app.options.timeouts.worker_stop).await;
        heartbeat.abort();
        self.app.engine.flush_usage().await;
        self.lock.release();
    }
}

/// Returns the server that runs on a home, if there is one.
pub fn find_running(home: &Path) -> Option<ServerInfo> {
    instance_lock::find_running(home)
}

/// Refuses an address that other machines can reach without TLS, unless the options allow it.
fn check_exposure(options: &ServerOptions) -> Result<()> {
    if options.address.ip().is_loopback() || options.tls.is_some() || options.allow_remote {
        return Ok(());
    }
    Err(Error::invalid(
        format!(
            "other machines can reach {} and could read the traffic: there is no TLS",
            options.address.ip()
        ),
        "give a certificate with --tls-cert and --tls-key, listen on 127.0.0.1, or pass --allow-remote if you trust the network",
    ))
}

/// Opens the main listener and, with TLS, a plain one on the loopback address: local programs need no TLS, and the
/// certificate may not cover a local name.
fn bind_listeners(
    address: SocketAddr,
    tls: Option<Arc<tls::TlsContext>>,
) -> Result<listen::Listeners> {
    let main = bind_listener(address)?;
    let local = match tls {
        Some(_) => Some(bind_listener((Ipv4Addr::LOCALHOST, 0).into())?),
        None => None,
    };
    Ok(listen::Listeners { main, tls, local })
}

fn server_info(listeners: &listen::Listeners, options: &ServerOptions) -> Result<ServerInfo> {
    let address_of = |listener: &TcpListener| {
        listener.local_addr().map_err(|error| Error::io("reading the address", error))
    };
    let address = address_of(&listeners.main)?;
    Ok(ServerInfo {
        pid: std::process::id(),
        address,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: options.settings_digest.clone(),
        tls: listeners.tls.is_some(),
        name: listeners.tls.as_deref().and_then(|tls| {
            // Without TLS the other names belong to a reverse proxy, which has a port of its own.
            options.allowed_hosts.first().cloned().or_else(|| tls.local_name(address))
        }),
        local: listeners.local.as_ref().map(address_of).transpose()?,
    })
}

fn bind_listener(address: SocketAddr) -> Result<TcpListener> {
    listen_on(address).map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Error::invalid(
            format!("another program uses {address}"),
            "choose another port with --port, or 0 for any free one",
        ),
        _ => Error::io(format!("listening on {address}"), error),
    })
}

/// Opens a socket whose connections have a bounded send buffer.
fn listen_on(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would allow two servers on one port.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
