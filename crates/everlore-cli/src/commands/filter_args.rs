//! Options that filter memories, and their value parsers.

use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use everlore::{Kind, Status, store::MemoryFilter};

use crate::times::{TimeSpec, parse_time_spec};

/// Filter of memories.
#[derive(Debug, Clone, Args)]
pub(crate) struct FilterArgs {
    /// Only memories of this kind; may be repeated
    #[arg(long, value_name = "KIND", value_parser = kind_parser())]
    kind: Vec<Kind>,
    /// Only memories with this tag; may be repeated, then all of them are needed
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Only memories with this status
    #[arg(long, value_name = "STATUS", value_enum, default_value_t)]
    status: StatusChoice,
    /// Only memories of this time or later, such as 2023-05-08 or 2023-05-08T13:56
    #[arg(long, value_name = "TIME", value_parser = parse_time_spec)]
    since: Option<TimeSpec>,
    /// Only memories before this time; a day is included
    #[arg(long, value_name = "TIME", value_parser = parse_time_spec)]
    until: Option<TimeSpec>,
    /// Only memories of this conversation
    #[arg(long, value_name = "NAME")]
    session: Option<String>,
}

/// Status of memories, or any.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum StatusChoice {
    /// Current memories
    #[default]
    Active,
    /// Archived memories
    Archived,
    /// Memories that a newer one replaced
    Superseded,
    /// All memories
    Any,
}

impl FilterArgs {
    /// Returns the filter of the options.
    pub(crate) fn to_filter(&self) -> MemoryFilter {
        MemoryFilter {
            kinds: self.kind.clone(),
            statuses: self.status.statuses(),
            tags: self.tag.clone(),
            since: self.since.map(TimeSpec::start),
            until: self.until.map(TimeSpec::end),
            session: self.session.clone(),
            turns_until: None,
        }
    }
}

impl StatusChoice {
    fn statuses(self) -> Vec<Status> {
        match self {
            Self::Active => vec![Status::Active],
            Self::Archived => vec![Status::Archived],
            Self::Superseded => vec![Status::Superseded],
            Self::Any => Status::ALL.to_vec(),
        }
    }
}

/// Returns the parser of kinds; it accepts the names of other systems too.
pub(crate) fn kind_parser() -> impl TypedValueParser<Value = Kind> {
    let value = |kind: Kind| {
        let value = PossibleValue::new(kind.as_str());
        match kind {
            Kind::User => value.alias("preference"),
            Kind::Knowledge => value.alias("fact"),
            _ => value,
        }
    };
    PossibleValuesParser::new(Kind::ALL.map(value)).try_map(|name| name.parse::<Kind>())
}
