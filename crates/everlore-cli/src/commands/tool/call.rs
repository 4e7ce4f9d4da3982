//! `everlore tool call`: calls a tool as an agent would.

use clap::Args;
use everlore::{ToolAnswer, ToolContext, Tools};
use serde_json::Value;

use crate::{
    commands::checks,
    context::Context,
    failure::{Exit, Failure, Result},
    input,
    output::Output,
    words::visible,
};

/// Call a tool as an agent would, and print its answer
///
/// Changes are journaled as the agent's. With --json the whole answer is printed, errors of the tool included.
#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool
    name: String,
    /// Its input as a JSON object; without it, or with `-`, it is read from standard input
    #[arg(value_name = "JSON")]
    input: Vec<String>,
    /// The conversation in which it is called
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

impl CallArgs {
    /// Calls it and prints what it answers.
    pub(super) async fn run(self, cx: &Context, out: &mut Output) -> Result<Exit> {
        let tools = Tools::all();
        // An unknown tool is told before anything is read or opened.
        tools.spec(&self.name)?;
        let input = parsed(&input::text(&self.input, out)?, &self.name)?;
        let folder = cx.memory_folder();
        let engine = cx.engine().await?;
        let context = ToolContext {
            session: self.session.as_deref(),
            folder: Some(&folder),
            reach: &checks::reach(),
            ..ToolContext::new(engine, &cx.scope)
        };
        let answer = tools.call(&self.name, input, &context).await;
        tell(&answer, out)
    }
}

fn parsed(text: &str, name: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| {
        let hint = format!("give a JSON object; `everlore tool show {name}` tells its fields");
        Failure::invalid(format!("the input is not JSON: {error}"), hint)
    })
}

fn tell(answer: &ToolAnswer, out: &mut Output) -> Result<Exit> {
    if out.is_json() {
        out.json(answer)?;
    } else if answer.is_error {
        out.note(&visible(&answer.text));
    } else {
        out.line(&visible(&answer.text))?;
    }
    Ok(Exit::well(!answer.is_error))
}
