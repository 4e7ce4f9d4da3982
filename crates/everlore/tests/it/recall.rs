//! Tests of recall and its order: fields, single characters, synonyms, speakers, times, filters, weights.

use std::sync::Arc;

use everlore::{
    Config, Engine, Hit, Kind, Memory, MemoryEdit, RememberRequest, Scope, Status,
    store::{MemoryFilter, RamStore, Store},
};

use crate::support::{
    add, days_ago, engine, engine_on, found, memory, noon, one_o_clock, ram, remember_all, say,
    scope, spoken, texts, turn, write,
};

/// Creates an engine in RAM with these memories.
async fn holding(owner: &Scope, memories: &[Memory]) -> Engine {
    let store: Arc<dyn Store> = Arc::new(RamStore::default());
    store.apply(write(owner, memories.iter().map(add).collect())).await.unwrap();
    engine_on(store)
}

async fn hits(engine: &Engine, owner: &Scope, query: &str) -> Vec<Hit> {
    engine.recall(&engine.recall_request(owner, query)).await.unwrap().hits
}

async fn filtered(
    engine: &Engine,
    owner: &Scope,
    query: &str,
    filter: MemoryFilter,
) -> Vec<String> {
    let request = everlore::RecallRequest { filter, ..engine.recall_request(owner, query) };
    let mut found = texts(&engine.recall(&request).await.unwrap().hits);
    found.sort();
    found
}

#[tokio::test]
async fn words_of_two_characters_and_punctuation_are_found() {
    let (engine, owner) = (engine().await, scope("wang"));
    let texts = [
        "家里的设备都在书房",
        "支付用微信",
        "每天七点看早报",
        "文件在C盘",
        "API配置在 config.toml",
        "回答中文优先",
        "今日のしりとりは楽しい",
        "끝말잇기를 좋아한다",
    ];
    remember_all(&engine, &owner, &texts).await;
    let queries = ["设备", "支付", "早报", "C盘", "API配置", "中文", "しりとり", "끝말잇기"];
    for (query, text) in queries.into_iter().zip(texts) {
        assert_eq!(found(&engine, &owner, query).await.first().unwrap(), text, "{query}");
    }
    assert_eq!(found(&engine, &owner, "茶").await, Vec::<String>::new());
    assert_eq!(found(&engine, &owner, "盘").await, ["文件在C盘"], "one character alone");
    let odd = "\" * : ^ ( ) - ? ' % AND OR NEAR/2 \0 🎉 \u{202e}";
    assert_eq!(found(&engine, &owner, odd).await, Vec::<String>::new());
    assert_eq!(found(&engine, &owner, "\"设备\" * (书房) -").await, ["家里的设备都在书房"]);
}

#[tokio::test]
async fn a_very_long_text_is_stored_found_and_asked_with() {
    let (engine, owner) = (engine().await, scope("ann"));
    let long = format!("kitten {}", "lorem ipsum 早报 ".repeat(1 << 16));
    assert!(long.len() > 1 << 20);
    engine.remember(&owner, say(&long)).await.unwrap();
    engine.remember(&owner, say("the dog is called Rex")).await.unwrap();
    assert_eq!(found(&engine, &owner, "kitten").await, [long.trim()]);
    assert_eq!(found(&engine, &owner, &long).await, [long.trim()]);
}

#[tokio::test]
async fn a_word_counts_most_in_name_and_tags_then_description_then_content() {
    let owner = scope("ann");
    let mut memories: Vec<_> = (0..5).map(|number| memory(&owner, number, "text")).collect();
    memories[0].content = "kitten text".into();
    memories[1].description = "kitten".into();
    memories[2].name = "kitten".into();
    memories[3].tags = vec!["kitten".into()];
    let engine = holding(&owner, &memories).await;
    let frequency = |hits: &[Hit], number: u32| {
        let hit = hits.iter().find(|hit| hit.memory.id == memories[number as usize].id).unwrap();
        hit.signals.terms[0].frequency
    };
    let hits = hits(&engine, &owner, "kitten").await;
    assert_eq!([0, 1, 2, 3].map(|number| frequency(&hits, number)), [1.0, 1.5, 2.0, 2.0]);
    assert_eq!(hits.len(), 4, "what lacks the word is not found");
    assert_eq!(hits.last().unwrap().memory.id, memories[0].id);
}

