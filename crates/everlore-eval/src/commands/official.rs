//! `locomo` and `longmemeval`: the measures of `retrieval` on the files as their authors publish them.

use std::path::PathBuf;

use anyhow::Result;

use super::retrieval::{RetrievalOptions, measure_and_print};
use crate::retrieval::official;

/// Measure the quality of retrieval on the official file of LoCoMo
#[derive(clap::Args)]
pub(crate) struct LocomoArgs {
    /// The file, for example locomo10.json
    file: PathBuf,
    #[command(flatten)]
    options: RetrievalOptions,
}

/// Measure the quality of retrieval on an official file of LongMemEval
#[derive(clap::Args)]
pub(crate) struct LongmemevalArgs {
    /// The file, for example longmemeval_s.json
    file: PathBuf,
    #[command(flatten)]
    options: RetrievalOptions,
}

/// Measures LoCoMo and prints.
pub(crate) fn run_locomo(args: &LocomoArgs) -> Result<()> {
    measure_and_print(official::locomo(&args.file)?, &args.options)
}

/// Measures LongMemEval and prints.
pub(crate) fn run_longmemeval(args: &LongmemevalArgs) -> Result<()> {
    measure_and_print(official::longmemeval(&args.file)?, &args.options)
}
