//! Profile answers: memories about the user for identity questions, whatever their words and however many other memories
//! there are.
//!
//! A question for the whole profile gets name, work, family, home, health and tastes, in this order. A question for one
//! topic keeps what its words found, and is completed from the profile if that is too little.

use std::{
    cmp::{Ordering, Reverse},
    collections::HashMap,
};

use super::confidence::ConfidenceBasis;
use crate::{
    error::Result,
    recall::{
        Hit, HitSignals, IdentityQuestion, Intent, Recall, RecallDeps, RecallRequest, ScoreFactors,
        query::{ProfileAspect, ProfileTopic, TopicBreadth, profile_topic},
        rank::{
            IDENTITY_BOOST, RankedHits, doubts::mark_doubted,
            repeated_questions::why_uninformative, visible_context::already_visible,
        },
    },
    store::DocAddress,
    types::{Kind, Memory, MemoryId, Role, Timestamp},
};

/// Number of memories about the user, or about the topic, below which others complete them.
const MIN_ABOUT_USER: usize = 3;

/// Most memories of an answer about one topic that the profile completes: beyond them it would be noise.
const MAX_COMPLETED: usize = 5;

/// Best hits of the ranking that are told with what the profile knows of a topic, if recall alone would tell nothing: the
/// words of an aspect are few, and what was found may have none of them.
const MAX_BEST: usize = 2;

/// Number of the newest other memories that complete a nearly empty profile.
const MAX_OTHERS: usize = 10;

/// Memories of one aspect that come before the next aspect: twenty likes must not push out the family.
const ASPECT_QUOTA: usize = 3;

/// Share of [`IDENTITY_BOOST`] that the last memory of a profile gets; between it and the first the relevance falls
/// evenly, so that scores follow the order.
const LAST_SHARE: f64 = 0.5;

/// Memories that an identity question can be answered with, the most telling first.
#[derive(Default)]
pub(crate) struct UserProfile {
    about_user: Vec<Hit>,
    others: Vec<Hit>,
}

/// Memories that a profile is read from.
#[derive(Default)]
pub(crate) struct ProfileCandidates {
    addresses: Vec<DocAddress>,
    /// The best hits of the ranking, the best first, whether or not recall abstains.
    ranking: Vec<MemoryId>,
    /// The very best of them.
    best: Vec<Hit>,
}

/// Returns the memories that a profile is read from; none for a query that asks nothing about the user, or for a period.
pub(crate) fn profile_candidates(ranked: &RankedHits<'_>) -> ProfileCandidates {
    let intent = ranked.fusion.intent;
    if intent.identity == IdentityQuestion::None || !intent.times.is_empty() || intent.asks_period {
        return ProfileCandidates::default();
    }
    ProfileCandidates {
        addresses: ranked.fusion.profile_addresses(MIN_ABOUT_USER),
        ranking: ranked.hits.iter().take(MAX_OTHERS).map(|hit| hit.memory.id).collect(),
        best: ranked.hits.iter().take(MAX_BEST).cloned().collect(),
    }
}

/// Adds the profile to an answer: in place of its hits if the query asks for the whole profile, after them if it asks
/// for a topic and too little was found.
pub(crate) async fn add_profile(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    answer: Recall,
    candidates: &ProfileCandidates,
) -> Result<Recall> {
    let read = || read_profile(deps, request, &answer.intent, &candidates.addresses);
    let hits = match answer.intent.identity {
        IdentityQuestion::None => return Ok(answer),
        IdentityQuestion::Strong => whole_profile(read().await?, request),
        IdentityQuestion::Weak => {
            let topic = profile_topic(&request.query);
            match answer_topic(&answer.hits, &topic, request) {
                Some(hits) => hits,
                None => {
                    let about_user = read().await?.about_user;
                    let ordered = order_by_topic(about_user, &topic, &candidates.ranking);
                    let completed = complete_topic(&answer.hits, ordered, &topic, request);
                    with_best(completed, &answer.hits, candidates, request)
                }
            }
        }
    };
    Ok(answer_with(answer, hits))
}

/// Puts other hits into an answer.
fn answer_with(answer: Recall, hits: Vec<Hit>) -> Recall {
    if hits.is_empty() || hits == answer.hits {
        return answer;
    }
    let mut judgement = answer.judgement;
    if answer.hits.is_empty() || answer.intent.identity == IdentityQuestion::Strong {
        (judgement.basis, judgement.confidence) = (ConfidenceBasis::Profile, 1.0);
    }
    let candidates = answer.candidates.max(hits.len());
    let confidence = judgement.confidence;
    Recall { hits, abstained: false, confidence, candidates, judgement, ..answer }
}

