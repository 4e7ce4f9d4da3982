//! `everlore serve`: the HTTP server.

use std::{
    net::{IpAddr, SocketAddr},
    path::PathBuf,
    time::Duration,
};

use clap::{Args, Subcommand};
use everlore::{Engine, internal::files::atomic_file::create_private_folder};
use everlore_server::{PendingServer, Server, ServerOptions, Timeouts, TlsFiles};
use serde_json::json;

use crate::{
    CliContext, CliError, Exit, Output, Result,
    commands::{mcp::ToolSetArgs, serve_keys::ServeKeyCommand, serve_stop},
    open_browser::open_browser,
};

/// Exit code after SIGINT.
const EXIT_INTERRUPTED: i32 = 130;

/// Exit code after SIGTERM.
#[cfg(unix)]
const EXIT_TERMINATED: i32 = 143;

/// Environment variable by which tests shorten time limits, in milliseconds: `headers=500,body=500`.
const TEST_TIMEOUTS_VAR: &str = "EVERLORE_TEST_TIMEOUTS";

/// Interval at which a server stores what other processes could not: the cause is rarely gone sooner.
const REPLAY_INTERVAL: Duration = Duration::from_secs(60);

/// Interval at which a server tries to reach its database: a failover takes seconds.
const REOPEN_INTERVAL: Duration = Duration::from_secs(1);

/// Run the HTTP server, for agents and programs of this machine
///
/// Clients need the token in server.token of the home, or a key. /docs describes the API. Ctrl+C ends the server when
/// all requests in flight are answered; a second Ctrl+C ends it at once.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    command: Option<ServeCommand>,
    /// Print the address of the server of this home, and end
    #[arg(long, conflicts_with = "stop")]
    status: bool,
    /// Stop the server of this home: requests in flight are answered first
    #[arg(long)]
    stop: bool,
    #[command(flatten)]
    listen: ListenArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ListenArgs {
    /// The port; 0 for any that is free [default: from the settings, 6636]
    #[arg(long, value_name = "NUMBER")]
    port: Option<u16>,
    /// The address to listen on [default: from the settings, 127.0.0.1]
    #[arg(long, value_name = "IP")]
    host: Option<IpAddr>,
    /// Accept other machines without TLS: traffic can be read on the way
    #[arg(long)]
    allow_remote: bool,
    /// TLS certificate chain as PEM, the server's own certificate first [default: from the settings]
    #[arg(long, value_name = "FILE")]
    tls_cert: Option<PathBuf>,
    /// The private key of the certificate: PKCS#8, SEC1 or PKCS#1 as PEM [default: from the settings]
    #[arg(long, value_name = "FILE")]
    tls_key: Option<PathBuf>,
    /// Another host name of the server, such as that of a reverse proxy; may be repeated
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// The largest request body [default: from the settings]
    #[arg(long, value_name = "BYTES")]
    max_body: Option<usize>,
    /// Requests per second and key [default: from the settings]
    #[arg(long, value_name = "NUMBER")]
    rate: Option<u32>,
    /// Open the web page in the browser, signed in
    #[arg(long)]
    open: bool,
    /// End when standard input closes: the server of a program ends with it, even if it is killed
    #[arg(long)]
    until_stdin_closes: bool,
    #[command(flatten)]
    mcp: ToolSetArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServeCommand {
    /// Print the address of the server of this home
    Status,
    #[command(subcommand)]
    Key(ServeKeyCommand),
}

impl ServeArgs {
    /// Returns `true` if it runs the server and does not only manage it.
    pub(crate) fn runs_server(&self) -> bool {
        self.command.is_none() && !self.status && !self.stop
    }

    /// Returns `true` if it adds or removes a key.
    pub(crate) fn changes_keys(&self) -> bool {
        matches!(
            &self.command,
            Some(ServeCommand::Key(ServeKeyCommand::Add(_) | ServeKeyCommand::Remove(_)))
        )
    }

    /// Runs the server, prints its status, stops it, or manages keys.
    pub(crate) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        match self.command {
            None if self.status => print_status(cx, out),
            None if self.stop => serve_stop::stop(cx, out).await,
            None => self.listen.run(cx, out).await,
            Some(ServeCommand::Status) => print_status(cx, out),
            Some(ServeCommand::Key(command)) => command.run(cx, out),
        }
    }
}

