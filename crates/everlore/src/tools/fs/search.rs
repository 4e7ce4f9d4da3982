//! Search tools: by meaning (`fs_find`) and by text (`fs_grep`).

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{DEFAULT_LIMIT, limit_field, object_schema, to_json, uri_field};
use crate::{
    engine::fs::{FsFindRequest, FsGrepMatch, FsGrepRequest, FsHit},
    error::Result,
    text::sanitize::sanitize_line,
    tools::{
        Tool, ToolContext, ToolResult, ToolSet, ToolSpec,
        input::{missing_field, parse_input},
    },
};

/// Hits of a search by default.
const DEFAULT_HITS: usize = 10;

/// `fs_find`.
pub(in crate::tools) struct FsFindTool;

#[derive(Deserialize)]
struct FsFindInput {
    query: String,
    #[serde(default)]
    uri: String,
    limit: Option<usize>,
}

#[async_trait]
impl Tool for FsFindTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Find what matters for a question in a folder of long-term memory: best first, each with its uri and one line.\n\n\
                Use it before you answer anything that may depend on what is stored, and read what looks right with fs_read. \
                Ask in the user's words and language.\n\n\
                Do not use it for a name, a number or a code that must stand there exactly: fs_grep is for those.",
            input_schema: object_schema(
                &["query"],
                &json!({ "query": { "type": "string", "description": "Question or keywords" }, "uri": uri_field("Folder to search; everything if left out"), "limit": limit_field(DEFAULT_HITS) }),
            ),
            output_schema: json!({ "type": "object", "required": ["found", "confidence"], "properties": {
                "found": { "type": "array", "description": "Best first", "items": { "type": "object" } },
                "confidence": { "type": "number", "description": "Probability that the best result answers the query, from 0 to 1" }
            } }),
            ..ToolSpec::new(ToolSet::Fs, "fs_find", "Find in memory by meaning")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let input: FsFindInput = parse_input(input)?;
        if input.query.trim().is_empty() {
            return Err(missing_field(&self.spec(), "query", ""));
        }
        let limit = input.limit.unwrap_or(DEFAULT_HITS);
        let FsFindInput { query, uri, .. } = input;
        let request = FsFindRequest { query, uri, limit, min_score: 0.0, explain: false };
        let finding = cx.engine.fs_find(cx.scope, &request).await?;
        let line = |one: &FsHit| {
            let (uri, summary) = (sanitize_line(&one.uri), sanitize_line(&one.summary));
            format!("- {uri} (score {:.2}): {summary}", one.score)
        };
        let text = if finding.found.is_empty() {
            "Nothing was found.".to_owned()
        } else {
            finding.found.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        Ok(ToolResult::new(text, to_json(&finding)?))
    }
}

/// `fs_grep`.
pub(in crate::tools) struct FsGrepTool;

#[derive(Deserialize)]
struct FsGrepInput {
    pattern: String,
    #[serde(default)]
    uri: String,
    #[serde(default)]
    regex: bool,
    #[serde(default)]
    ignore_case: bool,
    limit: Option<usize>,
}

#[async_trait]
impl Tool for FsGrepTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            description: "Find the lines of a folder of long-term memory that hold a text exactly, with their uris and line numbers.\n\n\
                Use it for names, numbers and codes.\n\n\
                Do not use it for questions: fs_find is for those.",
            input_schema: object_schema(
                &["pattern"],
                &json!({ "pattern": { "type": "string", "description": "The text, or a regular expression" }, "uri": uri_field("Folder to search; everything if left out"), "regex": { "type": "boolean", "default": false, "description": "true if the pattern is a regular expression" }, "ignore_case": { "type": "boolean", "default": false, "description": "true to ignore upper and lower case" }, "limit": limit_field(DEFAULT_LIMIT) }),
            ),
            output_schema: json!({ "type": "object", "required": ["matches", "read", "more"], "properties": {
                "matches": { "type": "array", "description": "Lines with their uris and numbers", "items": { "type": "object" } },
                "read": { "type": "integer", "description": "Number of texts that were searched" },
                "more": { "type": "boolean", "description": "true if there may be more lines" }
            } }),
            ..ToolSpec::new(ToolSet::Fs, "fs_grep", "Find in memory by text")
        }
    }

    async fn call(&self, input: Map<String, Value>, cx: &ToolContext<'_>) -> Result<ToolResult> {
        let FsGrepInput { pattern, uri, regex, ignore_case, limit } = parse_input(input)?;
        let limit = limit.unwrap_or(DEFAULT_LIMIT);
        let request = FsGrepRequest { pattern, uri, regex, ignore_case, limit };
        let grepped = cx.engine.fs_grep(cx.scope, &request).await?;
        let line = |one: &FsGrepMatch| {
            format!("{}:{}: {}", sanitize_line(&one.uri), one.line, sanitize_line(&one.text))
        };
        let text = if grepped.matches.is_empty() {
            format!("No line of {} texts has it.", grepped.read)
        } else {
            grepped.matches.iter().map(line).collect::<Vec<_>>().join("\n")
        };
        Ok(ToolResult::new(text, to_json(&grepped)?))
    }
}
