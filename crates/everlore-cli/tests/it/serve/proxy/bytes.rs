//! Relaying: bytes as they arrive, errors as they are, and clients that disconnect.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use everlore_mock_llm::{BodyStep, HttpResponse, MockServer, ModelResponse};
use serde_json::json;

use super::{KEY, chats, header, home_with_provider, question};
use crate::{
    home::TestHome,
    serve::{DEADLINE, TestServer},
};

/// Response as it arrived: its head and its chunks, the last of which is empty if the response was complete.
fn raw(address: &str, head: &str, body: &str) -> (String, Vec<Vec<u8>>) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    let head = format!(
        "{head}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "{head}");
    }
    let length = head
        .to_lowercase()
        .split("content-length: ")
        .nth(1)
        .map(|rest| rest.lines().next().unwrap().parse().unwrap());
    if let Some(length) = length {
        let mut whole = vec![0; length];
        reader.read_exact(&mut whole).unwrap();
        return (head, vec![whole]);
    }
    let mut chunks = Vec::new();
    loop {
        let mut size = String::new();
        // A response that is cut off may end without a terminating chunk.
        if reader.read_line(&mut size).unwrap_or(0) == 0 {
            return (head, chunks);
        }
        let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16).unwrap() + 2];
        reader.read_exact(&mut chunk).unwrap();
        chunk.truncate(chunk.len() - 2);
        chunks.push(chunk);
        if chunks.last().unwrap().is_empty() {
            return (head, chunks);
        }
    }
}

#[test]
fn streams_are_relayed_byte_for_byte_and_chunk_for_chunk() {
    let reply = |text: &str| {
        ModelResponse::text(text)
            .thinking("想一想")
            .and_call("note", json!({"text": "喝茶 <b>&\u{1f375}"}))
            .with_usage(9, 3, 5)
    };
    for (provider, path, ours) in [
        ("openai", "/v1/chat/completions", "/v1/chat/completions"),
        ("openai", "/v1/responses", "/v1/responses"),
        ("anthropic", "/v1/messages", "/anthropic/v1/messages"),
    ] {
        let script = move || {
            chats()
                .when("cut me", reply("龙井，茶很香。").in_chunks_of(7))
                .when("whole", reply("Tea, 茶."))
        };
        let (direct, server) = (MockServer::start(script()), MockServer::start(script()));
        let home = home_with_provider(provider, &server.url());
        let serving = TestServer::start(&home, &[]);
        for (text, stream) in [("cut me", true), ("whole", true), ("whole", false)] {
            let list = json!([{ "role": "user", "content": text }]);
            let body = json!({ "model": "scripted-chat", "max_tokens": 9, "stream": stream, "stream_options": {"include_usage": true}, "messages": list, "input": list });
            let body = body.to_string();
            let key = format!(
                "authorization: Bearer {KEY}\r\nx-api-key: {KEY}\r\nanthropic-version: 2023-06-01"
            );
            let address = direct.url().replace("http://", "");
            let (_, expected) = raw(&address, &format!("POST {path} HTTP/1.1\r\n{key}"), &body);
            let head = format!("POST {ours} HTTP/1.1\r\nauthorization: Bearer {}", serving.token);
            let (headers, came) = raw(&serving.address, &head, &body);
            assert!(headers.starts_with("HTTP/1.1 200"), "{headers}");
            assert_eq!(expected, came, "{ours}: every chunk");
            assert!(
                expected.concat().len() > 200 && (!stream || expected.len() > 9),
                "{expected:?}"
            );
        }
    }
}

#[test]
fn a_slow_answer_is_relayed_as_it_arrives_and_ends_when_the_client_disconnects() {
    let server =
        MockServer::start(chats().otherwise(|_| ModelResponse::text("第一部分，第二部分")));
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    let chunk = |text: &str| {
        BodyStep::Send(
            format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
                .into_bytes(),
        )
    };
    let steps = vec![chunk("先说这些"), BodyStep::Hold, chunk("never")];
    server.enqueue(HttpResponse::stream("text/event-stream", steps));
    let body = question("Tell me slowly").to_string();
    let mut client = serving.connect();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        serving.token,
        body.len()
    );
    client.write_all(head.as_bytes()).unwrap();
    let mut received = String::new();
    while !received.contains("先说这些") {
        let mut some = [0; 1024];
        let read = client.read(&mut some).unwrap();
        assert!(read > 0, "{received}");
        received += &String::from_utf8_lossy(&some[..read]);
    }
    server.await_held();
    drop(client);
    server.await_disconnect();
    assert_eq!(
        serving.turns("", 2),
        ["Tell me slowly", "先说这些"],
        "the received part is captured"
    );
}

