//! Tests of the core tools beside saving and recalling: timeline, reading whole memories, correcting, deleting, session
//! context.

use everlore::{Kind, RememberRequest, ToolRegistry, tools::ToolSet};
use serde_json::{Value, json};

use crate::{
    support::{DAY, NOON, at, scope, turn},
    tools::ToolAgent,
};

/// Stores a memory with a time, and returns its id.
async fn remember_at(agent: &ToolAgent, second: i64, content: &str) -> String {
    let draft = RememberRequest {
        content: content.into(),
        kind: Some(Kind::Project),
        at: Some(at(second)),
        ..RememberRequest::default()
    };
    agent.engine.remember(&agent.scope, draft).await.unwrap().id.to_string()
}

fn texts(answer: &Value) -> Vec<&str> {
    let memories = answer["memories"].as_array().unwrap().iter();
    memories.map(|memory| memory["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_timeline_is_in_the_order_of_what_was_said_not_of_what_was_stored() {
    let agent = ToolAgent::new().await;
    let middle = remember_at(&agent, NOON - 10 * DAY, "第三天：签了合同").await;
    remember_at(&agent, NOON - 12 * DAY, "The first day: we met the landlord.").await;
    remember_at(&agent, NOON - 3 * DAY, "第五天：搬家").await;
    remember_at(&agent, NOON - 11 * DAY, "The second day: the flat was measured.").await;
    remember_at(&agent, NOON - 9 * DAY, "The fourth day: the keys came.").await;
    remember_at(&agent, NOON - 400 * DAY, "A year before: nothing of this was known.").await;
    let around = agent.ok("memory_timeline", json!({"id": middle, "before": 2, "after": 9})).await;
    assert_eq!(
        texts(&around.structured),
        [
            "The first day: we met the landlord.",
            "The second day: the flat was measured.",
            "第三天：签了合同",
            "The fourth day: the keys came.",
            "第五天：搬家",
        ]
    );
    assert_eq!(around.structured["anchor"], middle);
    assert_eq!(around.structured["memories"][0]["at"], "2026-02-18T12:00:00+00:00");
    assert!(
        around.text.contains("> 2026-02-20 12:00 [project] 第三天：签了合同 (id "),
        "{}",
        around.text
    );
    let none = agent.ok("memory_timeline", json!({"id": middle, "before": 0, "after": 0})).await;
    assert_eq!(texts(&none.structured), ["第三天：签了合同"]);
}

#[tokio::test]
async fn a_timeline_begins_at_an_id_a_question_or_a_date() {
    let agent = ToolAgent::new().await;
    remember_at(&agent, NOON - 10 * DAY, "The boiler was mended by Ada.").await;
    remember_at(&agent, NOON - 10 * DAY + 60, "锅炉修好以后，暖气又热了。").await;
    let result = agent.ok("memory_timeline", json!({"query": "Who mended the boiler?"})).await;
    assert_eq!(texts(&result.structured).len(), 2, "{}", result.text);
    let dated = agent.ok("memory_timeline", json!({"date": "2026-02-20"})).await;
    assert_eq!(texts(&dated.structured).len(), 2, "{}", dated.text);
    assert!(dated.structured.get("anchor").is_none());
    let moment =
        json!({"date": "2026-02-20T13:00:30+01:00", "before": 1, "after": 1, "type": "project"});
    let dated = agent.ok("memory_timeline", moment).await;
    assert_eq!(
        texts(&dated.structured),
        ["The boiler was mended by Ada.", "锅炉修好以后，暖气又热了。"]
    );
    let nothing = agent.ok("memory_timeline", json!({"query": "鹦鹉住在哪里？"})).await;
    assert!(nothing.structured["memories"].as_array().unwrap().is_empty(), "{}", nothing.text);
    for (input, expected) in [
        (json!({}), "The field `id` is missing; a query or a date will do instead"),
        (json!({"id": "01a1df8d", "date": "2026-02-20"}), "Give only one of id, query and date."),
        (
            json!({"date": "last week"}),
            "The field `date` is `last week`, which is not a date such as 2026-03-05.",
        ),
        (
            json!({"id": "01a1df8d13ae"}),
            "Memory `01a1df8d13ae` not found. Use memory_recall to find it",
        ),
        (json!({"id": "x", "before": 51}), "The field `before` is 51, it goes from 0 to 50."),
    ] {
        let text = agent.err("memory_timeline", input).await;
        assert!(text.starts_with(expected), "{text}");
    }
}

#[tokio::test]
async fn what_was_said_in_the_same_moment_is_shown_once_on_its_side() {
    let agent = ToolAgent::new().await;
    let turns = ["one", "two", "three", "four"].map(|text| turn("trip", "Wang", text));
    let saved = agent.engine.observe(&agent.scope, turns.into()).await.unwrap();
    let around = agent.ok("memory_timeline", json!({"id": saved[1].id})).await;
    assert_eq!(texts(&around.structured), ["one", "two", "three", "four"]);
}

#[tokio::test]
async fn memories_are_read_whole_and_what_is_not_there_is_named() {
    let agent = ToolAgent::new().await;
    let long = "每一页讲另一个阀门。".repeat(400);
    let (first, second) = (agent.save(&long).await, agent.save("The user likes tea.").await);
    let got = agent.ok("memory_get", json!({"ids": [second, first[..34], "01a1df8d13ae"]})).await;
    let memories = got.structured["memories"].as_array().unwrap();
    assert_eq!(memories[0]["content"], "The user likes tea.");
    assert_eq!(memories[1]["content"], long);
    assert_eq!(memories[1]["at"], "2026-03-02T12:00:00+00:00");
    assert_eq!(got.structured["missing"], json!(["01a1df8d13ae"]));
    assert!(got.text.starts_with("Not found: 01a1df8d13ae. Use memory_recall"), "{}", got.text);
    assert!(got.text.contains(&long), "the text for the model is whole too");
    for (input, expected) in [
        (json!({}), "The field `ids` is missing"),
        (json!({"ids": []}), "The field `ids` has 0 items, it takes 1 to 20."),
        (json!({"ids": ["tea"]}), "`tea` is not an id."),
    ] {
        let text = agent.err("memory_get", input).await;
        assert!(text.starts_with(expected), "{text}");
    }
}

#[tokio::test]
async fn a_memory_is_put_right_and_taken_away_and_the_journal_knows_by_whom() {
    let agent = ToolAgent::new().await;
    let id = agent.save("我住在北京。").await;
    let done = agent.ok("memory_update", json!({"id": id, "content": "我住在里斯本。"})).await;
    assert_eq!(done.structured["action"], "updated");
    let recalled = agent.ok("memory_recall", json!({"query": "我住在哪里？"})).await;
    assert!(
        recalled.text.contains("里斯本") && !recalled.text.contains("北京"),
        "{}",
        recalled.text
    );
    let deleted = agent.ok("memory_forget", json!({"id": id})).await;
    assert_eq!(deleted.structured["action"], "deleted");
    let recalled = agent.ok("memory_recall", json!({"query": "我住在哪里？"})).await;
    assert_eq!(recalled.structured["found"], false);
    let history = agent.engine.history(&agent.scope, &Default::default()).await.unwrap();
    let causes: Vec<&str> = history.iter().map(|entry| entry.cause.as_str()).collect();
    assert_eq!(causes, ["memory_forget", "memory_update", "memory_save: create"]);
    let again = agent.err("memory_forget", json!({"id": id})).await;
    assert!(again.contains("not found. Use memory_recall"), "{again}");
    let nothing = agent.save("Tea.").await;
    let text = agent.err("memory_update", json!({"id": nothing})).await;
    assert!(text.starts_with("Nothing to change is given"), "{text}");
}

#[tokio::test]
async fn a_memory_is_erased_for_good_if_the_user_asks_for_it() {
    let agent = ToolAgent::new().await;
    for text in ["The user likes green tea.", "用户住在上海。"] {
        let id = agent.save(text).await;
        let erased = agent.ok("memory_forget", json!({"id": id, "for_good": true})).await;
        assert_eq!(erased.structured["action"], "forgotten");
        let history = agent.engine.history(&agent.scope, &Default::default()).await.unwrap();
        assert!(!format!("{history:?}").contains(text), "{history:?}");
    }
    let missing = agent.err("memory_forget", json!({})).await;
    assert!(missing.contains("`id` is missing"), "{missing}");
}

#[tokio::test]
async fn everything_of_the_user_goes_after_a_preview() {
    let agent = ToolAgent::new().await;
    for for_good in [false, true] {
        agent.save("The user likes green tea.").await;
        agent.save("用户住在上海。").await;
        let ask = json!({"everything": true, "for_good": for_good});
        let preview = agent.ok("memory_forget", ask).await;
        assert_eq!(preview.structured["action"], "preview");
        assert!(preview.text.contains("all 2 memories"), "{}", preview.text);
        let go = json!({"everything": true, "for_good": for_good, "confirm": true});
        let removed = agent.ok("memory_forget", go).await;
        let expected = if for_good { "forgotten" } else { "deleted" };
        assert_eq!(removed.structured["action"], expected);
        let recalled = agent.ok("memory_recall", json!({"query": "green tea 上海"})).await;
        assert_eq!(recalled.structured["found"], false);
    }
    let both = agent.err("memory_forget", json!({"id": "x", "everything": true})).await;
    assert!(both.contains("both given"), "{both}");
    let key = everlore::ToolContext::new(&agent.engine, &agent.scope);
    for input in [json!({"everything": true}), json!({"id": "x", "for_good": true})] {
        let refused = everlore::ToolRegistry::all().call("memory_forget", input, &key).await;
        assert!(refused.is_error && refused.text.contains("may not erase"), "{}", refused.text);
    }
}

#[tokio::test]
async fn a_conversation_begins_with_what_matters_for_its_first_message() {
    let agent = ToolAgent::new().await;
    let id = agent.save("The user's daughter Mei starts school in September 2026.").await;
    agent.save("用户只喝龙井茶。").await;
    let empty = agent.ok("memory_context", json!({})).await;
    assert_eq!(empty.structured["memories"], json!([]));
    for (message, expected) in
        [("When does Mei start school?", "September 2026"), ("用户喝什么茶？", "龙井")]
    {
        let result = agent.ok("memory_context", json!({"message": message})).await;
        assert!(result.text.contains(expected), "{}", result.text);
        assert_eq!(result.structured["text"], result.text);
        assert_eq!(result.structured["parts"], json!(["memories"]));
    }
    let result =
        agent.ok("memory_context", json!({"message": "When does Mei start school?"})).await;
    assert_eq!(result.structured["memories"], json!([id]));
}

#[tokio::test]
async fn a_recall_shortens_what_does_not_fit_its_budget() {
    let agent = ToolAgent::new().await;
    for n in 0..5 {
        let page =
            format!("Manual {n} of the pump. {}", "It tells of one more valve. ".repeat(200));
        agent.save(&page).await;
    }
    let spent = |text: &str| text.len() / 4;
    let short = agent.ok("memory_recall", json!({"query": "manual of the pump"})).await;
    assert!(spent(&short.text) < 1_700, "{}", spent(&short.text));
    let long =
        agent.ok("memory_recall", json!({"query": "manual of the pump", "budget": 8_000})).await;
    assert!(long.text.len() > 2 * short.text.len());
}

#[tokio::test]
async fn a_recall_tells_why_if_it_is_asked_to() {
    let agent = ToolAgent::new().await;
    agent.save("我喜欢喝龙井茶").await;
    let plain = agent.ok("memory_recall", json!({"query": "喝什么龙井茶？"})).await;
    assert!(plain.structured["memories"][0].get("why").is_none());
    let result =
        agent.ok("memory_recall", json!({"query": "喝什么龙井茶？", "explain": true})).await;
    let why = result.structured["memories"][0]["why"].as_str().unwrap();
    assert!(why.starts_with("it contains the words ") && why.contains("龙井"), "{why}");
    assert!(result.text.contains(why), "{}", result.text);
}

#[tokio::test]
async fn no_tool_reaches_into_another_scope() {
    let mut agent = ToolAgent::new().await;
    let id = agent.save("Ann's parrot is called Coco.").await;
    agent.scope = crate::support::scope("bob");
    for (name, input) in [
        ("memory_get", json!({"ids": [id]})),
        ("memory_timeline", json!({"date": "2026-03-02"})),
        ("memory_context", json!({"message": "What is the parrot called?"})),
    ] {
        assert!(!agent.ok(name, input).await.text.contains("Coco"), "{name}");
    }
    for (name, input) in [
        ("memory_timeline", json!({"id": id})),
        ("memory_update", json!({"id": id, "content": "x"})),
        ("memory_forget", json!({"id": id})),
    ] {
        assert!(agent.err(name, input).await.contains("not found"), "{name}");
    }
}

#[test]
fn sets_are_known_by_their_names() {
    let names = ToolSet::ALL.map(ToolSet::as_str);
    for name in names {
        assert_eq!(name.parse::<ToolSet>().unwrap().as_str(), name);
    }
    let unknown = "grap".parse::<ToolSet>().unwrap_err();
    assert_eq!(unknown.hint(), format!("use one of {}", names.join(", ")));
    let compiled_in = cfg!(feature = "compat-tools");
    assert_eq!("graph".parse::<ToolSet>().is_ok(), compiled_in);
    assert_eq!(ToolRegistry::all().spec("read_graph").is_ok(), compiled_in);
}

#[tokio::test]
async fn recall_tells_why_a_memory_is_not_in_the_answer_and_nothing_of_others() {
    let agent = ToolAgent::new().await;
    for (wanted, other, query) in [
        ("The staging port is 8443.", "My sister keeps bees.", "Which port does staging use?"),
        ("预发布环境的端口是九千。", "我妹妹养蜜蜂。", "预发布环境用哪个端口？"),
    ] {
        let wanted = remember_at(&agent, NOON - DAY, wanted).await;
        let other = remember_at(&agent, NOON - DAY, other).await;
        let why = async |id: &str| {
            let answer = agent.ok("memory_recall", json!({"query": query, "why_not": id})).await;
            let why = answer.structured["why_not"].clone();
            assert!(answer.text.contains(why["message"].as_str().unwrap()), "{}", answer.text);
            assert_eq!(why["id"], *id);
            why
        };
        assert_eq!(why(&wanted).await["reason"], "returned");
        let kept_out = why(&other).await;
        assert!(["no_term", "floor"].contains(&kept_out["reason"].as_str().unwrap()), "{kept_out}");
    }
    let stranger = RememberRequest {
        content: "A secret of someone else".into(),
        ..RememberRequest::default()
    };
    let theirs = agent.engine.remember(&scope("eve"), stranger).await.unwrap().id.to_string();
    let result = json!({"query": "secret", "why_not": theirs});
    let refused = agent.err("memory_recall", result).await;
    assert!(refused.contains("not found") && !refused.contains("someone"), "{refused}");
}
