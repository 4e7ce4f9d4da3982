//! Routes of the API.

use std::io::{BufRead, BufReader, Write};

use serde_json::{Value, json};

use super::{TestServer, contents, id};
use crate::home::TestHome;

#[test]
fn a_memory_lives_over_http() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let draft =
        json!({ "content": "我喜欢喝龙井茶", "tags": ["茶"], "metadata": { "来源": "聊天" } });
    let saved = server.request("POST", "/v1/memories", Some(draft.clone())).json(201);
    assert_eq!(saved["receipt"]["verified"], true);
    assert_eq!(
        server.request("POST", "/v1/memories", Some(draft)).json(200)["receipt"]["known"],
        true
    );
    let path = format!("/v1/memories/{}", id(&saved));
    let shown = server.request("GET", &path, None).json(200);
    assert_eq!(
        (&shown["content"], &shown["metadata"]["来源"]),
        (&json!("我喜欢喝龙井茶"), &json!("聊天"))
    );
    let edited =
        server.request("PATCH", &path, Some(json!({ "content": "我喜欢喝普洱茶" }))).json(200);
    assert_eq!((&edited["content"], &edited["version"]), (&json!("我喜欢喝普洱茶"), &json!(3)));
    assert_eq!(
        server.request("POST", &format!("{path}/archive"), None).json(200)["status"],
        "archived"
    );
    assert_eq!(
        server.request("POST", &format!("{path}/restore"), None).json(200)["status"],
        "active"
    );
    assert_eq!(
        server.request("PUT", &format!("{path}/weight"), Some(json!({ "weight": 2.0 }))).json(200)
            ["weight"],
        2.0
    );
    let seq = server.request("DELETE", &path, None).json(200)["seq"].clone();
    assert_eq!(server.request("GET", &path, None).problem_code(404), "not_found");
    server.request("POST", "/v1/undo", Some(json!({ "seq": seq }))).json(200);
    assert_eq!(server.request("GET", &path, None).json(200)["content"], "我喜欢喝普洱茶");
    let history = server.request("GET", &format!("{path}/history?limit=2"), None).json(200);
    assert_eq!((history["changes"].as_array().unwrap().len(), history["next"].is_u64()), (2, true));
    assert_eq!(
        server.request("POST", &format!("{path}/forget"), None).json(200)["removed"]["rows"],
        1
    );
    let history = server.request("GET", &format!("{path}/history"), None);
    assert!(!history.text.contains("普洱"), "{}", history.text);
    home.assert_healthy();
}

#[test]
fn lists_are_filtered_and_paged() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for number in 0..5 {
        let draft = json!({ "content": format!("第{number}号 note"), "tags": [if number < 2 { "早" } else { "late" }] });
        server.request("POST", "/v1/memories", Some(draft)).json(201);
    }
    let (mut found, mut after) = (Vec::new(), String::new());
    for pages in 1.. {
        let page = server
            .request("GET", &format!("/v1/memories?limit=2&order=oldest{after}"), None)
            .json(200);
        found.extend(contents(&page["memories"]).into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_str() else {
            assert_eq!(pages, 3);
            break;
        };
        after = format!("&after={next}");
    }
    assert_eq!(found, ["第0号 note", "第1号 note", "第2号 note", "第3号 note", "第4号 note"]);
    let early = server.request("GET", "/v1/memories?tag=%E6%97%A9", None).json(200);
    assert_eq!(contents(&early["memories"]), ["第1号 note", "第0号 note"]);
    for bad in [
        "limit=0",
        "limit=1001",
        "limit=x",
        "kind=colour",
        "order=up",
        "colour=red",
        "limit=1&limit=2",
        "after=zz",
        "since=soon",
    ] {
        let response = server.request("GET", &format!("/v1/memories?{bad}"), None);
        assert!([400, 422].contains(&response.status), "{bad}: {response:?}");
        assert_eq!(response.problem_code(response.status), "invalid");
    }
}

