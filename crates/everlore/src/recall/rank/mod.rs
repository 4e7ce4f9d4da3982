//! Ranking: which memories are relevant to the query?
//!
//! [`gather()`] reads the postings and vectors of the scope, [`fuse()`] measures every document by BM25F and cosine
//! similarity and adds up the signals, [`load()`] reads the rows of the best candidates, reranks them and drops repeated
//! ones, and [`score()`] multiplies the relevance with bounded factors. Stores never rank: ranking is here, the
//! same for every backend.

mod query_models;
mod gather;
mod corpus;
mod doc_stats;
mod parallel;
mod best_items;
mod profile_candidates;
mod lexical;
mod semantic;
mod signals;
mod fuse;
mod load;
pub(super) mod rerank;
pub(super) mod turn_content;
pub(super) mod repeated_questions;
pub(super) mod source_turns;
pub(super) mod visible_context;
mod second_hop;
mod score;
mod updates;
pub(super) mod doubts;
pub(super) mod time_order;

pub(super) use corpus::DocRef;
pub(super) use fuse::{Fusion, IDENTITY_BOOST, fuse};
pub(super) use gather::gather;
pub(super) use load::load;
pub(super) use query_models::QueryModels;
pub use score::ScoreFactors;
pub(super) use score::{RankedHits, score};
pub use signals::{HitSignals, TermSignal};
pub use visible_context::VisibleContext;
