//! Tests of the tools with other systems' formats: the knowledge graph of MCP's reference server, and the pair of
//! ChatGPT connectors.

use everlore::{
    RememberRequest, ToolRegistry,
    engine::{ExternalFormat, MigrationRequest},
    tools::ToolSet,
};
use serde_json::{Value, json};

use crate::tools::ToolAgent;

async fn two_friends() -> ToolAgent {
    let agent = ToolAgent::new().await;
    let entities = json!([
        {"name": "Ann", "entityType": "person", "observations": ["likes tea", "lives in Lisbon"]},
        {"name": "王小明", "entityType": "人", "observations": ["喜欢喝龙井茶", "likes tea"]},
    ]);
    let created = agent.ok("create_entities", json!({"entities": entities})).await;
    assert_eq!(created.structured["entities"], entities);
    agent
}

async fn graph(agent: &ToolAgent) -> Value {
    agent.ok("read_graph", json!({})).await.structured
}

#[tokio::test]
async fn entities_are_made_once_and_what_is_said_of_two_belongs_to_each() {
    let agent = two_friends().await;
    let again = json!([{"name": "Ann", "entityType": "robot", "observations": ["is new"]}]);
    let created = agent.ok("create_entities", json!({"entities": again})).await;
    assert_eq!(created.structured["entities"], json!([]));
    let graph = graph(&agent).await;
    assert_eq!(graph["entities"][0]["observations"], json!(["likes tea", "lives in Lisbon"]));
    assert_eq!(graph["entities"][1]["observations"], json!(["喜欢喝龙井茶", "likes tea"]));
    let recalled = agent.ok("memory_recall", json!({"query": "王小明喝什么茶？"})).await;
    assert!(recalled.text.contains("王小明: 喜欢喝龙井茶"), "{}", recalled.text);
}

#[tokio::test]
async fn observations_and_relations_are_added_once_and_only_to_what_is_there() {
    let agent = two_friends().await;
    let added =
        json!({"observations": [{"entityName": "Ann", "contents": ["likes tea", "plays chess"]}]});
    let done = agent.ok("add_observations", added).await;
    assert_eq!(
        done.structured["results"],
        json!([{"entityName": "Ann", "addedObservations": ["plays chess"]}])
    );
    let relation = json!({"from": "Ann", "to": "王小明", "relationType": "认识"});
    let relations = json!({"relations": [relation, relation]});
    let created = agent.ok("create_relations", relations.clone()).await;
    assert_eq!(created.structured["relations"], json!([relation]));
    let created = agent.ok("create_relations", relations).await;
    assert_eq!(created.structured["relations"], json!([]));
    assert_eq!(graph(&agent).await["relations"], json!([relation]));
    let unknown = json!({"observations": [{"entityName": "Bob", "contents": ["x"]}]});
    let text = agent.err("add_observations", unknown).await;
    assert!(
        text.starts_with("Entity with name Bob not found. Make it with create_entities"),
        "{text}"
    );
    let unknown = json!({"relations": [{"from": "Ann", "to": "Bob", "relationType": "knows"}]});
    assert!(agent.err("create_relations", unknown).await.contains("Bob not found"));
}

