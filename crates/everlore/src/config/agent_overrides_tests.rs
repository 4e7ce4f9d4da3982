//! Tests of an agent's overrides and of changes to its file.

use serde_json::{Value, json};

use super::{AgentConfig, AgentConfigPatch, Config, agent_overrides::is_overridable};
use crate::error::Error;

fn agent_config(text: &str) -> AgentConfig {
    Config::default().for_agent(text).unwrap()
}

fn error_messages(agent: &AgentConfig) -> Vec<String> {
    agent.errors.iter().map(ToString::to_string).collect()
}

fn merge(text: &str, patch: &Value) -> Result<String, Vec<(String, String)>> {
    apply_patch(text, &AgentConfigPatch::Merge(patch.as_object().unwrap().clone()))
}

fn replace(text: &str, all: &Value) -> Result<String, Vec<(String, String)>> {
    apply_patch(text, &AgentConfigPatch::Replace(all.as_object().unwrap().clone()))
}

fn apply_patch(text: &str, change: &AgentConfigPatch) -> Result<String, Vec<(String, String)>> {
    match Config::default().patch_agent_config(text, change) {
        Ok(text) => Ok(text),
        Err(Error::InvalidConfig { problems }) => Err(problems),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_an_agent_says_is_laid_over_what_the_home_says() {
    let mut home = Config::default();
    (home.memory.inject.limit, home.recall.limit) = (7, 9);
    let agent = home.for_agent("[memory]\nenabled = false\n[memory.inject]\nlimit = 3\n").unwrap();
    assert_eq!((agent.config.memory.enabled, agent.config.memory.inject.limit), (false, 3));
    assert_eq!(agent.config.recall.limit, 9, "what it does not say is the home's");
    assert_eq!(
        agent.overrides(),
        *json!({ "memory": { "enabled": false, "inject": { "limit": 3 } } }).as_object().unwrap()
    );
    assert_eq!((agent.errors, agent.warnings), (vec![], vec![]));
}

#[test]
fn models_keys_and_the_server_are_the_homes() {
    let text = "[server]\nport = 1\n[memory_agent]\napi_key = \"sk-1\"\nbase_url = \"http://x\"\n\
                [chat]\nmodel = \"x\"\n[memory.long_term]\nvector_index = false\n[recall]\ndomains = [\"x\"]\n";
    let agent = agent_config(text);
    assert_eq!((agent.config, agent.overridden), (Config::default(), vec![]));
    let messages: Vec<_> = agent.warnings.iter().map(ToString::to_string).collect();
    let expected = "line 2: `server.port` is shared by all agents; set it in config.toml, so it is ignored here";
    assert_eq!(messages.len(), 6, "{messages:#?}");
    assert!(messages.iter().any(|messages| messages == expected), "{messages:#?}");
    for path in ["memory_agents", "memory_agent.provider", "general.agent", "upkeep.ledger_days"] {
        assert!(!is_overridable(path), "{path}");
    }
}

#[test]
fn an_agent_cannot_switch_masking_off_or_a_model_on() {
    let unsafe_text = "[memory]\nmask_secrets = false\n[memory_agent]\nenabled = true\n";
    let found = agent_config(unsafe_text);
    assert_eq!(found.errors.len(), 2, "{:?}", found.errors);
    assert!(found.config.memory.mask_secrets && !found.config.memory_agent.enabled);
    let mut open = Config::default();
    open.memory.mask_secrets = false;
    assert!(open.for_agent("memory.mask_secrets = true").unwrap().config.memory.mask_secrets);
    assert_eq!(open.for_agent("memory.mask_secrets = false").unwrap().errors.len(), 1);
}

#[test]
fn what_cannot_be_used_is_told_with_its_place_and_the_rest_holds() {
    let text = "[memory]\nenabled = false\nmax_history = \"many\"\n[memory.inject]\nlimit = 5000\n[prompt]\ngiude = false\n";
    let agent = agent_config(text);
    assert_eq!(
        error_messages(&agent),
        [
            "line 3: `memory.max_history`: expected a whole number, 0 or more, found text",
            "the setting `memory.inject.limit` is 5000, but must be from 0 to 1000"
        ]
    );
    assert_eq!((agent.config.memory.enabled, agent.config.memory.inject.limit), (false, 5));
    assert_eq!(agent.warnings[0].nearest.as_deref(), Some("prompt.guide"));
    assert!(Config::default().for_agent("[memory\n").is_err());
}

#[test]
fn a_secret_of_the_home_survives_an_agents_settings() {
    let (home, _) = Config::parse("[memory_agent]\napi_key = \"sk-秘密\"\n").unwrap();
    for text in ["", "memory.enabled = false", "memory.inject.limit = 5000"] {
        let agent = home.for_agent(text).unwrap();
        assert_eq!(agent.config.memory_agent.api_key.reveal(), "sk-秘密");
    }
    assert!(!json!(home.overridable_values()).to_string().contains("sk-"));
}

#[test]
fn comments_order_and_foreign_keys_stay_where_a_setting_is_changed() {
    let before = "# 我的\n[memory] # of mine\nenabled = false # for now\nfuture = 1\n\n[recall]\nlimit = 3\n";
    let patch = json!({ "memory": { "enabled": true, "inject": { "limit": 2 } }, "recall": null });
    let after = merge(before, &patch).unwrap();
    assert_eq!(
        after,
        "# 我的\n[memory] # of mine\nenabled = true # for now\nfuture = 1\n\n[memory.inject]\nlimit = 2\n"
    );
    assert_eq!(merge(&after, &json!({})).unwrap(), after);
    let fresh = replace(before, &json!({ "general": { "language": "zh" } })).unwrap();
    assert!(
        fresh.starts_with('#') && fresh.ends_with("\n[general]\nlanguage = \"zh\"\n"),
        "{fresh}"
    );
    assert_eq!(agent_config(&fresh).overridden, ["general.language"]);
}

#[test]
fn every_mistake_of_a_change_is_named_and_nothing_is_written() {
    let patch = json!({
        "memory": { "enabled": "no", "inject": { "limit": -1, "limti": 3 }, "mask_secrets": false },
        "recall": { "k1": [1], "b": {} , "domains": ["x"] },
        "server": { "port": 1 },
        "layers": 3,
        "a.b": 1,
        "memory.enabled": false,
        "助手": {},
    });
    let problems = merge("", &patch).unwrap_err();
    let mut keys: Vec<_> = problems.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(
        keys,
        [
            "a.b",
            "layers",
            "memory.enabled",
            "memory.inject.limit",
            "memory.inject.limti",
            "memory.mask_secrets",
            "recall.b",
            "recall.domains",
            "recall.k1",
            "server.port",
            "助手"
        ]
    );
    let near = problems.iter().find(|(key, _)| key == "memory.inject.limti").unwrap();
    assert!(near.1.contains("memory.inject.limit"), "{near:?}");
}

#[test]
fn null_removes_in_a_patch_and_is_refused_where_all_is_replaced() {
    let text = "memory.enabled = false\nold_name = 1\n";
    let emptied = merge(text, &json!({ "memory": null, "old_name": null })).unwrap();
    assert_eq!(agent_config(&emptied).overridden, Vec::<String>::new());
    assert_eq!(merge("", &json!({ "prompt": { "index": null } })).unwrap().lines().count(), 1);
    assert_eq!(merge("", &json!({ "promt": null })).unwrap_err()[0].0, "promt");
    assert_eq!(replace("", &json!({ "memory": null })).unwrap_err()[0].0, "memory");
}

#[test]
fn all_settings_of_an_agent_can_be_set_at_once_and_read_again() {
    let all = Value::Object(Config::default().overridable_values());
    let text = replace("", &all).unwrap();
    let found = agent_config(&text);
    assert_eq!(Value::Object(found.overrides()), all);
    assert_eq!(found.config, Config::default());
    // As written by a program that knows one kind of number.
    let text =
        replace("", &json!({ "memory": { "inject": { "limit": 4.0 } }, "recall": { "k1": 1 } }));
    let found = agent_config(&text.unwrap());
    assert_eq!((found.config.memory.inject.limit, found.config.recall.k1), (4, 1.0));
}

#[test]
fn names_with_dots_become_sections() {
    let change = AgentConfigPatch::from_paths([
        ("memory.inject.limit".to_owned(), Some(json!(3))),
        ("memory.enabled".to_owned(), Some(json!(false))),
        ("recall".to_owned(), None),
    ]);
    let expected =
        json!({ "memory": { "inject": { "limit": 3 }, "enabled": false }, "recall": null });
    assert_eq!(change, AgentConfigPatch::Merge(expected.as_object().unwrap().clone()));
}
