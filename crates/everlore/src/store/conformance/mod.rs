//! Conformance suite of stores. A backend's tests are `suite!(fresh)`, where `fresh` opens an empty [`TestStore`].

pub(crate) mod memories;
pub(crate) mod journal;
pub(crate) mod embeddings;
pub(crate) mod token_vectors;
pub(crate) mod capture_queue;
pub(crate) mod uri_index;
pub(crate) mod usage_ledger;
pub(crate) mod many_servers;
pub(crate) mod sealing;
pub(crate) mod mirror;

use std::{any::Any, collections::BTreeMap, path::PathBuf, sync::Arc};

use super::*;
use crate::{
    error::Error,
    sync::BoxFuture,
    text::terms::TermHash,
    types::{
        Actor, Change, ChangeOp, ChangeVectors, EmbeddingModelId, Fingerprint, JournalEntry,
        MemoryId, MemorySource, Origin, Scope, Status, Timestamp, Vector,
    },
};

/// Defines a test of each case for the store that `$fresh` opens.
macro_rules! suite {
    ($fresh:ident) => {
        crate::store::conformance::suite!(memories $fresh:
            what_is_added_can_be_read_back,
            an_id_or_a_uri_is_taken_only_once,
            a_change_against_an_older_version_is_refused,
            what_never_changes_cannot_be_changed,
            a_batch_is_applied_whole_or_not_at_all,
            a_memory_of_another_scope_is_refused,
            scopes_know_nothing_of_each_other,
            lists_are_filtered_paged_and_newest_first,
            keys_find_what_they_name,
            a_memory_that_returns_stands_where_it_stood,
            concurrent_writes_all_survive,
        );
        crate::store::conformance::suite!(journal $fresh:
            the_journal_tells_before_and_after,
            a_single_write_is_made_once,
            a_plan_that_missed_a_write_is_refused,
            the_past_can_be_read,
            erasing_leaves_no_text_anywhere,
            a_deleted_memory_can_be_erased_too,
        );
        crate::store::conformance::suite!(embeddings $fresh:
            vectors_are_kept_with_their_texts,
            vectors_of_two_models_never_mix,
            what_has_no_vector_yet_gets_one,
            an_erased_memory_leaves_no_vector,
        );
        crate::store::conformance::suite!(token_vectors $fresh:
            words_are_kept_until_their_text_changes,
            words_of_two_models_never_mix,
            an_erased_memory_leaves_no_words,
        );
        crate::store::conformance::suite!(capture_queue $fresh:
            a_turn_waits_until_it_was_read,
            what_was_read_is_not_read_again,
            one_session_of_a_scope_is_read_at_a_time,
            a_failed_session_waits_for_its_next_try,
            sessions_are_due_when_they_should_be,
            removed_turns_wait_no_longer,
            an_erased_turn_takes_its_drafts_with_it,
            drafts_are_held_within_limits,
            memories_are_found_by_slot_and_by_turn,
            experiences_are_found_by_the_keys_of_their_error,
        );
        crate::store::conformance::suite!(uri_index $fresh:
            uris_are_walked_in_order_a_page_at_a_time,
            places_are_those_of_a_folder_or_of_ids_and_of_nothing_else,
            conversations_are_walked_turn_by_turn,
            the_trees_of_two_scopes_never_meet,
        );
        crate::store::conformance::suite!(usage_ledger $fresh:
            what_prompts_were_given_is_kept_until_it_is_answered,
            the_usage_log_is_bounded_by_count_and_age,
            an_erased_memory_leaves_no_line_and_a_deleted_one_its_sketch,
            the_ledger_adds_up_by_day_scope_and_job,
            of_many_who_begin_a_job_one_does_it,
            packing_loses_nothing,
            what_a_tool_tells_belongs_to_the_prompt_before_it,
        );
        crate::store::conformance::suite!(many_servers $fresh:
            two_handles_see_each_others_writes,
            concurrent_writes_of_two_handles_all_survive,
            concurrent_changes_of_one_memory_leave_one_winner,
            concurrent_claims_lease_a_session_once,
            a_unique_violation_inside_a_batch_leaves_nothing,
            a_uri_is_free_again_once_its_memory_is_deleted,
            similarities_are_those_of_the_loaded_vectors,
            cached_vectors_are_found_bounded_and_forgotten,
            documents_are_replaced_by_the_first_of_two_writers,
            uris_are_ordered_by_bytes,
            a_batch_may_change_one_memory_many_times,
        );
        crate::store::conformance::suite!(sealing $fresh:
            a_sealed_agent_is_read_and_not_written,
            a_holder_ends_no_seal_but_its_own,
            a_seal_waits_for_writes_under_way,
            an_erased_agent_leaves_nothing_and_may_come_back,
        );

        #[test]
        fn random_changes_leave_the_same_as_in_ram() {
            crate::store::conformance::mirror::mirror(|| Box::pin($fresh()));
        }
    };
    ($facet:ident $fresh:ident: $($case:ident),* $(,)?) => {
        $(#[tokio::test]
        async fn $case() {
            crate::store::conformance::$facet::$case($fresh().await).await;
        })*
    };
}
pub(crate) use suite;

