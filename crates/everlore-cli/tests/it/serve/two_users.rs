//! Two users of one agent do random things by every route and tool: no answer and no prompt of one has a text of the other.
//! `EVERLORE_TEST_SEED` repeats a run.

use std::fs;

use serde_json::{Map, Value, json};

use super::{
    ApiResponse, TestServer,
    access::key,
    every_route::{ApiRoute, is_unending, routes},
    owner::mcp_call,
    provider_and_home,
};
use crate::{home::TestHome, random::TestRandom};

/// Random operations; each takes some milliseconds.
const STEPS: usize = 1_000;

/// Agent that both users share, as a name and in a path.
const AGENT: [&str; 2] = ["助手", "%E5%8A%A9%E6%89%8B"];

/// Persona that the owner wrote.
const SOUL: &str = "## Voice\n\nCalm. 平静。\n";

/// User with an admin key. Every text of the user has one of the words, and nobody else writes them.
struct KeyedUser {
    name: &'static str,
    key: String,
    words: [&'static str; 2],
}

struct SharedAgentWorld {
    server: TestServer,
    users: [KeyedUser; 2],
    routes: Vec<ApiRoute>,
    tools: Vec<Value>,
    /// Ids of memories of both users, which either may guess.
    ids: Vec<String>,
    random: TestRandom,
}

impl SharedAgentWorld {
    fn new(home: &TestHome) -> Self {
        let folder = home.path().join("agents").join(AGENT[0]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SOUL.md"), SOUL).unwrap();
        let server = TestServer::start(home, &["--rate", "1000000"]);
        let users = [("li", ["amaranth", "紫苋"]), ("wang", ["bergamot", "佛手柑"])];
        let users = users.map(|(name, words)| KeyedUser {
            name,
            key: key(home, name, "admin", [AGENT[0], name]),
            words,
        });
        let mut routes = routes(&server, "ID");
        routes.retain(|route| !is_unending(route));
        let tools = server.request("GET", "/v1/tools", None).json(200)["tools"].clone();
        let tools = tools.as_array().unwrap().clone();
        Self { server, users, routes, tools, ids: Vec::new(), random: TestRandom::new() }
    }

    fn one_of<T: Clone>(&mut self, values: &[T]) -> T {
        values[self.random.below(values.len())].clone()
    }

    /// Returns a text of a user, now and then one that both may write.
    fn text(&mut self, user: usize) -> String {
        let word = self.users[user].words[self.random.below(2)];
        let number = self.random.below(1_000);
        match self.random.below(6) {
            0 => "green tea 绿茶".to_owned(),
            1 => format!("My name is {word} and I live in {word}{number}."),
            2 => format!("我喜欢{word}{number}，不喜欢绿茶。"),
            3 => format!("## {word}\n\ntea {number} 茶"),
            _ => format!("{word} {number} green tea"),
        }
    }

    fn id(&mut self) -> String {
        let unknown = "0199c3f2-7d4e-7a31-b0c5-5f2d1e8a9b04".to_owned();
        let ids = if self.ids.is_empty() { vec![unknown] } else { self.ids.clone() };
        self.one_of(&ids)
    }

    /// Runs one operation of a user and checks its answer.
    fn step(&mut self, user: usize) {
        let (what, response) = match self.random.below(3) {
            0 => self.call_tool(user),
            _ => self.call_route(user),
        };
        self.check(user, &what, &response);
        if let Ok(value) = serde_json::from_str::<Value>(&response.text) {
            collect_ids(&value, &mut self.ids);
        }
    }

    fn check(&self, user: usize, what: &str, response: &ApiResponse) {
        assert!(response.status < 500, "{what}: {response:?}");
        let shown = response.text.to_lowercase();
        for word in self.users[1 - user].words {
            assert!(
                !shown.contains(word),
                "{} sees {word} by {what}: {shown}",
                self.users[user].name
            );
        }
    }

    fn call_tool(&mut self, user: usize) -> (String, ApiResponse) {
        let all = self.tools.clone();
        let tool = self.one_of(&all);
        let name = tool["name"].as_str().unwrap();
        let input = self.input_for(user, "", &tool["input_schema"]);
        let key = self.users[user].key.clone();
        let response = if self.random.below(2) == 0 {
            mcp_call(&self.server, &key, name, &input)
        } else {
            let path = format!("/v1/tools/{name}?session=s");
            self.server.request_as(&key, "POST", &path, Some(input.clone()))
        };
        (format!("{name} {input}"), response)
    }

    /// Returns an input that fits a schema, with texts of a user.
    fn input_for(&mut self, user: usize, name: &str, schema: &Value) -> Value {
        if let Some(values) = schema["enum"].as_array() {
            return self.one_of(values);
        }
        match schema["type"].as_str().unwrap_or("string") {
            "object" => {
                let required = schema["required"].as_array().cloned().unwrap_or_default();
                let mut input = Map::new();
                for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
                    if required.contains(&json!(field)) || self.random.below(3) == 0 {
                        input.insert(field.clone(), self.input_for(user, field, schema));
                    }
                }
                Value::Object(input)
            }
            "array" => json!([self.input_for(user, name, &schema["items"])]),
            "integer" | "number" => json!(schema["minimum"].as_u64().unwrap_or(0).max(1) + 1),
            "boolean" => json!(self.random.below(2) == 0),
            _ => self.string_for(user, name).into(),
        }
    }