#[tokio::test]
async fn a_single_character_is_worth_half_beside_a_pair_and_whole_alone() {
    let engine = ram();
    let weights = async |query: &str| {
        let found = engine.recall(&engine.recall_request(&scope("w"), query)).await.unwrap();
        found.intent.terms.into_iter().map(|term| (term.text, term.weight)).collect::<Vec<_>>()
    };
    let pair = [("设".to_owned(), 0.5), ("备".to_owned(), 0.5), ("设备".to_owned(), 1.0)];
    let mut found = weights("设备").await;
    found.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.cmp(&a.0)));
    assert_eq!(found, pair);
    assert_eq!(weights("茶").await, [("茶".to_owned(), 1.0)]);
}

#[tokio::test]
async fn characters_worth_nothing_are_not_looked_up() {
    let mut config = Config::default();
    config.recall.single_character = 0.0;
    let (engine, owner) = (ram().rebuild().config(config).build(), scope("wang"));
    remember_all(&engine, &owner, &["设计准备", "设备"]).await;
    assert_eq!(found(&engine, &owner, "设备").await, ["设备"]);
    let found = engine.recall(&engine.recall_request(&owner, "设备")).await.unwrap();
    assert_eq!(found.candidates, 1);
}

#[tokio::test]
async fn a_synonym_finds_what_the_word_does_not_but_less_surely() {
    for (query, word, synonym) in [
        ("Where are the kids?", "the kids sleep", "the children sleep"),
        ("去哪里旅行？", "想去旅行", "想去旅游"),
    ] {
        let (engine, owner) = (ram(), scope("ann"));
        remember_all(&engine, &owner, &[synonym, word, "something else"]).await;
        assert_eq!(found(&engine, &owner, query).await, [word, synonym], "{query}");
        let mut config = Config::default();
        config.recall.synonym = 0.0;
        let plain = engine.rebuild().config(config).build();
        assert!(!hits(&plain, &owner, query).await.iter().any(|hit| {
            hit.memory.content == synonym
                && hit.signals.terms.iter().any(|term| term.frequency < 1.0)
        }));
    }
}

async fn dialogue(engine: &Engine, owner: &Scope) {
    let turns = vec![
        turn("monday", "Caroline", "I adopted a kitten"),
        turn("monday", "Melanie", "a kitten, how lovely"),
        turn("monday", "小明", "我收养了一只小猫"),
    ];
    engine.observe(owner, turns).await.unwrap();
}

#[tokio::test]
async fn naming_one_speaker_lifts_what_he_said_and_naming_two_lifts_nobody() {
    let (engine, owner) = (engine().await, scope("ann"));
    dialogue(&engine, &owner).await;
    let boosted = async |query: &str| {
        let hits = hits(&engine, &owner, query).await;
        let boosted = hits.into_iter().filter(|hit| hit.signals.speaker > 0.0);
        boosted.filter_map(|hit| hit.memory.source.speaker).collect::<Vec<_>>()
    };
    assert_eq!(boosted("What did Caroline say of the kitten?").await, ["Caroline"]);
    assert_eq!(boosted("小明收养了什么").await, ["小明"]);
    assert_eq!(boosted("Did Caroline or Melanie have a kitten?").await, Vec::<String>::new());
    assert_eq!(boosted("Who has a kitten?").await, Vec::<String>::new());
}

