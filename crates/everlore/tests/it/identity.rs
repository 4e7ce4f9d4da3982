//! Tests of identity questions: they find memories about the user even where no word matches.

use everlore::{Kind, RememberRequest, engine::IdentityQuestion};

use crate::support::{engine, found, ram, remember_all, say, scope, turn};

#[tokio::test]
async fn who_am_i_finds_the_profile_in_both_languages() {
    let (engine, owner) = (engine().await, scope("wang"));
    let profile = ["I teach mathematics", "I have two daughters", "我对花生过敏"];
    remember_all(&engine, &owner, &profile).await;
    remember_all(&engine, &owner, &["The staging port is 8443", "Docs: https://example.com"]).await;
    for query in ["Who am I?", "What do you know about me?", "我是谁？", "你对我了解多少"]
    {
        let mut found = found(&engine, &owner, query).await;
        found.truncate(3);
        found.sort();
        assert_eq!(
            found,
            ["I have two daughters", "I teach mathematics", "我对花生过敏"],
            "{query}"
        );
    }
}

#[tokio::test]
async fn with_enough_known_nothing_else_is_added() {
    let (engine, owner) = (ram(), scope("wang"));
    remember_all(&engine, &owner, &["I sail", "我教数学", "I ski", "The port is 8443"]).await;
    assert_eq!(found(&engine, &owner, "我是谁").await.len(), 3);
}

#[tokio::test]
async fn with_fewer_than_three_the_newest_of_any_kind_complete_it() {
    for query in ["Who am I?", "我是谁"] {
        let (engine, owner) = (ram(), scope("wang"));
        remember_all(&engine, &owner, &["I sail", "The port is 8443", "部署在周五"]).await;
        engine.observe(&owner, vec![turn("monday", "", "hm")]).await.unwrap();
        let found = found(&engine, &owner, query).await;
        assert_eq!(found.len(), 4, "{query}");
        assert_eq!(found[0], "I sail", "{query}");
    }
}

#[tokio::test]
async fn an_empty_profile_falls_back_to_what_there_is() {
    let (engine, owner) = (ram(), scope("wang"));
    assert!(found(&engine, &owner, "who am I").await.is_empty());
    remember_all(&engine, &owner, &["The port is 8443"]).await;
    assert_eq!(found(&engine, &owner, "你记得我吗").await, ["The port is 8443"]);
}

#[tokio::test]
async fn a_passing_mention_lifts_the_profile_half_as_much() {
    let (engine, owner) = (ram(), scope("wang"));
    remember_all(&engine, &owner, &["I like tea", "The tea house opens at nine"]).await;
    let boost = async |query: &str| {
        let found = engine.recall(&engine.recall_request(&owner, query)).await.unwrap();
        let user = found.hits.iter().find(|hit| hit.memory.kind == Kind::User).unwrap();
        (found.intent.identity, user.signals.identity)
    };
    assert_eq!(boost("What do you know about me?").await, (IdentityQuestion::Strong, 3.0));
    assert_eq!(boost("which tea do I like best").await, (IdentityQuestion::Weak, 1.5));
    assert_eq!(boost("tea").await, (IdentityQuestion::None, 0.0));
}

#[tokio::test]
async fn an_identity_question_keeps_to_its_filter() {
    let (engine, owner) = (ram(), scope("wang"));
    let tagged = RememberRequest { tags: vec!["sport".into()], ..say("I sail") };
    engine.remember(&owner, tagged).await.unwrap();
    remember_all(&engine, &owner, &["I ski", "The port is 8443"]).await;
    let mut request = engine.recall_request(&owner, "who am I");
    request.filter.tags = vec!["sport".into()];
    let hits = engine.recall(&request).await.unwrap().hits;
    assert_eq!(crate::support::texts(&hits), ["I sail"]);
}
