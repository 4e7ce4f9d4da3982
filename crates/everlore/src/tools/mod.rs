//! The tools that an agent is given: one registry for the library, the command line, chat and MCP.
//!
//! A tool is one file: what it is ([`ToolSpec`]) and what it does ([`Tool::call`]). The registry checks the input against the
//! schema first, so that a tool only meets input that fits, and every error is a sentence that a model can act on.
//!
//! To add a tool, write its file, name it in [`every`], and say which [`ToolSet`] it belongs to.

mod spec;
mod input;
mod view;
mod check;
mod recall;
mod timeline;
mod get;
mod save;
mod update;
mod context;
mod layers;
mod memory;
mod fs;
mod graph;
mod search;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

pub use check::CheckPermission;
pub use spec::{ToolAnnotations, ToolSet, ToolSpec};
pub use view::memory_line;

use crate::{
    engine::Engine,
    error::{Error, Result},
    files::memory_folder::MemoryFolder,
    types::{Actor, ChangeAuthor, Scope},
};

/// Something an agent can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What it is called, what it is for, and what goes in and out.
    fn spec(&self) -> ToolSpec;

    /// Does it, given an input that fits the schema.
    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult>;
}

/// What a call works with.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// The memories.
    pub engine: &'a Engine,
    /// Whose they are: nothing outside is read or changed.
    pub scope: &'a Scope,
    /// The conversation in which the tool is called.
    pub session: Option<&'a str>,
    /// Who is called the author of what changes.
    pub actor: Actor,
    /// The folder that the agent keeps for itself, if it has one.
    pub folder: Option<&'a MemoryFolder>,
    /// What checks that are set may be about.
    pub check_permission: &'a CheckPermission,
}

impl<'a> ToolContext<'a> {
    /// Calls by an agent, outside any conversation and without a folder, whose checks are dates.
    pub fn new(engine: &'a Engine, scope: &'a Scope) -> Self {
        Self {
            engine,
            scope,
            session: None,
            actor: Actor::Agent,
            folder: None,
            check_permission: &CheckPermission::Dates,
        }
    }

    /// The engine, whose changes are journaled as made by this tool for this reason.
    fn engine_for(&self, cause: impl Into<String>) -> Engine {
        self.engine.on_behalf_of(ChangeAuthor {
            actor: self.actor,
            reason: Some(cause.into()),
            run: None,
        })
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolResult {
    /// For the model.
    pub text: String,
    /// The same for programs, as the output schema says; nothing if it is an error.
    pub structured: Value,
    /// Whether nothing was done and the text says why.
    pub is_error: bool,
}

impl ToolResult {
    /// An answer that went well.
    pub fn new(text: impl Into<String>, structured: Value) -> Self {
        Self { text: text.into(), structured, is_error: false }
    }

    /// A sentence that says what is wrong and what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self { text: text.into(), structured: Value::Null, is_error: true }
    }
}

/// The tools that are on offer, in a fixed order.
pub struct ToolRegistry {
    entries: Vec<(ToolSpec, Box<dyn Tool>)>,
}

/// Every tool there is, in the order in which they are listed.
fn all_tools() -> Vec<Box<dyn Tool>> {
    let own: Vec<Box<dyn Tool>> = vec![
        Box::new(recall::MemoryRecallTool),
        Box::new(timeline::MemoryTimelineTool),
        Box::new(get::MemoryGetTool),
        Box::new(save::MemorySaveTool),
        Box::new(update::MemoryUpdateTool),
        Box::new(update::MemoryForgetTool),
        Box::new(context::MemoryContextTool),
        Box::new(layers::LayerReadTool),
        Box::new(layers::LayerAddTool),
        Box::new(layers::LayerReplaceTool),
        Box::new(layers::LayerRemoveTool),
        Box::new(memory::MemoryFolderTool),
        Box::new(fs::FsLsTool),
        Box::new(fs::FsTreeTool),
        Box::new(fs::FsReadTool),
        Box::new(fs::FsFindTool),
        Box::new(fs::FsGrepTool),
        Box::new(fs::FsAddTool),
        Box::new(fs::FsRmTool),
        Box::new(fs::FsStatTool),
    ];
    own.into_iter().chain(graph::tools()).chain(search::tools()).collect()
}

impl ToolRegistry {
    /// All of them.
    pub fn all() -> Self {
        Self::for_sets(&ToolSet::ALL)
    }

    /// Those of some sets.
    pub fn for_sets(sets: &[ToolSet]) -> Self {
        let offered = all_tools().into_iter().map(|tool| (tool.spec(), tool));
        Self { entries: offered.filter(|(spec, _)| sets.contains(&spec.set)).collect() }
    }

    /// What is on offer.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.entries.iter().map(|(spec, _)| spec)
    }

    /// What one tool is; an error that lists the names otherwise.
    pub fn spec(&self, name: &str) -> Result<&ToolSpec> {
        self.find(name).map(|(spec, _)| spec)
    }

    /// Calls a tool. Whatever goes wrong is told in the answer.
    pub async fn call(&self, name: &str, input: Value, cx: &ToolContext<'_>) -> ToolResult {
        let called = self.try_call(name, input, cx).await;
        called.unwrap_or_else(|error| ToolResult::error(error_sentence(&error)))
    }

    async fn try_call(&self, name: &str, input: Value, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let (spec, tool) = self.find(name)?;
        tool.call(input::validate(spec, input)?, cx).await
    }

    fn find(&self, name: &str) -> Result<&(ToolSpec, Box<dyn Tool>)> {
        let found = self.entries.iter().find(|(spec, _)| spec.name == name);
        found.ok_or_else(|| self.unknown_tool(name))
    }

    fn unknown_tool(&self, name: &str) -> Error {
        let names: Vec<&str> = self.specs().map(|spec| spec.name).collect();
        let meant = input::did_you_mean(name, &names);
        Error::invalid(
            format!("there is no tool `{name}`{meant}"),
            format!("the tools are {}", names.join(", ")),
        )
    }
}

/// An error in words for a model, which has tools and no command line.
fn error_sentence(error: &Error) -> String {
    let hint = match error {
        Error::NotFound { .. } => {
            "use memory_recall to find it and its id; only memories of this agent and user can be named"
        }
        Error::AmbiguousId { .. } => "give more characters of the id, or all of it",
        Error::Invalid { hint, .. } | Error::NoSuchUri { hint, .. } => hint,
        Error::Conflict { .. } => "look at it again and repeat the call",
        Error::InvalidConfig { .. }
        | Error::SchemaTooNew { .. }
        | Error::ReadOnly { .. }
        | Error::Damaged { .. }
        | Error::Store(_)
        | Error::Remote { .. }
        | Error::ContextTooLong { .. }
        | Error::Io { .. } => {
            "this is not about the input: nothing was changed; tell the user, and go on without it"
        }
    };
    let text = error.to_string();
    let stop = if text.ends_with('?') { "" } else { "." };
    format!("{}{stop} {}.", capitalize(&text), capitalize(hint))
}

fn capitalize(text: &str) -> String {
    let mut characters = text.trim_end_matches('.').chars();
    let first = characters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + characters.as_str()
}