#[test]
fn a_session_is_observed_recalled_answered_and_ended() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let turns = json!({ "turns": [
        { "text": "我下周要去里斯本出差", "session": "旅行", "role": "user", "speaker": "王" },
        { "text": "My flight to Lisbon is on Tuesday", "session": "旅行", "role": "user" },
    ]});
    let saved = server.request("POST", "/v1/turns/batch", Some(turns)).json(201);
    assert_eq!(saved["saved"].as_array().unwrap().len(), 2);
    server.request("POST", "/v1/memories", Some(json!({ "content": "我喜欢喝龙井茶" }))).json(201);
    let found = server
        .request("POST", "/v1/recall", Some(json!({ "query": "里斯本", "explain": true })))
        .json(200);
    assert_eq!(found["hits"][0]["content"], "我下周要去里斯本出差");
    assert!(found["hits"][0]["signals"].is_object() && found["judgement"].is_object());
    let only = json!({ "query": "Lisbon", "filter": { "kinds": ["user"] } });
    assert!(!server.request("POST", "/v1/recall", Some(only)).text.contains("flight"));
    let body = json!({ "query": "喝什么茶？", "session": "s2" });
    let block = server.request("POST", "/v1/context", Some(body)).json(200);
    assert!(block["text"].as_str().unwrap().contains("龙井茶"), "{block}");
    let answer = json!({ "answer": "你喜欢喝龙井茶。" });
    let used = server.request("POST", "/v1/sessions/s2/answered", Some(answer)).json(200);
    assert_eq!(used["used"].as_array().unwrap().len(), 1, "{used}");
    let ended = server.request("POST", "/v1/sessions/%E6%97%85%E8%A1%8C/end", None).json(200);
    assert_eq!((&ended["turns"], &ended["logged"]), (&json!(2), &json!(true)));
    assert!(
        server.request("GET", "/v1/layers/daily", None).json(200)["text"]
            .as_str()
            .unwrap()
            .contains("里斯本")
    );
    assert_eq!(server.request("GET", "/v1/stats", None).json(200)["total"], 3);
}

#[test]
fn layers_and_tools_are_those_of_the_engine() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let add = json!({ "action": "add", "section": "喜好", "content": "- 喝茶" });
    let layer = server.request("PATCH", "/v1/layers/user", Some(add)).json(200);
    assert!(
        layer["text"].as_str().unwrap().contains("## 喜好\n") && layer["change"].is_u64(),
        "{layer}"
    );
    let all = server.request("GET", "/v1/layers", None);
    assert_eq!(all.json(200)["layers"].as_array().unwrap().len(), 4);
    assert!(!all.text.contains(home.path().to_str().unwrap()), "paths are the owner's business");
    let tools = server.request("GET", "/v1/tools", None).json(200);
    assert_eq!(tools, home.json(&["tool", "list"]));
    let saved = server
        .request(
            "POST",
            "/v1/tools/memory_save",
            Some(json!({ "action": "create", "content": "王先生住在上海" })),
        )
        .json(200);
    assert_eq!(saved["is_error"], false, "{saved}");
    let response = server
        .request("POST", "/v1/tools/memory_recall", Some(json!({ "query": "住在哪里 上海" })))
        .json(200);
    assert!(response["text"].as_str().unwrap().contains("王先生住在上海"), "{response}");
    assert_eq!(
        server.request("POST", "/v1/tools/memory_save", Some(json!({}))).json(200)["is_error"],
        true
    );
    assert_eq!(
        server.request("POST", "/v1/tools/memory_fly", Some(json!({}))).problem_code(404),
        "not_found"
    );
}

