//! Tests of questions for a period: they get that period in order. Of two statements the newer comes first.

use everlore::{Engine, RecallRequest, Scope, Turn, engine::WhyNot};

use crate::support::{days_ago, engine, found, noon, scope, texts, turn};

/// Ten turns a day in each of the last three days, every day a session, the newest day written first.
async fn three_days(owner: &Scope) -> Engine {
    let engine = engine().await;
    for day in 1..=3_i64 {
        let said = |number: i64| {
            let mut turn =
                turn(&format!("day {day}"), "Ann", &format!("word {number} of day {day}"));
            turn.time = Some(days_ago(day) + jiff::SignedDuration::from_mins(number));
            turn
        };
        engine.observe(owner, (0..10).map(said).collect()).await.unwrap();
    }
    engine
}

fn day(day: i64) -> Vec<String> {
    (0..10).map(|number| format!("word {number} of day {day}")).collect()
}

#[tokio::test]
async fn a_question_for_a_period_gets_all_of_it_in_order() {
    let owner = scope("ann");
    let engine = three_days(&owner).await;
    let ask = async |query: &str| found(&engine, &owner, query).await;
    assert_eq!(ask("What did we talk about yesterday?").await, day(1));
    assert_eq!(ask("前天聊了什么？").await, day(2));
    assert_eq!(ask("三天前我们说了什么").await, day(3));
    // Sessions are counted by their time, not by the order of writing.
    assert_eq!(ask("What did we discuss in our first session?").await, day(3));
    assert_eq!(ask("最近一次聊天聊了什么").await, day(1));
    assert!(ask("What did we talk about 40 days ago?").await.is_empty());
}

#[tokio::test]
async fn a_limit_thins_a_period_evenly_unless_all_of_it_is_wanted() {
    let owner = scope("ann");
    let engine = three_days(&owner).await;
    let request =
        RecallRequest { limit: 4, ..engine.recall_request(&owner, "What did we say yesterday?") };
    let some = engine.recall(&request).await.unwrap();
    let kept: Vec<_> = [0, 3, 6, 9].iter().map(|number| day(1)[*number].clone()).collect();
    assert_eq!(texts(&some.hits), kept);
    assert_eq!(some.candidates, 10);
    let whole = RecallRequest { whole_period: true, ..request.clone() };
    let all = engine.recall(&whole).await.unwrap();
    assert_eq!(texts(&all.hits), day(1));
    let (first, second) = (all.hits[0].memory.id, all.hits[1].memory.id);
    let why = engine.why_not(&request, first).await.unwrap();
    assert!(matches!(why, WhyNot::Returned { rank: 1, .. }), "{why:?}");
    let why = engine.why_not(&request, second).await.unwrap();
    assert!(matches!(why, WhyNot::Rank { limit: 4, .. }), "{why:?}");
}

#[tokio::test]
async fn a_question_with_content_and_a_time_uses_both() {
    let owner = scope("ann");
    let engine = three_days(&owner).await;
    let answer = found(&engine, &owner, "Which word 7 was it yesterday?").await;
    assert_eq!(answer[0], "word 7 of day 1");
    let elsewhere = |text: &String| text.ends_with("day 2") || text.ends_with("day 3");
    let request = RecallRequest { limit: 30, ..engine.recall_request(&owner, "word 7 yesterday") };
    let all = texts(&engine.recall(&request).await.unwrap().hits);
    assert!(all.iter().any(elsewhere), "what was said at other times is not left out: {all:?}");
}

