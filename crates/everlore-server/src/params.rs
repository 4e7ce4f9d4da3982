//! The query of a request: each parameter is read once, and what is left over is a mistake.

use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

use axum::{extract::FromRequestParts, http::request::Parts};

use crate::problem::Problem;

/// Parameters that choose whose memory is meant; `auth` reads them.
pub(crate) const SCOPE: [&str; 2] = ["agent", "user"];

/// The parameters of a query.
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Those of a query as it came.
    pub(crate) fn of(query: Option<&str>) -> Self {
        let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        Self(pairs.into_owned().collect())
    }

    /// Every value of a parameter.
    pub(crate) fn many<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<Vec<T>, Problem> {
        let (asked, rest) =
            std::mem::take(&mut self.0).into_iter().partition(|(key, _)| key == name);
        self.0 = rest;
        let asked: Vec<(String, String)> = asked;
        asked.into_iter().map(|(_, value)| parsed(name, &value)).collect()
    }

    /// The value of a parameter, if it is given.
    pub(crate) fn one<T: FromStr<Err: Display>>(
        &mut self,
        name: &str,
    ) -> Result<Option<T>, Problem> {
        let mut values = self.many(name)?;
        match values.len() {
            0 | 1 => Ok(values.pop()),
            _ => Err(Problem::invalid(format!("`{name}` is given more than once"), "give it once")),
        }
    }

    /// The value of a parameter that must be given.
    pub(crate) fn required<T: FromStr<Err: Display>>(&mut self, name: &str) -> Result<T, Problem> {
        let missing = || Problem::invalid(format!("`{name}` is missing"), "give it in the query");
        self.one(name)?.ok_or_else(missing)
    }

    /// The value of a parameter within a range, if it is given.
    pub(crate) fn within<T>(
        &mut self,
        name: &str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, Problem>
    where
        T: FromStr<Err: Display> + PartialOrd + Display,
    {
        let value = self.one(name)?;
        if value.as_ref().is_none_or(|value| range.contains(value)) {
            return Ok(value);
        }
        let title = format!("`{name}` goes from {} to {}", range.start(), range.end());
        Err(Problem::invalid(title, "lists go on page by page, with what `next` says"))
    }

    /// Whether a parameter is given as `true`.
    pub(crate) fn is(&mut self, name: &str) -> Result<bool, Problem> {
        Ok(self.one::<bool>(name)?.unwrap_or(false))
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Result<(), Problem> {
        let unknown = self.0.iter().find(|(key, _)| !SCOPE.contains(&key.as_str()));
        match unknown {
            None => Ok(()),
            Some((key, _)) => Err(Problem::invalid(
                format!("there is no parameter `{}`", key.chars().take(50).collect::<String>()),
                "see /docs for those of this route",
            )),
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self::of(parts.uri.query()))
    }
}

fn parsed<T: FromStr<Err: Display>>(name: &str, value: &str) -> Result<T, Problem> {
    value.parse().map_err(|error| {
        Problem::invalid(format!("`{name}` cannot be read: {error}"), "see /docs for what it takes")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_in_any_language_and_be_repeated() {
        let mut params = Params::of(Some("tag=%E8%8C%B6&tag=tea&limit=5"));
        assert_eq!(params.many::<String>("tag").unwrap(), ["茶", "tea"]);
        assert_eq!(params.one::<usize>("limit").unwrap(), Some(5));
        params.end().unwrap();
    }

    #[test]
    fn what_is_unknown_twice_or_unreadable_is_told() {
        assert_eq!(
            Params::of(Some("limt=5")).end().unwrap_err().title,
            "there is no parameter `limt`"
        );
        assert!(Params::of(Some("limit=1&limit=2")).one::<usize>("limit").is_err());
        assert!(Params::of(Some("limit=many")).one::<usize>("limit").is_err());
        assert_eq!(
            Params::of(Some("limit=5")).required::<String>("uri").unwrap_err().title,
            "`uri` is missing"
        );
        Params::of(Some("agent=a&user=b")).end().unwrap();
    }
}
