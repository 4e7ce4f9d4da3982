//! `everlore experience add`: records an experience.

use clap::{Args, ValueEnum};
use everlore::engine::{CureSource, NewExperience};
use serde_json::json;

use crate::{CliContext, CliError, Exit, Output, Result, ids::shorten_id, input};

/// Record a problem with its solution and the outcome
///
/// Without --pain, a JSON object is read from standard input: {"pain", "solution", "outcome", "error"?, "tools"?,
/// "context"?, "source"?}.
#[derive(Debug, Args)]
pub(crate) struct ExperienceAddArgs {
    /// The problem, in a sentence
    #[arg(long, value_name = "TEXT", requires = "solution")]
    pain: Option<String>,
    /// The solution that was tried
    #[arg(long, value_name = "TEXT", requires = "pain")]
    solution: Option<String>,
    /// The outcome: worked, failed, or a sentence
    #[arg(long, value_name = "TEXT", requires = "pain", default_value = "worked")]
    outcome: String,
    /// The error as a program printed it
    #[arg(long, value_name = "TEXT", requires = "pain")]
    error: Option<String>,
    /// A tool or command that took part; may be repeated
    #[arg(long = "tool", value_name = "NAME", requires = "pain")]
    tools: Vec<String>,
    /// The circumstances: project, system, version
    #[arg(long, value_name = "TEXT", requires = "pain")]
    context: Option<String>,
    /// Where the solution came from; tool and web are trusted less
    #[arg(long, value_name = "SOURCE", value_enum, requires = "pain")]
    source: Option<CureSourceArg>,
}

/// Source of a solution on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum CureSourceArg {
    User,
    Agent,
    Tool,
    Web,
}

impl From<CureSourceArg> for CureSource {
    fn from(source: CureSourceArg) -> Self {
        match source {
            CureSourceArg::User => Self::User,
            CureSourceArg::Agent => Self::Agent,
            CureSourceArg::Tool => Self::Tool,
            CureSourceArg::Web => Self::Web,
        }
    }
}

impl ExperienceAddArgs {
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let new = match (self.pain, self.solution) {
            (Some(pain), Some(solution)) => NewExperience {
                pain,
                solution,
                outcome: self.outcome,
                error: self.error,
                tools: self.tools,
                context: self.context.unwrap_or_default(),
                source: self.source.map(CureSource::from),
                session: None,
            },
            _ => parse(&input::text_or_stdin(&[], out)?)?,
        };
        let engine = cx.engine().await?;
        let added = engine.add_experience(&cx.scope, new).await?;
        let short = shorten_id(engine, &cx.scope, added.id).await?;
        out.answer_line(&json!({ "id": added.id }), &format!("recorded: {short}"))
    }
}

fn parse(text: &str) -> Result<NewExperience> {
    serde_json::from_str(text).map_err(|error| {
        CliError::invalid(
            format!("standard input is no experience: {error}"),
            "give a JSON object with pain, solution and outcome, or the options --pain and --solution",
        )
    })
}
