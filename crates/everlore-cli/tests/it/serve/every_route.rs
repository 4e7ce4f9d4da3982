//! Every described route, requested without the permission for it; a new route is covered by itself.

use serde_json::{Value, json};

use super::{ApiResponse, TestServer, access::key, id, provider_and_home};
use crate::home::TestHome;

/// Routes without authentication. The code of a sign-in is a secret itself, good for once.
const OPEN: [&str; 3] = ["/health", "/ready", "/v1/sign-in"];

/// Routes with an endless response, each with the test that covers it. Here only their refusals are tested.
const UNENDING: [(&str, &str); 1] =
    [("/v1/events", "serve::api follows the stream, and a_key_hears_nothing asks for its scope")];

/// Method and path of a described route, with a value for each parameter.
pub(super) struct ApiRoute {
    pub(super) method: String,
    pub(super) template: String,
    pub(super) path: String,
    /// Shape of its errors: ours, or that of another system's protocol.
    shape: String,
}

/// Returns all routes; `id` stands for a memory.
pub(super) fn routes(server: &TestServer, id: &str) -> Vec<ApiRoute> {
    let api = server.request_with_headers(&[], "GET", "/v1/openapi.json", None).json(200);
    let mut routes = Vec::new();
    for (template, item) in api["paths"].as_object().unwrap() {
        let path = fill_template(template, id);
        for (method, operation) in item.as_object().unwrap() {
            let (method, template) = (method.to_uppercase(), template.clone());
            let shape = shape(&operation["responses"]["default"]);
            routes.push(ApiRoute { method, template, path: path.clone(), shape });
        }
    }
    routes
}

fn shape(response: &Value) -> String {
    let content = response["content"].as_object().unwrap().values().next().unwrap();
    content["schema"]["$ref"].as_str().unwrap().rsplit('/').next().unwrap().to_owned()
}

fn fill_template(template: &str, id: &str) -> String {
    let mut path = template.to_owned();
    for (name, value) in [
        ("{id}", id),
        ("{layer}", "user"),
        ("{name}", "memory_recall"),
        ("{file}", "user_role.md"),
        ("{kind}", "user"),
        ("{job}", "upkeep"),
    ] {
        path = path.replace(name, value);
    }
    while let Some((start, end)) = path.find('{').zip(path.find('}')) {
        path.replace_range(start..=end, "s");
    }
    path
}

/// Returns the query that a route requires.
fn query(method: &str, template: &str) -> &'static str {
    match (method, template) {
        (_, "/v1/fs/find") => "?query=vault%20code%20tangerine",
        (_, "/v1/fs/inject") => "?query=vault%20code%20tangerine",
        (_, "/v1/fs/grep") => "?pattern=tangerine",
        (_, "/v1/fs/read") => "?uri=user&level=l1",
        (_, "/v1/fs/tree") => "?depth=9",
        (_, "/v1/trajectories/{session}/export") => "?format=atif",
        ("DELETE", "/v1/fs") => "?uri=user&recursive=true",
        _ => "",
    }
}

/// Returns a body for a route, with every way to name Li's memory.
fn body(template: &str, foreign: &str) -> Value {
    let li = json!({ "user_id": "li", "agent_id": "helper" });
    let message = json!([{ "role": "user", "content": "tangerine" }]);
    match template {
        "/v1/memories" => json!({ "content": "我的 own words" }),
        "/v1/turns" => json!({ "text": "我的 own words", "session": "s" }),
        "/v1/turns/batch" => json!({ "turns": [{ "text": "own 话", "session": "s" }] }),
        "/v1/recall" | "/v1/context" => json!({ "query": "vault code tangerine 橘子" }),
        "/v1/tools/{name}" => json!({ "query": "vault code tangerine 橘子" }),
        "/v1/tokens" | "/v1/embed" => json!({ "text": "own 话" }),
        "/v1/undo" => json!({ "seq": 1 }),
        "/v1/everything" => {
            json!({ "action": "forget", "agent": "helper", "user": "li", "yes": true })
        }
        "/v1/memories/{id}" => json!({ "content": "overwritten" }),
        "/v1/memories/{id}/weight" => json!({ "weight": 0 }),
        "/v1/agents/{agent}/settings" => json!({ "memory": { "enabled": true } }),
        "/v1/layers/{layer}" => json!({ "action": "add", "section": "s", "content": "own" }),
        "/v1/sessions/{session}/answered" => json!({ "answer": "tangerine" }),
        "/v1/vault/{file}" => json!({ "kind": "user", "name": "own", "content": "own 话" }),
        "/v1/fs" => json!({ "uri": "user", "content": "own 话" }),
        "/v1/embeddings" => json!({ "model": "everlore-builtin", "input": "tangerine" }),
        "/v1/responses" => {
            json!({ "model": "everlore", "input": "vault code tangerine 橘子", "user": "li" })
        }
        "/v1/chat/completions" => {
            json!({ "model": "everlore", "messages": message, "user": "li", "metadata": li })
        }
        template if template.starts_with("/anthropic/") => {
            json!({ "model": "everlore", "max_tokens": 9, "messages": message, "metadata": li })
        }
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

/// Starts a server with Li's memory, and returns Wang's admin key and the id of Li's memory.
fn two_scopes(home: &TestHome) -> (TestServer, String, String) {
    let server = TestServer::start(home, &["--rate", "100000"]);
    let secret = json!({ "content": "The vault code of Li is tangerine 橘子" });
    let foreign =
        server.request("POST", "/v1/memories?agent=helper&user=li", Some(secret)).json(201);
    let turn = json!({ "text": "the vault code is tangerine 橘子", "session": "s" });
    server.request("POST", "/v1/turns?agent=helper&user=li", Some(turn)).json(201);
    (server, key(home, "wang", "admin", ["助手", "王"]), id(&foreign))
}

fn is_open(route: &ApiRoute) -> bool {
    OPEN.contains(&route.template.as_str())
}

pub(super) fn is_unending(route: &ApiRoute) -> bool {
    UNENDING.iter().any(|(template, _)| *template == route.template)
}

/// Returns `true` for a route of a model provider's protocol.
fn is_proxied(route: &ApiRoute) -> bool {
    ["OpenaiError", "AnthropicError"].contains(&route.shape.as_str())
}

/// Checks that a response refuses another scope, in the shape of the route's protocol.
#[track_caller]
fn assert_refused(route: &ApiRoute, response: &ApiResponse) {
    if !is_proxied(route) {
        assert_eq!(response.problem_code(403), "scope", "{} {}", route.method, route.path);
        return;
    }
    let problem = response.json(403);
    assert_eq!(response.headers["content-type"], "application/json");
    assert_eq!(problem["error"]["type"], "permission_error", "{problem}");
    let message = problem["error"]["message"].as_str().unwrap();
    assert!(message.contains("another agent or user"), "{problem}");
    match route.shape.as_str() {
        "OpenaiError" => assert_eq!(problem["error"]["code"], "scope"),
        _ => assert_eq!(problem["type"], "error"),
    }
}

#[test]
fn without_a_token_or_a_key_every_route_refuses() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &["--rate", "100000"]);
    let routes = routes(&server, "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04");
    assert!(routes.len() > 60, "{}", routes.len());
    for route in routes.iter().filter(|route| !is_open(route)) {
        for wrong in [&[][..], &[("authorization", "Bearer evl_0")], &[("x-api-key", "evl_0")]] {
            let response =
                server.request_with_headers(wrong, &route.method, &route.path, Some(json!({})));
            assert_eq!(response.status, 401, "{} {}: {response:?}", route.method, route.path);
        }
    }
}

