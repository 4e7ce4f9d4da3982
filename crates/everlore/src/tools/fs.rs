//! Tools of the set `fs`: memory as a tree of files.

mod browse;
mod search;
mod write;

use serde_json::{Value, json};

pub(super) use browse::{FsLsTool, FsReadTool, FsStatTool, FsTreeTool};
pub(super) use search::{FsFindTool, FsGrepTool};
pub(super) use write::{FsAddTool, FsRmTool};

use crate::error::Result;

/// Entries per page by default: a result that a model reads at a glance.
const DEFAULT_LIMIT: usize = 50;

/// Returns the schema of a uri field, worded the same in every tool.
fn uri_field(what: &str) -> Value {
    json!({ "type": "string", "description": format!("{what}; a path such as user/food or resources/, or a whole uri as ls shows it") })
}

fn limit_field(default: usize) -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": 1000, "default": default, "description": "The most entries to return" })
}

fn object_schema(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(crate::error::Error::store)
}
