//! Everlore over HTTP: memory for agents and programs of one machine.
//!
//! A request goes through `trace` (id, figures, log, audit), `guard` (which pages and names may ask), `auth` (who asks, for
//! whose memory) and then to one file of `api`, named by its noun. Whatever goes wrong is a `Problem`.

mod app;
mod response;
mod problem;
mod params;
mod body;
mod host_guard;
mod error_format;
mod auth;
mod keys;
mod token;
mod rate_limit;
mod idempotency;
mod etag;
mod trace;
mod metrics;
mod fifo_cache;
mod audit;
mod instance_lock;
mod listen;
mod tls;
mod docs_page;
mod api;
mod mcp;
mod mem0;
mod openviking;
#[cfg(feature = "remote")]
mod proxy;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use everlore::{Engine, Error, Result, Scope, tools::ToolSet};
use tokio::net::TcpListener;

pub use api::openapi;
pub use auth::KeyRole;
pub use instance_lock::ServerInfo;
pub use keys::{ApiKey, ApiKeys};
pub use mcp::{McpContext, McpServer};
#[cfg(feature = "remote")]
pub use proxy::Providers;
pub use tls::TlsFiles;

/// How long the end waits for a reading that is under way; the next worker does again what is cut short.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(5);

/// How a server is to be run.
#[derive(Debug, Clone)]
pub struct ServerOptions {
    /// The folder that holds everything.
    pub home: PathBuf,
    /// Where to listen; port 0 means any that is free.
    pub address: SocketAddr,
    /// Whether others than this machine may reach it.
    pub allow_remote: bool,
    /// What makes lines that others cannot read; none for plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Names beside those of this machine, and of the certificate, by which it may be called; with TLS the first is told to others.
    pub allowed_hosts: Vec<String>,
    /// Whose memory is meant where a request does not say.
    pub scope: Scope,
    /// The most bytes of a request.
    pub max_body_bytes: usize,
    /// Requests that a key may make in a second.
    pub requests_per_second: u32,
    /// The sets of tools that MCP offers where a request does not say.
    pub mcp_tools: Vec<ToolSet>,
    /// Who answers what is passed on to a language model.
    #[cfg(feature = "remote")]
    pub providers: Providers,
    /// A digest of the settings, by which other programs know whether it answers as they would.
    pub settings_digest: String,
}

/// A server that listens, and answers once it is run.
pub struct Server {
    app: app::App,
    listeners: listen::Listeners,
    info: ServerInfo,
    lock: instance_lock::InstanceLock,
}

impl Server {
    /// Takes the home and the port, and makes the token if there is none.
    pub async fn bind(engine: Engine, options: ServerOptions) -> Result<Self> {
        check_exposure(&options)?;
        let tls = options.tls.clone().map(tls::TlsContext::open).transpose()?.map(Arc::new);
        let lock = instance_lock::InstanceLock::acquire(&options.home)?;
        let doors = bind_listeners(options.address, tls).await?;
        let running = server_info(&doors, &options)?;
        let app = app::App::new(engine, options, running.address, doors.tls.clone())?;
        lock.write_info(&running)?;
        Ok(Self { app, listeners: doors, info: running, lock })
    }

    /// Where it is.
    pub fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// The file with the token of the owner.
    pub fn token_file(&self) -> PathBuf {
        token::token_path(&self.app.options.home)
    }

    /// Answers until `shutdown` comes; then what is under way is finished. Meanwhile memories are drawn from what is observed. The engine is left open for its owner to close.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let router = api::router(self.app.clone());
        let worker = self.app.engine.spawn_worker();
        listen::serve(self.listeners, router, self.app.shutting_down.clone(), shutdown).await;
        #[cfg(feature = "remote")]
        self.app.proxy.flush().await;
        worker.stop(SHUTDOWN_GRACE).await;
        self.app.engine.flush_usage().await;
        self.lock.release();
    }
}

/// The server that runs on a home, if one does.
pub fn find_running(home: &std::path::Path) -> Option<ServerInfo> {
    instance_lock::find_running(home)
}

/// Without TLS, what others on the network could read must be asked for in words.
fn check_exposure(options: &ServerOptions) -> Result<()> {
    if options.address.ip().is_loopback() || options.tls.is_some() || options.allow_remote {
        return Ok(());
    }
    Err(Error::invalid(
        format!(
            "{} can be reached by others, who could read what is sent: there is no TLS",
            options.address.ip()
        ),
        "give it a certificate with --tls-cert and --tls-key, listen on 127.0.0.1, or say --allow-remote if the network is yours",
    ))
}

/// Programs of this machine need no TLS to reach it, whatever its certificate is for: they have a door of their own.
async fn bind_listeners(
    address: SocketAddr,
    tls: Option<Arc<tls::TlsContext>>,
) -> Result<listen::Listeners> {
    let main = bind_listener(address).await?;
    let local = match tls {
        Some(_) => Some(bind_listener((Ipv4Addr::LOCALHOST, 0).into()).await?),
        None => None,
    };
    Ok(listen::Listeners { main, tls, local })
}

fn server_info(doors: &listen::Listeners, options: &ServerOptions) -> Result<ServerInfo> {
    let at = |listener: &TcpListener| {
        listener.local_addr().map_err(|error| Error::io("reading the address", error))
    };
    let address = at(&doors.main)?;
    Ok(ServerInfo {
        pid: std::process::id(),
        address,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: options.settings_digest.clone(),
        tls: doors.tls.is_some(),
        name: doors.tls.as_deref().and_then(|tls| {
            // Without TLS other names are those of a proxy in front, at a port of its own.
            options.allowed_hosts.first().cloned().or_else(|| tls.local_name(address))
        }),
        local: doors.local.as_ref().map(at).transpose()?,
    })
}

async fn bind_listener(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Error::invalid(
            format!("{address} is in use by another program"),
            "choose another port with --port, or 0 for any that is free",
        ),
        _ => Error::io(format!("listening on {address}"), error),
    })
}