#[test]
fn everything_is_exported_and_imported_as_json_lines() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let long = "长".repeat(50_000);
    for content in ["喜欢茶", "likes coffee", &long] {
        server.request("POST", "/v1/memories", Some(json!({ "content": content }))).json(201);
    }
    let lines = server.request("GET", "/v1/export", None);
    assert_eq!((lines.status, lines.text.lines().count()), (200, 4));
    let bearer = format!("Bearer {}", server.token);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/x-ndjson")];
    let import = |query: &str, text: &str| {
        server.request_with_headers(
            &headers,
            "POST",
            &format!("/v1/import?user=li{query}"),
            Some(json!(text)),
        )
    };
    assert_eq!(import("&dry_run=true", &lines.text).json(200)["added"], 3);
    assert_eq!(server.request("GET", "/v1/stats?user=li", None).json(200)["total"], 0);
    assert_eq!(import("", &lines.text).json(200)["added"], 3);
    assert_eq!(import("", &lines.text).json(200)["unchanged"], 3);
    let damaged = import("", "{\"content\":\"好\"}\n{broken\n");
    assert_eq!(damaged.problem_code(422), "invalid");
    assert_eq!(damaged.json(422)["more"]["rejections"][0]["line"], 2);
    assert_eq!(import("&keep_going=true", "{\"content\":\"好\"}\n{broken\n").json(200)["added"], 1);
    let listed = server.request("GET", "/v1/memories?user=li", None).json(200);
    assert!(contents(&listed["memories"]).contains(&long.as_str()));
}

#[test]
fn a_write_with_a_key_is_made_once_even_if_the_server_is_killed() {
    let home = TestHome::new();
    let mut server = TestServer::start(&home, &[]);
    let send = |server: &TestServer, text: &str| {
        let bearer = format!("Bearer {}", server.token);
        let headers = [("authorization", bearer.as_str()), ("idempotency-key", "请求-1")];
        server.request_with_headers(&headers, "POST", "/v1/turns", Some(json!({ "text": text })))
    };
    let first = send(&server, "说一次 once").json(201);
    assert_eq!(send(&server, "说一次 once").json(201), first);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let server = TestServer::start(&home, &[]);
    assert_eq!(send(&server, "说一次 once").json(201), first);
    assert_eq!(send(&server, "another").problem_code(422), "key_reused");
    assert_eq!(server.request("GET", "/v1/stats", None).json(200)["total"], 1);
    let path = format!("/v1/memories/{}", id(&first));
    server.request("DELETE", &path, None).json(200);
    assert_eq!(send(&server, "说一次 once").json(201), first);
    server.request("POST", &format!("{path}/forget"), None).json(200);
    assert_eq!(send(&server, "说一次 once").problem_code(410), "gone");
}

#[test]
fn the_same_key_at_once_is_one_write() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let bearer = format!("Bearer {}", server.token);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = || {
            let headers = [("authorization", bearer.as_str()), ("idempotency-key", "k")];
            server
                .request_with_headers(&headers, "POST", "/v1/turns", Some(json!({ "text": "茶" })))
                .status
        };
        let senders: Vec<_> = (0..16).map(|_| scope.spawn(send)).collect();
        senders.into_iter().map(|sender| sender.join().unwrap()).collect()
    });
    assert!(
        statuses.contains(&201) && statuses.iter().all(|status| [201, 409].contains(status)),
        "{statuses:?}"
    );
    assert_eq!(server.request("GET", "/v1/stats", None).json(200)["total"], 1);
}

#[test]
fn changes_are_streamed_as_they_happen_and_none_is_missed() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    home.remember("说在前面");
    let mut stream = server.connect();
    write!(stream, "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nlast-event-id: 0\r\nauthorization: Bearer {}\r\n\r\n", server.token).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut next = || -> Value {
        let data = lines.find_map(|line| Some(line.strip_prefix("data: ")?.to_owned()));
        serde_json::from_str(&data.expect("the stream ended")).unwrap()
    };
    assert_eq!(next()["seq"], 1);
    let saved =
        server.request("POST", "/v1/memories", Some(json!({ "content": "喜欢茶" }))).json(201);
    let event = next();
    assert_eq!(
        (&event["seq"], &event["op"], &event["id"]),
        (&json!(2), &json!("add"), &saved["id"])
    );
    assert!(!event.to_string().contains('茶'));
    // Another process writes to the same home.
    home.remember("another");
    assert_eq!(next()["seq"], 3);
}

