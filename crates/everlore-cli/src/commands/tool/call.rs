//! `everlore tool call`: calls a tool as an agent would.

use clap::Args;
use everlore::{ToolContext, ToolRegistry, ToolResult};
use serde_json::Value;

use crate::{
    CliContext, CliError, Exit, Output, Result, commands::check_args, input, render::sanitize,
};

/// Call a tool as an agent would, and print its answer
///
/// Changes are journaled as the agent's. With --json the whole answer is printed, errors of the tool included.
#[derive(Debug, Args)]
pub(crate) struct ToolCallArgs {
    /// The tool
    name: String,
    /// Its input as a JSON object; without it, or with `-`, it is read from standard input
    #[arg(value_name = "JSON")]
    input: Vec<String>,
    /// The conversation in which it is called
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

impl ToolCallArgs {
    /// Calls the tool and prints its answer.
    pub(super) async fn run(self, cx: &CliContext, out: &mut Output) -> Result<Exit> {
        let tools = ToolRegistry::all();
        // An unknown tool is reported before anything is read or opened.
        tools.spec(&self.name)?;
        let input = parse_input(&input::text_or_stdin(&self.input, out)?, &self.name)?;
        let folder = cx.memory_folder();
        let engine = cx.engine().await?;
        let context = ToolContext {
            session: self.session.as_deref(),
            folder: Some(&folder),
            check_permission: &check_args::check_reach(),
            may_erase: true,
            ..ToolContext::new(engine, &cx.scope)
        };
        let answer = tools.call(&self.name, input, &context).await;
        print_answer(&answer, out)
    }
}

fn parse_input(text: &str, name: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        let hint = format!("give a JSON object; `everlore tool show {name}` lists its fields");
        CliError::invalid(format!("the input is not JSON: {error}"), hint)
    })
}

fn print_answer(answer: &ToolResult, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(answer)?;
    } else if answer.is_error {
        out.note(&sanitize(&answer.text));
    } else {
        out.line(&sanitize(&answer.text))?;
    }
    Ok(Exit::from_success(!answer.is_error))
}