#[test]
fn a_key_that_names_another_scope_is_refused_by_every_route() {
    let (provider, home) = provider_and_home();
    let (server, wang, foreign) = two_scopes(&home);
    // mem0's routes name the user in other ways, which `clients::mem0` tests.
    let is_scoped = |route: &&ApiRoute| {
        let is_ours = route.template.starts_with("/v1/") && route.shape == "Problem";
        is_proxied(route) || is_ours && !is_open(route)
    };
    let routes = routes(&server, &foreign);
    let scoped: Vec<&ApiRoute> = routes.iter().filter(is_scoped).collect();
    assert!(scoped.len() >= 50, "{}", scoped.len());
    for route in scoped {
        let ApiRoute { method, template, path, .. } = route;
        let body = (method != "GET").then(|| body(template, &foreign));
        let path = format!("{path}?agent=helper&user=li");
        assert_refused(route, &server.request_as(&wang, method, &path, body.clone()));
        if is_proxied(route) {
            let bearer = format!("Bearer {wang}");
            let named = [
                ("authorization", bearer.as_str()),
                ("x-everlore-agent", "helper"),
                ("x-everlore-user", "li"),
            ];
            assert_refused(route, &server.request_with_headers(&named, method, &route.path, body));
        }
    }
    assert!(provider.requests().is_empty(), "nothing was passed on");
}

#[test]
fn no_route_shows_a_key_another_scope_or_changes_it() {
    let (provider, home) = provider_and_home();
    let (server, wang, foreign) = two_scopes(&home);
    let whole = || {
        ["/v1/export", "/v1/export?journal=true"].map(|path| {
            let joint = if path.contains('?') { '&' } else { '?' };
            let response =
                server.request("GET", &format!("{path}{joint}agent=helper&user=li"), None);
            // The first line has the time of the export.
            response.text.split_once('\n').unwrap().1.to_owned()
        })
    };
    let before = whole();
    assert!(before[0].contains("tangerine"));
    let leaks = ["vault code of Li", "the vault code is", "\"li\"", "helper/li"];
    for ApiRoute { method, template, path, .. } in
        routes(&server, &foreign).iter().filter(|route| !is_unending(route))
    {
        let path = &format!("{path}{}", query(method, template));
        let lines = template == "/v1/import";
        let body = (method != "GET").then(|| body(template, &foreign));
        let bearer = format!("Bearer {wang}");
        let response = if lines {
            let with =
                [("authorization", bearer.as_str()), ("content-type", "application/x-ndjson")];
            let line = Some(json!("{\"content\":\"own\"}\n"));
            server.request_with_headers(&with, method, path, line)
        } else {
            server.request_as(&wang, method, path, body)
        };
        assert!(response.status < 500, "{method} {path}: {response:?}");
        for leak in leaks {
            assert!(!response.text.contains(leak), "{method} {path}: {response:?}");
        }
    }
    // The provider gets Wang's own words, his name for the user among them, and nothing of Li's memory.
    let requests = provider.requests();
    assert!(requests.len() > 5 || cfg!(not(feature = "remote")), "{requests:?}");
    for request in requests {
        let text = String::from_utf8(request.body).unwrap();
        assert!(
            !text.contains("vault code of Li") && !text.contains("the vault code is"),
            "{text}"
        );
    }
    assert_eq!(whole(), before);
}
