//! The binary `everlore`: everything is in the library beside it, which compiles while the engine is still being built.

use std::process::ExitCode;

fn main() -> ExitCode {
    everlore_cli::main()
}