#[test]
fn invalid_bodies_and_paths_are_refused_with_a_code() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let bearer = format!("Bearer {}", server.token);
    let json_type = [("authorization", bearer.as_str()), ("content-type", "application/json")];
    for body in ["", "{", "[]", "{\"content\":7}", "{\"content\":\"a\",\"colour\":1}", "\u{feff}{}"]
    {
        assert_eq!(
            server
                .request_with_headers(&json_type, "POST", "/v1/memories", Some(json!(body)))
                .problem_code(400),
            "invalid",
            "{body}"
        );
    }
    for draft in [
        json!({ "content": "" }),
        json!({ "content": "x", "importance": 7 }),
        json!({ "content": "x", "kind": "turn" }),
    ] {
        assert_eq!(
            server.request("POST", "/v1/memories", Some(draft)).problem_code(422),
            "invalid"
        );
    }
    let typo = json!({ "text": "x", "sesion": "s" });
    assert_eq!(server.request("POST", "/v1/turns", Some(typo)).problem_code(400), "invalid");
    let unknown =
        server.request("POST", "/v1/memories", Some(json!({ "content": "x", "kind": "colour" })));
    assert!(unknown.text.contains("unknown kind"), "{unknown:?}");
    assert_eq!(server.request("PUT", "/v1/memories", None).problem_code(405), "no_method");
    assert_eq!(server.request("GET", "/v2/memories", None).problem_code(404), "no_route");
    assert_eq!(server.request("GET", "/v1/layers/heart", None).problem_code(422), "invalid");
    assert_eq!(server.request("GET", "/v1/stats?user=..", None).problem_code(422), "invalid");
    let both = json!({ "seq": 1, "run": "r" });
    assert_eq!(server.request("POST", "/v1/undo", Some(both)).problem_code(422), "invalid");
    assert_eq!(server.request("POST", "/v1/redo", None).problem_code(422), "invalid");
    assert_eq!(
        server.request("POST", "/v1/undo", Some(json!({ "seq": 99 }))).problem_code(404),
        "not_found"
    );
}

#[test]
fn the_docs_page_loads_nothing_from_other_hosts() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    for (path, kind) in [
        ("/docs", "text/html"),
        ("/docs/page.js", "text/javascript"),
        ("/docs/page.css", "text/css"),
    ] {
        let response = server.request_with_headers(&[], "GET", path, None);
        assert!(
            response.status == 200
                && response.headers["content-type"].to_str().unwrap().starts_with(kind)
        );
        assert!(
            response.headers["content-security-policy"]
                .to_str()
                .unwrap()
                .starts_with("default-src 'none'")
        );
        assert!(!response.text.contains("//cdn") && !response.text.contains("https://"), "{path}");
    }
    assert_eq!(server.request_with_headers(&[], "GET", "/health", None).json(200)["status"], "ok");
    assert_eq!(
        server.request_with_headers(&[], "GET", "/ready", None).json(200)["status"],
        "ready"
    );
    let figures = server.request("GET", "/metrics", None).text;
    assert!(
        figures
            .contains("everlore_requests_total{route=\"/docs\",method=\"GET\",status=\"200\"} 1"),
        "{figures}"
    );
}

#[cfg(unix)]
#[test]
fn the_commands_of_the_docs_work() {
    let home = TestHome::new();
    let server = TestServer::start(&home, &[]);
    let page = include_str!("../../../../../docs/http-api.md");
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let script: String = blocks.collect();
    let preamble = format!("URL=http://{}\nTOKEN={}\n", server.address, server.token);
    let shown = "URL=http://127.0.0.1:6636\nTOKEN=$(cat ~/.everlore/server.token)\n";
    assert!(script.starts_with(shown) && script.lines().count() > 30, "{script}");
    let script = format!("set -e\n{}", script.replacen(shown, &preamble, 1));
    // `ask` ends with an echo; the status of curl counts.
    let script = script.replace("\"$@\"; echo;", "\"$@\" || exit 1; echo;");
    let ran = std::process::Command::new("sh")
        .args(["-c", &script])
        .current_dir(home.sibling(""))
        .output()
        .unwrap();
    assert!(
        ran.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    let answers = String::from_utf8(ran.stdout).unwrap();
    assert!(answers.contains("龙井茶") && answers.contains("Lisbon"), "{answers}");
}