#[tokio::test]
async fn asking_when_lifts_texts_that_name_a_time() {
    let (engine, owner) = (ram(), scope("ann"));
    remember_all(
        &engine,
        &owner,
        &["the wedding was lovely", "the wedding was on 3 May", "婚礼很热闹", "婚礼在五月三日"],
    )
    .await;
    for (query, text) in [
        ("When was the wedding?", "the wedding was on 3 May"),
        ("婚礼是什么时候？", "婚礼在五月三日"),
    ] {
        let hits = hits(&engine, &owner, query).await;
        assert_eq!((hits[0].memory.content.as_str(), hits[0].signals.when), (text, 1.0));
        let others = hits.iter().filter(|hit| !hit.memory.content.contains(['3', '三']));
        assert!(others.clone().count() > 0 && others.clone().all(|hit| hit.signals.when == 0.0));
    }
    let plain = hits(&engine, &owner, "the wedding").await;
    assert!(plain.iter().all(|hit| hit.signals.when == 0.0));
}

#[tokio::test]
async fn a_turn_that_says_it_beats_a_short_new_one_beside_it() {
    let (engine, owner) = (engine().await, scope("ann"));
    let said = |session: &str, text: &str, days| {
        let mut turn = turn(session, "Ann", text);
        turn.time = Some(days_ago(days));
        turn
    };
    let turns = vec![
        said("trip", "下周三去杭州出差", 900),
        said("trip", "plain words", 0),
        said("pets", "We bring the kitten home on Wednesday", 900),
        said("pets", "好的", 0),
    ];
    engine.observe(&owner, turns).await.unwrap();
    remember_all(&engine, &owner, &["I drink tea", "我喜欢喝龙井茶"]).await;
    for (query, text) in
        [("杭州", "下周三去杭州出差"), ("kitten", "We bring the kitten home on Wednesday")]
    {
        assert_eq!(found(&engine, &owner, query).await[0], text);
    }
}

#[tokio::test]
async fn naming_a_day_finds_what_was_said_on_it_even_without_a_common_word() {
    let owner = scope("ann");
    let mut memories = [memory(&owner, 0, "went swimming"), memory(&owner, 1, "went climbing")];
    memories[0].at = days_ago(1);
    memories[1].at = days_ago(20);
    let engine = holding(&owner, &memories).await;
    for query in ["What happened yesterday?", "昨天发生了什么？"] {
        let found = hits(&engine, &owner, query).await;
        assert_eq!(texts(&found), ["went swimming"], "{query}");
        assert_eq!(found[0].signals.date, 3.0);
    }
    assert_eq!(found(&engine, &owner, "What happened last month?").await, ["went climbing"]);
}

#[tokio::test]
async fn sessions_are_counted_from_both_ends() {
    let (engine, owner) = (engine().await, scope("ann"));
    for (session, text) in [("a", "about tea"), ("b", "about boats"), ("c", "about cats")] {
        engine.observe(&owner, vec![turn(session, "", text)]).await.unwrap();
    }
    for (query, text) in [
        ("What did we say in our first session?", "about tea"),
        ("what was our second session about", "about boats"),
        ("our last conversation", "about cats"),
        ("第二次对话说了什么", "about boats"),
        ("上次聊天聊了什么", "about cats"),
    ] {
        assert_eq!(found(&engine, &owner, query).await, [text], "{query}");
    }
}

#[tokio::test]
async fn a_good_hit_lifts_the_rest_of_its_session() {
    let owner = scope("ann");
    let memories = [
        spoken(&owner, 0, "pets", "the kitten came home, the kitten is grey"),
        spoken(&owner, 1, "pets", "it rained"),
        spoken(&owner, 2, "other", "it snowed"),
        spoken(&owner, 3, "other", "a kitten passed by"),
    ];
    let engine = holding(&owner, &memories).await;
    let hits = hits(&engine, &owner, "kitten").await;
    let session = |id| hits.iter().find(|hit| hit.memory.id == id).unwrap().signals.session;
    assert!(session(memories[1].id) > session(memories[2].id));
    assert!(session(memories[2].id) > 0.0);
}

