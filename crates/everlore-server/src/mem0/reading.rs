//! Reading filters: what is not known is refused by name.

use everlore::types::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};

use super::filter::{Bound, Dialect, Field, Filter, Test};
use crate::problem::Problem;

/// An object of conditions, all of which must hold.
pub(super) fn group(filters: &Value, dialect: Dialect) -> Result<Filter, Problem> {
    let Value::Object(fields) = filters else {
        return Err(Problem::invalid(
            "a filter is no object",
            "write it as {\"field\": value} or {\"AND\": [{…}, {…}]}",
        ));
    };
    let parts: Result<Vec<_>, _> =
        fields.iter().map(|(name, value)| part(name, value, dialect)).collect();
    Ok(Filter::All(parts?))
}

fn part(name: &str, value: &Value, dialect: Dialect) -> Result<Filter, Problem> {
    match name {
        "AND" => Ok(Filter::All(groups(name, value, dialect)?)),
        "OR" => Ok(Filter::Any(groups(name, value, dialect)?)),
        "NOT" => {
            let parts = match value {
                Value::Object(_) => vec![group(value, dialect)?],
                _ => groups(name, value, dialect)?,
            };
            Ok(Filter::Not(Box::new(Filter::Any(parts))))
        }
        "metadata" => metadata(value),
        _ => condition(&field(name, dialect)?, name, value),
    }
}

fn groups(name: &str, value: &Value, dialect: Dialect) -> Result<Vec<Filter>, Problem> {
    let Value::Array(parts) = value else {
        return Err(Problem::invalid(
            format!("`{name}` wants a list of filters"),
            format!("write it as {{\"{name}\": [{{…}}, {{…}}]}}"),
        ));
    };
    parts.iter().map(|part| group(part, dialect)).collect()
}

fn metadata(value: &Value) -> Result<Filter, Problem> {
    let Value::Object(fields) = value else {
        return Err(Problem::invalid(
            "`metadata` wants an object",
            "write it as {\"metadata\": {\"field\": value}}",
        ));
    };
    let parts: Result<Vec<_>, _> = fields
        .iter()
        .map(|(name, value)| condition(&Field::Metadata(name.clone()), name, value))
        .collect();
    Ok(Filter::All(parts?))
}

fn field(name: &str, dialect: Dialect) -> Result<Field, Problem> {
    Ok(match name {
        "user_id" => Field::User,
        "agent_id" => Field::Agent,
        "app_id" => Field::App,
        "run_id" | "session_id" => Field::Run,
        "id" | "memory_id" | "memory_ids" => Field::Id,
        "memory" | "keywords" | "text" => Field::Text,
        "categories" => Field::Categories,
        "created_at" | "timestamp" => Field::Created,
        "updated_at" => Field::Updated,
        "feedback" => Field::Feedback,
        _ if dialect == Dialect::Open => Field::Metadata(name.to_owned()),
        _ => {
            return Err(Problem::invalid(
                format!("there is no field `{}` to filter by", short(name)),
                "use user_id, agent_id, app_id, run_id, id, keywords, categories, created_at, updated_at, feedback or metadata, and AND, OR, NOT",
            ));
        }
    })
}

/// A value means equality, a list one of them, an object its operators.
fn condition(field: &Field, name: &str, value: &Value) -> Result<Filter, Problem> {
    match value {
        Value::Object(operators) => {
            let parts: Result<Vec<_>, Problem> = operators
                .iter()
                .map(|(operator, value)| {
                    Ok(Filter::Is(field.clone(), test(field, name, operator, value)?))
                })
                .collect();
            let parts = parts?;
            if parts.is_empty() {
                return Err(Problem::invalid(
                    format!("`{}` has no operator", short(name)),
                    "write a value, or an object such as {\"gte\": 5}",
                ));
            }
            Ok(Filter::All(parts))
        }
        Value::Array(_) => Ok(Filter::Is(field.clone(), test(field, name, "in", value)?)),
        Value::String(any) if any == "*" => Ok(Filter::Is(field.clone(), Test::Present)),
        _ => Ok(Filter::Is(field.clone(), test(field, name, "eq", value)?)),
    }
}