/// Store under test, with the folder or database it lives in and a way to open it a second time, as another server would.
#[derive(Clone)]
pub(crate) struct TestStore {
    store: Arc<dyn Store>,
    open: Arc<dyn Fn() -> BoxFuture<'static, Arc<dyn Store>> + Send + Sync>,
    _home: Arc<dyn Any + Send + Sync>,
}

impl TestStore {
    /// Wraps a store that lives in RAM: a second handle is the same store.
    pub(crate) fn in_ram(store: Arc<dyn Store>) -> Self {
        let shared = Arc::clone(&store);
        let open = move || -> BoxFuture<'static, Arc<dyn Store>> {
            let shared = Arc::clone(&shared);
            Box::pin(async move { shared })
        };
        Self { store, open: Arc::new(open), _home: Arc::new(()) }
    }

    /// Opens a store in a temporary folder, which is removed with it.
    pub(crate) async fn in_folder<F>(open: impl Fn(PathBuf) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Arc<dyn Store>> + Send + 'static,
    {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_owned();
        let open = move || -> BoxFuture<'static, Arc<dyn Store>> { Box::pin(open(path.clone())) };
        Self { store: open().await, open: Arc::new(open), _home: Arc::new(folder) }
    }

    /// Opens a store in a database, which is dropped with `home`.
    #[cfg(any(feature = "postgres", feature = "mysql"))]
    pub(crate) async fn in_database<F>(
        open: impl Fn() -> F + Send + Sync + 'static,
        home: impl Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Arc<dyn Store>> + Send + 'static,
    {
        let open = move || -> BoxFuture<'static, Arc<dyn Store>> { Box::pin(open()) };
        Self { store: open().await, open: Arc::new(open), _home: Arc::new(home) }
    }

    /// Opens the same database again.
    pub(crate) async fn second(&self) -> Self {
        Self { store: (self.open)().await, ..self.clone() }
    }
}

impl std::ops::Deref for TestStore {
    type Target = Arc<dyn Store>;

    fn deref(&self) -> &Arc<dyn Store> {
        &self.store
    }
}

pub(super) fn test_scope(user: &str) -> Scope {
    Scope::new("tester", user).unwrap()
}

pub(super) fn time(second: i64) -> Timestamp {
    Timestamp::from_second(1_790_000_000 + second).unwrap()
}

/// Builds a memory with an id that rises with its number.
pub(super) fn memory(scope: &Scope, number: u8, content: &str) -> Memory {
    let mut id = [7; 16];
    id[0] = number;
    Memory {
        id: MemoryId::from_bytes(id),
        uri: format!("agent://tester/user/{number}"),
        scope: scope.clone(),
        kind: Kind::User,
        name: format!("name {number}"),
        description: String::new(),
        content: content.into(),
        tags: vec!["标签".into()],
        importance: 0.5,
        confidence: 1.0,
        weight: 1.0,
        status: Status::Active,
        metadata: serde_json::Map::from_iter([("n".to_owned(), number.into())]),
        source: MemorySource {
            via: Origin::Remember,
            session: None,
            speaker: None,
            role: None,
            turns: vec![],
        },
        at: time(number.into()),
        created_at: time(number.into()),
        updated_at: time(number.into()),
        last_used_at: None,
        superseded_by: None,
        version: 1,
    }
}

pub(super) fn turn(scope: &Scope, number: u8, session: &str, content: &str) -> Memory {
    let mut turn = memory(scope, number, content);
    turn.kind = Kind::Turn;
    turn.uri = format!("agent://tester/turn/{session}/{}", turn.id);
    turn.source.session = Some(session.into());
    turn.source.speaker = Some("Caroline".into());
    turn
}

fn edited(memory: &Memory, content: &str) -> Memory {
    Memory { content: content.into(), version: memory.version + 1, ..memory.clone() }
}

pub(super) fn write(scope: &Scope, second: i64, changes: Vec<Change>) -> WriteBatch {
    WriteBatch::new(scope, Actor::Person, "test", time(second), changes)
}

pub(super) fn add(memory: &Memory) -> Change {
    Change::Add(Box::new(memory.clone()))
}

fn update(memory: &Memory) -> Change {
    Change::Update(Box::new(memory.clone()))
}

async fn list_all(store: &TestStore, scope: &Scope) -> Vec<Memory> {
    let page = ListQuery {
        filter: MemoryFilter::default(),
        after: None,
        order: ListOrder::NewestFirst,
        limit: 10_000,
    };
    store.memories().list(scope, &page).await.unwrap()
}

/// Returns the addresses and counts of each term, whatever the segments.
async fn postings_by_address(
    store: &TestStore,
    scope: &Scope,
    words: &[&str],
) -> Vec<BTreeMap<DocAddress, [u8; FIELD_COUNT]>> {
    let terms: Vec<_> = words.iter().map(|word| TermHash::of(word)).collect();
    let mut found = vec![BTreeMap::new(); terms.len()];
    for segment in store.index().postings(scope, &terms, None).await.unwrap() {
        for (list, found) in segment.postings.iter().zip(&mut found) {
            for posting in list {
                assert!(!segment.docs.is_deleted(posting.doc as usize));
                let previous =
                    found.insert(segment.docs.address(posting.doc as usize), posting.counts);
                assert_eq!(previous, None, "a place is in two segments");
            }
        }
    }
    found
}