fn print_status(cx: &CliContext, out: &mut Output) -> Result<Exit> {
    let running = everlore_server::find_running(&cx.home);
    let url = running.as_ref().map(everlore_server::ServerInfo::url);
    match (&running, &url) {
        _ if out.is_json() => {
            let (pid, store) = (running.as_ref().map(|running| running.pid), cx.store.to_string());
            out.json(&json!({ "url": url, "pid": pid, "store": store }))?
        }
        (Some(running), Some(url)) => out.say(&format!("{url} (process {})", running.pid))?,
        _ => out.note("no server runs on this home; start one with `everlore serve`"),
    }
    Ok(Exit::from_found(running.is_some()))
}

impl ListenArgs {
    /// Prints the address, then serves until a signal ends it.
    async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let mut shutdown = Box::pin(shutdown_signal(self.until_stdin_closes)?);
        create_private_folder(&cx.home)
            .map_err(|error| CliError::io(cx.home.display().to_string(), error))?;
        let opens_page = self.open;
        let pending = PendingServer::bind(self.server_options(cx)?).await?;
        let opened = {
            let opening = async {
                tokio::select! {
                    opened = open_engine(cx, &pending, out) => Some(opened),
                    () = &mut shutdown => None,
                }
            };
            // A file opens at once or never.
            if cx.store.is_server() { pending.refuse_until(opening).await? } else { opening.await }
        };
        let Some((engine, is_printed)) = opened.transpose()? else {
            pending.release();
            return Ok(Exit::Done);
        };
        let server = pending.start(engine)?;
        if !is_printed {
            let printed = print_address((server.info().url(), server.token_file()), cx, out);
            unless_unread(printed)?;
        }
        // A reader that left after the address must not end the server.
        let _ = print_sign_in_link(&server, out);
        if opens_page {
            open_page(&server.sign_in_link()?, out);
        }
        let replay = tokio::spawn(replay_regularly(cx.engine().await?.clone(), cx.home.clone()));
        server.run(shutdown).await;
        replay.abort();
        Ok(Exit::Done)
    }

    fn server_options(mut self, cx: &CliContext) -> Result<ServerOptions> {
        let server = &cx.settings.config.server;
        let address = self.host.unwrap_or_else(|| server.address());
        Ok(ServerOptions {
            mcp_tools: self.mcp.tool_sets()?,
            home: cx.home.clone(),
            address: SocketAddr::new(address, self.port.unwrap_or(server.port)),
            allow_remote: self.allow_remote,
            tls: self.tls_files(cx)?,
            allowed_hosts: [std::mem::take(&mut self.allow_host), server.names.clone()].concat(),
            scope: cx.scope.clone(),
            max_body_bytes: self.max_body.unwrap_or(server.max_body_bytes),
            requests_per_second: self.rate.unwrap_or(server.requests_per_second),
            settings_digest: cx.settings.digest(),
            timeouts: timeouts(),
            #[cfg(feature = "remote")]
            providers: crate::chat_model::providers(cx),
        })
    }

    /// Returns the TLS files; `None` serves plain HTTP.
    fn tls_files(&mut self, cx: &CliContext) -> Result<Option<TlsFiles>> {
        let server = &cx.settings.config.server;
        let cert = self.tls_cert.take().or_else(|| configured_path(&server.tls_cert, cx));
        let key = self.tls_key.take().or_else(|| configured_path(&server.tls_key, cx));
        match (cert, key) {
            (Some(cert), Some(key)) => Ok(Some(TlsFiles { cert, key })),
            (None, None) => Ok(None),
            _ => Err(CliError::invalid(
                "a certificate needs its key, and a key its certificate",
                "give both, with --tls-cert and --tls-key or in [server] of the settings",
            )),
        }
    }
}

/// Opens the engine. A server database that cannot be reached is waited for: the server runs, and is not ready. Returns
/// `true` beside the engine if the address was printed meanwhile.
async fn open_engine(
    cx: &CliContext,
    pending: &PendingServer,
    out: &mut Output,
) -> Result<(Engine, bool)> {
    let mut is_printed = false;
    loop {
        let opened = cx.capture_engine().await;
        let is_unreachable =
            matches!(&opened, Err(error) if error.is_of_store() && cx.store.is_server());
        if !is_unreachable {
            return opened.map(|engine| (engine, is_printed));
        }
        if !is_printed {
            let printed = print_address((pending.info().url(), pending.token_file()), cx, out);
            unless_unread(printed)?;
            is_printed = true;
        }
        tracing::warn!(store = %cx.store, "the database cannot be reached; the server is not ready");
        tokio::time::sleep(REOPEN_INTERVAL).await;
    }
}

