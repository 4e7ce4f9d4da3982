//! The filter language of mem0: AND, OR and NOT over fields, each compared by one or more operators.
//!
//! What is not known here is refused by name; a filter that is only half understood would return what was not asked for.

use everlore::{Memory, Scope, types::Timestamp};
use serde_json::Value;

use super::{
    filter_parser::parse_group,
    memory_json::{Mem0Metadata, named_session},
};
use crate::problem::Problem;

/// Conditions of one filter: far above any real one, low enough to be weighed for every memory.
const MAX_CONDITIONS: usize = 200;

/// How unknown fields are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterDialect {
    /// They are mistakes, as on the hosted service.
    Hosted,
    /// They are fields of the metadata, as on the open-source server.
    OpenSource,
}

/// What memories must be like.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Mem0Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Condition(FilterField, FilterOp),
}

/// What is compared.
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

/// How it is compared.
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

/// The side of a value on which another must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FilterComparison {
    GreaterThan,
    AtLeast,
    AtMost,
    LessThan,
    Equal,
}

impl Mem0Filter {
    /// Reads a filter.
    pub(super) fn parse(filters: &Value, dialect: FilterDialect) -> Result<Self, Problem> {
        let read = parse_group(filters, dialect)?;
        match read.condition_count() <= MAX_CONDITIONS {
            true => Ok(read),
            false => Err(Problem::invalid(
                format!("a filter has {MAX_CONDITIONS} conditions at most"),
                "ask several times",
            )),
        }
    }

    /// One condition: a field is this.
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

    /// Whether it says whose memories are meant at all.
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

    /// Whether it says anything that the scope alone does not answer.
    pub(super) fn is_finer_than_scopes(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_finer_than_scopes),
            Self::Not(part) => part.is_finer_than_scopes(),
            Self::Condition(field, _) => !matches!(field, FilterField::User | FilterField::Agent),
        }
    }

    /// The conversation that all memories meant belong to, if it names one.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::All(parts) => parts.iter().find_map(Self::session),
            Self::Condition(FilterField::Run, FilterOp::Equals(Value::String(session))) => {
                Some(session)
            }
            _ => None,
        }
    }

    /// What is known by the scope alone: yes, no, or that it depends on the memory.
    pub(super) fn matches_scope(&self, scope: &Scope, home: &Scope) -> Option<bool> {
        match self {
            Self::All(parts) => and_all(parts.iter().map(|part| part.matches_scope(scope, home))),
            Self::Any(parts) => {
                and_all(parts.iter().map(|part| part.matches_scope(scope, home).map(|is| !is)))
                    .map(|none| !none)
            }
            Self::Not(part) => part.matches_scope(scope, home).map(|is| !is),
            Self::Condition(FilterField::User, test) => {
                Some(test.matches_name(scope.user(), home.user()))
            }
            Self::Condition(FilterField::Agent, test) => {
                Some(test.matches_name(scope.agent(), home.agent()))
            }
            Self::Condition(..) => None,
        }
    }

    /// Whether a memory is meant.
    pub(super) fn matches(&self, memory: &Memory, home: &Scope) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(memory, home)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(memory, home)),
            Self::Not(part) => !part.matches(memory, home),
            Self::Condition(FilterField::User, test) => {
                test.matches_name(memory.scope.user(), home.user())
            }
            Self::Condition(FilterField::Agent, test) => {
                test.matches_name(memory.scope.agent(), home.agent())
            }
            Self::Condition(FilterField::Created, test) => test.matches_time(memory.at),
            Self::Condition(FilterField::Updated, test) => test.matches_time(memory.updated_at),
            Self::Condition(field, test) => test.matches_value(&field_value(field, memory)),
        }
    }
}

/// Yes if all are, no if one is not, else unknown.
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
    /// A name that nobody gave stands for itself, and is not there where any name is asked for.
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
            Self::Time(bound, first, last) => match bound {
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
            Self::Contains { needle: what, ignore_case: fold } => contains(value, what, *fold),
            Self::Ordered(bound, than) => compare(value, *bound, than),
            Self::Time(..) => false,
        }
    }
}

/// Equal, or one of a list.
fn equals_or_contains(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(all), wanted) if !wanted.is_array() => all.contains(wanted),
        _ => value == wanted,
    }
}

fn contains(value: &Value, what: &str, fold: bool) -> bool {
    let folded = |text: &str| if fold { text.to_lowercase() } else { text.to_owned() };
    match value {
        Value::String(text) => folded(text).contains(&folded(what)),
        Value::Array(all) => {
            all.iter().filter_map(Value::as_str).any(|one| folded(one) == folded(what))
        }
        _ => false,
    }
}

fn compare(value: &Value, bound: FilterComparison, than: &Value) -> bool {
    let order = match (value, than) {
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().and_then(|a| a.partial_cmp(&b.as_f64()?))
        }
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    };
    order.is_some_and(|order| match bound {
        FilterComparison::GreaterThan => order.is_gt(),
        FilterComparison::AtLeast => order.is_ge(),
        FilterComparison::AtMost => order.is_le(),
        FilterComparison::LessThan => order.is_lt(),
        FilterComparison::Equal => order.is_eq(),
    })
}
