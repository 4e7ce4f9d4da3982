//! Examples of the filter language.

use everlore::{
    Kind, Memory, Scope,
    types::{MemorySource, Origin, Timestamp},
};
use serde_json::{Value, json};

use super::filter::{FilterDialect, Mem0Filter};

fn memory() -> Memory {
    let at: Timestamp = "2026-03-01T09:00:00Z".parse().unwrap();
    let scope = Scope::new("helper", "王芳").unwrap();
    let source =
        MemorySource { session: Some("trip".into()), ..MemorySource::new(Origin::Remember) };
    let mut memory =
        Memory::with_content(&scope, Kind::User, "喜欢喝龙井茶 and Oolong".into(), source, at, at);
    memory.tags = vec!["茶".into(), "drinks".into()];
    memory.metadata = serde_json::from_value(
        json!({ "priority": 3, "team": "红队", "done": false, "mem0": { "app_id": "shop" } }),
    )
    .unwrap();
    memory
}

#[expect(clippy::needless_pass_by_value, reason = "tests write filters in place")]
fn parse(filters: Value) -> Result<Mem0Filter, String> {
    Mem0Filter::parse(&filters, FilterDialect::Hosted).map_err(|problem| problem.title)
}

fn fits(filters: Value) -> bool {
    parse(filters).unwrap().matches(&memory(), &Scope::default())
}

#[test]
fn values_lists_and_operators_are_compared() {
    for yes in [
        json!({}),
        json!({ "user_id": "王芳" }),
        json!({ "user_id": "*", "agent_id": "*" }),
        json!({ "agent_id": { "in": ["helper", "other"] } }),
        json!({ "run_id": "trip", "app_id": "shop" }),
        json!({ "created_at": { "gte": "2026-03-01", "lte": "2026-03-01" } }),
        json!({ "created_at": { "lt": "2026-03-01T09:00:01Z", "gt": "2026-02-28" } }),
        json!({ "created_at": { "lte": 1_772_355_600 } }),
        json!({ "categories": { "contains": "茶" } }),
        json!({ "categories": { "in": ["drinks", "food"] } }),
        json!({ "keywords": { "contains": "龙井" } }),
        json!({ "keywords": { "icontains": "OOLONG" } }),
        json!({ "metadata": { "team": "红队", "priority": 3.0 } }),
        json!({ "metadata": { "priority": { "gte": 2, "lt": 4 } } }),
        json!({ "metadata": { "missing": null, "done": { "ne": true } } }),
    ] {
        assert!(fits(yes.clone()), "{yes}");
    }
    for no in [
        json!({ "user_id": "li" }),
        json!({ "agent_id": null }),
        json!({ "run_id": { "ne": "trip" } }),
        json!({ "created_at": { "gt": "2026-03-01" } }),
        json!({ "categories": { "contains": "drink" } }),
        json!({ "keywords": { "contains": "OOLONG" } }),
        json!({ "metadata": { "priority": { "gt": "2" } } }),
        json!({ "metadata": { "missing": "*" } }),
    ] {
        assert!(!fits(no.clone()), "{no}");
    }
}

#[test]
fn groups_are_combined_as_they_are_nested() {
    assert!(fits(
        json!({ "AND": [{ "user_id": "王芳" }, { "OR": [{ "run_id": "x" }, { "run_id": "trip" }] }] })
    ));
    assert!(fits(
        json!({ "NOT": [{ "user_id": "li" }, { "categories": { "contains": "food" } }] })
    ));
    assert!(!fits(json!({ "NOT": { "user_id": "王芳" } })));
    assert!(!fits(json!({ "OR": [] })));
    assert!(!fits(
        json!({ "AND": [{ "user_id": "王芳" }, { "NOT": [{ "run_id": "x" }, { "run_id": "trip" }] }] })
    ));
}

#[test]
fn unknown_fields_and_operators_are_refused_by_name() {
    for (filters, message) in [
        (json!([]), "a filter is not an object"),
        (json!({ "colour": "red" }), "there is no field `colour` to filter by"),
        (json!({ "user_id": { "like": "w%" } }), "`user_id` does not support the operator `like`"),
        (json!({ "created_at": "yesterday" }), "`created_at` is not a time"),
        (
            json!({ "created_at": { "contains": "2026" } }),
            "`created_at` does not support the operator `contains`",
        ),
        (json!({ "AND": { "user_id": "a" } }), "`AND` takes a list of filters"),
        (json!({ "metadata": 5 }), "`metadata` takes an object"),
        (json!({ "categories": { "in": "茶" } }), "`in` of `categories` does not take this value"),
        (json!({ "metadata": { "a": { "gt": null } } }), "`gt` of `a` takes a number or a text"),
        (json!({ "user_id": {} }), "`user_id` has no operator"),
    ] {
        assert_eq!(parse(filters.clone()).unwrap_err(), message, "{filters}");
    }
    let many: Vec<Value> = (0..300).map(|n| json!({ "user_id": n.to_string() })).collect();
    assert!(parse(json!({ "OR": many })).unwrap_err().contains("200 conditions"));
}

#[test]
fn unknown_fields_are_metadata_on_the_open_source_server() {
    let filter = Mem0Filter::parse(&json!({ "team": "红队" }), FilterDialect::OpenSource).unwrap();
    assert!(filter.matches(&memory(), &Scope::default()));
}

#[test]
fn a_scope_alone_decides_where_it_can() {
    let (default_scope, li) = (Scope::default(), Scope::new("default", "li").unwrap());
    let matches = |filters| parse(filters).unwrap().matches_scope(&li, &default_scope);
    assert_eq!(matches(json!({ "user_id": "li" })), Some(true));
    assert_eq!(matches(json!({ "user_id": "li", "run_id": "a" })), None);
    assert_eq!(matches(json!({ "user_id": "王", "run_id": "a" })), Some(false));
    assert_eq!(matches(json!({ "OR": [{ "user_id": "王" }, { "run_id": "a" }] })), None);
    assert_eq!(matches(json!({ "OR": [{ "user_id": "li" }, { "run_id": "a" }] })), Some(true));
    assert_eq!(matches(json!({ "NOT": [{ "user_id": "li" }] })), Some(false));
    assert_eq!(matches(json!({ "agent_id": "*" })), Some(false));
}
