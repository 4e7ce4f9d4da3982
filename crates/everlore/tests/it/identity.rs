//! Tests of identity questions: they find memories about the user even where no word matches.

use everlore::{Engine, Kind, RememberRequest, Scope, engine::IdentityQuestion};

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
        engine.observe(&owner, vec![turn("monday", "", "the harbour was full")]).await.unwrap();
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

/// Returns the texts that a prompt for a message contains, in order.
async fn told(engine: &Engine, owner: &Scope, message: &str) -> Vec<String> {
    let block = engine.context(&engine.context_request(owner, message), 2_000).await.unwrap();
    let ids: Vec<_> = block.entries.iter().map(|entry| entry.id).collect();
    let mut texts = Vec::new();
    for id in ids {
        texts.push(engine.get(owner, id).await.unwrap().content);
    }
    texts
}

/// Fills a home as the first findings did: few facts about the user among forty about a project.
async fn crowded_home(engine: &Engine, owner: &Scope, facts: &[&str], rule: &str, project: &str) {
    remember_all(engine, owner, facts).await;
    let feedback = RememberRequest { kind: Some(Kind::Feedback), ..say(rule) };
    engine.remember(owner, feedback).await.unwrap();
    for number in 1..=40 {
        let text = project.replace('#', &number.to_string());
        let about = RememberRequest { kind: Some(Kind::Project), ..say(&text) };
        engine.remember(owner, about).await.unwrap();
    }
}

#[tokio::test]
async fn a_question_for_the_profile_tells_it_however_many_project_memories_there_are() {
    let homes = [
        ("我老婆叫林悦", "请先给结论，再解释原因", "模块#由第#组维护"),
        ("My wife is called Lin", "Give the conclusion first", "Module # is maintained by team #"),
    ];
    let questions = [
        "你了解我多少",
        "我是谁",
        "你对我有什么印象",
        "what do you know about me?",
        "Who am I?",
        "tell me everything you know about me",
    ];
    for (wife, rule, project) in homes {
        let (engine, owner) = (engine().await, scope("wang"));
        crowded_home(&engine, &owner, &[wife], rule, project).await;
        for question in questions {
            assert_eq!(told(&engine, &owner, question).await[..2], [wife, rule], "{question}");
        }
    }
}

#[tokio::test]
async fn a_profile_begins_with_name_work_family_home_and_health() {
    let profiles = [
        [
            "I like jazz",
            "I am allergic to peanuts",
            "I live in Lisbon",
            "My wife is called Lin",
            "I work as a nurse",
            "My name is Wang Lei",
        ],
        ["我喜欢爵士乐", "我对花生过敏", "我住在里斯本", "我老婆叫林悦", "我是护士", "我叫王磊"],
    ];
    for profile in profiles {
        let (engine, owner) = (engine().await, scope("wang"));
        crowded_home(&engine, &owner, &profile, "Be brief", "Module # has # tests").await;
        let expected: Vec<_> = profile.iter().rev().copied().chain(["Be brief"]).collect();
        assert_eq!(told(&engine, &owner, "who am I?").await, expected);
        assert_eq!(told(&engine, &owner, "你了解我多少").await, expected);
    }
}

#[tokio::test]
async fn many_facts_of_one_facet_leave_room_for_the_others() {
    let (engine, owner) = (engine().await, scope("wang"));
    let likes: Vec<String> = (0..60).map(|n| format!("I like song number {n}")).collect();
    remember_all(&engine, &owner, &["My name is Wang Lei", "我老婆叫林悦"]).await;
    remember_all(&engine, &owner, &likes.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let told = told(&engine, &owner, "what do you know about me?").await;
    assert_eq!(told[..2], ["My name is Wang Lei", "我老婆叫林悦"]);
    assert!((5..=20).contains(&told.len()), "{}", told.len());
    let request = engine.context_request(&owner, "who am I?");
    let small = engine.context(&request, 150).await.unwrap();
    assert!(small.tokens <= 150 && small.text.contains("Wang Lei"), "{}", small.text);
}

#[tokio::test]
async fn a_question_for_one_value_tells_it_and_nothing_else() {
    let homes = [
        ("我老婆叫林悦", "请先给结论，再解释原因", "模块#由第#组维护", "我老婆叫什么"),
        (
            "My wife is called Lin",
            "Give the conclusion first",
            "Module # is by team #",
            "what's my wife's name?",
        ),
    ];
    for (wife, rule, project, question) in homes {
        let (engine, owner) = (engine().await, scope("wang"));
        crowded_home(&engine, &owner, &[wife, "I sail", "我教数学", "I ski"], rule, project).await;
        assert_eq!(told(&engine, &owner, question).await, [wife]);
    }
}

#[tokio::test]
async fn a_question_for_a_topic_falls_back_to_what_is_known_about_the_user() {
    let (engine, owner) = (engine().await, scope("wang"));
    let facts = ["My daughter Zoe studies law", "I drink green tea", "我是程序员", "我不吃香菜"];
    crowded_home(&engine, &owner, &facts, "Be brief", "Module # is by team #").await;
    let questions = [
        ("what did I tell you about my family?", "My daughter Zoe studies law"),
        ("我有哪些忌口", "我不吃香菜"),
        ("我是做什么工作的", "我是程序员"),
    ];
    for (question, first) in questions {
        let told = told(&engine, &owner, question).await;
        assert_eq!(told[0], first, "{question}");
        assert!((3..=5).contains(&told.len()), "{question}: {told:?}");
        assert!(!told.iter().any(|text| text.starts_with("Module")), "{question}: {told:?}");
    }
    for question in ["did I mention my pets?", "我说过我的宠物吗"] {
        let told = told(&engine, &owner, question).await;
        assert!((3..=5).contains(&told.len()), "{question}: {told:?}");
    }
}

#[tokio::test]
async fn a_profile_of_turns_alone_begins_with_what_they_say_about_the_user() {
    let (engine, owner) = (ram(), scope("wang"));
    let said = ["I work as a nurse in Oslo", "ok", "我老婆叫林悦", "the build is green again"];
    for text in said {
        engine.observe(&owner, vec![turn("monday", "", text)]).await.unwrap();
    }
    for question in ["what do you know about me?", "你了解我多少"] {
        let mut told = told(&engine, &owner, question).await;
        told.truncate(2);
        told.sort();
        assert_eq!(told, ["I work as a nurse in Oslo", "我老婆叫林悦"], "{question}");
    }
}
