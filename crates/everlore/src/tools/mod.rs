//! Agent tools: one registry for the library, the command line, chat and MCP.
//!
//! One tool call:
//!
//! 1. `ToolRegistry::call` finds the tool, and `input::validate` checks the input against the schema that the model
//!    got: a tool only gets valid input, and an error names the field, the expected value and the nearest name.
//! 2. [`Tool::call`] (one file per tool, beside its [`ToolSpec`]) calls the engine on behalf of the agent; the journal
//!    names the tool as the reason (`ToolContext::engine_for`).
//! 3. The tool `memory` works on files. `FolderCommandContext::prepare_synced` (`memory/folder_command.rs`) syncs the
//!    vault and plans the command under the folder's lock (`files/memory_folder/plan.rs`). `Engine::record_notes`
//!    journals the old and new texts of notes (`ingest/agent_notes.rs`), and only then the folder is changed. After a
//!    crash in between, the journal has a text that the disk lacks, and the next change journals what the disk has.
//!    Changed pages are synced.
//! 4. Every error becomes a [`ToolResult`] with `is_error`: a sentence that a model can act on.
//!
//! To add a tool, write its file, list it in `all_tools` and assign it to a [`ToolSet`]. Tools with another system's
//! names and formats belong to `compat/`, behind the feature `compat-tools`.

mod spec;
mod input;
mod view;
mod check;
mod recall;
mod timeline;
mod get;
mod save;
mod update;
mod forget;
mod context;
mod layers;
mod memory;
mod fs;
mod reminder;
mod experience;
mod profile;
mod skill;
#[cfg(feature = "compat-tools")]
mod compat;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::{Map, Value};

pub use check::CheckPermission;
pub use spec::{ToolAnnotations, ToolSet, ToolSpec};
pub use view::memory_line;

pub use crate::files::memory_folder::{
    MemoryFolder, MemoryFolderLimits, MemoryToolCommand, MemoryToolOutput,
};

use crate::{
    engine::Engine,
    error::{Error, Result},
    text::{
        sanitize::{sanitize_json, sanitize_verbatim},
        suspect::{mark_suspect_json, mark_suspect_lines},
    },
    types::{Actor, ChangeAuthor, Scope},
};

/// Tool that an agent can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Returns name, purpose and schemas.
    fn spec(&self) -> ToolSpec;

    /// Runs the tool on an input that fits its schema.
    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult>;
}

/// Context of a call.
#[derive(Clone, Copy)]
pub struct ToolContext<'a> {
    /// Engine that holds the memories.
    pub engine: &'a Engine,
    /// Owner of the memories: nothing outside is read or changed.
    pub scope: &'a Scope,
    /// Session in which the tool is called.
    pub session: Option<&'a str>,
    /// Author of the changes.
    pub actor: Actor,
    /// Folder of the agent's own notes, if it has one.
    pub folder: Option<&'a MemoryFolder>,
    /// Checks that the agent may set.
    pub check_permission: &'a CheckPermission,
    /// Set if the caller may erase memories for good, and remove all of them: a person or an admin, never an agent, which
    /// text that it reads could talk into it.
    pub may_erase: bool,
}

impl<'a> ToolContext<'a> {
    /// Creates the context of an agent outside any session, without a folder, whose checks are dates.
    pub fn new(engine: &'a Engine, scope: &'a Scope) -> Self {
        Self {
            engine,
            scope,
            session: None,
            actor: Actor::Agent,
            folder: None,
            check_permission: &CheckPermission::Dates,
            may_erase: false,
        }
    }

    /// Returns the engine with changes journaled for this reason.
    fn engine_for(&self, reason: impl Into<String>) -> Engine {
        self.engine.on_behalf_of(ChangeAuthor {
            actor: self.actor,
            reason: Some(reason.into()),
            run: None,
        })
    }
}

/// Result of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ToolResult {
    /// Text for the model.
    pub text: String,
    /// The same for programs, as the output schema describes it; null if it is an error.
    pub structured: Value,
    /// Set when nothing was done and the text says why.
    pub is_error: bool,
    /// Set when the text holds blocks of ours, whose contents are sanitized.
    #[serde(skip)]
    holds_blocks: bool,
}

impl ToolResult {
    /// Creates a successful result.
    pub fn new(text: impl Into<String>, structured: Value) -> Self {
        Self { text: text.into(), structured, is_error: false, holds_blocks: false }
    }

    /// Creates an error whose text says what is wrong and what to do.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::new(text, Value::Null) }
    }

    /// Creates a successful result whose text holds blocks of ours, such as `<memory-context>`.
    fn with_blocks(text: impl Into<String>, structured: Value) -> Self {
        Self { holds_blocks: true, ..Self::new(text, structured) }
    }

    /// Sanitizes the text, unless it holds blocks, and every string for programs: hosts pass both on to models. Marks
    /// what reads like an instruction; blocks have marks of their own.
    fn sanitized(mut self) -> Self {
        let json = self.structured.to_string();
        let is_json = self.text == json;
        let block_text = self.structured.get_mut("text").filter(|_| self.holds_blocks);
        let block_text = block_text.map(Value::take);
        sanitize_json(&mut self.structured);
        mark_suspect_json(&mut self.structured);
        if let Some(text) = block_text {
            self.structured["text"] = text;
        }
        if is_json {
            self.text = self.structured.to_string();
        } else if !self.holds_blocks {
            self.text = mark_suspect_lines(&sanitize_verbatim(&self.text)).into_owned();
        }
        self
    }
}

