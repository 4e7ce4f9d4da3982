//! The Model Context Protocol: the tools, resources and prompts of one agent and user, over stdio and HTTP.
//!
//! [`McpServer`] answers for one [`McpContext`]: whose memory it is, which tools are offered, and whether anything may be changed. Both
//! eras of the protocol are spoken, with a handshake (2025-11-25 and before) and without (2026-07-28); which one, each
//! request says.

mod http;
mod prompts;
mod resources;
mod stdio;

use std::{path::PathBuf, sync::Arc};

use everlore::{
    Engine, Scope, ToolContext, ToolRegistry, ToolResult,
    config::LanguageChoice,
    files::{
        home::vault_folder,
        memory_folder::{MemoryFolder, MemoryFolderLimits},
    },
    tools::{CheckPermission, ToolSet, ToolSpec},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
        DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation,
        ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
        MetaObject, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ReadResourceResult, ServerCapabilities, ServerConfig, Tool,
        ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::{Map, Value};

pub(crate) use http::routes;

/// How long a client may keep a list of ours: it only changes with the program or its options.
const LIST_TTL_MS: u64 = 300_000;

/// Whose memory is worked with, and how far.
pub struct McpContext {
    /// The memories.
    pub engine: Engine,
    /// Whose they are.
    pub scope: Scope,
    /// The folder that holds everything.
    pub home: PathBuf,
    /// Every tool there is.
    pub tools: Arc<ToolRegistry>,
    /// The sets that are offered.
    pub tool_sets: Vec<ToolSet>,
    /// Whether anything may be changed.
    pub may_write: bool,
    /// What checks that are set may be about.
    pub reach: CheckPermission,
}

impl McpContext {
    /// The tools that are offered, always in the same order.
    fn offered_tools(&self) -> impl Iterator<Item = &ToolSpec> {
        let may = |spec: &&ToolSpec| self.may_write || spec.annotations.read_only_hint;
        self.tools.specs().filter(|spec| self.tool_sets.contains(&spec.set)).filter(may)
    }

    /// Calls a tool, offered or not.
    async fn call_tool(&self, name: &str, input: Value) -> ToolResult {
        let vault = vault_folder(&self.home, &self.scope);
        let folder = MemoryFolder::new(vault, MemoryFolderLimits::default());
        let context = ToolContext {
            folder: Some(&folder),
            check_permission: &self.reach,
            ..ToolContext::new(&self.engine, &self.scope)
        };
        self.tools.call(name, input, &context).await
    }

    fn instructions(&self) -> &'static str {
        match self.engine.settings(self.scope.agent()).general.language {
            LanguageChoice::Zh => include_str!("instructions_zh.md"),
            _ => include_str!("instructions_en.md"),
        }
    }
}

/// The server, for one desk.
#[derive(Clone)]
pub struct McpServer(Arc<McpContext>);

impl McpServer {
    /// Answers for this desk.
    pub fn new(desk: McpContext) -> Self {
        Self(Arc::new(desk))
    }

    /// The tool of this name, if it is offered.
    fn find_tool(&self, name: &str) -> Result<&ToolSpec, ErrorData> {
        let known = |spec: &&ToolSpec| spec.name == name && self.0.tool_sets.contains(&spec.set);
        self.0.tools.specs().find(known).ok_or_else(|| {
            let names: Vec<&str> = self.0.offered_tools().map(|spec| spec.name).collect();
            let told: String = name.chars().take(100).collect();
            let message =
                format!("there is no tool `{told}` here; the tools are {}", names.join(", "));
            ErrorData::invalid_params(message, None)
        })
    }
}

/// A list that says who gives it and how long it lasts, in the era that knows such hints.
macro_rules! with_cache_hints {
    ($list:expr, $cx:expr) => {{
        let mut list = $list;
        if is_stateless(&$cx) {
            list.ttl_ms = Some(LIST_TTL_MS);
            list.cache_scope = Some(CacheScope::Private);
            list.meta = server_info_meta(&$cx);
        }
        list
    }};
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_prompts().enable_resources().enable_tools();
        ServerConfig::new(capabilities.build())
            .with_server_info(implementation())
            .with_instructions(self.0.instructions())
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let found = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(found.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.0.offered_tools().map(tool).collect();
        Ok(with_cache_hints!(ListToolsResult::with_all_items(tools), cx))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let spec = self.find_tool(&request.name)?;
        let answer = match self.0.may_write || spec.annotations.read_only_hint {
            true => {
                let input = request.arguments.unwrap_or_default();
                self.0.call_tool(spec.name, Value::Object(input)).await
            }
            false => ToolResult::error(
                "This key may only read, so nothing was changed. Ask the user for a key with the role write.",
            ),
        };
        let mut result = to_call_result(answer);
        result.meta = server_info_meta(&cx);
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(with_cache_hints!(ListResourcesResult::with_all_items(resources::list(&self.0)), cx))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(with_cache_hints!(
            ListResourceTemplatesResult::with_all_items(resources::templates()),
            cx
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        // Memories change at any time, so what is read is never kept.
        let mut read = ReadResourceResult::new(vec![resources::read(&self.0, &request.uri).await?]);
        read.meta = server_info_meta(&cx);
        Ok(read.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        cx: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(with_cache_hints!(ListPromptsResult::with_all_items(prompts::list()), cx))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        cx: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let mut made: GetPromptResult = prompts::get(&self.0, &request.name, &arguments).await?;
        made.meta = server_info_meta(&cx);
        Ok(made.into())
    }
}

fn implementation() -> Implementation {
    let mut own = Implementation::new("everlore", env!("CARGO_PKG_VERSION"));
    own.title = Some("Everlore".to_owned());
    own.description = Some("Long-term memory for agents, in English and Chinese".to_owned());
    own
}

/// Whether a request is of the era without a handshake.
fn is_stateless(cx: &RequestContext<RoleServer>) -> bool {
    let version = cx.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Who answers: without a handshake, every answer says so.
fn server_info_meta(cx: &RequestContext<RoleServer>) -> Option<MetaObject> {
    let own = is_stateless(cx).then(|| serde_json::to_value(implementation()).ok()).flatten()?;
    let mut meta = MetaObject::new();
    meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), own);
    Some(meta)
}

fn tool(spec: &ToolSpec) -> Tool {
    let hints = spec.annotations;
    let annotations = ToolAnnotations::with_title(spec.title)
        .read_only(hints.read_only_hint)
        .destructive(hints.destructive_hint)
        .idempotent(hints.idempotent_hint)
        .open_world(hints.open_world_hint);
    Tool::new(spec.name, spec.description, object(&spec.input_schema))
        .with_title(spec.title)
        .with_raw_output_schema(Arc::new(object(&spec.output_schema)))
        .with_annotations(annotations)
}

fn object(schema: &Value) -> Map<String, Value> {
    schema.as_object().cloned().unwrap_or_default()
}

/// An answer for models and for programs.
fn to_call_result(answer: ToolResult) -> CallToolResult {
    let ToolResult { text, structured, is_error } = answer;
    let content = vec![ContentBlock::text(text)];
    if is_error {
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::success(content);
    result.structured_content = Some(structured);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_fit_into_what_hosts_read_and_name_every_tool_of_the_core() {
        for text in [include_str!("instructions_en.md"), include_str!("instructions_zh.md")] {
            assert!(text.len() < 2_048, "hosts cut what is longer than 2 KB");
            for spec in ToolRegistry::for_sets(&[ToolSet::Core]).specs() {
                assert!(text.contains(spec.name), "{}", spec.name);
            }
        }
    }
}
