//! What can be asked: the global options and the list of commands. Help texts come from the comments.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

#[cfg(feature = "server")]
use crate::commands::{mcp::McpArgs, serve::ServeArgs};
use crate::{
    commands::{
        agent::AgentCommand,
        chat::ChatArgs,
        completions::CompletionsArgs,
        config::ConfigCommand,
        connect::{ConnectArgs, DisconnectArgs},
        context::ContextArgs,
        demo::DemoArgs,
        doctor::DoctorArgs,
        embed::EmbedCommand,
        extract::ExtractArgs,
        fs::FsCommand,
        hook::HookArgs,
        import::ImportArgs,
        ingest::IngestArgs,
        layer::LayerCommand,
        ledger::LedgerArgs,
        memory::MemoryCommand,
        model::ModelCommand,
        observe::ObserveArgs,
        onboard::OnboardArgs,
        prompt::PromptCommand,
        quarantine::QuarantineCommand,
        recall::RecallArgs,
        remember::RememberArgs,
        scopes::ScopesArgs,
        session::SessionCommand,
        tool::ToolCommand,
        upkeep::UpkeepArgs,
        vault::VaultCommand,
    },
    output::ColorChoice,
};

/// Long-term memory for LLM agents: one binary, no cloud, English and Chinese
///
/// Everything is kept in one folder, the home. Exit codes: 0 done, 1 nothing found, 2 failed.
#[derive(Debug, Parser)]
#[command(name = "everlore", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Options that every command takes, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// The folder that holds everything [default: ~/.everlore]
    #[arg(long, global = true, value_name = "DIR", env = "EVERLORE_HOME", hide_env_values = true)]
    pub(crate) home: Option<PathBuf>,
    /// The agent whose memory it is [default: from the settings]
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "EVERLORE_AGENT",
        hide_env_values = true
    )]
    pub(crate) agent: Option<String>,
    /// The user whom the memory is about [default: from the settings]
    #[arg(long, global = true, value_name = "NAME", env = "EVERLORE_USER", hide_env_values = true)]
    pub(crate) user: Option<String>,
    /// The file with the settings [default: config.toml in the home]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "EVERLORE_CONFIG",
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// Answer in JSON, errors included
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Say on standard error what is going on; twice for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value_t,
        hide_possible_values = true
    )]
    pub(crate) color: ColorChoice,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Chat(ChatArgs),
    Onboard(OnboardArgs),
    Remember(RememberArgs),
    Observe(ObserveArgs),
    Ingest(IngestArgs),
    Import(ImportArgs),
    Recall(RecallArgs),
    Context(ContextArgs),
    #[command(subcommand)]
    Prompt(PromptCommand),
    #[command(subcommand)]
    Memory(MemoryCommand),
    #[command(subcommand)]
    Fs(FsCommand),
    #[command(subcommand)]
    Tool(ToolCommand),
    #[command(subcommand)]
    Layer(LayerCommand),
    #[command(subcommand)]
    Session(SessionCommand),
    Extract(ExtractArgs),
    #[command(subcommand)]
    Quarantine(QuarantineCommand),
    Upkeep(UpkeepArgs),
    Ledger(LedgerArgs),
    #[command(subcommand)]
    Vault(VaultCommand),
    Scopes(ScopesArgs),
    #[command(subcommand)]
    Agent(AgentCommand),
    #[command(subcommand)]
    Embed(EmbedCommand),
    #[command(subcommand)]
    Model(ModelCommand),
    #[cfg(feature = "server")]
    Serve(ServeArgs),
    #[cfg(feature = "server")]
    Mcp(McpArgs),
    Connect(ConnectArgs),
    Disconnect(DisconnectArgs),
    Hook(HookArgs),
    Doctor(DoctorArgs),
    #[command(subcommand)]
    Config(ConfigCommand),
    Completions(CompletionsArgs),
    Demo(DemoArgs),
}

impl CliCommand {
    /// Whether it works even if the settings cannot be read.
    pub(crate) fn settings_optional(&self) -> bool {
        matches!(
            self,
            Self::Onboard(_)
                | Self::Doctor(_)
                | Self::Config(_)
                | Self::Completions(_)
                | Self::Demo(_)
        )
    }

    /// Whether it answers many at once and tells what it does.
    pub(crate) fn runs_server(&self) -> bool {
        #[cfg(feature = "server")]
        if let Self::Serve(args) = self {
            return args.runs_server();
        }
        false
    }

    /// Whether it only looks, so that a home which is not there need not be made.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Recall(_) | Self::Prompt(_) | Self::Scopes(_) | Self::Ledger(_) => true,
            Self::Context(args) => args.is_read_only(),
            Self::Agent(command) => command.is_read_only(),
            Self::Memory(command) => command.is_read_only(),
            Self::Import(args) => args.is_read_only(),
            Self::Tool(command) => command.is_read_only(),
            Self::Fs(command) => command.is_read_only(),
            Self::Vault(command) => command.is_read_only(),
            Self::Quarantine(command) => command.is_read_only(),
            Self::Extract(args) => args.is_read_only(),
            _ => false,
        }
    }

    /// Whether it is about the model itself, so that one on another server may be asked about its vectors.
    pub(crate) fn may_probe_embedder(&self) -> bool {
        matches!(self, Self::Embed(EmbedCommand::Switch | EmbedCommand::Rebuild))
    }

    /// Whether it tells by itself what others hear as a note.
    pub(crate) fn prints_own_notes(&self) -> bool {
        let quiet =
            matches!(self, Self::Memory(MemoryCommand::Import(_)) | Self::Hook(_) | Self::Agent(_));
        quiet || self.settings_optional()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }

    #[test]
    fn global_options_may_stand_before_and_after_the_command() {
        let parse = |args: &[&str]| Cli::try_parse_from(args).unwrap().global.json;
        assert!(parse(&["everlore", "--json", "recall", "tea"]));
        assert!(parse(&["everlore", "memory", "list", "--json"]));
    }
}
