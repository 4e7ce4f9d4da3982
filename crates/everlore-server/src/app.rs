//! State that every request shares.

use std::{net::SocketAddr, ops::Deref, sync::Arc, time::Instant};

use everlore::{Engine, Result, ToolRegistry, engine::Prompt, internal::prompt::PrefixDigest};
use tokio::sync::watch;

use crate::{
    ServerOptions, agent_moves::AgentMoves, audit::AuditLog, browsers::PageCookie,
    caller_permits::CallerPermits, credentials::Credentials, decided_drafts::DecidedDrafts,
    fifo_cache::FifoCache, host_guard::HostGuard, idempotency::InFlightKeys,
    journal_watch::JournalWatch, metrics::Metrics, offload::OffloadPermits, rate_limit::RateLimits,
    sign_in::SignInCodes, tls::TlsContext,
};

/// Handle to the server's state; cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

/// State of a server: one per process.
pub(crate) struct AppState {
    /// Engine that journals changes as a person's. A handler writes with `Access::engine`, as the caller.
    pub(crate) engine: Engine,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) options: ServerOptions,
    pub(crate) credentials: Credentials,
    pub(crate) sign_in_codes: SignInCodes,
    pub(crate) page_cookie: PageCookie,
    pub(crate) guard: HostGuard,
    pub(crate) rate_limits: RateLimits,
    pub(crate) caller_permits: Arc<CallerPermits>,
    pub(crate) export_permits: Arc<CallerPermits>,
    pub(crate) offload_permits: OffloadPermits,
    pub(crate) journal_watch: JournalWatch,
    pub(crate) in_flight_keys: InFlightKeys,
    pub(crate) agent_moves: AgentMoves,
    pub(crate) metrics: Metrics,
    pub(crate) audit: AuditLog,
    /// System prompts of sessions, so that each stays the same for as long as its session goes on.
    pub(crate) session_prompts: FifoCache<Arc<(Prompt, PrefixDigest)>>,
    /// Drafts whose decision can be taken back.
    pub(crate) decided_drafts: DecidedDrafts,
    #[cfg(any(feature = "mem0", feature = "openviking"))]
    pub(crate) compat: crate::compat::CompatState,
    #[cfg(feature = "remote")]
    pub(crate) proxy: crate::proxy::ProxyState,
    pub(crate) started: Instant,
    /// `true` once the server is ending; endless responses such as event streams watch it.
    pub(crate) shutting_down: watch::Sender<bool>,
}

impl App {
    /// Opens the token, the keys and the audit log of a home.
    pub(crate) fn new(
        engine: Engine,
        options: ServerOptions,
        address: SocketAddr,
        tls: Option<Arc<TlsContext>>,
    ) -> Result<Self> {
        Ok(Self(Arc::new(AppState {
            engine,
            tools: Arc::new(ToolRegistry::all()),
            credentials: Credentials::open(&options.home)?,
            sign_in_codes: SignInCodes::default(),
            page_cookie: PageCookie::new(address.port(), tls.is_some()),
            guard: HostGuard::new(address, &options.allowed_hosts, tls),
            rate_limits: RateLimits::new(options.requests_per_second),
            caller_permits: Arc::new(CallerPermits::for_requests()),
            export_permits: Arc::new(CallerPermits::for_exports()),
            offload_permits: OffloadPermits::default(),
            journal_watch: JournalWatch::default(),
            in_flight_keys: InFlightKeys::default(),
            agent_moves: AgentMoves::default(),
            metrics: Metrics::default(),
            audit: AuditLog::open(&options.home)?,
            session_prompts: FifoCache::default(),
            decided_drafts: DecidedDrafts::default(),
            #[cfg(any(feature = "mem0", feature = "openviking"))]
            compat: crate::compat::CompatState::default(),
            #[cfg(feature = "remote")]
            proxy: crate::proxy::ProxyState::default(),
            started: Instant::now(),
            shutting_down: watch::Sender::new(false),
            options,
        })))
    }
}

impl Deref for App {
    type Target = AppState;

    fn deref(&self) -> &AppState {
        &self.0
    }
}
