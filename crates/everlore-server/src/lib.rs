//! Everlore over HTTP: memory for agents and programs of one machine.
//!
//! A request goes through `trace` (id, figures, log, audit), `guard` (which pages and names may ask), `auth` (who asks, for
//! whose memory) and then to one file of `api`, named by its noun. Whatever goes wrong is a `Problem`.

mod app;
mod answer;
mod problem;
mod params;
mod body;
mod guard;
mod dialect;
mod auth;
mod keys;
mod token;
mod limit;
mod repeat;
mod matching;
mod trace;
mod metrics;
mod recent;
mod audit;
mod lock;
mod listen;
mod tls;
mod page;
mod api;
mod mcp;
mod mem0;
mod openviking;
#[cfg(feature = "remote")]
mod proxy;
#[cfg(test)]
mod tree;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use everlore::{Engine, Error, Result, Scope, tools::ToolSet};
use tokio::net::TcpListener;

pub use api::openapi;
pub use auth::Role;
pub use keys::{Key, Keys};
pub use lock::Running;
pub use mcp::{Desk, Mcp};
#[cfg(feature = "remote")]
pub use proxy::Providers;
pub use tls::TlsFiles;

/// How long the end waits for a reading that is under way; the next worker does again what is cut short.
const GRACE: Duration = Duration::from_secs(5);

/// How a server is to be run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder that holds everything.
    pub home: PathBuf,
    /// Where to listen; port 0 means any that is free.
    pub address: SocketAddr,
    /// Whether others than this machine may reach it.
    pub allow_remote: bool,
    /// What makes lines that others cannot read; none for plain HTTP.
    pub tls: Option<TlsFiles>,
    /// Names beside those of this machine, and of the certificate, by which it may be called; with TLS the first is told to others.
    pub hosts: Vec<String>,
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
    pub settings: String,
}

/// A server that listens, and answers once it is run.
pub struct Server {
    app: app::App,
    doors: listen::Doors,
    running: Running,
    lock: lock::Lock,
}

impl Server {
    /// Takes the home and the port, and makes the token if there is none.
    pub async fn bind(engine: Engine, options: Options) -> Result<Self> {
        check_reach(&options)?;
        let tls = options.tls.clone().map(tls::Tls::open).transpose()?.map(Arc::new);
        let lock = lock::Lock::take(&options.home)?;
        let doors = doors(options.address, tls).await?;
        let running = running_at(&doors, &options)?;
        let app = app::App::new(engine, options, running.address, doors.tls.clone())?;
        lock.announce(&running)?;
        Ok(Self { app, doors, running, lock })
    }

    /// Where it is.
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// The file with the token of the owner.
    pub fn token_file(&self) -> PathBuf {
        token::path(&self.app.options.home)
    }

    /// Answers until `shutdown` comes; then what is under way is finished. Meanwhile memories are drawn from what is observed. The engine is left open for its owner to close.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let router = api::router(self.app.clone());
        let worker = self.app.engine.spawn_worker();
        listen::run(self.doors, router, self.app.closing.clone(), shutdown).await;
        #[cfg(feature = "remote")]
        self.app.proxy.settle().await;
        worker.stop(GRACE).await;
        self.app.engine.settle_usage().await;
        self.lock.release();
    }
}

/// The server that runs on a home, if one does.
pub fn running(home: &std::path::Path) -> Option<Running> {
    lock::running(home)
}

/// Without TLS, what others on the network could read must be asked for in words.
fn check_reach(options: &Options) -> Result<()> {
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
async fn doors(address: SocketAddr, tls: Option<Arc<tls::Tls>>) -> Result<listen::Doors> {
    let main = listen(address).await?;
    let local = match tls {
        Some(_) => Some(listen((Ipv4Addr::LOCALHOST, 0).into()).await?),
        None => None,
    };
    Ok(listen::Doors { main, tls, local })
}

fn running_at(doors: &listen::Doors, options: &Options) -> Result<Running> {
    let at = |listener: &TcpListener| {
        listener.local_addr().map_err(|error| Error::io("reading the address", error))
    };
    let address = at(&doors.main)?;
    Ok(Running {
        pid: std::process::id(),
        address,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: options.settings.clone(),
        tls: doors.tls.is_some(),
        name: doors.tls.as_deref().and_then(|tls| {
            // Without TLS other names are those of a proxy in front, at a port of its own.
            options.hosts.first().cloned().or_else(|| tls.own_name(address))
        }),
        local: doors.local.as_ref().map(at).transpose()?,
    })
}

async fn listen(address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.map_err(|error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Error::invalid(
            format!("{address} is in use by another program"),
            "choose another port with --port, or 0 for any that is free",
        ),
        _ => Error::io(format!("listening on {address}"), error),
    })
}
