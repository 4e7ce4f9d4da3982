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
mod natural_texts;
mod timing;
mod table;
mod trigram_baseline;
mod scale;
mod retrieval;
mod quality;
mod load;
// The packages of the databases are for this system only.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod cluster;
mod sources;
mod commands;

use anyhow::Result;
use clap::{Parser, Subcommand};

/// Measure Everlore's quality and speed beside the baselines
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Retrieval(commands::retrieval::RetrievalArgs),
    Extract(commands::extract::ExtractArgs),
    Changes(commands::changes::ChangesArgs),
    Dialogues(commands::dialogues::DialoguesArgs),
    Gate(commands::gate::GateArgs),
    Need(commands::need::NeedArgs),
    Homes(commands::homes::HomesArgs),
    Injection(commands::injection::InjectionArgs),
    Bench(commands::bench::BenchArgs),
    Scale(commands::scale::ScaleArgs),
    Latency(commands::latency::LatencyArgs),
    Pgvector(commands::pgvector::PgvectorArgs),
    GrowthModel(commands::growth_model::GrowthModelArgs),
    Life(commands::life::LifeArgs),
    Move(commands::agent_move::AgentMoveArgs),
    Audit(commands::audit::AuditArgs),
    Load(commands::load::LoadArgs),
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    Cluster(commands::cluster::ClusterArgs),
    Mcp(commands::mcp::McpArgs),
    Hooks(commands::hooks::HooksArgs),
    Replay(commands::replay::ReplayArgs),
    Prompt(commands::prompt::PromptArgs),
    Provider(commands::provider::ProviderArgs),
    Proxy(commands::proxy::ProxyArgs),
    Sources(commands::sources::SourcesArgs),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Retrieval(args) => commands::retrieval::run(&args),
        Command::Extract(args) => commands::extract::run(&args),
        Command::Changes(args) => commands::changes::run(&args),
        Command::Dialogues(args) => commands::dialogues::run(&args),
        Command::Gate(args) => commands::gate::run(&args),
        Command::Need(args) => commands::need::run(&args),
        Command::Homes(args) => commands::homes::run(&args),
        Command::Injection(args) => commands::injection::run(&args),
        Command::Bench(args) => commands::bench::run(&args),
        Command::Scale(args) => commands::scale::run(&args),
        Command::Latency(args) => commands::latency::run(&args),
        Command::Pgvector(args) => commands::pgvector::run(&args),
        Command::GrowthModel(args) => commands::growth_model::run(&args),
        Command::Mcp(args) => commands::mcp::run(&args),
        Command::Life(args) => commands::life::run(&args),
        Command::Move(args) => commands::agent_move::run(&args),
        Command::Audit(args) => commands::audit::run(&args),
        Command::Load(args) => commands::load::run_load(&args),
        #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
        Command::Cluster(args) => commands::cluster::run(&args),
        Command::Hooks(args) => commands::hooks::run(&args),
        Command::Replay(args) => commands::replay::run(&args),
        Command::Proxy(args) => commands::proxy::run(&args),
        Command::Provider(args) => commands::provider::run(&args),
        Command::Prompt(args) => commands::prompt::run(&args),
        Command::Sources(args) => commands::sources::run(&args),
    }
}
