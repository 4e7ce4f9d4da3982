//! Answering: is the best hit good enough, and how is it shown?
//!
//! [`abstain()`] estimates the probability that the best hit answers the query and drops what falls short;
//! [`add_profile`] answers questions about the user; [`pack()`] and [`render_recall`] fit the hits into a token budget;
//! [`why_not()`] explains why a memory is missing. `logistic` and `synthetic_queries` fit the confidence model to a scope.

mod confidence_features;
mod request_confidence;
mod confidence;
mod abstain;
mod logistic;
mod need_form;
mod hit_probability;
mod synthetic_queries;
mod heading;
mod passage;
mod profile;
mod period_events;
mod pack;
mod render;
mod why_not;

pub(super) use abstain::abstain;
pub use confidence::{
    ConfidenceBasis, ConfidenceCoefficients, ConfidenceEstimate, ConfidenceTuning, FEATURE_COUNT,
    FeatureContribution,
};
pub use confidence_features::ConfidenceFeatures;
pub use logistic::{TrainingSample, fit_logistic, logistic};
pub use pack::{BlockRequest, MemoryBlock, MemoryBlockEntry, pack};
pub(super) use period_events::{add_events, events_of_period};
pub(super) use profile::{add_profile, profile_candidates};
pub(crate) use render::{RenderedMemory, recall_named_memory, render_recall};
pub(crate) use synthetic_queries::{content_units, synthetic_query};
pub use why_not::WhyNot;
pub(crate) use why_not::why_not;
