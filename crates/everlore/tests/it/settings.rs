//! Tests of settings and edits through the engine.

use everlore::{Config, Error, MemoryEdit, RecallRequest, engine::UndoTarget, store::JournalQuery};

use crate::support::{ram, say, scope};

#[tokio::test]
async fn nothing_is_stored_or_injected_when_memory_is_switched_off() {
    let (engine, owner) = (ram(), scope("ann"));
    engine.remember(&owner, say("I like 龙井茶")).await.unwrap();
    let mut config = Config::default();
    config.memory.enabled = false;
    let off = engine.rebuild().config(config).build();
    let refused = off.remember(&owner, say("I like tea")).await;
    assert!(matches!(refused, Err(Error::Invalid { .. })), "{refused:?}");
    let block = off.context(&off.context_request(&owner, "龙井茶"), 500).await.unwrap();
    assert_eq!(block.text, "");
}

#[tokio::test]
async fn a_block_leaves_out_what_is_far_less_relevant_than_the_best() {
    let (engine, owner) = (ram(), scope("ann"));
    for text in
        ["The staging server has port number 9443", "The port of Lisbon is old", "tea", "coffee"]
    {
        engine.remember(&owner, say(text)).await.unwrap();
    }
    let request = engine.context_request(&owner, "staging server port number");
    let block = engine.context(&request, 500).await.unwrap();
    assert_eq!(block.entries.len(), 1, "{}", block.text);
    let all = RecallRequest { min_probability: 0.0, ..request };
    assert_eq!(engine.context(&all, 500).await.unwrap().entries.len(), 2);
}

#[tokio::test]
async fn a_title_taken_from_the_text_changes_with_it_and_a_given_one_stays() {
    let (engine, owner) = (ram(), scope("ann"));
    let derived = engine.remember(&owner, say("The staging port is 8443")).await.unwrap();
    let mut named = say("测试端口是 8443");
    named.name = Some("端口".into());
    let named = engine.remember(&owner, named).await.unwrap();
    let edit =
        |content: &str| MemoryEdit { content: Some(content.into()), ..MemoryEdit::default() };
    let derived = engine.edit(&owner, derived.id, &edit("The staging port is 9443")).await.unwrap();
    let named = engine.edit(&owner, named.id, &edit("测试端口是 9443")).await.unwrap();
    assert_eq!((derived.name.as_str(), named.name.as_str()), ("The staging port is 9443", "端口"));
}

#[tokio::test]
async fn undoing_a_run_can_itself_be_undone_as_one() {
    let (engine, owner) = (ram(), scope("ann"));
    let lines = "{\"content\":\"one\"}\n{\"content\":\"二\"}\n";
    let report =
        engine.import(&owner, lines.as_bytes(), Default::default(), &mut |_| {}).await.unwrap();
    engine.undo(&owner, &UndoTarget::Run(report.run)).await.unwrap();
    let newest = JournalQuery { limit: Some(1), ..JournalQuery::default() };
    let run = engine.history(&owner, &newest).await.unwrap().remove(0).run.unwrap();
    assert_eq!(engine.undo(&owner, &UndoTarget::Run(run)).await.unwrap().len(), 2);
    assert_eq!(
        engine
            .count(&owner)
            .await
            .unwrap()
            .memories
            .iter()
            .map(|(_, _, count)| count)
            .sum::<usize>(),
        2
    );
}

#[tokio::test]
async fn a_chinese_question_is_not_held_back_by_its_function_words() {
    let (engine, owner) = (ram(), scope("ann"));
    for text in ["用户喜欢龙井茶", "The staging port is 9443", "明天下雨"] {
        engine.remember(&owner, say(text)).await.unwrap();
    }
    let block =
        engine.context(&engine.context_request(&owner, "我喜欢什么茶？"), 500).await.unwrap();
    assert_eq!(block.entries.len(), 1, "{}", block.text);
    assert!(block.text.contains("龙井茶"));
}

#[tokio::test]
async fn turns_with_a_time_are_imported_once() {
    let (engine, owner) = (ram(), scope("ann"));
    let lines = "{\"text\":\"hello\",\"time\":\"2026-03-02T10:00:00Z\",\"session\":\"a\"}\n\
                 {\"text\":\"你好\",\"time\":\"2026-03-02T10:00:00Z\",\"session\":\"a\"}\n";
    for (added, unchanged) in [(2, 0), (0, 2)] {
        let report =
            engine.import(&owner, lines.as_bytes(), Default::default(), &mut |_| {}).await.unwrap();
        assert_eq!((report.added, report.unchanged), (added, unchanged));
    }
}

#[tokio::test]
async fn replacing_never_goes_in_a_circle() {
    let (engine, owner) = (ram(), scope("ann"));
    let mut ids = Vec::new();
    for text in ["port 1", "port 2", "端口 3"] {
        ids.push(engine.remember(&owner, say(text)).await.unwrap().id);
    }
    engine.supersede(&owner, ids[0], ids[1]).await.unwrap();
    engine.supersede(&owner, ids[1], ids[2]).await.unwrap();
    let circle = engine.supersede(&owner, ids[2], ids[0]).await;
    assert!(matches!(circle, Err(Error::Invalid { .. })), "{circle:?}");
}

#[tokio::test]
async fn what_was_cleaned_together_is_brought_back_together() {
    let (engine, owner) = (ram(), scope("ann"));
    for text in ["tea", "咖啡"] {
        let saved = engine.remember(&owner, say(text)).await.unwrap();
        engine
            .edit(&owner, saved.id, &MemoryEdit { weight: Some(0.01), ..MemoryEdit::default() })
            .await
            .unwrap();
    }
    let run = engine.clean(&owner, 0.1, false).await.unwrap().run.unwrap();
    assert_eq!(engine.undo(&owner, &UndoTarget::Run(run)).await.unwrap().len(), 2);
    let counts = engine.count(&owner).await.unwrap();
    assert!(
        counts.memories.iter().all(|(_, status, _)| *status == everlore::Status::Active),
        "{counts:?}"
    );
}

#[tokio::test]
async fn a_period_in_which_nothing_was_said_is_looked_for_by_its_words() {
    let (engine, owner) = (ram(), scope("ann"));
    for text in ["我上周三和张伟讨论了支付模块", "last Wednesday the office moved to Lisbon", "tea"]
    {
        engine.remember(&owner, say(text)).await.unwrap();
    }
    for (query, text) in
        [("上周三聊了什么？", "支付模块"), ("What did we talk about last Wednesday?", "Lisbon")]
    {
        let answer = engine.recall(&engine.recall_request(&owner, query)).await.unwrap();
        assert!(
            answer.hits.first().is_some_and(|hit| hit.memory.content.contains(text)),
            "{query}: {answer:?}"
        );
    }
}
