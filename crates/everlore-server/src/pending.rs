//! A server whose database cannot be reached yet: its port is open, and every request is told to come back.
//!
//! `/health` answers 200, because the process is alive; everything else, `/ready` first of all, answers 503 with
//! `Retry-After`. An orchestrator therefore sends no traffic and does not restart the process.

use std::path::PathBuf;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use everlore::{Engine, Result};
use tokio::sync::{oneshot, watch};
use uuid::Uuid;

use crate::{
    Problem, Server, ServerInfo, ServerOptions, api,
    app::App,
    bind_listeners, check_exposure,
    instance_lock::InstanceLock,
    listen::{self, ListenContext, Listeners},
    server_info, tls, token,
};

/// Locked home and open port of a server that has no engine yet.
pub struct PendingServer {
    listeners: Listeners,
    info: ServerInfo,
    lock: InstanceLock,
    options: ServerOptions,
}

impl PendingServer {
    /// Locks the home, opens the port, and creates the owner's token if there is none.
    pub async fn bind(options: ServerOptions) -> Result<Self> {
        check_exposure(&options)?;
        let tls =
            options.tls.clone().map(tls::TlsContext::open).transpose()?.map(std::sync::Arc::new);
        let lock = InstanceLock::acquire(&options.home)?;
        let listeners = bind_listeners(options.address, tls)?;
        let info = server_info(&listeners, &options)?;
        token::load_or_create(&options.home)?;
        Ok(Self { listeners, info, lock, options })
    }

    /// Returns the address, process and version of the server.
    pub fn info(&self) -> &ServerInfo {
        &self.info
    }

    /// Returns the path of the file with the owner's token.
    pub fn token_file(&self) -> PathBuf {
        token::token_path(&self.options.home)
    }

    /// Answers every request with 503 until `opening` completes, and returns its result.
    pub async fn refuse_until<T>(&self, opening: impl Future<Output = T>) -> Result<T> {
        self.lock.write_info(&self.info)?;
        let (done, is_done) = oneshot::channel::<()>();
        let context = ListenContext {
            shutting_down: watch::Sender::new(false),
            timeouts: self.options.timeouts.clone(),
        };
        let until_done = Box::pin(async {
            // The sender is dropped when the engine is open.
            let _ = is_done.await;
        });
        let refusing = async {
            let serving = listen::serve(&self.listeners, refusing_router(), context, until_done);
            serving.await.finish().await;
        };
        let opening = async {
            let opened = opening.await;
            drop(done);
            opened
        };
        Ok(tokio::join!(opening, refusing).0)
    }

    /// Makes the server ready to run.
    pub fn start(self, engine: Engine) -> Result<Server> {
        let Self { listeners, info, lock, options } = self;
        let app = App::new(engine, options, info.address, listeners.tls.clone())?;
        lock.write_info(&info)?;
        Ok(Server { app, listeners, info, lock })
    }

    /// Unlocks the home of a server that never had an engine.
    pub fn release(self) {
        self.lock.release();
    }
}

fn refusing_router() -> Router {
    Router::new().route("/health", get(api::health::health)).fallback(async || refuse())
}

fn refuse() -> Response {
    let advice = "try again in a moment; the server connects by itself, and its log has the cause";
    let title = "the database cannot be reached";
    let problem = Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", title, advice);
    let problem = Problem { retry_after: Some(1), ..problem };
    let body = problem.body(&Uuid::now_v7().to_string());
    let mut response = problem.into_response();
    // Clients of other servers behind the same name must not see this one's answer.
    response
        .headers_mut()
        .insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
    *response.body_mut() = body;
    response
}
