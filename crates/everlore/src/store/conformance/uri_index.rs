//! Conformance of the uri index.

use super::*;
use crate::types::Change;

const FOLDER: &str = "agent://tester/user/";

/// Stores memories at these uris, in another order than theirs.
async fn fill(store: &TestStore, scope: &Scope, names: &[&str]) {
    let mut memories: Vec<Memory> = Vec::new();
    for (number, name) in (1..).zip(names) {
        let mut memory = memory(scope, number, &format!("text {number} 茶"));
        memory.uri = format!("{FOLDER}{name}");
        memories.insert(memories.len() / 2, memory);
    }
    store.apply(write(scope, 1, memories.iter().map(add).collect())).await.unwrap();
}

async fn walk_children(store: &TestStore, scope: &Scope, page: usize) -> Vec<String> {
    let (mut keys, mut after) = (Vec::new(), None::<String>);
    loop {
        let names = store.uris().children(scope, FOLDER, after.as_deref(), page).await.unwrap();
        assert!(names.len() <= page);
        let Some(last) = names.last() else { return keys };
        after = Some(last.sort_key());
        keys.extend(names.iter().map(UriChild::sort_key));
    }
}

pub(crate) async fn uris_are_walked_in_order_a_page_at_a_time(store: TestStore) {
    let scope = test_scope("a");
    assert_eq!(walk_children(&store, &scope, 5).await, [""; 0]);
    fill(&store, &scope, &["a", "a-b", "a/x", "a/y", "a/y/z", "a0", "ab/z", "茶", "茶/龙井"]).await;
    for page in [1, 2, 3, 100] {
        assert_eq!(
            walk_children(&store, &scope, page).await,
            ["a", "a-b", "a/", "a0", "ab/", "茶", "茶/"]
        );
    }
    let beginning = format!("{FOLDER}a/");
    let first = store.uris().by_prefix(&scope, &beginning, None, 2).await.unwrap();
    let rest = store.uris().by_prefix(&scope, &beginning, Some(&first[1].uri), 9).await.unwrap();
    let uris: Vec<_> = first.iter().chain(&rest).map(|memory| memory.uri.as_str()).collect();
    assert_eq!(uris, ["a/x", "a/y", "a/y/z"].map(|name| format!("{FOLDER}{name}")));
    store.apply(write(&scope, 2, vec![Change::Delete(first[0].id)])).await.unwrap();
    assert_eq!(store.uris().by_prefix(&scope, &beginning, None, 9).await.unwrap().len(), 2);
}

pub(crate) async fn places_are_those_of_a_folder_or_of_ids_and_of_nothing_else(store: TestStore) {
    let (scope, other) = (test_scope("a"), test_scope("b"));
    fill(&store, &scope, &["a", "a-b", "a/x", "a/y/z", "ab/z", "茶", "茶/龙井"]).await;
    // One more than the scope under test has, so that the last id of that scope is its own.
    fill(&store, &other, &["a/x", "b", "c", "d", "e", "f", "g", "h"]).await;
    let all = store.uris().by_prefix(&scope, FOLDER, None, 9).await.unwrap();
    let uris = async |within: AddressQuery| {
        let addresses = store.uris().addresses(&scope, &within).await.unwrap();
        assert!(addresses.is_sorted());
        let found = store.memories().by_address(&scope, &addresses).await.unwrap();
        let mut uris: Vec<String> = found.into_iter().map(|(_, memory)| memory.uri).collect();
        uris.sort();
        uris.iter().map(|uri| uri[FOLDER.len()..].to_owned()).collect::<Vec<_>>()
    };
    let folder = |name: &str| AddressQuery::Folder(format!("{FOLDER}{name}"));
    assert_eq!(uris(folder("a")).await, ["a", "a/x", "a/y/z"]);
    assert_eq!(uris(folder("茶")).await, ["茶", "茶/龙井"]);
    assert_eq!(uris(folder("none")).await, [""; 0]);
    let theirs = store.uris().by_prefix(&other, FOLDER, None, 9).await.unwrap()[7].id;
    let ids = AddressQuery::Ids(vec![all[5].id, theirs, all[1].id]);
    assert_eq!(uris(ids).await, ["a-b", "茶"], "not those of others");
    store.apply(write(&scope, 2, vec![Change::Delete(all[1].id)])).await.unwrap();
    assert_eq!(uris(AddressQuery::Ids(vec![all[1].id])).await, [""; 0], "nor what is gone");
}

pub(crate) async fn conversations_are_walked_turn_by_turn(store: TestStore) {
    let scope = test_scope("a");
    let turns: Vec<Memory> = [(1, "b"), (2, "a"), (3, "b"), (4, "b")]
        .map(|(number, session)| turn(&scope, number, session, &format!("said {number}")))
        .into();
    store.apply(write(&scope, 1, turns.iter().map(add).collect())).await.unwrap();
    let names =
        |talks: Vec<SessionSummary>| talks.into_iter().map(|talk| talk.session).collect::<Vec<_>>();
    assert_eq!(names(store.uris().sessions(&scope, None, 9).await.unwrap()), ["a", "b"]);
    assert_eq!(names(store.uris().sessions(&scope, None, 1).await.unwrap()), ["a"]);
    let talks = store.uris().sessions(&scope, Some("a"), 9).await.unwrap();
    assert_eq!((talks[0].first_at, talks[0].last_at), (turns[0].at, turns[3].at));
    let said = |turns: Vec<Memory>| turns.into_iter().map(|turn| turn.content).collect::<Vec<_>>();
    let first = store.uris().turns(&scope, "b", None, 1).await.unwrap();
    let rest = store.uris().turns(&scope, "b", Some(first[0].id), 9).await.unwrap();
    assert_eq!(
        (said(first), said(rest)),
        (vec!["said 1".into()], vec!["said 3".into(), "said 4".into()])
    );
    assert_eq!(store.uris().turns(&scope, "c", None, 9).await.unwrap(), []);
    store.apply(write(&scope, 2, vec![Change::Delete(turns[1].id)])).await.unwrap();
    assert_eq!(
        names(store.uris().sessions(&scope, None, 9).await.unwrap()),
        ["b"],
        "an empty one is gone"
    );
}

pub(crate) async fn the_trees_of_two_scopes_never_meet(store: TestStore) {
    let (mine, other) = (test_scope("a"), test_scope("b"));
    fill(&store, &other, &["x", "y/z"]).await;
    let said = turn(&other, 9, "s", "said");
    store.apply(write(&other, 1, vec![add(&said)])).await.unwrap();
    assert_eq!(walk_children(&store, &mine, 5).await, [""; 0]);
    assert_eq!(store.uris().by_prefix(&mine, "agent://", None, 9).await.unwrap(), []);
    assert_eq!(store.uris().sessions(&mine, None, 9).await.unwrap(), []);
    assert_eq!(store.uris().turns(&mine, "s", None, 9).await.unwrap(), []);
    assert_eq!(store.uris().turns(&mine, "s", Some(said.id), 9).await.unwrap(), []);
}