#[tokio::test]
async fn the_newer_of_two_statements_comes_first_and_the_older_says_so() {
    let (engine, owner) = (engine().await, scope("wang"));
    let said = |text: &str, day: i64| {
        let mut turn = turn("s", "Ann", text);
        turn.time = Some(days_ago(day));
        turn
    };
    let turns = [
        ("My phone number is 555 9876", 1),
        ("My phone number is 555 1234", 90),
        ("My phone is broken", 2),
        ("我住在上海", 2),
        ("我住在北京", 80),
    ];
    engine
        .observe(&owner, turns.iter().map(|(text, day)| said(text, *day)).collect())
        .await
        .unwrap();
    for (query, newer, older) in [
        ("What is my phone number?", turns[0].0, turns[1].0),
        ("我住在哪里？", turns[3].0, turns[4].0),
    ] {
        let hits = engine.recall(&engine.recall_request(&owner, query)).await.unwrap().hits;
        let hit = |text: &str| hits.iter().find(|hit| hit.memory.content == text).unwrap();
        assert_eq!(hits[0].memory.content, newer, "{query}");
        assert_eq!((hit(newer).newer, hit(older).newer), (None, Some(hit(newer).memory.id)));
        let block = engine.context(&engine.context_request(&owner, query), 2_000).await.unwrap();
        let note = if query.is_ascii() {
            "a newer memory says otherwise"
        } else {
            "已有更新的说法"
        };
        assert_eq!(block.text.matches(note).count(), 1, "{}", block.text);
    }
    assert!(noon() > days_ago(1), "the clock of the tests stands at noon");
}

/// Returns the texts that a prompt for a message contains.
async fn told(engine: &Engine, owner: &Scope, message: &str) -> Vec<String> {
    let request = engine.context_request(owner, message);
    let block = engine.context(&request, 2_000).await.unwrap();
    let mut texts = Vec::new();
    for entry in block.entries {
        texts.push(engine.get(owner, entry.id).await.unwrap().content);
    }
    texts
}

#[tokio::test]
async fn a_day_beside_a_holiday_tells_what_was_said_on_it_and_nothing_else() {
    let (engine, owner) = (engine().await, scope("wang"));
    let said = [
        ("2025-09-30T12:00:00Z", "火车票终于买到了"),
        ("2025-10-03T12:00:00Z", "我们坐火车到了桂林，漓江真美"),
        ("2025-11-20T12:00:00Z", "The new kettle leaks"),
        ("2025-11-28T12:00:00Z", "Drove up to the lake cabin with Ann"),
        ("2025-12-24T12:00:00Z", "Wrapped the last presents and burned the cookies"),
        ("2026-02-10T12:00:00Z", "牙医约在周四"),
    ];
    for (at, text) in said {
        let turn = Turn { time: Some(at.parse().unwrap()), ..turn(at, "", text) };
        engine.observe(&owner, vec![turn]).await.unwrap();
    }
    for (question, text) in [
        ("国庆前一天我做了什么", "火车票终于买到了"),
        ("去年国庆我们去哪了", "我们坐火车到了桂林，漓江真美"),
        ("去年国庆的时候我们去哪玩了", "我们坐火车到了桂林，漓江真美"),
        (
            "what did I do the day before Christmas?",
            "Wrapped the last presents and burned the cookies",
        ),
        ("where did we go last Thanksgiving?", "Drove up to the lake cabin with Ann"),
        ("who did we visit last Thanksgiving?", "Drove up to the lake cabin with Ann"),
    ] {
        assert_eq!(told(&engine, &owner, question).await, [text], "{question}");
    }
    assert_eq!(told(&engine, &owner, "去年国庆装修花了多少钱").await, [""; 0]);
}

#[tokio::test]
async fn the_chinese_word_for_when_finds_nothing_by_itself() {
    let (engine, owner) = (engine().await, scope("wang"));
    crate::support::remember_all(&engine, &owner, &["小的时候我怕黑", "房租每月一号交"]).await;
    let request = engine.recall_request(&owner, "什么时候交房租");
    let found = engine.recall(&request).await.unwrap();
    let terms: Vec<_> = found.intent.terms.iter().map(|term| term.text.as_str()).collect();
    assert!(!terms.iter().any(|term| term.contains('候')), "{terms:?}");
    assert_eq!(crate::support::texts(&found.hits), ["房租每月一号交"]);
}
