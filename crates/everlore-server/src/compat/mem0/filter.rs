//! Filter language of mem0: AND, OR and NOT over fields, each with one or more operators.
//!
//! Unknown fields and operators are refused by name: a filter that is only half understood would return wrong memories.

use everlore::{Memory, Scope, types::Timestamp};
use serde_json::Value;

use super::{
    filter_parser::parse_group,
    memory_json::{Mem0Metadata, named_session},
};
use crate::Problem;

/// Largest filter: far above any real one, small enough to be tested against every memory.
const MAX_CONDITIONS: usize = 200;

/// Treatment of unknown fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterDialect {
    /// Errors, as on the hosted service.
    Hosted,
    /// Fields of the metadata, as on the open-source server.
    OpenSource,
}

/// Condition on memories.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mem0Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Condition(FilterField, FilterOp),
}

/// Field of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FilterField {
    User,
    Agent,
    App,
    Run,
    Id,
    Text,
    Categories,
    Created,
    Updated,
    Feedback,
    Metadata(String),
}

/// Operator of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FilterOp {
    Present,
    Equals(Value),
    NotEquals(Value),
    OneOf(Vec<Value>),
    Contains { needle: String, ignore_case: bool },
    Ordered(FilterComparison, Value),
    Time(FilterComparison, Timestamp, Timestamp),
}

/// Order of a value relative to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterComparison {
    GreaterThan,
    AtLeast,
    AtMost,
    LessThan,
    Equal,
}

impl Mem0Filter {
    /// Parses a filter.
    pub(super) fn parse(filters: &Value, dialect: FilterDialect) -> Result<Self, Problem> {
        let filter = parse_group(filters, dialect)?;
        if filter.condition_count() <= MAX_CONDITIONS {
            return Ok(filter);
        }
        Err(Problem::invalid(
            format!("a filter has at most {MAX_CONDITIONS} conditions"),
            "split the request",
        ))
    }

    /// Returns a condition that a field has a value; `*` means any.
    pub(super) fn equals(field: FilterField, value: &str) -> Self {
        match value {
            "*" => Self::Condition(field, FilterOp::Present),
            _ => Self::Condition(field, FilterOp::Equals(value.into())),
        }
    }

    fn condition_count(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::condition_count).sum(),
            Self::Not(part) => part.condition_count(),
            Self::Condition(..) => 1,
        }
    }

    /// Returns `true` if it names an owner: a user, an agent, an application or a session.
    pub(super) fn names_owner(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::names_owner),
            Self::Not(part) => part.names_owner(),
            Self::Condition(field, _) => {
                matches!(
                    field,
                    FilterField::User | FilterField::Agent | FilterField::App | FilterField::Run
                )
            }
        }
    }

    /// Returns `true` if it tests anything beyond the scope.
    pub(super) fn is_finer_than_scopes(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_finer_than_scopes),
            Self::Not(part) => part.is_finer_than_scopes(),
            Self::Condition(field, _) => !matches!(field, FilterField::User | FilterField::Agent),
        }
    }

    /// Returns the session that every match belongs to, if it names one.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::All(parts) => parts.iter().find_map(Self::session),
            Self::Condition(FilterField::Run, FilterOp::Equals(Value::String(session))) => {
                Some(session)
            }
            _ => None,
        }
    }

    /// Tests the scope alone: `None` if the answer depends on the memory.
    pub(super) fn matches_scope(&self, scope: &Scope, default_scope: &Scope) -> Option<bool> {
        match self {
            Self::All(parts) => {
                and_all(parts.iter().map(|part| part.matches_scope(scope, default_scope)))
            }
            Self::Any(parts) => and_all(
                parts.iter().map(|part| part.matches_scope(scope, default_scope).map(|is| !is)),
            )
            .map(|none| !none),
            Self::Not(part) => part.matches_scope(scope, default_scope).map(|is| !is),
            Self::Condition(FilterField::User, op) => {
                Some(op.matches_name(scope.user(), default_scope.user()))
            }
            Self::Condition(FilterField::Agent, op) => {
                Some(op.matches_name(scope.agent(), default_scope.agent()))
            }
            Self::Condition(..) => None,
        }
    }

    /// Tests a memory.
    pub(super) fn matches(&self, memory: &Memory, default_scope: &Scope) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(memory, default_scope)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(memory, default_scope)),
            Self::Not(part) => !part.matches(memory, default_scope),
            Self::Condition(FilterField::User, op) => {
                op.matches_name(memory.scope.user(), default_scope.user())
            }
            Self::Condition(FilterField::Agent, op) => {
                op.matches_name(memory.scope.agent(), default_scope.agent())
            }
            Self::Condition(FilterField::Created, op) => op.matches_time(memory.at),
            Self::Condition(FilterField::Updated, op) => op.matches_time(memory.updated_at),
            Self::Condition(field, op) => op.matches_value(&field_value(field, memory)),
        }
    }
}

