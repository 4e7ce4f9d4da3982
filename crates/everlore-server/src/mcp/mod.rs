//! Model Context Protocol: tools, resources and prompts of one agent and user, over stdio and HTTP.
//!
//! One request:
//!
//! 1. Over HTTP it passes the middleware of every route, then `handle_message` (`http.rs`) reads its body, takes the
//!    tool sets from the address (`?tools=`), and makes a [`McpContext`]: engine, scope, tools, and the permission to
//!    write. Over standard input `everlore mcp` makes one for the process, and `McpServer::serve_stdio` reads lines.
//! 2. `rmcp` parses the message and calls a method of [`McpServer`]. It speaks both eras of the protocol, with a
//!    handshake (2025-11-25 and before) and without (2026-07-28); each request tells which.
//! 3. `call_tool` finds the tool among the offered ones, refuses writes where they are not permitted, and calls
//!    `ToolRegistry::call` with the memory folder of the scope. `resources.rs` and `prompts.rs` answer the rest.
//! 4. Nothing is kept between two requests over HTTP (decision 0004).

mod http;
mod prompts;
mod resources;
mod stdio;

use std::{path::PathBuf, sync::Arc};

use everlore::{
    Engine, Scope, ToolContext, ToolRegistry, ToolResult,
    config::LanguageChoice,
    internal::files::home::vault_folder,
    tools::{CheckPermission, MemoryFolder, MemoryFolderLimits, ToolSet, ToolSpec},
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

/// Time for which a client may cache our lists: they change only with the program or its options.
const LIST_TTL_MS: u64 = 300_000;

/// Scope and permissions of an MCP server.
pub struct McpContext {
    /// Engine of the home.
    pub engine: Engine,
    /// Scope of every request.
    pub scope: Scope,
    /// Home folder.
    pub home: PathBuf,
    /// Registry of all tools.
    pub tools: Arc<ToolRegistry>,
    /// Tool sets that are offered.
    pub tool_sets: Vec<ToolSet>,
    /// Permission to write.
    pub may_write: bool,
    /// Set if its tools may erase memories for good.
    pub may_erase: bool,
    /// Kinds of checks that may be set.
    pub reach: CheckPermission,
}

impl McpContext {
    /// Returns the offered tools, always in the same order.
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
            may_erase: self.may_erase,
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

/// MCP server for one context.
#[derive(Clone)]
pub struct McpServer(Arc<McpContext>);

impl McpServer {
    /// Creates a server for this context.
    pub fn new(context: McpContext) -> Self {
        Self(Arc::new(context))
    }

    /// Returns the tool of this name, if it is offered.
    fn find_tool(&self, name: &str) -> Result<&ToolSpec, ErrorData> {
        let is_offered =
            |spec: &&ToolSpec| spec.name == name && self.0.tool_sets.contains(&spec.set);
        self.0.tools.specs().find(is_offered).ok_or_else(|| {
            let names: Vec<&str> = self.0.offered_tools().map(|spec| spec.name).collect();
            let name: String = name.chars().take(100).collect();
            let message =
                format!("there is no tool `{name}` here; the tools are {}", names.join(", "));
            ErrorData::invalid_params(message, None)
        })
    }
}

/// Adds server information and a time to live to a list, in the era that knows such hints.
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
        let result = DiscoverResult::from_server_info(versions, self.get_info());
        Ok(result.with_ttl_ms(LIST_TTL_MS).with_cache_scope(CacheScope::Private))
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
        let result = if self.0.may_write || spec.annotations.read_only_hint {
            let input = request.arguments.unwrap_or_default();
            self.0.call_tool(spec.name, Value::Object(input)).await
        } else {
            ToolResult::error(
                "This key may only read, so nothing was changed. Ask the user for a key with the role write.",
            )
        };
        let mut result = to_call_result(result);
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
        // Memories change at any time, so a read is not cacheable.
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
        let mut prompt: GetPromptResult = prompts::get(&self.0, &request.name, &arguments).await?;
        prompt.meta = server_info_meta(&cx);
        Ok(prompt.into())
    }
}

fn implementation() -> Implementation {
    let mut implementation = Implementation::new("everlore", env!("CARGO_PKG_VERSION"));
    implementation.title = Some("Everlore".to_owned());
    implementation.description =
        Some("Long-term memory for agents, in English and Chinese".to_owned());
    implementation
}

/// Returns `true` for a request of the era without a handshake.
fn is_stateless(cx: &RequestContext<RoleServer>) -> bool {
    let version = cx.protocol_version();
    version.is_some_and(|version| version.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// Returns the server information that every response carries in the era without a handshake.
fn server_info_meta(cx: &RequestContext<RoleServer>) -> Option<MetaObject> {
    let info = is_stateless(cx).then(|| serde_json::to_value(implementation()).ok()).flatten()?;
    let mut meta = MetaObject::new();
    meta.insert("io.modelcontextprotocol/serverInfo".to_owned(), info);
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

/// Converts a tool result for models and for programs.
fn to_call_result(result: ToolResult) -> CallToolResult {
    let ToolResult { text, structured, is_error, .. } = result;
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
    fn instructions_fit_into_2_kb_and_name_every_core_tool() {
        for text in [include_str!("instructions_en.md"), include_str!("instructions_zh.md")] {
            assert!(text.len() < 2_048, "hosts cut longer instructions");
            for spec in ToolRegistry::for_sets(&[ToolSet::Core]).specs() {
                assert!(text.contains(spec.name), "{}", spec.name);
            }
        }
    }
}
