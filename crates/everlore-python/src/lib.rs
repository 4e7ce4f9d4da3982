//! Extension module `everlore._native`: the engine inside a Python process, and the `everlore` command.
//!
//! `engine_handle` is the class that Python holds, `opened_engine` the engine with its threads, and `operations` has the
//! requests, as JSON in the shapes of the HTTP API, so that the Python classes for both share their code. The Python part
//! is in `python/everlore`.

mod call_error;
mod operations;
mod opened_engine;
mod engine_handle;

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the `everlore` command and returns its exit code. The first argument is the script that was started.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python passes a list")]
fn run_command(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| everlore_cli::run_embedded(&args))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("NativeError", module.py().get_type::<engine_handle::NativeError>())?;
    module.add_class::<engine_handle::EngineHandle>()?;
    module.add_class::<engine_handle::PendingCall>()?;
    module.add_function(wrap_pyfunction!(run_command, module)?)
}