/// Reads the profile.
async fn read_profile(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    intent: &Intent,
    addresses: &[DocAddress],
) -> Result<UserProfile> {
    let rows = deps.store.memories().by_address(&request.scope, addresses).await?;
    let rows = without_visible(deps, request, rows).await?;
    // What another person said of themselves is not about the user.
    let is_about_user = |memory: &Memory| {
        matches!(memory.kind, Kind::User | Kind::Feedback) && memory.source.speaker.is_none()
    };
    let (about_user, others) = rows.into_iter().partition(|(_, memory)| is_about_user(memory));
    let now = deps.now.timestamp();
    let mut about_user = order_profile(about_user, asked_aspect(request, intent), now);
    mark_doubted(&mut about_user);
    Ok(UserProfile { about_user, others: order_others(others, intent) })
}

/// Returns the aspect to put first: the one that a question for a topic asks for.
fn asked_aspect(request: &RecallRequest, intent: &Intent) -> Option<ProfileAspect> {
    (intent.identity == IdentityQuestion::Weak).then(|| profile_topic(&request.query).aspect)?
}

/// Drops what the model still sees in the current conversation.
async fn without_visible(
    deps: RecallDeps<'_>,
    request: &RecallRequest,
    mut rows: Vec<(DocAddress, Memory)>,
) -> Result<Vec<(DocAddress, Memory)>> {
    if let Some(context) = &request.visible {
        let memories = rows.iter().map(|(_, memory)| memory);
        let visible = already_visible(deps.store, &request.scope, context, memories).await?;
        rows.retain(|(_, memory)| !visible.contains(&memory.id));
    }
    Ok(rows)
}

/// Orders memories about the user: the aspect that is asked for, then all aspects in turn, a few of each at a time, the
/// heaviest and newest of an aspect first.
fn order_profile(
    rows: Vec<(DocAddress, Memory)>,
    asked: Option<ProfileAspect>,
    now: Timestamp,
) -> Vec<Hit> {
    let mut aspects: Vec<_> = rows
        .into_iter()
        .map(|(address, memory)| (ProfileAspect::of_memory(&memory), address, memory))
        .collect();
    aspects.sort_by(|(_, one_address, one), (_, other_address, other)| {
        by_weight(one, other, now).then_with(|| other_address.cmp(one_address))
    });
    let mut counts: HashMap<ProfileAspect, usize> = HashMap::new();
    let mut ordered: Vec<_> = aspects
        .into_iter()
        .map(|(aspect, address, memory)| {
            let count = counts.entry(aspect).or_default();
            *count += 1;
            ((Some(aspect) != asked, (*count - 1) / ASPECT_QUOTA, aspect), address, memory)
        })
        .collect();
    ordered.sort_by_key(|(key, ..)| *key);
    let rows: Vec<_> = ordered.into_iter().map(|(_, address, memory)| (address, memory)).collect();
    as_hits(rows, IDENTITY_BOOST)
}

/// Compares two memories: heavier first, then newer.
fn by_weight(one: &Memory, other: &Memory, now: Timestamp) -> Ordering {
    let weights = other.weight_at(now).total_cmp(&one.weight_at(now));
    weights.then_with(|| other.at.cmp(&one.at))
}

/// Orders the memories that complete a nearly empty profile: statements about a person, other memories, other turns, the
/// newest first. Leaves out repeated questions and the words of assistants and tools.
fn order_others(mut rows: Vec<(DocAddress, Memory)>, intent: &Intent) -> Vec<Hit> {
    let by_user = |memory: &Memory| memory.source.role.is_none_or(|role| role == Role::User);
    rows.retain(|(_, memory)| by_user(memory) && why_uninformative(memory, intent, true).is_none());
    rows.sort_by_key(|(address, memory)| {
        (!is_personal_turn(memory), memory.kind == Kind::Turn, Reverse(memory.at), *address)
    });
    rows.truncate(MAX_OTHERS);
    as_hits(rows, IDENTITY_BOOST * LAST_SHARE)
}

/// Returns `true` for a turn that says something about a person.
fn is_personal_turn(memory: &Memory) -> bool {
    memory.kind == Kind::Turn && ProfileAspect::of_memory(memory) != ProfileAspect::Other
}

/// Makes hits of ordered memories, with scores in the same order.
fn as_hits(rows: Vec<(DocAddress, Memory)>, boost: f64) -> Vec<Hit> {
    let count = rows.len().max(1) as f64;
    let share = |index: usize| 1.0 - (1.0 - LAST_SHARE) * index as f64 / count;
    let hits = rows.into_iter().enumerate();
    hits.map(|(index, (address, memory))| profile_hit(address, memory, boost * share(index)))
        .collect()
}

/// Returns the hit of a memory whose only signal is the question about the user.
fn profile_hit(address: DocAddress, memory: Memory, identity: f64) -> Hit {
    let relevance = identity.exp().ln_1p();
    Hit {
        memory,
        score: relevance / (1.0 + relevance),
        signals: HitSignals { identity, fused: identity, ..HitSignals::default() },
        factors: neutral_factors(relevance),
        probability: None,
        newer: None,
        held_until: None,
        check: None,
        address,
    }
}

/// Returns the hit with a score of at most `highest`.
fn lower_to(hit: Hit, highest: f64) -> Hit {
    if hit.score <= highest {
        return hit;
    }
    // The signal whose relevance gives that score.
    let relevance = highest / (1.0 - highest);
    profile_hit(hit.address, hit.memory, relevance.exp_m1().ln())
}