/// Combines with AND: false if one is false, true if all are, else unknown.
fn and_all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut known = Some(true);
    for part in parts {
        match part {
            Some(false) => return Some(false),
            Some(true) => {}
            None => known = None,
        }
    }
    known
}

fn field_value(field: &FilterField, memory: &Memory) -> Value {
    match field {
        FilterField::Id => memory.id.to_string().into(),
        FilterField::Text => memory.content.clone().into(),
        FilterField::Categories => memory.tags.clone().into(),
        FilterField::Run => named_session(memory).into(),
        FilterField::App => Mem0Metadata::from_memory(memory).app_id.into(),
        FilterField::Feedback => Mem0Metadata::from_memory(memory).feedback.into(),
        FilterField::Metadata(name) => memory.metadata.get(name).cloned().unwrap_or_default(),
        FilterField::User | FilterField::Agent | FilterField::Created | FilterField::Updated => {
            Value::Null
        }
    }
}

impl FilterOp {
    /// Tests a name; the default name stands for itself, but does not count as present.
    fn matches_name(&self, name: &str, default: &str) -> bool {
        match self {
            Self::Present => name != default,
            Self::Equals(Value::Null) => name == default,
            Self::NotEquals(Value::Null) => name != default,
            _ => self.matches_value(&name.into()),
        }
    }

    fn matches_time(&self, at: Timestamp) -> bool {
        match self {
            Self::Present => true,
            Self::Time(comparison, first, last) => match comparison {
                FilterComparison::GreaterThan => at > *last,
                FilterComparison::AtLeast => at >= *first,
                FilterComparison::AtMost => at <= *last,
                FilterComparison::LessThan => at < *first,
                FilterComparison::Equal => (*first..=*last).contains(&at),
            },
            _ => false,
        }
    }

    fn matches_value(&self, value: &Value) -> bool {
        match self {
            Self::Present => !value.is_null(),
            Self::Equals(wanted) => equals_or_contains(value, wanted),
            Self::NotEquals(wanted) => !equals_or_contains(value, wanted),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| equals_or_contains(value, wanted)),
            Self::Contains { needle, ignore_case } => contains(value, needle, *ignore_case),
            Self::Ordered(comparison, than) => compare(value, *comparison, than),
            Self::Time(..) => false,
        }
    }
}

/// Returns `true` if a value is equal, or a list contains it.
fn equals_or_contains(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(all), wanted) if !wanted.is_array() => all.contains(wanted),
        _ => value == wanted,
    }
}

fn contains(value: &Value, needle: &str, ignore_case: bool) -> bool {
    let folded = |text: &str| if ignore_case { text.to_lowercase() } else { text.to_owned() };
    match value {
        Value::String(text) => folded(text).contains(&folded(needle)),
        Value::Array(all) => {
            all.iter().filter_map(Value::as_str).any(|one| folded(one) == folded(needle))
        }
        _ => false,
    }
}

fn compare(value: &Value, comparison: FilterComparison, than: &Value) -> bool {
    let order = match (value, than) {
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().and_then(|a| a.partial_cmp(&b.as_f64()?))
        }
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    };
    order.is_some_and(|order| match comparison {
        FilterComparison::GreaterThan => order.is_gt(),
        FilterComparison::AtLeast => order.is_ge(),
        FilterComparison::AtMost => order.is_le(),
        FilterComparison::LessThan => order.is_lt(),
        FilterComparison::Equal => order.is_eq(),
    })
}
