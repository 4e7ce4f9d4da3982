//! Tests of the visible context: recall leaves out turns that the model still sees, and memories extracted only from
//! them.

use everlore::{
    RecallRequest, Scope,
    engine::{VisibleContext, WhyNot},
    store::Store,
    types::{Fingerprint, Memory},
};

use crate::support::{add, days_ago, engine_on, memory, noon, scope, spoken, sqlite, write};

/// Builds a memory that was extracted from these turns.
fn drawn(owner: &Scope, number: u32, content: &str, turns: &[&Memory]) -> Memory {
    let mut memory = memory(owner, number, content);
    memory.source.turns = turns.iter().map(|turn| turn.id).collect();
    memory
}

fn seen(since: everlore::types::Timestamp) -> VisibleContext {
    VisibleContext::Session { session: "now".into(), since }
}

#[tokio::test]
async fn what_was_drawn_from_this_conversation_alone_is_left_out_and_what_an_older_one_told_too_is_not()
 {
    let store = sqlite().await;
    let engine = engine_on(store.clone());
    for (user, number, own, older, query) in [
        ("ann", 10, "The user's cat is called Momo.", "The user's cat eats fish.", "my cat"),
        ("安", 20, "用户的狗叫大黄。", "用户的狗爱吃鱼。", "我的狗"),
    ] {
        let owner = scope(user);
        let here = spoken(&owner, number, "now", "said just now");
        let before = spoken(&owner, number + 1, "then", "said long ago");
        let own = drawn(&owner, number + 2, own, &[&here]);
        let both = drawn(&owner, number + 3, older, &[&before, &here]);
        let all = [&here, &before, &own, &both];
        store.apply(write(&owner, all.into_iter().map(add).collect())).await.unwrap();
        let plain = engine.recall_request(&owner, query);
        let ids = |hits: &[everlore::Hit]| hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>();
        assert!(ids(&engine.recall(&plain).await.unwrap().hits).contains(&own.id));
        let going_on = RecallRequest { visible: Some(seen(days_ago(1))), ..plain.clone() };
        let told = ids(&engine.recall(&going_on).await.unwrap().hits);
        assert!(told.contains(&both.id), "{query}");
        assert!(!told.contains(&own.id) && !told.contains(&here.id), "{query}");
        assert_eq!(engine.why_not(&going_on, own.id).await.unwrap(), WhyNot::Seen);
        // In another session, or after the session was compacted, it is returned.
        let elsewhere = VisibleContext::Session { session: "other".into(), since: days_ago(1) };
        let shortened = seen(noon() + jiff::SignedDuration::from_secs(1));
        let dropped = VisibleContext::Texts([Fingerprint::of("x")].into());
        for seen in [elsewhere, shortened, dropped] {
            let request = RecallRequest { visible: Some(seen), ..plain.clone() };
            assert!(ids(&engine.recall(&request).await.unwrap().hits).contains(&own.id));
        }
        let shown = VisibleContext::Texts([Fingerprint::of(&here.content)].into());
        let request = RecallRequest { visible: Some(shown), ..plain };
        let told = ids(&engine.recall(&request).await.unwrap().hits);
        assert!(told.contains(&both.id) && !told.contains(&own.id), "{query}");
    }
}
