//! What every request works with.

use std::{net::SocketAddr, ops::Deref, sync::Arc, time::Instant};

use everlore::{
    Engine, Result, ToolRegistry,
    prompt::{PrefixDigest, Prompt},
};
use tokio::sync::watch;

use crate::{
    ServerOptions, audit::AuditLog, auth::Credentials, fifo_cache::FifoCache,
    host_guard::HostGuard, idempotency::InFlightKeys, metrics::Metrics, openviking::VikingState,
    rate_limit::RateLimits, tls::TlsContext,
};

/// The server's state; cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<AppState>);

pub(crate) struct AppState {
    pub(crate) engine: Engine,
    pub(crate) tools: Arc<ToolRegistry>,
    pub(crate) options: ServerOptions,
    pub(crate) credentials: Credentials,
    pub(crate) guard: HostGuard,
    pub(crate) rate_limits: RateLimits,
    pub(crate) in_flight_keys: InFlightKeys,
    pub(crate) metrics: Metrics,
    pub(crate) audit: AuditLog,
    pub(crate) viking: VikingState,
    /// What conversations began with, so that it stays the same for as long as they go on.
    pub(crate) session_prompts: FifoCache<Arc<(Prompt, PrefixDigest)>>,
    /// What lists in the way of mem0 showed, with how far the journal was then.
    pub(crate) mem0_lists: FifoCache<crate::mem0::CachedList>,
    #[cfg(feature = "remote")]
    pub(crate) proxy: crate::proxy::ProxyState,
    pub(crate) started: Instant,
    /// True once the server is to end; what never ends by itself looks at it.
    pub(crate) shutting_down: watch::Sender<bool>,
}

impl App {
    /// Opens the token, the keys and the audit log of the home.
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
            guard: HostGuard::new(address, &options.allowed_hosts, tls),
            rate_limits: RateLimits::new(options.requests_per_second),
            in_flight_keys: InFlightKeys::default(),
            metrics: Metrics::default(),
            audit: AuditLog::open(&options.home)?,
            viking: VikingState::default(),
            session_prompts: FifoCache::default(),
            mem0_lists: FifoCache::with_capacity(crate::mem0::MAX_CACHED_LISTS),
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
