//! Command line: the global options and the list of commands. Doc comments are the help texts.

use std::path::PathBuf;

use clap::{
    Args, Parser, Subcommand,
    builder::{PossibleValue, PossibleValuesParser},
};
use everlore::config::StoreUrl;

use crate::{
    commands::{
        self, embed::EmbedCommand, layer::LayerCommand, memory::MemoryCommand,
        schedule::ScheduleCommand,
    },
    messages::LANGUAGE_NAMES,
    output::ColorChoice,
};

/// Long-term memory for LLM agents: one binary, no cloud, English and Chinese
///
/// All data is in one folder, the home. Exit codes: 0 done, 1 nothing found, 2 failed.
#[derive(Debug, Parser)]
#[command(name = "everlore", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Options of every command, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct GlobalArgs {
    /// Home folder, which holds all data [default: ~/.everlore]
    #[arg(long, global = true, value_name = "DIR", env = "EVERLORE_HOME", hide_env_values = true)]
    pub(crate) home: Option<PathBuf>,
    /// Agent whose memory to use [default: from the settings]
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "EVERLORE_AGENT",
        hide_env_values = true
    )]
    pub(crate) agent: Option<String>,
    /// User whom the memory is about [default: from the settings]
    #[arg(long, global = true, value_name = "NAME", env = "EVERLORE_USER", hide_env_values = true)]
    pub(crate) user: Option<String>,
    /// Settings file [default: config.toml in the home]
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "EVERLORE_CONFIG",
        hide_env_values = true
    )]
    pub(crate) config: Option<PathBuf>,
    /// Database: sqlite:PATH or postgres://… [default: from the settings, everlore.db in the home]
    #[arg(long, global = true, value_name = "URL", env = "EVERLORE_STORE", hide_env_values = true)]
    pub(crate) store: Option<StoreArg>,
    /// Print JSON, errors included
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Log to standard error; repeat for more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(crate) verbose: u8,
    /// Language of help, messages and errors: en or zh [default: from the settings, then the locale]
    #[arg(long, global = true, value_name = "LANGUAGE", value_parser = languages(), hide_possible_values = true)]
    pub(crate) lang: Option<String>,
    /// Use of colours: auto, always or never
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