async fn filter_engine(owner: &Scope) -> Engine {
    let mut memories = [
        memory(owner, 0, "tea one"),
        memory(owner, 1, "tea two"),
        memory(owner, 2, "tea three"),
        spoken(owner, 3, "monday", "tea four"),
        spoken(owner, 4, "tuesday", "tea five"),
    ];
    memories[0].tags = vec!["drink".into(), "饮料".into()];
    memories[1].tags = vec!["drink".into()];
    memories[1].kind = Kind::Project;
    memories[1].at = days_ago(3);
    memories[2].status = Status::Superseded;
    memories[2].at = days_ago(5);
    memories[4].status = Status::Archived;
    holding(owner, &memories).await
}

#[tokio::test]
async fn every_filter_keeps_out_what_it_says() {
    let owner = scope("ann");
    let engine = filter_engine(&owner).await;
    let ask = async |filter| filtered(&engine, &owner, "tea", filter).await;
    let any = MemoryFilter::default;
    let tags = |tags: &[&str]| tags.iter().map(|tag| (*tag).to_owned()).collect();
    assert_eq!(ask(any()).await, ["tea four", "tea one", "tea two"]);
    let all = ask(MemoryFilter { statuses: Status::ALL.to_vec(), ..any() }).await;
    assert_eq!(all, ["tea five", "tea four", "tea one", "tea three", "tea two"]);
    let history = MemoryFilter { statuses: vec![Status::Superseded], ..any() };
    assert_eq!(ask(history).await, ["tea three"]);
    let kinds = vec![Kind::Project, Kind::Turn];
    assert_eq!(ask(MemoryFilter { kinds, ..any() }).await, ["tea four", "tea two"]);
    assert_eq!(ask(MemoryFilter { tags: tags(&["drink"]), ..any() }).await, ["tea one", "tea two"]);
    assert_eq!(ask(MemoryFilter { tags: tags(&["饮料", "drink"]), ..any() }).await, ["tea one"]);
    assert_eq!(ask(MemoryFilter { tags: tags(&["dri"]), ..any() }).await, Vec::<String>::new());
    let since = MemoryFilter { since: Some(days_ago(3)), ..any() };
    assert_eq!(ask(since).await, ["tea four", "tea one", "tea two"]);
    assert_eq!(ask(MemoryFilter { until: Some(noon()), ..any() }).await, ["tea two"]);
    let session = Some("monday".to_owned());
    assert_eq!(ask(MemoryFilter { session, ..any() }).await, ["tea four"]);
    assert_eq!(
        ask(MemoryFilter { session: Some("mon".into()), ..any() }).await,
        Vec::<String>::new()
    );
}

#[tokio::test]
async fn the_limit_and_the_least_score_cut_the_end_off() {
    let (engine, owner) = (ram(), scope("ann"));
    remember_all(&engine, &owner, &["tea tea tea", "tea and cake", "some tea in a very long day"])
        .await;
    let mut request = engine.recall_request(&owner, "tea");
    let whole = engine.recall(&request).await.unwrap().hits;
    assert_eq!(whole.len(), 3);
    assert!(whole.is_sorted_by(|a, b| a.score >= b.score));
    request.limit = 2;
    assert_eq!(engine.recall(&request).await.unwrap().hits, whole[..2]);
    request.min_score = whole[0].score;
    assert_eq!(engine.recall(&request).await.unwrap().hits, whole[..1]);
    request.limit = 0;
    assert!(engine.recall(&request).await.unwrap().abstained);
    request = engine.recall_request(&owner, "tea");
    request.min_score = 1.0;
    assert!(engine.recall(&request).await.unwrap().hits.is_empty());
}

async fn order_of(first: impl Fn(&mut Memory), second: impl Fn(&mut Memory)) -> Vec<Hit> {
    let owner = scope("ann");
    let mut memories = [memory(&owner, 0, "likes tea"), memory(&owner, 1, "likes tea")];
    first(&mut memories[0]);
    second(&mut memories[1]);
    hits(&holding(&owner, &memories).await, &owner, "tea").await
}

