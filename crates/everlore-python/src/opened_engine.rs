//! Open engine with the threads that run it.

use std::{sync::Arc, time::Duration};

use everlore::{Engine, Error, Scope, llm::BuiltinEmbedder, store::RamStore};
use everlore_cli::{EmbeddedHome, HomeOptions};
use pyo3::prelude::*;
use tokio::{
    runtime::{Builder, Runtime},
    sync::RwLock,
};

use crate::{
    call_error::{CallError, closed, engine_error, home_error},
    operations,
};

/// Threads of an engine: one answers while another writes or embeds.
const WORKER_THREADS: usize = 2;

/// Interval at which a waiting call looks for signals, such as that of Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Engine of one scope; calls in progress keep it open.
#[derive(Clone)]
pub(crate) struct ScopedEngine {
    engine: Engine,
    /// The only scope that calls read and write.
    pub(crate) scope: Scope,
    /// `true` while it is open. Every call holds it for reading, so that closing waits for all.
    is_open: Arc<RwLock<bool>>,
}

/// Engine and the threads that run it.
pub(crate) struct OpenedEngine {
    /// Part that calls use.
    pub(crate) scoped: ScopedEngine,
    /// Home behind the engine; `None` for memories that live in this process only.
    home: Option<EmbeddedHome>,
    /// Taken when it ends.
    runtime: Option<Runtime>,
}

impl OpenedEngine {
    /// Opens a home, as the command line does.
    pub(crate) fn open_home(
        py: Python<'_>,
        options: &HomeOptions,
    ) -> PyResult<Result<Self, CallError>> {
        let runtime = match start_runtime() {
            Ok(runtime) => runtime,
            Err(error) => return Ok(Err(error)),
        };
        let home = wait(py, &runtime, EmbeddedHome::open(options))?;
        Ok(home.map_err(home_error).map(|home| Self {
            scoped: ScopedEngine::new(home.engine().clone(), home.scope().clone()),
            home: Some(home),
            runtime: Some(runtime),
        }))
    }

    /// Opens a store that ends with the process.
    pub(crate) fn open_in_ram(agent: &str, user: &str) -> Result<Self, CallError> {
        let scope = Scope::new(agent, user).map_err(|error| engine_error(&error))?;
        let engine = Engine::builder(Arc::new(RamStore::default()))
            .embedder(Arc::new(BuiltinEmbedder::new()))
            .builtin_encoder()
            .build();
        let scoped = ScopedEngine::new(engine, scope);
        Ok(Self { scoped, home: None, runtime: Some(start_runtime()?) })
    }

    /// Waits for `work` without the GIL. A signal whose handler raises, such as Ctrl-C, ends the wait and drops the work.
    pub(crate) fn wait<T: Send>(
        &self,
        py: Python<'_>,
        work: impl Future<Output = T> + Send,
    ) -> PyResult<T> {
        wait(py, self.runtime(), work)
    }

    /// Returns the threads.
    pub(crate) fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("the threads run until the engine is dropped")
    }

    /// Waits for calls in progress and until background work is stored, and closes the store.
    pub(crate) async fn close(&self) {
        let mut is_open = self.scoped.is_open.write().await;
        *is_open = false;
        match &self.home {
            Some(home) => home.close().await,
            None => self.scoped.engine.admin().close().await,
        }
    }
}

impl ScopedEngine {
    fn new(engine: Engine, scope: Scope) -> Self {
        Self { engine, scope, is_open: Arc::new(RwLock::new(true)) }
    }

    /// Runs an operation, unless the engine was closed.
    pub(crate) async fn run(&self, operation: &str, request: &[u8]) -> Result<Vec<u8>, CallError> {
        let is_open = self.is_open.read().await;
        if !*is_open {
            return Err(closed());
        }
        operations::run(&self.engine, &self.scope, operation, request).await
    }
}

impl Drop for OpenedEngine {
    fn drop(&mut self) {
        // Threads that still wait for the GIL would never end while this one holds it.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn start_runtime() -> Result<Runtime, CallError> {
    let started = Builder::new_multi_thread()
        .worker_threads(WORKER_THREADS)
        .thread_name("everlore")
        .enable_all()
        .build();
    started.map_err(|error| engine_error(&Error::io("starting threads", error)))
}

fn wait<T: Send>(
    py: Python<'_>,
    runtime: &Runtime,
    work: impl Future<Output = T> + Send,
) -> PyResult<T> {
    py.detach(|| {
        runtime.block_on(async {
            let mut work = std::pin::pin!(work);
            loop {
                match tokio::time::timeout(SIGNAL_INTERVAL, &mut work).await {
                    Ok(done) => return Ok(done),
                    Err(_) => Python::attach(|py| py.check_signals())?,
                }
            }
        })
    })
}