fn print_address(server: (String, PathBuf), cx: &CliContext, out: &mut Output) -> Result<()> {
    let (url, token) = server;
    if out.is_json() {
        let (pid, store) = (std::process::id(), cx.store.to_string());
        out.json(&json!({ "url": url, "pid": pid, "token_file": token, "store": store }))?;
    } else {
        out.say(&format!("everlore answers at {}", out.bold(&url)))?;
        out.say(&format!("token: {}, API: {url}/docs", token.display()))?;
        if cx.store.is_server() {
            out.say(&format!("database: {}", cx.store))?;
        }
    }
    out.flush()
}

/// Ignores that nobody reads the output any more: a server serves on.
fn unless_unread(printed: Result<()>) -> Result<()> {
    match printed {
        Err(CliError::BrokenPipe) => Ok(()),
        other => other,
    }
}

/// Prints the link to the web page; programs, which read JSON, have the token file.
fn print_sign_in_link(server: &Server, out: &mut Output) -> Result<()> {
    if out.is_json() {
        return Ok(());
    }
    out.say(&format!("page: {} (works once, for 15 minutes)", server.sign_in_link()?))?;
    out.flush()
}

/// Opens the page in the browser. Where that fails, the server runs on and the printed link works.
fn open_page(link: &str, out: &mut Output) {
    if let Err(error) = open_browser(link) {
        out.note(&format!("the page could not be opened: {error}; open the link above by hand"));
    }
}

/// Stores what other processes could not, as long as the server runs.
async fn replay_regularly(engine: Engine, home: PathBuf) {
    let test = test_timeouts().into_iter().find(|(name, _)| name == "replay");
    let interval = test.map_or(REPLAY_INTERVAL, |(_, limit)| limit);
    loop {
        tokio::time::sleep(interval).await;
        for note in CliContext::replay_failed_saves(&engine, &home).await {
            tracing::info!("{note}");
        }
    }
}

/// Returns the time limits that a test names.
fn test_timeouts() -> Vec<(String, Duration)> {
    let given = std::env::var(TEST_TIMEOUTS_VAR).unwrap_or_default();
    let pairs = given.split(',').filter_map(|pair| pair.split_once('='));
    let limit = |(name, millis): (&str, &str)| {
        Some((name.to_owned(), Duration::from_millis(millis.parse().ok()?)))
    };
    pairs.filter_map(limit).collect()
}

/// Returns the default time limits, with those replaced that a test names.
fn timeouts() -> Timeouts {
    let mut timeouts = Timeouts::default();
    for (name, given) in test_timeouts() {
        let limit = match name.as_str() {
            "headers" => &mut timeouts.headers,
            "body" => &mut timeouts.body,
            "write" => &mut timeouts.write,
            "tls_handshake" => &mut timeouts.tls_handshake,
            "certificate_poll" => &mut timeouts.certificate_poll,
            _ => continue,
        };
        *limit = given;
    }
    timeouts
}

/// Returns a path of the settings, relative to the settings file; `None` if it is empty.
fn configured_path(name: &str, cx: &CliContext) -> Option<PathBuf> {
    let folder = cx.settings.path.parent().unwrap_or(&cx.home);
    (!name.is_empty()).then(|| folder.join(name))
}

/// Returns a future that completes on SIGINT or SIGTERM, and if asked to, when standard input closes. The handlers are
/// installed at once, so that no signal is missed.
fn shutdown_signal(until_stdin_closes: bool) -> Result<impl Future<Output = ()>> {
    let input_closed = stdin_closed(until_stdin_closes);
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let failed = |error| CliError::io("listening for signals", error);
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
                () = input_closed => {}
            }
            // A second signal ends the process at once; acknowledged writes are on disk.
            tokio::spawn(async move {
                let code = tokio::select! {
                    _ = interrupt.recv() => EXIT_INTERRUPTED,
                    _ = terminate.recv() => EXIT_TERMINATED,
                };
                std::process::exit(code);
            });
        })
    }
    #[cfg(not(unix))]
    Ok(async {
        // Without signals the server runs until it is killed, which loses nothing.
        let interrupted = async {
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending().await
            }
        };
        tokio::select! {
            () = interrupted => {}
            () = input_closed => {}
        }
        tokio::spawn(async {
            if tokio::signal::ctrl_c().await.is_ok() {
                std::process::exit(EXIT_INTERRUPTED);
            }
        });
    })
}

/// Returns a future that completes when standard input closes, or never if nobody asked for it. A thread of its own reads:
/// the runtime would wait for its readers, also after a signal.
fn stdin_closed(is_watched: bool) -> impl Future<Output = ()> {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let watch = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = sender.send(());
    };
    if is_watched {
        std::thread::spawn(watch);
    }
    async move {
        if !is_watched || receiver.await.is_err() {
            std::future::pending().await
        }
    }
}