fn neutral_factors(relevance: f64) -> ScoreFactors {
    ScoreFactors { relevance, recency: 1.0, weight: 1.0, importance: 1.0, kind: 1.0, update: 1.0 }
}

/// Returns the answer to a question for the whole profile.
fn whole_profile(profile: UserProfile, request: &RecallRequest) -> Vec<Hit> {
    let mut hits = profile.about_user;
    if hits.len() < MIN_ABOUT_USER {
        let (personal, others): (Vec<Hit>, Vec<Hit>) =
            profile.others.into_iter().partition(|hit| is_personal_turn(&hit.memory));
        hits.extend(personal);
        // A prompt needs something to begin with; a search shows all there is.
        let wanted = if request.min_confidence > 0.0 { MIN_ABOUT_USER } else { usize::MAX };
        let missing = wanted.saturating_sub(hits.len());
        hits.extend(others.into_iter().take(missing));
    }
    hits.retain(|hit| hit.score >= request.min_score);
    hits.truncate(request.limit);
    hits
}

/// Returns the answer to a question for one topic if what its words found is enough. A question for one value is
/// complete with a memory of its aspect, and drops what ranks below that and has nothing to do with it.
fn answer_topic(hits: &[Hit], topic: &ProfileTopic, request: &RecallRequest) -> Option<Vec<Hit>> {
    let is_answered = hits.iter().any(|hit| topic.aspect.is_none() || is_of_aspect(hit, topic));
    if topic.breadth == TopicBreadth::Open || !is_answered {
        return (hits.len() >= MIN_ABOUT_USER).then(|| hits.to_vec());
    }
    // A search shows all that matches; a prompt shows what answers.
    let first = hits.iter().position(|hit| is_of_aspect(hit, topic)).unwrap_or_default();
    let is_shown = |(at, hit): &(usize, &Hit)| {
        *at <= first
            || request.min_confidence == 0.0
            || is_of_aspect(hit, topic)
            || !hit.signals.terms.is_empty()
    };
    Some(hits.iter().enumerate().filter(is_shown).map(|(_, hit)| hit.clone()).collect())
}

/// Orders what completes an answer: memories of the aspect that is asked for, then those that the ranking found, the best
/// first. Where the question names no aspect, what the ranking did not find is left out.
fn order_by_topic(hits: Vec<Hit>, topic: &ProfileTopic, ranking: &[MemoryId]) -> Vec<Hit> {
    let place = |hit: &Hit| ranking.iter().position(|id| *id == hit.memory.id);
    let mut hits = hits;
    if topic.aspect.is_none() && !ranking.is_empty() {
        hits.retain(|hit| place(hit).is_some());
    }
    hits.sort_by_key(|hit| (!is_of_aspect(hit, topic), place(hit).unwrap_or(usize::MAX)));
    hits
}

/// Returns the answer to a question for one topic, completed by the profile.
fn complete_topic(
    hits: &[Hit],
    about_user: Vec<Hit>,
    topic: &ProfileTopic,
    request: &RecallRequest,
) -> Vec<Hit> {
    let lowest = hits.last().map_or(1.0, |hit| hit.score);
    let is_new = |hit: &Hit| !hits.iter().any(|found| found.memory.id == hit.memory.id);
    let helps = |hit: &Hit| match topic.breadth {
        TopicBreadth::Open => true,
        TopicBreadth::OwnAttribute => is_of_aspect(hit, topic),
        TopicBreadth::Value => false,
    };
    let added = about_user.into_iter().filter(|hit| is_new(hit) && helps(hit));
    let mut all = hits.to_vec();
    // Scores follow the order.
    let mut highest = lowest;
    for hit in added {
        let hit = lower_to(hit, highest);
        highest = hit.score;
        all.push(hit);
    }
    all.retain(|hit| hit.score >= request.min_score);
    all.truncate(request.limit.min(MAX_COMPLETED));
    all
}

/// Puts the best hits of the ranking before what the profile knows, where recall alone would tell nothing.
fn with_best(
    completed: Vec<Hit>,
    found: &[Hit],
    candidates: &ProfileCandidates,
    request: &RecallRequest,
) -> Vec<Hit> {
    if completed.is_empty() || !found.is_empty() {
        return completed;
    }
    let is_best = |hit: &Hit| candidates.best.iter().any(|best| best.memory.id == hit.memory.id);
    let mut all: Vec<Hit> =
        candidates.best.iter().filter(|hit| hit.score >= request.min_score).cloned().collect();
    let mut highest = all.last().map_or(1.0, |hit| hit.score);
    for hit in completed.into_iter().filter(|hit| !is_best(hit)) {
        let hit = lower_to(hit, highest);
        highest = hit.score;
        all.push(hit);
    }
    all.truncate(request.limit.min(MAX_COMPLETED));
    all
}

fn is_of_aspect(hit: &Hit, topic: &ProfileTopic) -> bool {
    Some(ProfileAspect::of_memory(&hit.memory)) == topic.aspect
}