fn numbers(hits: &[Hit]) -> Vec<u8> {
    hits.iter().map(|hit| hit.memory.id.as_bytes()[3]).collect()
}

#[tokio::test]
async fn a_fresh_a_used_and_an_important_memory_beat_an_equal_other() {
    let fresh = order_of(|m| m.at = days_ago(400), |m| m.at = days_ago(1)).await;
    assert_eq!(numbers(&fresh), [1, 0]);
    let used = order_of(|m| m.weight = 0.5, |m| m.weight = 1.5).await;
    assert_eq!(numbers(&used), [1, 0]);
    let important = order_of(|m| m.importance = 0.1, |m| m.importance = 0.9).await;
    assert_eq!(numbers(&important), [1, 0]);
    let equal = order_of(|_| (), |_| ()).await;
    assert_eq!(numbers(&equal), [0, 1], "equals stand in the order they were told");
}

#[tokio::test]
async fn worth_moves_a_score_within_its_bounds_only() {
    let worst = |memory: &mut Memory| {
        (memory.importance, memory.weight, memory.at) = (0.0, 0.0, days_ago(100_000));
    };
    let best = |memory: &mut Memory| (memory.importance, memory.weight) = (1.0, 10.0);
    let hits = order_of(worst, best).await;
    let factors = |hit: &Hit| (hit.factors.recency, hit.factors.weight, hit.factors.importance);
    let near = |a: (f64, f64, f64), b: f64| [a.0, a.1, a.2].iter().all(|x| (x - b).abs() < 1e-6);
    assert!(near(factors(&hits[0]), 1.05) && near(factors(&hits[1]), 0.95), "{hits:?}");
    let future = order_of(|m| m.at = days_ago(-30), |_| ()).await;
    assert_eq!(future[0].factors.recency, future[1].factors.recency, "the future is not fresher");
}

#[tokio::test]
async fn the_numbers_of_an_explanation_add_up_to_the_score() {
    let (engine, owner) = (engine().await, scope("ann"));
    dialogue(&engine, &owner).await;
    remember_all(&engine, &owner, &["我喜欢小猫", "my kitten is grey since 3 May", "I like tea"])
        .await;
    for query in ["When did Caroline get a kitten today?", "我是谁", "小猫", "who am I"] {
        let hits = hits(&engine, &owner, query).await;
        assert!(!hits.is_empty(), "{query}");
        for Hit { signals, factors, score, .. } in hits {
            let terms: f64 = signals.terms.iter().map(|term| term.score).sum();
            assert!((terms - signals.bm25).abs() < 1e-4, "{query}: {signals:?}");
            let sum = signals.lexical
                + signals.semantic
                + signals.speaker
                + signals.when
                + signals.date
                + signals.identity
                + signals.session
                + signals.bridge;
            assert!((sum - signals.fused).abs() < 1e-9, "{query}: {signals:?}");
            assert!((factors.relevance - signals.fused.exp().ln_1p()).abs() < 1e-9);
            let product = factors.relevance
                * factors.recency
                * factors.weight
                * factors.importance
                * factors.kind
                * factors.update;
            assert!((score - product / (1.0 + product)).abs() < 1e-12);
            assert!((0.0..1.0).contains(&score) && (0.0..=1.0).contains(&signals.coverage));
        }
    }
}

#[tokio::test]
async fn every_hit_is_explained_however_many_are_asked_for() {
    let owner = scope("ann");
    let memories: Vec<_> = (0..100).map(|n| memory(&owner, n, "likes tea")).collect();
    let engine = holding(&owner, &memories).await;
    let mut request = engine.recall_request(&owner, "tea");
    request.limit = 100;
    let hits = engine.recall(&request).await.unwrap().hits;
    assert_eq!(hits.len(), 100);
    assert!(hits.iter().all(|hit| hit.signals.terms.len() == 1 && hit.signals.coverage == 1.0));
}