/// Returns the values of `--lang`.
fn languages() -> PossibleValuesParser {
    let value = |(name, others): (&'static str, &'static [&'static str])| {
        PossibleValue::new(name).aliases(others.iter().copied())
    };
    PossibleValuesParser::new(LANGUAGE_NAMES.map(value))
}

/// Address of a database on the command line; its password is in no `Debug`.
#[derive(Debug, Clone)]
pub(crate) struct StoreArg(pub(crate) StoreUrl);

impl From<String> for StoreArg {
    fn from(url: String) -> Self {
        Self(StoreUrl::new(url))
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    Chat(commands::chat::ChatArgs),
    Onboard(commands::onboard::OnboardArgs),
    Remember(commands::remember::RememberArgs),
    Observe(commands::observe::ObserveArgs),
    Ingest(commands::ingest::IngestArgs),
    Import(commands::import::ImportArgs),
    #[command(visible_alias = "search")]
    Recall(commands::recall::RecallArgs),
    List(commands::memory::MemoryListArgs),
    Show(commands::memory::MemoryShowArgs),
    Forget(commands::memory::MemoryForgetArgs),
    Undo(commands::memory::MemoryUndoArgs),
    Redo(commands::memory::MemoryRedoArgs),
    Context(commands::context::ContextArgs),
    #[command(subcommand)]
    Prompt(commands::prompt::PromptCommand),
    #[command(subcommand)]
    Memory(commands::memory::MemoryCommand),
    #[command(subcommand)]
    Fs(commands::fs::FsCommand),
    #[command(subcommand)]
    Tool(commands::tool::ToolCommand),
    #[command(subcommand)]
    Layer(commands::layer::LayerCommand),
    #[command(subcommand)]
    Session(commands::session::SessionCommand),
    Extract(commands::extract::ExtractArgs),
    #[command(subcommand)]
    Quarantine(commands::quarantine::QuarantineCommand),
    #[command(subcommand)]
    Experience(commands::experience::ExperienceCommand),
    Feedback(commands::feedback::FeedbackArgs),
    Upkeep(commands::upkeep::UpkeepArgs),
    Audit(commands::audit::AuditArgs),
    Reflect(commands::reflect::ReflectArgs),
    Proposals(commands::proposals::ProposalsArgs),
    #[command(subcommand)]
    Skill(commands::skill::SkillCommand),
    #[command(subcommand)]
    Workflow(commands::workflow::WorkflowCommand),
    #[command(subcommand)]
    Schedule(commands::schedule::ScheduleCommand),
    Heartbeat(commands::heartbeat::HeartbeatArgs),
    Profile(commands::profile::ProfileArgs),
    #[command(subcommand)]
    Trajectory(commands::trajectory::TrajectoryCommand),
    Ledger(commands::ledger::LedgerArgs),
    #[command(subcommand)]
    Vault(commands::vault::VaultCommand),
    Scopes(commands::scopes::ScopesArgs),
    #[command(subcommand)]
    Store(commands::store::StoreCommand),
    #[command(subcommand)]
    Agent(commands::agent::AgentCommand),
    #[command(subcommand)]
    Embed(commands::embed::EmbedCommand),
    #[command(subcommand)]
    Model(commands::model::ModelCommand),
    #[cfg(feature = "server")]
    Serve(commands::serve::ServeArgs),
    #[cfg(feature = "server")]
    Mcp(commands::mcp::McpArgs),
    Connect(commands::connect::ConnectArgs),
    Disconnect(commands::connect::DisconnectArgs),
    Hook(commands::hook::HookArgs),
    Doctor(commands::doctor::DoctorArgs),
    Health(commands::health::HealthArgs),
    Tokens(commands::tokens::TokensArgs),
    #[command(subcommand)]
    Config(commands::config::ConfigCommand),
    Completions(commands::completions::CompletionsArgs),
    Demo(commands::demo::DemoArgs),
}

impl CliCommand {
    /// Returns `true` for commands that run even if the settings are invalid.
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

    /// Returns `true` for the server, which needs several threads and logs by default.
    pub(crate) fn runs_server(&self) -> bool {
        #[cfg(feature = "server")]
        if let Self::Serve(args) = self {
            return args.runs_server();
        }
        false
    }

    /// Returns `true` for commands that only read, so that a missing home is not created.
    pub(crate) fn is_read_only(&self) -> bool {
        match self {
            Self::Recall(_) | Self::List(_) | Self::Show(_) => true,
            Self::Prompt(_) | Self::Scopes(_) | Self::Ledger(_) => true,
            Self::Trajectory(_) | Self::Health(_) | Self::Tokens(_) => true,
            Self::Context(args) => args.is_read_only(),
            Self::Agent(command) => command.is_read_only(),
            Self::Memory(command) => command.is_read_only(),
            Self::Import(args) => args.is_read_only(),
            Self::Audit(args) => args.is_read_only(),
            Self::Reflect(args) => args.is_read_only(),
            Self::Proposals(args) => args.is_read_only(),
            Self::Skill(command) => command.is_read_only(),
            Self::Workflow(command) => command.is_read_only(),
            Self::Profile(args) => args.is_read_only(),
            Self::Tool(command) => command.is_read_only(),
            Self::Fs(command) => command.is_read_only(),
            Self::Vault(command) => command.is_read_only(),
            Self::Quarantine(command) => command.is_read_only(),
            Self::Schedule(command) => command.is_read_only(),
            Self::Experience(command) => command.is_read_only(),
            Self::Extract(args) => args.is_read_only(),
            _ => false,
        }
    }

    /// Returns `true` for commands that wait for a person while they change layers.
    pub(crate) fn is_interactive(&self) -> bool {
        matches!(self, Self::Onboard(_) | Self::Layer(LayerCommand::Edit(_)))
    }

    /// Returns `true` for commands that change layers, agent settings, keys or calibration as files.
    pub(crate) fn changes_shared_files(&self) -> bool {
        match self {
            Self::Layer(_) | Self::Onboard(_) => true,
            Self::Agent(command) => command.changes_settings(),
            Self::Recall(args) => args.is_calibrate(),
            #[cfg(feature = "server")]
            Self::Serve(args) => args.changes_keys(),
            _ => false,
        }
    }

    /// Returns `true` for commands about the embedding model itself, which may ask a remote model for its vector size.
    pub(crate) fn may_probe_embedder(&self) -> bool {
        let probes = matches!(self, Self::Embed(EmbedCommand::Switch | EmbedCommand::Rebuild));
        probes || matches!(self, Self::Embed(EmbedCommand::Text { .. }))
    }

    /// Returns `true` for commands that report the startup notes in their own way.
    pub(crate) fn prints_own_notes(&self) -> bool {
        let prints_own = matches!(
            self,
            Self::Memory(MemoryCommand::Import(_))
                | Self::Schedule(ScheduleCommand::Explain(_))
                | Self::Hook(_)
                | Self::Agent(_)
        );
        prints_own || self.settings_optional()
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