/// Fields of tools that hold the query of a search.
const SEARCH_FIELDS: [&str; 2] = ["query", "pattern"];

/// Registry of tools, in a fixed order.
pub struct ToolRegistry {
    entries: Vec<(ToolSpec, Box<dyn Tool>)>,
}

/// Returns all compiled-in tools, in the order of listing.
fn all_tools() -> Vec<Box<dyn Tool>> {
    let own: Vec<Box<dyn Tool>> = vec![
        Box::new(recall::MemoryRecallTool),
        Box::new(timeline::MemoryTimelineTool),
        Box::new(get::MemoryGetTool),
        Box::new(save::MemorySaveTool),
        Box::new(update::MemoryUpdateTool),
        Box::new(forget::MemoryForgetTool),
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
        Box::new(reminder::ReminderTool),
        Box::new(experience::ExperienceFindTool),
        Box::new(experience::ExperienceSaveTool),
        Box::new(skill::SkillReadTool),
        Box::new(profile::ProfileReadTool),
    ];
    own.into_iter().chain(compat_tools()).collect()
}

#[cfg(feature = "compat-tools")]
fn compat_tools() -> Vec<Box<dyn Tool>> {
    compat::tools()
}

#[cfg(not(feature = "compat-tools"))]
fn compat_tools() -> Vec<Box<dyn Tool>> {
    Vec::new()
}

impl ToolRegistry {
    /// Creates a registry of all compiled-in sets.
    pub fn all() -> Self {
        Self::for_sets(&ToolSet::ALL)
    }

    /// Creates a registry of some sets.
    pub fn for_sets(sets: &[ToolSet]) -> Self {
        let tools = all_tools().into_iter().map(|tool| (tool.spec(), tool));
        Self { entries: tools.filter(|(spec, _)| sets.contains(&spec.set)).collect() }
    }

    /// Returns the specs of all tools.
    pub fn specs(&self) -> impl Iterator<Item = &ToolSpec> {
        self.entries.iter().map(|(spec, _)| spec)
    }

    /// Returns the spec of a tool, or an error that lists the names.
    pub fn spec(&self, name: &str) -> Result<&ToolSpec> {
        self.find(name).map(|(spec, _)| spec)
    }

    /// Calls a tool; errors become results, and foreign text in a result is sanitized.
    pub async fn call(&self, name: &str, input: Value, cx: &ToolContext<'_>) -> ToolResult {
        let result = self.try_call(name, input, cx).await;
        let result = result.unwrap_or_else(|error| ToolResult::error(error_sentence(&error)));
        result.sanitized()
    }

    async fn try_call(&self, name: &str, input: Value, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let (spec, tool) = self.find(name)?;
        let input = input::validate(spec, input)?;
        for query in SEARCH_FIELDS.iter().filter_map(|field| input.get(*field)?.as_str()) {
            Engine::check_query(query)?;
        }
        tool.call(input, cx).await
    }

    fn find(&self, name: &str) -> Result<&(ToolSpec, Box<dyn Tool>)> {
        let entry = self.entries.iter().find(|(spec, _)| spec.name == name);
        entry.ok_or_else(|| self.unknown_tool(name))
    }

    fn unknown_tool(&self, name: &str) -> Error {
        let names: Vec<&str> = self.specs().map(|spec| spec.name).collect();
        let suggestion = input::did_you_mean(name, &names);
        Error::invalid(
            format!("there is no tool `{name}`{suggestion}"),
            format!("the tools are {}", names.join(", ")),
        )
    }
}

/// Renders an error for a model, which has tools and no command line.
fn error_sentence(error: &Error) -> String {
    let hint = match error {
        Error::NotFound { .. } => {
            "use memory_recall to find it and its id; only memories of this agent and user can be named"
        }
        Error::AmbiguousId { .. } => "give more characters of the id, or all of it",
        Error::Invalid { hint, .. } | Error::NoSuchUri { hint, .. } => hint,
        Error::Conflict { .. } | Error::Repeated { .. } => "look at it again and repeat the call",
        Error::Sealed { .. } => "nothing was changed; repeat the call in some seconds",
        Error::OwnerOnly { .. } => {
            "nothing was changed; it is for every user of this agent, so tell the user to ask the owner of this memory"
        }
        Error::InvalidConfig { .. }
        | Error::SchemaTooNew { .. }
        | Error::ReadOnly { .. }
        | Error::Damaged { .. }
        | Error::Store(_)
        | Error::Remote { .. }
        | Error::ModelSilent { .. }
        | Error::ToolsUnsupported { .. }
        | Error::ContextTooLong { .. }
        | Error::Io { .. } => {
            "the input is not the cause; nothing was changed; tell the user, and continue without it"
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
