//! `provider`: a scripted provider of vectors on this machine, to try models on other servers without one.

use anyhow::Result;
use everlore_scripted::{Embeddings, Server};

/// Play a provider of vectors for both protocols, until interrupted
#[derive(clap::Args)]
pub(crate) struct ProviderArgs {
    /// The key that it asks for; without it, it takes everybody
    #[arg(long)]
    key: Option<String>,
    /// How many numbers its vectors have
    #[arg(long, default_value_t = 64)]
    dimensions: usize,
}

/// Prints settings to copy, then serves.
pub(crate) fn run(args: &ProviderArgs) -> Result<()> {
    anyhow::ensure!(args.dimensions > 0, "--dimensions must be at least 1");
    let script =
        Embeddings { key: args.key.clone(), dimensions: args.dimensions, ..Embeddings::default() };
    let model = script.model.clone();
    let server = Server::start(script);
    println!(
        "[embedding]\nprovider = \"openai\"\nmodel = \"{model}\"\nbase_url = \"{}/v1\"",
        server.url()
    );
    loop {
        std::thread::park();
    }
}
