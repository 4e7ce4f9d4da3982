//! Candidates for a profile: the memories about the user, whatever the words of the query.

use super::{corpus::DocRef, fuse::Fusion};
use crate::{store::DocAddress, types::Kind};

/// Most recent memories about the user that a profile is chosen from: it shows a few of each aspect.
const PROFILE_NEWEST: usize = 400;

/// Oldest memories about the user that a profile is chosen from: name and work are told at the beginning.
const PROFILE_OLDEST: usize = 100;

/// Newest turns, and newest other memories, that may complete a nearly empty profile.
const BROAD_LIMIT: usize = 50;

impl Fusion<'_> {
    /// Returns the addresses of memories about the user that pass the filter, and of the newest others if there are
    /// fewer than `min_about_user`.
    pub(crate) fn profile_addresses(&self, min_about_user: usize) -> Vec<DocAddress> {
        let corpus = &self.corpus;
        let passing = || corpus.docs().filter(|doc| self.passes_filter(*doc));
        let newest = |docs: &mut Vec<DocRef>| {
            docs.sort_by_key(|doc| (std::cmp::Reverse(corpus.at(*doc)), corpus.address(*doc)));
        };
        let is_about_user =
            |doc: &DocRef| matches!(corpus.flags(*doc).kind, Kind::User | Kind::Feedback);
        let mut chosen: Vec<DocRef> = passing().filter(is_about_user).collect();
        newest(&mut chosen);
        if chosen.len() > PROFILE_NEWEST + PROFILE_OLDEST {
            chosen.drain(PROFILE_NEWEST..chosen.len() - PROFILE_OLDEST);
        }
        if chosen.len() < min_about_user {
            let mut others: Vec<DocRef> = passing().filter(|doc| !is_about_user(doc)).collect();
            newest(&mut others);
            let is_turn = |doc: &DocRef| corpus.flags(*doc).kind == Kind::Turn;
            chosen.extend(others.iter().filter(|doc| is_turn(doc)).take(BROAD_LIMIT));
            chosen.extend(others.iter().filter(|doc| !is_turn(doc)).take(BROAD_LIMIT));
        }
        chosen.into_iter().map(|doc| corpus.address(doc)).collect()
    }
}
