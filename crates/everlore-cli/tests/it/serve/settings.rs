//! Settings of one agent over HTTP: permissions, effective values and refusals.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{TestServer, access::key};
use crate::home::TestHome;

/// Path of the settings of 助手.
const PATH: &str = "/v1/agents/%E5%8A%A9%E6%89%8B/settings";

fn off() -> Value {
    json!({ "memory": { "enabled": false } })
}

#[test]
fn settings_are_read_replaced_patched_and_removed() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let before = server.request("GET", PATH, None);
    let response = before.json(200);
    assert_eq!((&response["agent"], &response["own"]), (&json!("助手"), &json!({})));
    assert_eq!(response["settings"]["memory"]["inject"]["limit"], 5);
    for hidden in ["api_key", "provider", "port", "base_url", "domains"] {
        assert!(!before.text.contains(&format!("\"{hidden}\"")), "{hidden}");
    }
    let replaced = json!({ "memory": { "inject": { "limit": 3 } }, "prompt": { "guide": false } });
    let response = server.request("PUT", PATH, Some(replaced.clone())).json(200);
    assert_eq!(
        (&response["own"], &response["settings"]["memory"]["inject"]["limit"]),
        (&replaced, &json!(3))
    );
    let patch = json!({ "memory": { "inject": { "limit": 4.0 } }, "prompt": null });
    let patched = server.request("PATCH", PATH, Some(patch));
    assert_eq!(patched.json(200)["own"], json!({ "memory": { "inject": { "limit": 4 } } }));
    let again = server.request("GET", PATH, None);
    assert_eq!(again.headers["etag"], patched.headers["etag"]);
    assert_ne!(again.headers["etag"], before.headers["etag"]);
    let other = server.request("GET", "/v1/agents/other/settings", None).json(200);
    assert_eq!(other["settings"]["memory"]["inject"]["limit"], 5);
    let removed = server.request("DELETE", PATH, None);
    assert_eq!(removed.json(200), before.json(200));
    assert_eq!(removed.headers["etag"], before.headers["etag"]);
}

#[test]
fn memory_goes_off_for_one_agent_at_once_and_stays_on_for_another() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let tea = || Some(json!({ "content": "王喜欢喝龙井茶 and oolong" }));
    let body = || Some(json!({ "query": "喜欢喝什么茶？" }));
    for agent in ["%E5%8A%A9%E6%89%8B", "helper"] {
        server.request("POST", &format!("/v1/memories?agent={agent}"), tea()).json(201);
    }
    server.request("PATCH", PATH, Some(off())).json(200);
    let refused = server.request("POST", "/v1/memories?agent=%E5%8A%A9%E6%89%8B", tea());
    assert_eq!(refused.problem_code(422), "invalid");
    let block = |agent: &str| {
        server.request("POST", &format!("/v1/context?agent={agent}"), body()).json(200)["text"]
            .clone()
    };
    assert_eq!(block("%E5%8A%A9%E6%89%8B"), "");
    assert!(block("helper").as_str().unwrap().contains("龙井茶"));
    let more = json!({ "content": "王住在里斯本 Lisbon" });
    server.request("POST", "/v1/memories?agent=helper", Some(more)).json(201);
    let agents = server.request("GET", "/v1/agents", None).json(200)["agents"].clone();
    let state = |at: usize| (agents[at]["enabled"].clone(), agents[at]["own_settings"].clone());
    assert_eq!((state(0), state(1)), ((json!(true), json!(false)), (json!(false), json!(true))));
    // The command line changes the same file, and the server notices it at the next request.
    home.json(&["agent", "unset", "助手", "memory.enabled"]);
    assert!(block("%E5%8A%A9%E6%89%8B").as_str().unwrap().contains("龙井茶"));
}

