//! Query understanding: what does the query ask for?
//!
//! [`analyze()`] turns the text into an [`Intent`]: terms with synonyms, the kind of query, the period it names, and
//! whether it needs memory at all. Everything here is a pure function of the text, the settings and the clock; no
//! store, no model.

mod analyze;
mod query_kind;
mod identity;
mod profile_aspect;
mod memory_need;
mod message_form;
mod small_talk;
mod synonyms;
mod personal_constraints;
mod domains;
mod phrases;
mod planned_times;
mod period;

pub use analyze::{Intent, QueryTerm, analyze};
pub(super) use analyze::{analyze_by_time_words, analyze_with_domains};
pub use domains::{Domain, DomainTerm, Domains};
pub use identity::IdentityQuestion;
pub(crate) use identity::classify_identity;
pub(super) use identity::{ProfileTopic, TopicBreadth, profile_topic};
pub use memory_need::MemoryNeed;
pub(super) use memory_need::capitalized_names;
pub(crate) use message_form::FactQuestion;
pub use message_form::{FORM_COUNT, MessageForm};
pub(super) use period::QueryPeriod;
pub(super) use personal_constraints::StatedLimits;
pub(super) use phrases::is_question;
pub(super) use profile_aspect::ProfileAspect;
pub use query_kind::QueryKind;
pub(super) use query_kind::RankingStrategy;
pub(super) use small_talk::is_small_talk;
