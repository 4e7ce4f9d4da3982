//! Handle of an open engine that Python holds: calls that wait, calls with a callback, and a safe way through `fork`.

use std::{
    mem::ManuallyDrop,
    path::PathBuf,
    process,
    sync::{Arc, Mutex, PoisonError},
};

use everlore_cli::HomeOptions;
use pyo3::{create_exception, exceptions::PyException, prelude::*, types::PyBytes};
use tokio::task::AbortHandle;

use crate::{
    call_error::{CallError, closed, forked},
    opened_engine::OpenedEngine,
};

create_exception!(
    _native,
    NativeError,
    PyException,
    "Error of a call: its arguments are a code, a message and advice."
);

/// Engine of one agent and one user, open in this process.
///
/// A child process that `fork` made has the memory of its parent but not its threads, and must not touch its database: the
/// handle refuses calls there, and drops nothing.
#[pyclass(frozen, module = "everlore._native")]
pub(crate) struct EngineHandle {
    process_id: u32,
    opened: ManuallyDrop<Mutex<Option<Arc<OpenedEngine>>>>,
}

/// Call in progress, started by [`EngineHandle::start`].
#[pyclass(frozen, module = "everlore._native")]
pub(crate) struct PendingCall(AbortHandle);

#[pymethods]
impl EngineHandle {
    /// Opens a home folder, that of the environment and the settings if none is named.
    #[staticmethod]
    #[pyo3(signature = (home=None, agent=None, user=None))]
    fn open(
        py: Python<'_>,
        home: Option<PathBuf>,
        agent: Option<String>,
        user: Option<String>,
    ) -> PyResult<Self> {
        let options = HomeOptions { home, agent, user };
        OpenedEngine::open_home(py, &options)?.map(Self::new).map_err(raise)
    }

    /// Opens a store that ends with the process.
    #[staticmethod]
    fn open_in_ram(agent: &str, user: &str) -> PyResult<Self> {
        OpenedEngine::open_in_ram(agent, user).map(Self::new).map_err(raise)
    }

    /// Returns the agent and the user.
    fn scope(&self) -> PyResult<(String, String)> {
        let opened = self.opened().map_err(raise)?;
        let scope = &opened.scoped.scope;
        Ok((scope.agent().to_owned(), scope.user().to_owned()))
    }

    /// Runs an operation and returns its answer; both are JSON.
    fn call<'py>(
        &self,
        py: Python<'py>,
        operation: &str,
        request: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let opened = self.opened().map_err(raise)?;
        let answer = opened.wait(py, opened.scoped.run(operation, request))?.map_err(raise)?;
        Ok(PyBytes::new(py, &answer))
    }

    /// Starts an operation, and calls `done(answer, error)` on another thread once it has ended.
    fn start(&self, operation: String, request: Vec<u8>, done: Py<PyAny>) -> PyResult<PendingCall> {
        let opened = self.opened().map_err(raise)?;
        let scoped = opened.scoped.clone();
        let task = opened.runtime().spawn(async move {
            let result = scoped.run(&operation, &request).await;
            // The interpreter may be ending, and then nobody waits.
            Python::try_attach(|py| report(py, &done, result));
        });
        Ok(PendingCall(task.abort_handle()))
    }

    /// Closes the store once calls in progress have ended and background work is stored; repeating it does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_own_process() {
            return Ok(());
        }
        let opened = self.lock_opened().take();
        match opened {
            Some(opened) => opened.wait(py, opened.close()),
            None => Ok(()),
        }
    }
}

#[pymethods]
impl PendingCall {
    /// Gives up the call: its callback is not called any more.
    fn cancel(&self) {
        self.0.abort();
    }
}

impl EngineHandle {
    fn new(opened: OpenedEngine) -> Self {
        let opened = Mutex::new(Some(Arc::new(opened)));
        Self { process_id: process::id(), opened: ManuallyDrop::new(opened) }
    }

    fn is_own_process(&self) -> bool {
        self.process_id == process::id()
    }

    fn lock_opened(&self) -> std::sync::MutexGuard<'_, Option<Arc<OpenedEngine>>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the engine. A child process takes no lock: a thread that is gone may hold it.
    fn opened(&self) -> Result<Arc<OpenedEngine>, CallError> {
        if !self.is_own_process() {
            return Err(forked());
        }
        self.lock_opened().clone().ok_or_else(closed)
    }
}

impl Drop for EngineHandle {
    fn drop(&mut self) {
        if self.is_own_process() {
            self.lock_opened().take();
        }
    }
}

/// Calls `done` with the answer or the error of a call.
fn report(py: Python<'_>, done: &Py<PyAny>, result: Result<Vec<u8>, CallError>) {
    let called = match result {
        Ok(answer) => done.call1(py, (PyBytes::new(py, &answer), py.None())),
        Err(error) => done.call1(py, (py.None(), error)),
    };
    // An event loop that was closed meanwhile takes no answer.
    if let Err(error) = called {
        error.write_unraisable(py, None);
    }
}

fn raise(error: CallError) -> PyErr {
    NativeError::new_err(error)
}