#[test]
fn every_invalid_setting_is_named() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let wrong = json!({
        "memory": { "enabled": "没有", "mask_secrets": false, "inject": { "limit": 5000, "limti": 1 } },
        "server": { "port": 1 },
        "memory_agent": { "api_key": "sk-1" },
    });
    for method in ["PUT", "PATCH"] {
        let response = server.request(method, PATH, Some(wrong.clone()));
        assert_eq!(response.problem_code(422), "invalid");
        let errors = response.json(422)["more"]["errors"].as_array().unwrap().clone();
        let mut keys: Vec<_> = errors.iter().map(|one| one["key"].as_str().unwrap()).collect();
        keys.sort_unstable();
        let expected = [
            "memory.enabled",
            "memory.inject.limit",
            "memory.inject.limti",
            "memory.mask_secrets",
            "memory_agent.api_key",
            "server.port",
        ];
        assert_eq!(keys, expected);
        let of =
            |key: &str| errors.iter().find(|one| one["key"] == key).unwrap()["message"].clone();
        assert_eq!(of("memory.enabled"), "expected true or false, found text");
        assert_eq!(of("memory.inject.limit"), "is 5000, but must be from 0 to 1000");
        assert!(!response.text.contains("sk-1"), "values are not repeated");
    }
    assert_eq!(server.request("PUT", PATH, Some(json!([1]))).problem_code(400), "invalid");
    assert_eq!(server.request("GET", &format!("{PATH}?x=1"), None).problem_code(400), "invalid");
    assert_eq!(
        server.request("GET", &format!("{PATH}?agent=b"), None).problem_code(400),
        "invalid"
    );
    assert!(!home.path().join("agents/助手/settings.toml").exists());
}

#[test]
fn only_the_owner_changes_settings_and_the_agents_own_admin_reads_them() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let admin = key(&home, "管理", "admin", ["助手", "王"]);
    let writer = key(&home, "writer", "write", ["助手", "王"]);
    let foreign = key(&home, "foreign", "admin", ["helper", "王"]);
    for (method, body) in
        [("PUT", Some(off())), ("PATCH", Some(off())), ("GET", None), ("DELETE", None)]
    {
        assert_eq!(
            server.request_as(&writer, method, PATH, body.clone()).problem_code(403),
            "role"
        );
        assert_eq!(
            server.request_as(&foreign, method, PATH, body.clone()).problem_code(403),
            "scope"
        );
        assert_eq!(
            server.request_as("evl_0", method, PATH, body.clone()).problem_code(401),
            "unauthorized"
        );
        let expected = if method == "GET" { 200 } else { 403 };
        assert_eq!(server.request_as(&admin, method, PATH, body.clone()).status, expected);
        assert_eq!(server.request(method, PATH, body).status, 200);
    }
    let audit = fs::read_to_string(home.path().join("server-audit.jsonl")).unwrap();
    let lines: Vec<Value> = audit.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let put =
        lines.iter().find(|line| line["method"] == "PUT" && line["caller"] == "token").unwrap();
    assert_eq!(put["route"], "/v1/agents/{agent}/settings");
    assert_eq!((&put["agent"], &put["status"]), (&json!("助手"), &json!(200)));
    assert!(!audit.contains("enabled"), "what was set is not in the log");
}

#[test]
fn hostile_names_reach_no_file() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for name in ["..%2F..%2Fetc", "%2e%2e", "a%2Fb", "a%5Cb", "%00", ".x", "%20a", "%ff"] {
        let path = format!("/v1/agents/{name}/settings");
        let response = server.request("PUT", &path, Some(off()));
        assert!([400, 404, 422].contains(&response.status), "{name}: {response:?}");
    }
    assert!(!home.path().join("agents").exists());
}

#[test]
fn a_change_of_an_outdated_version_is_refused() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let etag = server.request("GET", PATH, None).headers["etag"].to_str().unwrap().to_owned();
    let bearer = format!("Bearer {}", server.token);
    let with = |tag: &str, method: &str, body| {
        server.request_with_headers(
            &[("authorization", &bearer), ("if-match", tag)],
            method,
            PATH,
            body,
        )
    };
    let first = with(&etag, "PUT", Some(off()));
    assert_eq!(first.status, 200, "{first:?}");
    for (method, body) in [("PUT", Some(json!({}))), ("PATCH", Some(json!({}))), ("DELETE", None)] {
        assert_eq!(with(&etag, method, body).problem_code(412), "changed");
    }
    // An edit by hand is a change too.
    let file = home.path().join("agents/助手/settings.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}# mine\n")).unwrap();
    let tag = first.headers["etag"].to_str().unwrap();
    assert_eq!(with(tag, "DELETE", None).problem_code(412), "changed");
    assert_eq!(with("*", "DELETE", None).status, 200);
}