#[tokio::test]
async fn nodes_are_searched_and_opened_with_their_relations() {
    let agent = two_friends().await;
    let relation = json!({"from": "王小明", "to": "Ann", "relationType": "knows"});
    agent.ok("create_relations", json!({"relations": [relation]})).await;
    for (name, input, expected) in [
        ("search_nodes", json!({"query": "LISBON"}), "Ann"),
        ("search_nodes", json!({"query": "龙井"}), "王小明"),
        ("open_nodes", json!({"names": ["王小明", "nobody"]}), "王小明"),
    ] {
        let found = agent.ok(name, input).await.structured;
        assert_eq!(found["entities"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(found["entities"][0]["name"], expected);
        assert_eq!(found["relations"], json!([relation]));
    }
    let none = agent.ok("search_nodes", json!({"query": "parrot"})).await;
    assert_eq!(none.structured, json!({"entities": [], "relations": []}));
}

#[tokio::test]
async fn what_is_deleted_is_gone_with_all_that_hangs_on_it_and_can_be_brought_back() {
    let agent = two_friends().await;
    let relation = json!({"from": "Ann", "to": "王小明", "relationType": "knows"});
    agent.ok("create_relations", json!({"relations": [relation]})).await;
    let deletions =
        json!({"deletions": [{"entityName": "Ann", "observations": ["likes tea", "never said"]}]});
    let done = agent.ok("delete_observations", deletions).await;
    assert_eq!(done.structured, json!({"success": true, "message": "1 observations deleted"}));
    let graph_now = graph(&agent).await;
    assert_eq!(graph_now["entities"][0]["observations"], json!(["lives in Lisbon"]));
    assert_eq!(graph_now["entities"][1]["observations"].as_array().unwrap().len(), 2);
    let done = agent.ok("delete_relations", json!({"relations": [relation]})).await;
    assert_eq!(done.structured["message"], "1 relations deleted");
    agent.ok("create_relations", json!({"relations": [relation]})).await;
    let done = agent.ok("delete_entities", json!({"entityNames": ["Ann", "nobody"]})).await;
    assert_eq!(done.structured["message"], "1 entities deleted");
    let left = graph(&agent).await;
    assert_eq!(left["entities"].as_array().unwrap().len(), 1);
    assert_eq!(left["relations"], json!([]));
    let history = agent.engine.history(&agent.scope, &Default::default()).await.unwrap();
    let deleted = history.iter().filter(|entry| entry.cause == "graph: delete").count();
    assert_eq!(deleted, 5, "one observation, two relations, the entity and what was left of it");
}

#[tokio::test]
async fn a_memory_that_says_the_same_becomes_part_of_the_graph() {
    let agent = ToolAgent::new().await;
    let said = RememberRequest {
        content: "Ann: likes tea".into(),
        tags: vec!["drinks".into()],
        ..RememberRequest::default()
    };
    agent.engine.remember(&agent.scope, said).await.unwrap();
    let entities = json!([{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]);
    agent.ok("create_entities", json!({"entities": entities})).await;
    assert_eq!(graph(&agent).await["entities"], entities);
}

#[tokio::test]
async fn forms_that_do_not_fit_are_told_with_the_field() {
    let agent = ToolAgent::new().await;
    for (name, input, expected) in [
        (
            "create_entities",
            json!({"entities": [{"name": "Ann", "observations": []}]}),
            "The field `entities.entityType` is missing: type of the entity.",
        ),
        (
            "create_entities",
            json!({"entities": ["Ann"]}),
            "The field `entities` is a string, not an object.",
        ),
        (
            "create_entities",
            json!({"entities": [{"name": "Ann", "entityTyp": "x", "observations": []}]}),
            "There is no field `entities.entityTyp`; did you mean `entityType`?",
        ),
        ("open_nodes", json!({"names": [1]}), "The field `names` is a number, not a string."),
    ] {
        let text = agent.err(name, input).await;
        assert!(text.starts_with(expected), "{text}");
    }
}

#[test]
fn the_names_are_those_of_the_reference_server() {
    let names: Vec<&str> =
        ToolRegistry::for_sets(&[ToolSet::Graph]).specs().map(|spec| spec.name).collect();
    let expected = "create_entities create_relations add_observations delete_entities delete_observations delete_relations read_graph search_nodes open_nodes";
    assert_eq!(names.join(" "), expected);
}

/// Graph as the reference server writes it.
const REFERENCE_GRAPH: &str = r#"{"type":"entity","name":"小林","entityType":"person","observations":["喜欢龙井茶","lives in Porto"]}
{"type":"entity","name":"Atlas","entityType":"project","observations":["Ships in May"]}
{"type":"relation","from":"小林","to":"Atlas","relationType":"works_on"}
"#;

#[tokio::test]
async fn a_graph_that_was_imported_is_listed_added_to_and_taken_apart() {
    let agent = ToolAgent::new().await;
    let file = tempfile::NamedTempFile::with_suffix(".jsonl").unwrap();
    std::fs::write(file.path(), REFERENCE_GRAPH).unwrap();
    let request = MigrationRequest {
        format: Some(ExternalFormat::McpGraph),
        path: file.path().to_owned(),
        dry_run: false,
        layers: false,
        map_users: false,
    };
    agent.engine.migrate(&agent.scope, &request).await.unwrap();
    let atlas = json!({"name": "Atlas", "entityType": "project", "observations": ["Ships in May"]});
    let lin = json!({"name": "小林", "entityType": "person", "observations": ["喜欢龙井茶", "lives in Porto"]});
    let relation = json!({"from": "小林", "to": "Atlas", "relationType": "works_on"});
    let read = graph(&agent).await;
    let entities = read["entities"].as_array().unwrap();
    assert!(entities.len() == 2 && entities.contains(&atlas) && entities.contains(&lin), "{read}");
    assert_eq!(read["relations"], json!([relation]));
    let found = agent.ok("search_nodes", json!({"query": "龙井"})).await.structured;
    assert_eq!(found["entities"], json!([lin]));
    let add = json!({"observations": [{"entityName": "Atlas", "contents": ["Ships in May", "推迟到六月"]}]});
    agent.ok("add_observations", add).await;
    let deletion =
        json!({"deletions": [{"entityName": "小林", "observations": ["lives in Porto"]}]});
    agent.ok("delete_observations", deletion).await;
    agent.ok("delete_relations", json!({"relations": [relation]})).await;
    let open = agent.ok("open_nodes", json!({"names": ["小林", "Atlas"]})).await.structured;
    let observations = |name: &str| {
        let named = open["entities"].as_array().unwrap().iter().find(|one| one["name"] == name);
        named.unwrap()["observations"].clone()
    };
    assert_eq!(
        (observations("小林"), observations("Atlas")),
        (json!(["喜欢龙井茶"]), json!(["Ships in May", "推迟到六月"]))
    );
    assert_eq!(open["relations"], json!([]));
    agent.ok("delete_entities", json!({"entityNames": ["小林"]})).await;
    let left = graph(&agent).await;
    assert_eq!(left["entities"].as_array().unwrap().len(), 1, "{left}");
}

#[tokio::test]
async fn search_and_fetch_answer_as_connectors_read_them() {
    let agent = ToolAgent::new().await;
    let id = agent.save("用户的航班是 2026 年 5 月 4 日的 CA987。").await;
    let found = agent.ok("search", json!({"query": "航班是哪一天？"})).await;
    let read: Value = serde_json::from_str(&found.text).unwrap();
    assert_eq!(read["results"][0]["id"], id);
    assert_eq!(read["results"][0]["url"], format!("memory://memories/{id}"));
    let fetched = agent.ok("fetch", json!({"id": id})).await;
    let read: Value = serde_json::from_str(&fetched.text).unwrap();
    assert_eq!(read["text"], "用户的航班是 2026 年 5 月 4 日的 CA987。");
    assert_eq!(read["metadata"]["created_at"], "2026-03-02T12:00:00+00:00");
    let nothing = agent.ok("search", json!({"query": "Where does the parrot live?"})).await;
    assert_eq!(nothing.text, r#"{"results":[]}"#);
    assert!(agent.err("fetch", json!({"id": "nothing"})).await.contains("is not an id"));
}

#[tokio::test]
async fn no_compat_tool_reaches_into_another_scope() {
    let mut agent = ToolAgent::new().await;
    let id = agent.save("Ann's parrot is called Coco.").await;
    agent.scope = crate::support::scope("bob");
    for (name, input) in
        [("search", json!({"query": "What is the parrot called?"})), ("read_graph", json!({}))]
    {
        assert!(!agent.ok(name, input).await.text.contains("Coco"), "{name}");
    }
    assert!(agent.err("fetch", json!({"id": id})).await.contains("not found"));
}
