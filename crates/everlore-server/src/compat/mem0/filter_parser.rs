//! Parser of filters; unknown fields and operators are refused by name.

use everlore::types::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};

use super::filter::{FilterComparison, FilterDialect, FilterField, FilterOp, Mem0Filter};
use crate::Problem;

/// Parses an object of conditions, all of which must hold.
pub(super) fn parse_group(filters: &Value, dialect: FilterDialect) -> Result<Mem0Filter, Problem> {
    let Value::Object(fields) = filters else {
        return Err(Problem::invalid(
            "a filter is not an object",
            "write it as {\"field\": value} or {\"AND\": [{…}, {…}]}",
        ));
    };
    let parts: Result<Vec<_>, _> =
        fields.iter().map(|(name, value)| parse_entry(name, value, dialect)).collect();
    Ok(Mem0Filter::All(parts?))
}

fn parse_entry(name: &str, value: &Value, dialect: FilterDialect) -> Result<Mem0Filter, Problem> {
    match name {
        "AND" => Ok(Mem0Filter::All(parse_groups(name, value, dialect)?)),
        "OR" => Ok(Mem0Filter::Any(parse_groups(name, value, dialect)?)),
        "NOT" => {
            let parts = match value {
                Value::Object(_) => vec![parse_group(value, dialect)?],
                _ => parse_groups(name, value, dialect)?,
            };
            Ok(Mem0Filter::Not(Box::new(Mem0Filter::Any(parts))))
        }
        "metadata" => parse_metadata(value),
        _ => parse_condition(&parse_field(name, dialect)?, name, value),
    }
}

fn parse_groups(
    name: &str,
    value: &Value,
    dialect: FilterDialect,
) -> Result<Vec<Mem0Filter>, Problem> {
    let Value::Array(parts) = value else {
        return Err(Problem::invalid(
            format!("`{name}` takes a list of filters"),
            format!("write it as {{\"{name}\": [{{…}}, {{…}}]}}"),
        ));
    };
    parts.iter().map(|part| parse_group(part, dialect)).collect()
}

fn parse_metadata(value: &Value) -> Result<Mem0Filter, Problem> {
    let Value::Object(fields) = value else {
        return Err(Problem::invalid(
            "`metadata` takes an object",
            "write it as {\"metadata\": {\"field\": value}}",
        ));
    };
    let parts: Result<Vec<_>, _> = fields
        .iter()
        .map(|(name, value)| parse_condition(&FilterField::Metadata(name.clone()), name, value))
        .collect();
    Ok(Mem0Filter::All(parts?))
}

fn parse_field(name: &str, dialect: FilterDialect) -> Result<FilterField, Problem> {
    Ok(match name {
        "user_id" => FilterField::User,
        "agent_id" => FilterField::Agent,
        "app_id" => FilterField::App,
        "run_id" | "session_id" => FilterField::Run,
        "id" | "memory_id" | "memory_ids" => FilterField::Id,
        "memory" | "keywords" | "text" => FilterField::Text,
        "categories" => FilterField::Categories,
        "created_at" | "timestamp" => FilterField::Created,
        "updated_at" => FilterField::Updated,
        "feedback" => FilterField::Feedback,
        _ if dialect == FilterDialect::OpenSource => FilterField::Metadata(name.to_owned()),
        _ => {
            return Err(Problem::invalid(
                format!("there is no field `{}` to filter by", truncate_name(name)),
                "use user_id, agent_id, app_id, run_id, id, keywords, categories, created_at, updated_at, feedback or metadata, and AND, OR, NOT",
            ));
        }
    })
}

/// Parses a condition: a value means equality, a list one of its values, an object its operators.
fn parse_condition(field: &FilterField, name: &str, value: &Value) -> Result<Mem0Filter, Problem> {
    match value {
        Value::Object(operators) => {
            let parts: Result<Vec<_>, Problem> = operators
                .iter()
                .map(|(operator, value)| {
                    Ok(Mem0Filter::Condition(
                        field.clone(),
                        parse_op(field, name, operator, value)?,
                    ))
                })
                .collect();
            let parts = parts?;
            if parts.is_empty() {
                return Err(Problem::invalid(
                    format!("`{}` has no operator", truncate_name(name)),
                    "give a value, or an object such as {\"gte\": 5}",
                ));
            }
            Ok(Mem0Filter::All(parts))
        }
        Value::Array(_) => {
            Ok(Mem0Filter::Condition(field.clone(), parse_op(field, name, "in", value)?))
        }
        Value::String(wildcard) if wildcard == "*" => {
            Ok(Mem0Filter::Condition(field.clone(), FilterOp::Present))
        }
        _ => Ok(Mem0Filter::Condition(field.clone(), parse_op(field, name, "eq", value)?)),
    }
}

