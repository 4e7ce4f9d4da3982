//! Fields of a request, from its body or its query: each is read once, and one that is left over is an error.

use std::{fmt::Display, str::FromStr};

use everlore::types::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};

use super::{
    filter::{FilterDialect, Mem0Filter},
    filter_parser::{self, truncate_name},
};
use crate::Problem;

/// Fields without a meaning here: a home is one project, responses are complete, and recall always uses words,
/// embeddings and, if configured, a reranker.
const IGNORED_FIELDS: [&str; 9] = [
    "org_id",
    "project_id",
    "version",
    "api_version",
    "async_mode",
    "source",
    "rerank",
    "keyword_search",
    "filter_memories",
];

/// Features of the hosted service that are not supported; the response lists them.
const UNSUPPORTED_FIELDS: [&str; 11] = [
    "custom_instructions",
    "agent_custom_instructions",
    "custom_categories",
    "structured_data_schema",
    "enable_graph",
    "includes",
    "excludes",
    "prompt",
    "memory_type",
    "immutable",
    "explain",
];

/// Fields that were not read yet.
pub(super) struct RequestFields(Map<String, Value>);

impl RequestFields {
    /// Takes the fields of a body.
    pub(super) fn from_body(body: Map<String, Value>) -> Self {
        Self(body)
    }

    /// Parses the fields of a query; each may occur once.
    pub(super) fn from_query(query: Option<&str>) -> Result<Self, Problem> {
        let mut fields = Map::new();
        for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
            if fields.insert(name.clone().into_owned(), value.into_owned().into()).is_some() {
                let title = format!("`{}` is given more than once", truncate_name(&name));
                return Err(Problem::invalid(title, "give it once"));
            }
        }
        Ok(Self(fields))
    }

    /// Takes a field, unless it is missing or null.
    pub(super) fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name).filter(|value| !value.is_null())
    }

    /// Returns `true` if a field is present, even as null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Takes a text.
    pub(super) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid_field(name, "a text")),
        }
    }

    /// Takes an id: a text, or a number.
    pub(super) fn id(&mut self, name: &str) -> Result<Option<String>, Problem> {
        match self.take(name) {
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            Some(other) => {
                self.0.insert(name.to_owned(), other);
                self.text(name)
            }
            None => Ok(None),
        }
    }

    /// Takes a number or a flag, as JSON or as a query has it.
    fn scalar<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
        expected: &str,
    ) -> Result<Option<T>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let text = match &value {
            Value::String(text) => text.to_lowercase(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            _ => return Err(invalid_field(name, expected)),
        };
        text.parse().map(Some).map_err(|_| invalid_field(name, expected))
    }

    /// Takes a flag.
    pub(super) fn flag(&mut self, name: &str) -> Result<Option<bool>, Problem> {
        self.scalar(name, "true or false")
    }

    /// Takes a count from 1 to `max`; `default` if it is missing.
    pub(super) fn count(
        &mut self,
        name: &str,
        default: usize,
        max: usize,
    ) -> Result<usize, Problem> {
        let count = self.scalar(name, "a whole number")?.unwrap_or(default);
        if (1..=max).contains(&count) {
            return Ok(count);
        }
        Err(invalid_field(name, &format!("a whole number from 1 to {max}")))
    }

    /// Takes a fraction from 0 to 1.
    pub(super) fn fraction(&mut self, name: &str) -> Result<Option<f64>, Problem> {
        let fraction: Option<f64> = self.scalar(name, "a number from 0 to 1")?;
        if fraction.is_none_or(|fraction| (0.0..=1.0).contains(&fraction)) {
            return Ok(fraction);
        }
        Err(invalid_field(name, "a number from 0 to 1"))
    }

    /// Takes an object.
    pub(super) fn object(&mut self, name: &str) -> Result<Option<Map<String, Value>>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(_) => Err(invalid_field(name, "an object")),
        }
    }

    /// Takes a list of texts.
    pub(super) fn strings(&mut self, name: &str) -> Result<Option<Vec<String>>, Problem> {
        let Some(value) = self.take(name) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|_| invalid_field(name, "a list of texts"))
    }

    /// Takes a time as its first and last instant.
    pub(super) fn time_range(
        &mut self,
        name: &str,
    ) -> Result<Option<(Timestamp, Timestamp)>, Problem> {
        self.take(name).map(|value| filter_parser::parse_time_range(name, &value)).transpose()
    }

    /// Takes a date.
    pub(super) fn date(&mut self, name: &str) -> Result<Option<Date>, Problem> {
        let text = self.text(name)?;
        let day = |text: String| {
            text.parse().map_err(|_| invalid_field(name, "a date such as 2026-12-31"))
        };
        text.map(day).transpose()
    }

    /// Takes the filter: `filters`, ids beside it, `metadata`, `categories` and dates.
    pub(super) fn filter(&mut self, dialect: FilterDialect) -> Result<Mem0Filter, Problem> {
        let mut parts = Vec::new();
        if let Some(filters) = self.take("filters") {
            parts.push(Mem0Filter::parse(&filters, dialect)?);
        }
        parts.extend(filter_parser::filter_from_ids(&self.0)?);
        for id in ["user_id", "agent_id", "app_id", "run_id"] {
            self.0.remove(id);
        }
        if let Some(metadata) = self.take("metadata") {
            parts.push(Mem0Filter::parse(&serde_json::json!({ "metadata": metadata }), dialect)?);
        }
        if let Some(categories) = self.strings("categories")? {
            let any = serde_json::json!({ "OR": categories.iter().map(|category| serde_json::json!({ "categories": { "contains": category } })).collect::<Vec<_>>() });
            parts.push(Mem0Filter::parse(&any, dialect)?);
        }
        for (name, operator) in [("start_date", "gte"), ("end_date", "lte")] {
            if let Some(date) = self.take(name) {
                let bound = serde_json::json!({ "created_at": { operator: date } });
                parts.push(Mem0Filter::parse(&bound, dialect)?);
            }
        }
        let filter = Mem0Filter::All(parts);
        if filter.names_owner() {
            return Ok(filter);
        }
        Err(Problem::invalid(
            "the request names no owner of memories",
            "give user_id, agent_id, app_id or run_id in `filters`",
        ))
    }

    /// Fails if an unknown field is left; returns the names of unsupported fields.
    pub(super) fn finish(mut self) -> Result<Vec<String>, Problem> {
        self.0.retain(|name, value| !IGNORED_FIELDS.contains(&name.as_str()) && !value.is_null());
        match self.0.keys().find(|name| !UNSUPPORTED_FIELDS.contains(&name.as_str())) {
            None => Ok(self.0.keys().cloned().collect()),
            Some(name) => Err(Problem::invalid(
                format!("there is no field `{}` here", truncate_name(name)),
                "docs/mem0.md lists the fields of this route",
            )),
        }
    }
}

fn invalid_field(name: &str, expected: &str) -> Problem {
    Problem::invalid(
        format!("`{name}` is not {expected}"),
        format!("give {expected}, or leave it out"),
    )
}
