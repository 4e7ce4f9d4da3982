//! The filter language of mem0: AND, OR and NOT over fields, each compared by one or more operators.
//!
//! What is not known here is refused by name; a filter that is only half understood would return what was not asked for.

use everlore::{Memory, Scope, types::Timestamp};
use serde_json::Value;

use super::{
    item::{Marks, own_session},
    reading::group,
};
use crate::problem::Problem;

/// Conditions of one filter: far above any real one, low enough to be weighed for every memory.
const MAX_CONDITIONS: usize = 200;

/// How unknown fields are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// They are mistakes, as on the hosted service.
    Hosted,
    /// They are fields of the metadata, as on the open-source server.
    Open,
}

/// What memories must be like.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Filter {
    All(Vec<Self>),
    Any(Vec<Self>),
    Not(Box<Self>),
    Is(Field, Test),
}

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Field {
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
pub(super) enum Test {
    Present,
    Equals(Value),
    Differs(Value),
    OneOf(Vec<Value>),
    Contains { what: String, fold: bool },
    Order(Bound, Value),
    Moment(Bound, Timestamp, Timestamp),
}

/// The side of a value on which another must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Above,
    From,
    UpTo,
    Below,
    At,
}

impl Filter {
    /// Reads a filter.
    pub(super) fn read(filters: &Value, dialect: Dialect) -> Result<Self, Problem> {
        let read = group(filters, dialect)?;
        match read.conditions() <= MAX_CONDITIONS {
            true => Ok(read),
            false => Err(Problem::invalid(
                format!("a filter has {MAX_CONDITIONS} conditions at most"),
                "ask several times",
            )),
        }
    }

    /// One condition: a field is this.
    pub(super) fn equals(field: Field, value: &str) -> Self {
        match value {
            "*" => Self::Is(field, Test::Present),
            _ => Self::Is(field, Test::Equals(value.into())),
        }
    }

    fn conditions(&self) -> usize {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(Self::conditions).sum(),
            Self::Not(part) => part.conditions(),
            Self::Is(..) => 1,
        }
    }

    /// Whether it says whose memories are meant at all.
    pub(super) fn names_someone(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::names_someone),
            Self::Not(part) => part.names_someone(),
            Self::Is(field, _) => {
                matches!(field, Field::User | Field::Agent | Field::App | Field::Run)
            }
        }
    }

    /// Whether it says anything that the scope alone does not answer.
    pub(super) fn is_finer_than_scopes(&self) -> bool {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_finer_than_scopes),
            Self::Not(part) => part.is_finer_than_scopes(),
            Self::Is(field, _) => !matches!(field, Field::User | Field::Agent),
        }
    }

    /// The conversation that all memories meant belong to, if it names one.
    pub(super) fn session(&self) -> Option<&str> {
        match self {
            Self::All(parts) => parts.iter().find_map(Self::session),
            Self::Is(Field::Run, Test::Equals(Value::String(session))) => Some(session),
            _ => None,
        }
    }

    /// What is known by the scope alone: yes, no, or that it depends on the memory.
    pub(super) fn of_scope(&self, scope: &Scope, home: &Scope) -> Option<bool> {
        match self {
            Self::All(parts) => all(parts.iter().map(|part| part.of_scope(scope, home))),
            Self::Any(parts) => {
                all(parts.iter().map(|part| part.of_scope(scope, home).map(|is| !is)))
                    .map(|none| !none)
            }
            Self::Not(part) => part.of_scope(scope, home).map(|is| !is),
            Self::Is(Field::User, test) => Some(test.of_name(scope.user(), home.user())),
            Self::Is(Field::Agent, test) => Some(test.of_name(scope.agent(), home.agent())),
            Self::Is(..) => None,
        }
    }

    /// Whether a memory is meant.
    pub(super) fn matches(&self, memory: &Memory, home: &Scope) -> bool {
        match self {
            Self::All(parts) => parts.iter().all(|part| part.matches(memory, home)),
            Self::Any(parts) => parts.iter().any(|part| part.matches(memory, home)),
            Self::Not(part) => !part.matches(memory, home),
            Self::Is(Field::User, test) => test.of_name(memory.scope.user(), home.user()),
            Self::Is(Field::Agent, test) => test.of_name(memory.scope.agent(), home.agent()),
            Self::Is(Field::Created, test) => test.of_moment(memory.at),
            Self::Is(Field::Updated, test) => test.of_moment(memory.updated_at),
            Self::Is(field, test) => test.of(&value(field, memory)),
        }
    }
}

/// Yes if all are, no if one is not, else unknown.
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
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

fn value(field: &Field, memory: &Memory) -> Value {
    match field {
        Field::Id => memory.id.to_string().into(),
        Field::Text => memory.content.clone().into(),
        Field::Categories => memory.tags.clone().into(),
        Field::Run => own_session(memory).into(),
        Field::App => Marks::of(memory).app_id.into(),
        Field::Feedback => Marks::of(memory).feedback.into(),
        Field::Metadata(name) => memory.metadata.get(name).cloned().unwrap_or_default(),
        Field::User | Field::Agent | Field::Created | Field::Updated => Value::Null,
    }
}

impl Test {
    /// A name that nobody gave stands for itself, and is not there where any name is asked for.
    fn of_name(&self, name: &str, default: &str) -> bool {
        match self {
            Self::Present => name != default,
            Self::Equals(Value::Null) => name == default,
            Self::Differs(Value::Null) => name != default,
            _ => self.of(&name.into()),
        }
    }

    fn of_moment(&self, at: Timestamp) -> bool {
        match self {
            Self::Present => true,
            Self::Moment(bound, first, last) => match bound {
                Bound::Above => at > *last,
                Bound::From => at >= *first,
                Bound::UpTo => at <= *last,
                Bound::Below => at < *first,
                Bound::At => (*first..=*last).contains(&at),
            },
            _ => false,
        }
    }

    fn of(&self, value: &Value) -> bool {
        match self {
            Self::Present => !value.is_null(),
            Self::Equals(wanted) => is(value, wanted),
            Self::Differs(wanted) => !is(value, wanted),
            Self::OneOf(wanted) => wanted.iter().any(|wanted| is(value, wanted)),
            Self::Contains { what, fold } => contains(value, what, *fold),
            Self::Order(bound, than) => ordered(value, *bound, than),
            Self::Moment(..) => false,
        }
    }
}

/// Equal, or one of a list.
fn is(value: &Value, wanted: &Value) -> bool {
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

fn ordered(value: &Value, bound: Bound, than: &Value) -> bool {
    let order = match (value, than) {
        (Value::Number(a), Value::Number(b)) => {
            a.as_f64().and_then(|a| a.partial_cmp(&b.as_f64()?))
        }
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    };
    order.is_some_and(|order| match bound {
        Bound::Above => order.is_gt(),
        Bound::From => order.is_ge(),
        Bound::UpTo => order.is_le(),
        Bound::Below => order.is_lt(),
        Bound::At => order.is_eq(),
    })
}