    fn string_for(&mut self, user: usize, field: &str) -> String {
        match field {
            "id" | "ids" | "why_not" | "memory_id" => self.id(),
            "uri" => {
                self.one_of(&["", "user", "sessions/s", "layers/SOUL.md", "resources/a.md"]).into()
            }
            "path" => self.one_of(&["/memories", "/memories/a.md"]).into(),
            "session" => "s".into(),
            "date" => "2026-03-02".into(),
            _ => self.text(user),
        }
    }

    fn call_route(&mut self, user: usize) -> (String, ApiResponse) {
        let at = self.random.below(self.routes.len());
        let (method, template) = (self.routes[at].method.clone(), self.routes[at].template.clone());
        let path = self.path(user, &template) + &self.query(&method, &template);
        let key = self.users[user].key.clone();
        if template == "/v1/import" {
            let bearer = format!("Bearer {key}");
            let with =
                [("authorization", bearer.as_str()), ("content-type", "application/x-ndjson")];
            let line = json!({ "content": self.text(user) }).to_string() + "\n";
            let response =
                self.server.request_with_headers(&with, &method, &path, Some(json!(line)));
            return (path, response);
        }
        let body = (method != "GET").then(|| self.body(user, &template));
        let response = self.server.request_as(&key, &method, &path, body.clone());
        (format!("{method} {path} {body:?}"), response)
    }

    fn path(&mut self, user: usize, template: &str) -> String {
        let layer = self.one_of(&["soul", "user", "memory", "daily"]);
        let file = self.one_of(&["user_role.md", "user_tea.md"]);
        let (id, own) = (self.id(), self.users[user].name);
        let mut path = template.to_owned();
        for (name, value) in [
            ("{layer}", layer),
            ("{name}", "memory_recall"),
            ("{file}", file),
            ("{kind}", "user"),
            ("{agent}", AGENT[1]),
            ("entities/user/{id}", &format!("entities/user/{own}")),
            ("{id}", &id),
        ] {
            path = path.replace(name, value);
        }
        while let Some((start, end)) = path.find('{').zip(path.find('}')) {
            path.replace_range(start..=end, "s");
        }
        path
    }

    /// Returns the query of a route; now and then it names the other user.
    fn query(&mut self, method: &str, template: &str) -> String {
        let own = match (method, template) {
            (_, "/v1/fs/find" | "/v1/fs/inject") => "query=tea%20%E8%8C%B6",
            (_, "/v1/fs/grep") => "pattern=e",
            (_, "/v1/fs/read") => {
                self.one_of(&["uri=user&level=l1", "uri=layers/SOUL.md", "uri=layers/USER.md"])
            }
            (_, "/v1/fs/tree") => "depth=9",
            ("GET", "/v1/export") => "journal=true",
            ("DELETE", "/v1/fs") => "uri=user&recursive=true",
            _ => "",
        };
        let other = self.one_of(&["", "", "", "", "", "", "user=li", "user=wang"]);
        format!("?{own}&{other}")
    }

