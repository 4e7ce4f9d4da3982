//! Measures Everlore: quality of retrieval, speed at scale, and the source tree. Never published.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "printing figures is what this program is for"
)]

mod random;
mod vocabulary;
mod corpus;
mod terms;
mod timing;
mod table;
mod trigram_baseline;
mod scale;
mod retrieval;
mod quality;
mod load;
mod sources;
mod commands;

use anyhow::Result;
use clap::{Parser, Subcommand};

use commands::{
    bench::BenchArgs,
    corpus::CorpusArgs,
    extract::ExtractArgs,
    fs::FsArgs,
    gate::{EverydayArgs, GateArgs},
    homes::HomesArgs,
    hooks::HooksArgs,
    injection::InjectionArgs,
    life::LifeArgs,
    load::LoadArgs,
    mcp::McpArgs,
    need::NeedArgs,
    official::{LocomoArgs, LongmemevalArgs},
    prompt::PromptArgs,
    provider::ProviderArgs,
    proxy::ProxyArgs,
    quality::{AbstainArgs, TmdArgs, UpdatesArgs},
    replay::ReplayArgs,
    retrieval::RetrievalArgs,
    scale::ScaleArgs,
    sources::SourcesArgs,
    tune::TuneArgs,
    vault::VaultArgs,
};

/// Measure Everlore's quality and speed beside the baselines
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Retrieval(RetrievalArgs),
    Locomo(LocomoArgs),
    Longmemeval(LongmemevalArgs),
    Tmd(TmdArgs),
    Updates(UpdatesArgs),
    Abstain(AbstainArgs),
    Extract(ExtractArgs),
    Gate(GateArgs),
    Need(NeedArgs),
    Everyday(EverydayArgs),
    Homes(HomesArgs),
    Injection(InjectionArgs),
    Bench(BenchArgs),
    Tune(TuneArgs),
    Scale(ScaleArgs),
    Life(LifeArgs),
    Load(LoadArgs),
    Mcp(McpArgs),
    Hooks(HooksArgs),
    Replay(ReplayArgs),
    Vault(VaultArgs),
    Fs(FsArgs),
    Prompt(PromptArgs),
    Corpus(CorpusArgs),
    Provider(ProviderArgs),
    Proxy(ProxyArgs),
    Sources(SourcesArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Retrieval(args) => commands::retrieval::run(&args),
        Command::Locomo(args) => commands::official::run_locomo(&args),
        Command::Longmemeval(args) => commands::official::run_longmemeval(&args),
        Command::Tmd(args) => commands::quality::run_tmd(&args),
        Command::Updates(args) => commands::quality::run_updates(&args),
        Command::Abstain(args) => commands::quality::run_abstain(&args),
        Command::Extract(args) => commands::extract::run(&args),
        Command::Gate(args) => commands::gate::run_gate(&args),
        Command::Need(args) => commands::need::run(&args),
        Command::Everyday(args) => commands::gate::run_everyday(&args),
        Command::Homes(args) => commands::homes::run(&args),
        Command::Injection(args) => commands::injection::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Tune(args) => commands::tune::run(&args),
        Command::Scale(args) => commands::scale::run(&args),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Life(args) => commands::life::run(&args),
        Command::Load(args) => commands::load::run_load(&args),
        Command::Hooks(args) => commands::hooks::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Proxy(args) => commands::proxy::run(&args),
        Command::Provider(args) => commands::provider::run(&args),
        Command::Vault(args) => commands::vault::run(&args),
        Command::Fs(args) => commands::fs::run(&args),
        Command::Prompt(args) => commands::prompt::run(&args),
        Command::Corpus(args) => commands::corpus::run(&args),
        Command::Sources(args) => commands::sources::run(&args),
    }
}