#[tokio::test]
async fn the_kind_a_question_is_after_is_lifted() {
    let owner = scope("ann");
    let mut memories = [memory(&owner, 0, "tea note"), memory(&owner, 1, "tea note")];
    memories[0].kind = Kind::Project;
    let engine = holding(&owner, &memories).await;
    let hits = hits(&engine, &owner, "which tea do I prefer?").await;
    assert_eq!(numbers(&hits), [1, 0]);
    assert!(hits[0].factors.kind > 1.0 && hits[1].factors.kind == 1.0);
}

#[tokio::test]
async fn what_was_known_then_can_be_asked_for() {
    let (engine, owner) = (engine().await, scope("wang"));
    let saved = engine.remember(&owner, say("I live in Lisbon")).await.unwrap();
    let later = engine.clone().rebuild().clock(one_o_clock).build();
    let edit = MemoryEdit { content: Some("I live in Porto".into()), ..MemoryEdit::default() };
    later.edit(&owner, saved.id, &edit).await.unwrap();
    later.remember(&owner, say("我住的城市有河")).await.unwrap();
    let request = engine.recall_request(&owner, "where do I live");
    let then = engine.recall_as_of(&request, noon()).await.unwrap();
    assert_eq!(texts(&then.hits), ["I live in Lisbon"]);
    let now = engine.recall_as_of(&request, one_o_clock()).await.unwrap();
    assert_eq!(texts(&now.hits)[0], "I live in Porto");
    let before = engine.recall_as_of(&request, days_ago(1)).await.unwrap();
    assert!(before.abstained && before.hits.is_empty());
}

#[tokio::test]
async fn a_superseded_memory_is_found_only_when_history_is_asked_for() {
    let (engine, owner) = (engine().await, scope("ann"));
    let [old, new] =
        &remember_all(&engine, &owner, &["I live in Lisbon", "I live in Porto"]).await[..]
    else {
        panic!("two were told")
    };
    engine.supersede(&owner, old.id, new.id).await.unwrap();
    assert_eq!(found(&engine, &owner, "where I live").await, ["I live in Porto"]);
    let history = MemoryFilter { statuses: Status::ALL.to_vec(), ..MemoryFilter::default() };
    let both = filtered(&engine, &owner, "where I live", history).await;
    assert_eq!(both, ["I live in Lisbon", "I live in Porto"]);
    let past = engine.recall_as_of(&engine.recall_request(&owner, "Lisbon"), noon()).await.unwrap();
    assert_eq!(past.hits.len(), 0, "superseded at that very moment");
}

#[tokio::test]
async fn nothing_is_injected_for_small_talk_or_when_nothing_stored_answers() {
    let (engine, owner) = (ram(), scope("ann"));
    remember_all(
        &engine,
        &owner,
        &[
            "The staging port is 8443",
            "Thanks to Rex the cat is gone",
            "用户喜欢龙井茶",
            "hello world is the first program",
        ],
    )
    .await;
    for query in
        ["hello", "thanks!", "好的，谢谢", "哈哈哈", "What is the capital of Peru?", "火星上有水吗"]
    {
        let request = engine.context_request(&owner, query);
        let found = engine.recall(&request).await.unwrap();
        assert!(found.abstained && found.hits.is_empty(), "{query}: {:?}", found.hits);
        assert_eq!(engine.context(&request, 2_000).await.unwrap().text, "", "{query}");
    }
    for query in ["What is the staging port?", "喜欢龙井茶吗？"] {
        let request = engine.context_request(&owner, query);
        assert!(!engine.recall(&request).await.unwrap().abstained, "{query}");
    }
}

#[tokio::test]
async fn a_remembered_time_is_the_one_given() {
    let (engine, owner) = (ram(), scope("ann"));
    let told = RememberRequest { at: Some(days_ago(30)), ..say("the boat sank") };
    let saved = engine.remember(&owner, told).await.unwrap();
    let memory = engine.get(&owner, saved.id).await.unwrap();
    assert_eq!((memory.at, memory.created_at), (days_ago(30), noon()));
}