    /// Returns a body for a route, with texts of a user.
    fn body(&mut self, user: usize, template: &str) -> Value {
        let (text, id, name) = (self.text(user), self.id(), self.users[user].name);
        let own = json!({ "user_id": name });
        let message = json!([{ "role": "user", "content": text }]);
        match template {
            "/v1/memories" => json!({ "content": text, "tags": [self.text(user)] }),
            "/v1/turns" => json!({ "text": text, "session": "s", "role": "user" }),
            "/v1/turns/batch" => json!({ "turns": [{ "text": text, "session": "s" }] }),
            "/v1/context" => json!({ "query": text, "session": "s", "stable": true }),
            "/v1/recall" | "/v1/tools/{name}" => json!({ "query": text }),
            "/v1/undo" => json!({ "seq": 1 + self.random.below(20) }),
            "/v1/memories/{id}" => json!({ "content": text }),
            "/v1/memories/{id}/weight" => json!({ "weight": 1 }),
            "/v1/agents/{agent}/settings" => json!({ "memory": { "enabled": false } }),
            "/v1/layers/{layer}" => {
                json!({ "action": "add", "section": "Notes", "content": cut(&text) })
            }
            "/v1/sessions/{session}/answered" => json!({ "answer": text }),
            "/v1/vault/{file}" => json!({ "kind": "user", "name": cut(&text), "content": text }),
            "/v1/fs" => json!({ "uri": "user", "content": text }),
            "/v1/embeddings" => json!({ "model": "everlore-builtin", "input": text }),
            "/v1/responses" => json!({ "model": "everlore", "input": text }),
            "/v1/chat/completions" => json!({ "model": "everlore", "messages": message }),
            template if template.starts_with("/anthropic/") => {
                json!({ "model": "everlore", "max_tokens": 9, "messages": message })
            }
            "/v1/batch/" => json!({ "memories": [{ "memory_id": id, "text": text }] }),
            "/v1/feedback/" => json!({ "memory_id": id, "feedback": "POSITIVE" }),
            template if template.contains("search") => json!({ "query": text, "filters": own }),
            "/memories/{id}" | "/v1/memories/{id}/" => json!({ "text": text }),
            template if template.contains("/add") || template.ends_with("memories") => {
                json!({ "messages": message, "user_id": name, "agent_id": AGENT[0] })
            }
            template if template.ends_with("/memories/") => json!({ "filters": own }),
            _ => json!({}),
        }
    }

    /// Reads everything that a user can read, and checks it.
    fn read_all(&mut self, user: usize) {
        let key = self.users[user].key.clone();
        for path in
            ["/v1/export?journal=true", "/v1/layers", "/v1/history", "/v1/vault", "/v1/agents"]
        {
            let response = self.server.request_as(&key, "GET", path, None);
            self.check(user, path, &response);
        }
        let body = json!({ "query": "tea 茶", "session": "last", "stable": true });
        let prompt = self.server.request_as(&key, "POST", "/v1/context", Some(body));
        self.check(user, "prompt", &prompt);
        assert!(prompt.text.contains("平静"), "the persona is the owner's: {prompt:?}");
        for (tool, input) in [
            ("memory_context", json!({ "message": "tea 茶" })),
            ("fs_tree", json!({ "depth": 9 })),
            ("fs_grep", json!({ "pattern": "e" })),
            ("read_graph", json!({})),
        ] {
            let response = mcp_call(&self.server, &key, tool, &input);
            self.check(user, tool, &response);
        }
    }
}

/// Returns the first characters of a text on one line: titles have limits.
fn cut(text: &str) -> String {
    text.chars().filter(|c| *c != '\n' && *c != '#').take(60).collect()
}

/// Collects everything that looks like an id.
fn collect_ids(value: &Value, ids: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            if let Some(id) = fields.get("id").and_then(Value::as_str)
                && id.len() == 36
                && ids.len() < 200
            {
                ids.push(id.to_owned());
            }
            fields.values().for_each(|value| collect_ids(value, ids));
        }
        Value::Array(values) => values.iter().for_each(|value| collect_ids(value, ids)),
        _ => {}
    }
}

#[test]
fn no_text_of_one_user_reaches_another_user_of_the_agent() {
    let (provider, home) = provider_and_home();
    let mut world = SharedAgentWorld::new(&home);
    for _ in 0..STEPS {
        let user = world.random.below(2);
        world.step(user);
    }
    for user in 0..2 {
        world.read_all(user);
    }
    assert!(world.ids.len() > 20, "hardly anything was stored: {}", world.ids.len());
    let folder = home.path().join("agents").join(AGENT[0]);
    assert_eq!(fs::read_to_string(folder.join("SOUL.md")).unwrap(), SOUL);
    assert!(!folder.join("settings.toml").exists());
    let words = world.users.each_ref().map(|user| user.words);
    for request in provider.requests() {
        let sent = String::from_utf8_lossy(&request.body).to_lowercase();
        let has = |words: [&str; 2]| words.iter().any(|word| sent.contains(word));
        assert!(!(has(words[0]) && has(words[1])), "a prompt has texts of both: {sent}");
    }
}