#[test]
fn of_many_changes_to_the_same_version_one_wins() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["--rate", "100000"]);
    let tag = server.request("GET", PATH, None).headers["etag"].to_str().unwrap().to_owned();
    let bearer = format!("Bearer {}", server.token);
    let (won, late) = (AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|threads| {
        for limit in 1..=8 {
            let (server, tag, bearer, won, late) = (&server, &tag, &bearer, &won, &late);
            threads.spawn(move || {
                let body = json!({ "memory": { "inject": { "limit": limit } } });
                let with = [("authorization", bearer.as_str()), ("if-match", tag.as_str())];
                match server.request_with_headers(&with, "PUT", PATH, Some(body)).status {
                    200 => won.store(limit, Ordering::SeqCst),
                    412 => drop(late.fetch_add(1, Ordering::SeqCst)),
                    status => panic!("{status}"),
                }
            });
        }
    });
    assert_eq!(late.into_inner(), 7);
    let own = server.request("GET", PATH, None).json(200)["own"].clone();
    assert_eq!(own["memory"]["inject"]["limit"], won.into_inner());
}

#[test]
fn a_killed_server_leaves_valid_settings_and_all_that_it_acknowledged() {
    let home = TestHome::new();
    let mut server = TestServer::start(&home, &["--rate", "100000"]);
    let (last, bearer) = (AtomicU64::new(0), format!("Bearer {}", server.token));
    let address = server.address.clone();
    thread::scope(|threads| {
        let asking = SettingsClient { address: &address, bearer: &bearer };
        let acknowledged = &last;
        let writer = threads.spawn(move || {
            for limit in 1..=900_u64 {
                match asking.put_limit(limit) {
                    Some(200) => acknowledged.store(limit, Ordering::SeqCst),
                    Some(status) => panic!("{status}"),
                    None => return limit,
                }
            }
            900
        });
        while last.load(Ordering::SeqCst) < 20 {
            thread::yield_now();
        }
        server.child.kill().unwrap();
        let tried = writer.join().unwrap();
        let file = fs::read_to_string(home.path().join("agents/助手/settings.toml")).unwrap();
        let response = home.json(&["agent", "settings", "助手"]);
        let limit = response["own"]["memory"]["inject"]["limit"].as_u64().unwrap();
        let acknowledged = last.load(Ordering::SeqCst);
        assert!((acknowledged..=tried).contains(&limit), "{acknowledged} {limit} {tried}: {file}");
        assert_eq!(response["problem"], Value::Null);
    });
    home.assert_healthy();
    let again = TestServer::start(&home, &[]);
    again.request("PUT", PATH, Some(json!({}))).json(200);
}

/// Sends a request to a server that may have ended.
#[derive(Clone, Copy)]
struct SettingsClient<'a> {
    address: &'a str,
    bearer: &'a str,
}

impl SettingsClient<'_> {
    fn put_limit(&self, limit: u64) -> Option<u16> {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(Duration::from_secs(30)))
            .proxy(None);
        let agent: ureq::Agent = config.build().into();
        let body = json!({ "memory": { "inject": { "limit": limit } } }).to_string();
        let request = agent
            .put(format!("http://{}{PATH}", self.address))
            .header("authorization", self.bearer)
            .header("content-type", "application/json");
        request.send(body).ok().map(|response| response.status().as_u16())
    }
}

#[test]
fn settings_broken_by_hand_leave_the_last_valid_ones_in_effect() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    server.request("PUT", PATH, Some(off())).json(200);
    let file = home.path().join("agents/助手/settings.toml");
    fs::write(&file, "[memory\nenabled = true\n").unwrap();
    let tea = || Some(json!({ "content": "茶 tea" }));
    for _ in 0..3 {
        assert_eq!(
            server
                .request("POST", "/v1/memories?agent=%E5%8A%A9%E6%89%8B", tea())
                .problem_code(422),
            "invalid"
        );
    }
    let response = server.request("GET", PATH, None).json(200);
    assert_eq!(response["settings"]["memory"]["enabled"], false);
    assert!(response["problem"].as_str().unwrap().contains("line 1: not valid TOML"), "{response}");
    let log = fs::read_to_string(home.sibling("log")).unwrap();
    assert_eq!(log.matches("not valid TOML").count(), 1, "logged once: {log}");
    let doctor = home.run(&["doctor"]);
    assert!(
        doctor.code == 2 && doctor.out.contains("settings.toml: line 1: not valid TOML"),
        "{doctor:?}"
    );
    // A patch has nothing to build on; a replacement works.
    assert_eq!(server.request("PATCH", PATH, Some(json!({}))).problem_code(422), "invalid");
    server.request("PUT", PATH, Some(json!({}))).json(200);
    server.request("POST", "/v1/memories?agent=%E5%8A%A9%E6%89%8B", tea()).json(201);
    home.assert_healthy();
}
