//! What every request works with.

use std::{net::SocketAddr, ops::Deref, sync::Arc, time::Instant};

use everlore::{
    Engine, Result, Tools,
    prompt::{Mark, Prompt},
};
use tokio::sync::watch;

use crate::{
    Options, audit::Audit, auth::Credentials, guard::Guard, limit::Limits, metrics::Metrics,
    openviking::Desk, recent::Recent, repeat::Repeats, tls::Tls,
};

/// The server's state; cheap to clone.
#[derive(Clone)]
pub(crate) struct App(Arc<State>);

pub(crate) struct State {
    pub(crate) engine: Engine,
    pub(crate) tools: Arc<Tools>,
    pub(crate) options: Options,
    pub(crate) credentials: Credentials,
    pub(crate) guard: Guard,
    pub(crate) limits: Limits,
    pub(crate) repeats: Repeats,
    pub(crate) metrics: Metrics,
    pub(crate) audit: Audit,
    pub(crate) desk: Desk,
    /// What conversations began with, so that it stays the same for as long as they go on.
    pub(crate) prompts: Recent<Arc<(Prompt, Mark)>>,
    /// What lists in the way of mem0 showed, with how far the journal was then.
    pub(crate) lists: Recent<crate::mem0::Listed>,
    #[cfg(feature = "remote")]
    pub(crate) proxy: crate::proxy::Proxy,
    pub(crate) started: Instant,
    /// True once the server is to end; what never ends by itself looks at it.
    pub(crate) closing: watch::Sender<bool>,
}

impl App {
    /// Opens the token, the keys and the audit log of the home.
    pub(crate) fn new(
        engine: Engine,
        options: Options,
        address: SocketAddr,
        tls: Option<Arc<Tls>>,
    ) -> Result<Self> {
        Ok(Self(Arc::new(State {
            engine,
            tools: Arc::new(Tools::all()),
            credentials: Credentials::open(&options.home)?,
            guard: Guard::new(address, &options.hosts, tls),
            limits: Limits::new(options.requests_per_second),
            repeats: Repeats::default(),
            metrics: Metrics::default(),
            audit: Audit::open(&options.home)?,
            desk: Desk::default(),
            prompts: Recent::default(),
            lists: Recent::with_room_for(crate::mem0::LISTS),
            #[cfg(feature = "remote")]
            proxy: crate::proxy::Proxy::default(),
            started: Instant::now(),
            closing: watch::Sender::new(false),
            options,
        })))
    }
}

impl Deref for App {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}