fn parse_op(
    field: &FilterField,
    name: &str,
    operator: &str,
    value: &Value,
) -> Result<FilterOp, Problem> {
    let is_time = matches!(field, FilterField::Created | FilterField::Updated);
    let comparison = match operator {
        "gt" => Some(FilterComparison::GreaterThan),
        "gte" => Some(FilterComparison::AtLeast),
        "lte" => Some(FilterComparison::AtMost),
        "lt" => Some(FilterComparison::LessThan),
        "eq" if is_time => Some(FilterComparison::Equal),
        _ => None,
    };
    if let (Some(comparison), true) = (comparison, is_time) {
        let (first, last) = parse_time_range(name, value)?;
        return Ok(FilterOp::Time(comparison, first, last));
    }
    match (operator, value) {
        _ if is_time => Err(unknown_operator(name, operator, "eq, gt, gte, lt or lte")),
        ("eq", _) => Ok(FilterOp::Equals(value.clone())),
        ("ne", _) => Ok(FilterOp::NotEquals(value.clone())),
        ("in", Value::Array(values)) => Ok(FilterOp::OneOf(values.clone())),
        ("contains" | "icontains", Value::String(needle)) => {
            Ok(FilterOp::Contains { needle: needle.clone(), ignore_case: operator == "icontains" })
        }
        ("in" | "contains" | "icontains", _) => Err(Problem::invalid(
            format!("`{operator}` of `{}` does not take this value", truncate_name(name)),
            "`in` takes a list, `contains` and `icontains` take a text",
        )),
        _ => match comparison {
            Some(comparison) if value.is_number() || value.is_string() => {
                Ok(FilterOp::Ordered(comparison, value.clone()))
            }
            Some(_) => Err(Problem::invalid(
                format!("`{operator}` of `{}` takes a number or a text", truncate_name(name)),
                "give one",
            )),
            None => Err(unknown_operator(
                name,
                operator,
                "eq, ne, in, gt, gte, lt, lte, contains or icontains",
            )),
        },
    }
}

fn unknown_operator(name: &str, operator: &str, known: &str) -> Problem {
    Problem::invalid(
        format!(
            "`{}` does not support the operator `{}`",
            truncate_name(name),
            truncate_name(operator)
        ),
        format!("use {known}"),
    )
}

/// Returns the first and the last instant of a time: of a date the whole day, in UTC.
pub(super) fn parse_time_range(
    name: &str,
    value: &Value,
) -> Result<(Timestamp, Timestamp), Problem> {
    let invalid = || {
        Problem::invalid(
            format!("`{}` is not a time", truncate_name(name)),
            "give a date (2026-03-01), a time (2026-03-01T09:00:00Z), or seconds since 1970",
        )
    };
    match value {
        Value::Number(seconds) => {
            let seconds = seconds.as_f64().ok_or_else(invalid)?;
            let at =
                Timestamp::from_millisecond((seconds * 1_000.0) as i64).map_err(|_| invalid())?;
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
                let at = at.to_zoned(utc).map_err(|_| invalid())?.timestamp();
                return Ok((at, at));
            }
            let day: Date = text.parse().map_err(|_| invalid())?;
            let first = day.to_zoned(utc.clone()).map_err(|_| invalid())?.timestamp();
            let last = day.at(23, 59, 59, 999_999_999).to_zoned(utc).map_err(|_| invalid())?;
            Ok((first, last.timestamp()))
        }
        _ => Err(invalid()),
    }
}

/// Cuts a name of the caller for an error message.
pub(super) fn truncate_name(name: &str) -> String {
    name.chars().take(50).collect()
}

/// Builds a filter from the ids that stand beside other fields of a request.
pub(super) fn filter_from_ids(fields: &Map<String, Value>) -> Result<Option<Mem0Filter>, Problem> {
    let named = ["user_id", "agent_id", "app_id", "run_id"];
    let mut parts = Vec::new();
    for name in named {
        if let Some(value) = fields.get(name).filter(|value| !value.is_null()) {
            parts.push(parse_condition(&parse_field(name, FilterDialect::Hosted)?, name, value)?);
        }
    }
    Ok((!parts.is_empty()).then_some(Mem0Filter::All(parts)))
}
