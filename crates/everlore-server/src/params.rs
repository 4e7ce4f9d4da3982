//! Query parameters: each is read once, and one that no handler reads is an error.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use axum::{extract::FromRequestParts, http::request::Parts};

use crate::{App, Problem};

/// Parameters that select the scope; `auth` reads them.
pub(crate) const SCOPE_PARAMS: [&str; 2] = ["agent", "user"];

/// Parameters of a query that were not read yet.
pub(crate) struct QueryParams(Vec<(String, String)>);

impl QueryParams {
    /// Parses a query string.
    pub(crate) fn parse(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// Takes every value of a parameter.
    pub(crate) fn repeated<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
    ) -> Result<Vec<T>, Problem> {
        let (values, rest): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.0).into_iter().partition(|(key, _)| key == name);
        self.0 = rest;
        values.into_iter().map(|(_, value)| parse_value(name, &value)).collect()
    }

    /// Takes the value of an optional parameter.
    pub(crate) fn optional<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Problem> {
        let mut values = self.repeated(name)?;
        match values.len() {
            0 | 1 => Ok(values.pop()),
            _ => Err(Problem::invalid(format!("`{name}` is given more than once"), "give it once")),
        }
    }

    /// Takes the value of a required parameter.
    pub(crate) fn required<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<T, Problem> {
        let missing = || Problem::invalid(format!("`{name}` is missing"), "give it in the query");
        self.optional(name)?.ok_or_else(missing)
    }

    /// Takes the value of an optional parameter that must lie in a range.
    pub(crate) fn in_range<T>(
        &mut self,
        name: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, Problem>
    where
        T: FromStr<Err: Display> + PartialOrd + Display,
    {
        let value = self.optional(name)?;
        if value.as_ref().is_none_or(|value| range.contains(value)) {
            return Ok(value);
        }
        let title = format!("`{name}` must be from {} to {}", range.start(), range.end());
        Err(Problem::invalid(title, "page through longer lists with `next`"))
    }

    /// Returns `true` if a parameter is given as `true`.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        Ok(self.optional::<bool>(name)?.unwrap_or(false))
    }

    /// Fails if a parameter was not read.
    pub(crate) fn finish(self) -> Result<(), Problem> {
        let unknown = self.0.iter().find(|(key, _)| !SCOPE_PARAMS.contains(&key.as_str()));
        match unknown {
            None => Ok(()),
            Some((key, _)) => Err(Problem::invalid(
                format!("there is no parameter `{}`", key.chars().take(50).collect::<String>()),
                "see /docs for the parameters of this route",
            )),
        }
    }
}

impl FromRequestParts<App> for QueryParams {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        Ok(Self::parse(parts.uri.query()))
    }
}

fn parse_value<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, Problem> {
    value.parse().map_err(|error| {
        Problem::invalid(format!("`{name}` cannot be read: {error}"), "see /docs for its format")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_in_any_language_and_be_repeated() {
        let mut params = QueryParams::parse(Some("tag=%E8%8C%B6&tag=tea&limit=5"));
        assert_eq!(params.repeated::<String>("tag").unwrap(), ["茶", "tea"]);
        assert_eq!(params.optional::<usize>("limit").unwrap(), Some(5));
        params.finish().unwrap();
    }

    #[test]
    fn unknown_repeated_and_unreadable_parameters_are_refused() {
        assert_eq!(
            QueryParams::parse(Some("limt=5")).finish().unwrap_err().title,
            "there is no parameter `limt`"
        );
        assert!(QueryParams::parse(Some("limit=1&limit=2")).optional::<usize>("limit").is_err());
        assert!(QueryParams::parse(Some("limit=many")).optional::<usize>("limit").is_err());
        assert_eq!(
            QueryParams::parse(Some("limit=5")).required::<String>("uri").unwrap_err().title,
            "`uri` is missing"
        );
        QueryParams::parse(Some("agent=a&user=b")).finish().unwrap();
    }
}
