//! `locomo` and `longmemeval`: `retrieval` on the files as their authors publish them.

use std::path::PathBuf;

use anyhow::Result;

use super::retrieval::{RetrievalOptions, measure_and_print};
use crate::retrieval::official;

/// Measure the quality of retrieval on the official file of LoCoMo
#[derive(clap::Args)]
pub(crate) struct LocomoArgs {
    /// File, for example locomo10.json
    file: PathBuf,
    #[command(flatten)]
    options: RetrievalOptions,
}

/// Measure the quality of retrieval on an official file of LongMemEval
#[derive(clap::Args)]
pub(crate) struct LongmemevalArgs {
    /// File, for example longmemeval_s.json
    file: PathBuf,
    #[command(flatten)]
    options: RetrievalOptions,
}

/// Runs `locomo`.
pub(crate) fn run_locomo(args: &LocomoArgs) -> Result<()> {
    measure_and_print(official::locomo(&args.file)?, &args.options)
}

/// Runs `longmemeval`.
pub(crate) fn run_longmemeval(args: &LongmemevalArgs) -> Result<()> {
    measure_and_print(official::longmemeval(&args.file)?, &args.options)
}