fn test(field: &Field, name: &str, operator: &str, value: &Value) -> Result<Test, Problem> {
    let is_moment = matches!(field, Field::Created | Field::Updated);
    let bound = match operator {
        "gt" => Some(Bound::Above),
        "gte" => Some(Bound::From),
        "lte" => Some(Bound::UpTo),
        "lt" => Some(Bound::Below),
        "eq" if is_moment => Some(Bound::At),
        _ => None,
    };
    if let (Some(bound), true) = (bound, is_moment) {
        let (first, last) = moment(name, value)?;
        return Ok(Test::Moment(bound, first, last));
    }
    match (operator, value) {
        _ if is_moment => Err(unknown(name, operator, "eq, gt, gte, lt or lte")),
        ("eq", _) => Ok(Test::Equals(value.clone())),
        ("ne", _) => Ok(Test::Differs(value.clone())),
        ("in", Value::Array(values)) => Ok(Test::OneOf(values.clone())),
        ("contains" | "icontains", Value::String(what)) => {
            Ok(Test::Contains { what: what.clone(), fold: operator == "icontains" })
        }
        ("in" | "contains" | "icontains", _) => Err(Problem::invalid(
            format!("`{operator}` of `{}` has a value that it does not take", short(name)),
            "`in` takes a list, `contains` and `icontains` take a text",
        )),
        _ => match bound {
            Some(bound) if value.is_number() || value.is_string() => {
                Ok(Test::Order(bound, value.clone()))
            }
            Some(_) => Err(Problem::invalid(
                format!("`{operator}` of `{}` compares with a number or a text", short(name)),
                "give one",
            )),
            None => {
                Err(unknown(name, operator, "eq, ne, in, gt, gte, lt, lte, contains or icontains"))
            }
        },
    }
}

fn unknown(name: &str, operator: &str, known: &str) -> Problem {
    Problem::invalid(
        format!("`{}` cannot be compared by `{}`", short(name), short(operator)),
        format!("use {known}"),
    )
}

/// The first and the last moment that a time stands for: of a date the whole day, in UTC.
pub(super) fn moment(name: &str, value: &Value) -> Result<(Timestamp, Timestamp), Problem> {
    let bad = || {
        Problem::invalid(
            format!("`{}` is no time", short(name)),
            "write a date (2026-03-01), a moment (2026-03-01T09:00:00Z), or seconds since 1970",
        )
    };
    match value {
        Value::Number(seconds) => {
            let seconds = seconds.as_f64().ok_or_else(bad)?;
            let at = Timestamp::from_millisecond((seconds * 1_000.0) as i64).map_err(|_| bad())?;
            Ok((at, at))
        }
        Value::String(text) => {
            if let Ok(at) = text.parse::<Timestamp>() {
                return Ok((at, at));
            }
            let utc = jiff::tz::TimeZone::UTC;
            if let Ok(at) = text.parse::<jiff::civil::DateTime>()
                && text.contains(':')
            {
                let at = at.to_zoned(utc).map_err(|_| bad())?.timestamp();
                return Ok((at, at));
            }
            let day: Date = text.parse().map_err(|_| bad())?;
            let first = day.to_zoned(utc.clone()).map_err(|_| bad())?.timestamp();
            let last = day.at(23, 59, 59, 999_999_999).to_zoned(utc).map_err(|_| bad())?;
            Ok((first, last.timestamp()))
        }
        _ => Err(bad()),
    }
}

/// A name of the caller's, not too long to be repeated.
pub(super) fn short(name: &str) -> String {
    name.chars().take(50).collect()
}

/// The ids of a request that says them beside other fields, as a filter.
pub(super) fn of_ids(fields: &Map<String, Value>) -> Result<Option<Filter>, Problem> {
    let named = ["user_id", "agent_id", "app_id", "run_id"];
    let mut parts = Vec::new();
    for name in named {
        if let Some(value) = fields.get(name).filter(|value| !value.is_null()) {
            parts.push(condition(&field(name, Dialect::Hosted)?, name, value)?);
        }
    }
    Ok((!parts.is_empty()).then_some(Filter::All(parts)))
}
