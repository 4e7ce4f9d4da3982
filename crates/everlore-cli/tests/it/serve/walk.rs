//! Every route of the description, asked by those who may not: a route that is added is asked too.

use serde_json::{Value, json};

use super::{Serving, access::key, id};
use crate::home::Home;

/// Routes that anyone may ask.
const OPEN: [&str; 2] = ["/health", "/ready"];

/// Routes whose answer has no end, each with what else tests it. They are asked where they refuse, and not where they answer.
const UNENDING: [(&str, &str); 1] =
    [("/v1/events", "serve::api follows the stream, and a_key_hears_nothing asks for its scope")];

/// A method and a path of the description, with something in place of each name.
pub(super) struct Route {
    pub(super) method: String,
    pub(super) template: String,
    pub(super) path: String,
}

/// All routes; `id` stands where a memory is named.
pub(super) fn routes(server: &Serving, id: &str) -> Vec<Route> {
    let api = server.send(&[], "GET", "/v1/openapi.json", None).json(200);
    let mut routes = Vec::new();
    for (template, item) in api["paths"].as_object().unwrap() {
        let path = filled(template, id);
        for method in item.as_object().unwrap().keys() {
            let (method, template) = (method.to_uppercase(), template.clone());
            routes.push(Route { method, template, path: path.clone() });
        }
    }
    routes
}

fn filled(template: &str, id: &str) -> String {
    let mut path = template.to_owned();
    for (name, value) in [
        ("{id}", id),
        ("{layer}", "user"),
        ("{name}", "memory_recall"),
        ("{file}", "user_role.md"),
        ("{kind}", "user"),
    ] {
        path = path.replace(name, value);
    }
    while let Some((start, end)) = path.find('{').zip(path.find('}')) {
        path.replace_range(start..=end, "s");
    }
    path
}

/// Something that each route might take, with all names that lead to Li's memory.
fn body(template: &str, foreign: &str) -> Value {
    let li = json!({ "user_id": "li", "agent_id": "helper" });
    let message = json!([{ "role": "user", "content": "tangerine" }]);
    match template {
        "/v1/memories" => json!({ "content": "我的 own words" }),
        "/v1/turns" => json!({ "text": "我的 own words", "session": "s" }),
        "/v1/turns/batch" => json!({ "turns": [{ "text": "own 话", "session": "s" }] }),
        "/v1/recall" | "/v1/context" => json!({ "query": "vault code tangerine 橘子" }),
        "/v1/tools/{name}" => json!({ "query": "vault code tangerine 橘子" }),
        "/v1/undo" => json!({ "seq": 1 }),
        "/v1/memories/{id}" => json!({ "content": "overwritten" }),
        "/v1/memories/{id}/weight" => json!({ "weight": 0 }),
        "/v1/layers/{layer}" => json!({ "action": "add", "section": "s", "content": "own" }),
        "/v1/sessions/{session}/answered" => json!({ "answer": "tangerine" }),
        "/v1/vault/{file}" => json!({ "kind": "user", "name": "own", "content": "own 话" }),
        "/v1/batch/" => json!({ "memories": [{ "memory_id": foreign, "text": "overwritten" }] }),
        "/v1/feedback/" => json!({ "memory_id": foreign, "feedback": "NEGATIVE" }),
        template if template.contains("search") => json!({ "query": "tangerine", "filters": li }),
        "/memories/{id}" | "/v1/memories/{id}/" => json!({ "text": "overwritten" }),
        template if template.contains("/add") || template.ends_with("memories") => {
            json!({ "messages": message, "user_id": "li", "agent_id": "helper" })
        }
        template if template.ends_with("/memories/") => json!({ "filters": li }),
        _ => json!({}),
    }
}

/// A server with Li's memory, a key of Wang's who may do everything in his own, and the id of the former.
fn two_scopes(home: &Home) -> (Serving, String, String) {
    let server = Serving::on(home, &["--rate", "100000"]);
    let secret = json!({ "content": "The vault code of Li is tangerine 橘子" });
    let foreign = server.ask("POST", "/v1/memories?agent=helper&user=li", Some(secret)).json(201);
    let turn = json!({ "text": "the vault code is tangerine 橘子", "session": "s" });
    server.ask("POST", "/v1/turns?agent=helper&user=li", Some(turn)).json(201);
    (server, key(home, "wang", "admin", ["助手", "王"]), id(&foreign))
}

fn is_open(route: &Route) -> bool {
    OPEN.contains(&route.template.as_str())
}

fn is_unending(route: &Route) -> bool {
    UNENDING.iter().any(|(template, _)| *template == route.template)
}

#[test]
fn without_a_token_or_a_key_nothing_is_answered() {
    let home = Home::new();
    let server = Serving::on(&home, &["--rate", "100000"]);
    let routes = routes(&server, "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04");
    assert!(routes.len() > 60, "{}", routes.len());
    for route in routes.iter().filter(|route| !is_open(route)) {
        for wrong in [&[][..], &[("authorization", "Bearer evl_0")], &[("x-api-key", "evl_0")]] {
            let told = server.send(wrong, &route.method, &route.path, Some(json!({})));
            assert_eq!(told.status, 401, "{} {}: {told:?}", route.method, route.path);
        }
    }
}

#[test]
fn a_key_that_names_another_scope_is_refused_by_every_route() {
    let home = Home::new();
    let (server, wang, foreign) = two_scopes(&home);
    let own = |route: &&Route| route.template.starts_with("/v1/") && !route.template.ends_with('/');
    let routes = routes(&server, &foreign);
    let asked: Vec<&Route> = routes.iter().filter(own).collect();
    assert!(asked.len() > 40, "{}", asked.len());
    for Route { method, template, path } in asked {
        let body = (method != "GET").then(|| body(template, &foreign));
        let path = format!("{path}?agent=helper&user=li");
        let told = server.ask_as(&wang, method, &path, body);
        assert_eq!(told.problem(403), "scope", "{method} {path}");
    }
}

#[test]
fn no_route_tells_a_key_of_another_scope_or_changes_it() {
    let home = Home::new();
    let (server, wang, foreign) = two_scopes(&home);
    let whole = || {
        ["/v1/export", "/v1/export?journal=true"].map(|path| {
            let joint = if path.contains('?') { '&' } else { '?' };
            let told = server.ask("GET", &format!("{path}{joint}agent=helper&user=li"), None);
            // The first line says when it was made.
            told.text.split_once('\n').unwrap().1.to_owned()
        })
    };
    let before = whole();
    assert!(before[0].contains("tangerine"));
    for Route { method, template, path } in
        routes(&server, &foreign).iter().filter(|route| !is_unending(route))
    {
        let lines = template == "/v1/import";
        let body = (method != "GET").then(|| body(template, &foreign));
        let bearer = format!("Bearer {wang}");
        let told = match lines {
            false => server.ask_as(&wang, method, path, body),
            true => {
                let with =
                    [("authorization", bearer.as_str()), ("content-type", "application/x-ndjson")];
                server.send(&with, method, path, Some(json!("{\"content\":\"own\"}\n")))
            }
        };
        assert!(told.status < 500, "{method} {path}: {told:?}");
        for leak in ["vault code of Li", "the vault code is", "\"li\"", "helper/li"] {
            assert!(!told.text.contains(leak), "{method} {path}: {told:?}");
        }
    }
    assert_eq!(whole(), before);
}