#[test]
fn a_client_that_disconnects_before_the_answer_cancels_the_request() {
    // A provider that sends nothing, not even a status line.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let home = home_with_provider("openai", &format!("http://{}", listener.local_addr().unwrap()));
    let serving = TestServer::start(&home, &[]);
    let body = question("hello?").to_string();
    let mut client = serving.connect();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        serving.token,
        body.len()
    );
    client.write_all(head.as_bytes()).unwrap();
    let (mut relayed, _) = listener.accept().unwrap();
    relayed.set_read_timeout(Some(DEADLINE)).unwrap();
    let mut some = [0; 64];
    assert!(relayed.read(&mut some).unwrap() > 0);
    drop(client);
    let mut rest = Vec::new();
    // Returns only when the proxy closes the connection.
    relayed.read_to_end(&mut rest).unwrap();
}

#[test]
fn errors_of_the_provider_are_relayed_and_not_captured() {
    let server = MockServer::start(chats());
    let home = home_with_provider("openai", &server.url());
    let serving = TestServer::start(&home, &[]);
    for status in [400, 401, 404, 429, 500, 529] {
        let body = json!({ "error": { "message": format!("no {status}"), "type": "t", "param": null, "code": 7, "zz": 1, "aa": 2 } });
        server.enqueue(
            HttpResponse::json(status, &body)
                .with_header("retry-after", "7")
                .with_header("x-request-id", "req_theirs"),
        );
        let response = serving.chat("/v1/chat/completions", &[], question("I live in Porto"));
        assert_eq!((response.status, response.text), (status, body.to_string()));
        assert_eq!(
            (&response.headers["retry-after"], &response.headers["x-request-id"]),
            (&"7".parse().unwrap(), &"req_theirs".parse().unwrap())
        );
    }
    let cut = vec![
        BodyStep::Send(
            b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n".to_vec(),
        ),
        BodyStep::Disconnect,
    ];
    server.enqueue(HttpResponse::stream("text/event-stream", cut));
    let body = question("Cut it").to_string();
    let head =
        format!("POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer {}", serving.token);
    let (_, came) = raw(&serving.address, &head, &body);
    assert!(came.len() == 1 && !came[0].is_empty(), "it looks cut off: {came:?}");
    assert_eq!(serving.turns("", 2), ["Cut it", "half"], "only answered requests are captured");
}

#[test]
fn our_errors_have_the_shape_of_the_protocol() {
    let home = TestHome::new();
    let serving = TestServer::start(&home, &[]);
    let openai = serving.chat("/v1/chat/completions", &[], question("hi"));
    let response = openai.json(503);
    assert_eq!(response["error"]["code"], "no_provider");
    assert!(response["error"]["message"].as_str().unwrap().contains("[chat]"), "{response}");
    assert_eq!(
        (header(&openai, "x-should-retry"), header(&openai, "content-type")),
        ("false", "application/json")
    );
    let response = serving.chat("/anthropic/v1/messages", &[], question("hi")).json(503);
    assert_eq!(
        (&response["type"], &response["error"]["type"]),
        (&json!("error"), &json!("api_error"))
    );
    let bad = [("authorization", "Bearer wrong")];
    let response = serving
        .request_with_headers(&bad, "POST", "/v1/chat/completions", Some(question("hi")))
        .json(401);
    assert_eq!(response["error"]["type"], "authentication_error");
    let response = serving
        .request_with_headers(
            &[("x-api-key", "wrong")],
            "POST",
            "/anthropic/v1/messages",
            Some(question("hi")),
        )
        .json(401);
    assert_eq!(response["error"]["type"], "authentication_error");
    // Nothing listens where the settings point.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let home = home_with_provider("openai", &format!("http://{free}"));
    let serving = TestServer::start(&home, &[]);
    let response = serving.chat("/v1/chat/completions", &[], question("hi")).json(502);
    assert_eq!(response["error"]["code"], "provider_unreachable");
    assert!(
        response["error"]["message"].as_str().unwrap().contains("no server listens there"),
        "{response}"
    );
}
