//! Tests of remote chat models against a mock server, for every provider: streaming, tools, costs, each kind of
//! failure, truncated and silent streams, and cancellation.

use std::{sync::Arc, time::Duration};

use everlore::{
    Error, Result,
    config::{Config, ModelSettings, SecretString},
    llm::{
        ChatChunk, ChatMessage, ChatModel, ChatRequest, ChatResponse, ChatTool, Proxies,
        RemoteChatModel, RetryPolicy, StopReason, TokenUsage, ToolCall, complete, list_models,
    },
};
use everlore_mock_llm::{HttpRequest, HttpResponse, MockChat, MockServer, ModelResponse};
use serde_json::{Value, json};

use crate::remote::HASTY;

const PROVIDERS: [&str; 4] = ["openai", "anthropic", "ollama", "gemini"];

const KEY: &str = "sk-very-secret";

fn settings(server: &MockServer, provider: &str) -> ModelSettings {
    let path = if provider == "openai" { "/v1" } else { "" };
    let text = format!(
        "[chat]\nprovider = \"{provider}\"\nmodel = \"scripted-chat\"\nbase_url = \"{}{path}\"\ntimeout = \"30s\"\n",
        server.url()
    );
    Config::parse(&text).unwrap().0.chat_model().unwrap()
}

fn model(server: &MockServer, provider: &str) -> RemoteChatModel {
    model_for(&settings(server, provider))
}

fn model_for(settings: &ModelSettings) -> RemoteChatModel {
    RemoteChatModel::new(settings, &Proxies::default()).unwrap().with_retry_policy(HASTY)
}

fn question(text: &str) -> ChatRequest {
    ChatRequest {
        messages: vec![ChatMessage::User { text: text.to_owned() }],
        ..ChatRequest::default()
    }
}

fn tool(name: &str) -> ChatTool {
    let schema = json!({ "type": "object", "properties": { "content": { "type": "string" } } });
    ChatTool { name: name.to_owned(), description: "keeps something".to_owned(), schema }
}

/// Runs a script of one provider on a plain question.
async fn run_script(provider: &str, chats: MockChat) -> (Result<ChatResponse>, Vec<HttpRequest>) {
    let server = MockServer::start(chats);
    let answer = complete(&model(&server, provider), &question("喝什么茶? which tea?")).await;
    (answer, server.requests())
}

/// Waits for the server while requests go on.
async fn waits(server: &Arc<MockServer>, until: fn(&MockServer)) {
    let server = Arc::clone(server);
    tokio::task::spawn_blocking(move || until(&server)).await.unwrap();
}

/// Returns message and hint of a script's failure, and the number of requests.
async fn failure(provider: &str, chats: MockChat) -> (String, String, usize) {
    let (answer, requests) = run_script(provider, chats).await;
    let error = answer.unwrap_err();
    (error.to_string(), error.hint().to_owned(), requests.len())
}

#[tokio::test]
async fn every_wire_gives_the_text_its_costs_and_why_it_stopped() {
    for provider in PROVIDERS {
        let text = "龙井 — green tea, naïve ☕ 你好";
        let chats = MockChat::new()
            .then(ModelResponse::text(text).thinking("想一想").with_usage(120, 0, 9));
        let response = run_script(provider, chats).await.0.unwrap();
        assert_eq!((response.text.as_str(), response.stop), (text, StopReason::Done), "{provider}");
        assert_eq!(response.tokens, TokenUsage { read: 120, cached: 0, written: 9 }, "{provider}");
        let stops = [(ModelResponse::text("to be").length_limited(), StopReason::Length)];
        for (text, stop) in stops {
            assert_eq!(
                run_script(provider, MockChat::new().then(text)).await.0.unwrap().stop,
                stop
            );
        }
    }
    for provider in ["openai", "anthropic", "gemini"] {
        let chats =
            MockChat::new().then(ModelResponse::text("I").refused().with_usage(120, 100, 9));
        let response = run_script(provider, chats).await.0.unwrap();
        assert_eq!((response.stop, response.tokens.read), (StopReason::Refused, 120), "{provider}");
        assert_eq!(response.tokens.cached, 100, "{provider}");
    }
}

#[tokio::test]
async fn characters_that_the_network_cuts_in_two_come_whole() {
    for provider in PROVIDERS {
        for bytes in [1, 2, 3, 7] {
            let response = ModelResponse::text("茶很香,豆豆是一只小狗。🐶")
                .and_call("save", json!({"甲": "乙丙"}));
            let chats = MockChat::new().then(response.in_chunks_of(bytes));
            let received = run_script(provider, chats).await.0.unwrap();
            assert_eq!(received.text, "茶很香,豆豆是一只小狗。🐶", "{provider} {bytes}");
            assert_eq!(received.calls[0].arguments, json!({"甲": "乙丙"}), "{provider} {bytes}");
        }
    }
}

#[tokio::test]
async fn text_comes_piece_by_piece_and_calls_come_whole() {
    for provider in PROVIDERS {
        let arguments = json!({ "content": "住在里斯本", "tags": ["a", "b"], "n": 1.5 });
        let response =
            ModelResponse::text("I keep that. 好的").and_call("memory_save", arguments.clone());
        let server =
            MockServer::start(MockChat::new().then(response.and_call("memory_recall", json!({}))));
        let request = ChatRequest { tools: vec![tool("memory_save")], ..question("remember") };
        let mut stream = model(&server, provider).chat(&request).await.unwrap();
        let mut chunks = Vec::new();
        while let Some(chunk) = stream.next_chunk().await.unwrap() {
            chunks.push(chunk);
        }
        let texts = chunks.iter().filter(|chunk| matches!(chunk, ChatChunk::Text(_))).count();
        assert!(texts > 3, "{provider}: {chunks:?}");
        let [ChatChunk::ToolCall(first), ChatChunk::ToolCall(second), ChatChunk::End { stop, .. }] =
            &chunks[texts..]
        else {
            panic!("{provider}: {chunks:?}")
        };
        assert_eq!((first.name.as_str(), &first.arguments), ("memory_save", &arguments));
        assert_eq!((second.name.as_str(), &second.arguments), ("memory_recall", &json!({})));
        assert_eq!(*stop, StopReason::ToolCalls, "{provider}");
        assert!(!first.id.is_empty() && first.id != second.id, "{provider}: {first:?} {second:?}");
        assert_eq!(stream.next_chunk().await.unwrap(), None, "nothing comes after the end");
    }
}

#[tokio::test]
async fn the_results_of_tools_go_back_as_each_wire_wants_them() {
    for provider in PROVIDERS {
        let calls = ModelResponse::call("memory_save", json!({"content": "茶"}));
        let calls = calls.and_call("memory_recall", json!({"query": "tea"}));
        let server = MockServer::start(
            MockChat::new().then(calls).when_tool_result("kept", ModelResponse::text("done 好")),
        );
        let model = model(&server, provider);
        let mut request = ChatRequest {
            system: "You are Ann.".into(),
            context: "<memory-context>龙井</memory-context>".into(),
            tools: vec![tool("memory_save"), tool("memory_recall")],
            ..question("keep that")
        };
        let ChatResponse { text, calls, .. } = complete(&model, &request).await.unwrap();
        request.messages.push(ChatMessage::Assistant { text, calls: calls.clone() });
        for (call, text) in calls.iter().zip(["nothing found", "kept"]) {
            let (call, name, text) = (call.id.clone(), call.name.clone(), text.to_owned());
            request.messages.push(ChatMessage::Tool { call, name, text, failed: false });
        }
        let last = complete(&model, &request).await.unwrap();
        assert_eq!(last.text, "done 好", "{provider}");
        request.messages.push(ChatMessage::Assistant { text: last.text, calls: Vec::new() });
        request.messages.push(ChatMessage::User { text: "so it is kept?".into() });
        let refused = complete(&model, &request).await.unwrap_err().to_string();
        assert!(refused.contains("no more to say"), "{provider} takes the whole story: {refused}");
    }
}

#[tokio::test]
async fn what_stays_the_same_comes_first_and_is_marked_for_the_cache() {
    let server = MockServer::start(MockChat::new().says("ok").says("ok").says("ok").says("ok"));
    let request =
        ChatRequest { system: "You are 安.".into(), context: "Now.".into(), ..question("hi") };
    for provider in PROVIDERS {
        complete(&model(&server, provider), &request).await.unwrap();
    }
    let sent: Vec<Value> = server.requests().iter().map(HttpRequest::json).collect();
    assert_eq!(sent[0]["messages"][0]["content"], "You are 安.");
    assert_eq!(sent[0]["messages"][1]["content"], "hi\n\nNow.");
    let cached =
        json!({ "type": "text", "text": "You are 安.", "cache_control": { "type": "ephemeral" } });
    assert_eq!(sent[1]["system"], json!([cached]));
    assert_eq!(sent[1]["messages"][0]["content"][1]["text"], "Now.");
    assert_eq!(sent[2]["messages"][0]["role"], "system");
    assert_eq!(sent[2]["messages"][1]["content"], "hi\n\nNow.");
    assert_eq!(sent[3]["system_instruction"]["parts"], json!([{ "text": "You are 安." }]));
    assert_eq!(sent[3]["contents"][0]["parts"][1]["text"], "Now.");
}

#[tokio::test]
async fn limits_and_json_are_asked_for_in_the_words_of_each_wire() {
    let server = MockServer::start(MockChat::new().says("{}").says("{}").says("{}").says("{}"));
    for provider in PROVIDERS {
        let request = ChatRequest {
            json: true,
            max_tokens: Some(99),
            temperature: Some(0.5),
            ..question("Answer in JSON")
        };
        complete(&model(&server, provider), &request).await.unwrap();
    }
    let sent: Vec<Value> = server.requests().iter().map(HttpRequest::json).collect();
    assert_eq!(sent[0]["response_format"], json!({ "type": "json_object" }));
    assert_eq!((&sent[0]["max_tokens"], &sent[0]["temperature"]), (&json!(99), &json!(0.5)));
    assert_eq!((&sent[1]["max_tokens"], &sent[1]["temperature"]), (&json!(99), &json!(0.5)));
    assert_eq!(sent[2]["format"], "json");
    assert_eq!(sent[2]["options"], json!({ "num_predict": 99, "temperature": 0.5 }));
    let choices = json!({ "maxOutputTokens": 99, "temperature": 0.5, "responseMimeType": "application/json" });
    assert_eq!(sent[3]["generationConfig"], choices);
}

#[tokio::test]
async fn each_status_is_told_in_a_sentence_with_what_helps() {
    let permanent = [
        (403, "may use model `scripted-chat`", "403"),
        (404, "scripted-chat", "does not know the model"),
        (402, "no credit left", "402"),
    ];
    for provider in PROVIDERS {
        for (status, hint, message) in permanent {
            let failed = failure(provider, MockChat::new().fails(status)).await;
            let joined = format!("{} / {}", failed.0, failed.1);
            assert!(joined.contains(hint) && failed.0.contains(message), "{provider} {joined}");
            assert_eq!(failed.2, 1, "{provider}: {status} is not asked again");
        }
        for status in [429, 500, 503, 529] {
            let chats = (0..5).fold(MockChat::new(), |chats, _| chats.fails(status));
            let (message, hint, asked) = failure(provider, chats).await;
            assert!(message.contains(&format!("status {status}")), "{provider} {message}");
            assert!(hint.contains("try again later"), "{provider} {hint}");
            assert_eq!(asked, 1 + HASTY.retries as usize, "{provider} {status}");
        }
        let quota = ModelResponse::fail_with(429, "You exceeded your current quota");
        let (_, hint, asked) = failure(provider, MockChat::new().then(quota)).await;
        assert!(hint.contains("no credit left") && asked == 1, "{provider} {hint}");
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_and_not_before_it_says() {
    for provider in PROVIDERS {
        let busy = ModelResponse::fail(429).with_header("retry-after", "0.3");
        let started = std::time::Instant::now();
        let (answer, requests) =
            run_script(provider, MockChat::new().then(busy).fails(500).says("here 在")).await;
        assert_eq!((answer.unwrap().text.as_str(), requests.len()), ("here 在", 3), "{provider}");
        assert!(started.elapsed() >= Duration::from_millis(300), "{provider}");
        let hour =
            MockChat::new().then(ModelResponse::fail(429).with_header("retry-after", "3600"));
        assert_eq!(failure(provider, hour).await.2, 1, "an hour is too long to wait");
    }
}

#[tokio::test]
async fn a_refused_key_is_told_by_its_place_and_shown_nowhere() {
    for provider in PROVIDERS {
        let server = MockServer::start(MockChat::new().with_key("sk-good").says("in"));
        let wrong =
            ModelSettings { api_key: SecretString::new(KEY), ..settings(&server, provider) };
        let model = model_for(&wrong);
        let error = complete(&model, &question("hi")).await.unwrap_err();
        let shown = format!("{error} {} {error:?} {model:?} {wrong:?}", error.hint());
        assert!(error.to_string().contains("was refused by 127.0.0.1"), "{provider} {shown}");
        assert!(shown.contains("api_key of [chat]") && !shown.contains(KEY), "{provider} {shown}");
        assert!(server.requests().iter().all(|request| !request.path.contains(KEY)), "{provider}");

        let none =
            complete(&model_for(&settings(&server, provider)), &question("hi")).await.unwrap_err();
        assert!(none.to_string().contains("asks for a key, and there is none"), "{none}");
        let right = ModelSettings { api_key: SecretString::new("sk-good"), ..wrong };
        assert_eq!(
            complete(&model_for(&right), &question("hi")).await.unwrap().text,
            "in",
            "{provider}"
        );
    }
}

#[tokio::test]
async fn a_server_that_repeats_the_key_does_not_make_us_show_it() {
    let server = MockServer::start(|_: &HttpRequest| {
        HttpResponse::error(400, &format!("bad key {KEY} given"))
    });
    for provider in PROVIDERS {
        let settings =
            ModelSettings { api_key: SecretString::new(KEY), ..settings(&server, provider) };
        let error = complete(&model_for(&settings), &question("hi")).await.unwrap_err();
        assert!(error.to_string().contains("[hidden]"), "{error}");
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    }
    let streamed =
        ModelResponse::text("x").error_after(0, "authentication_error", &format!("no {KEY}"));
    for provider in PROVIDERS {
        let server = MockServer::start(
            MockChat::new().then(streamed.clone()).otherwise(|_| ModelResponse::fail(500)),
        );
        let settings =
            ModelSettings { api_key: SecretString::new(KEY), ..settings(&server, provider) };
        let error = complete(&model_for(&settings), &question("hi")).await.unwrap_err();
        assert!(!format!("{error:?} {error}").contains(KEY), "{error:?}");
    }
}

#[tokio::test]
async fn a_question_that_is_too_long_can_be_told_from_other_failures() {
    for provider in PROVIDERS {
        let server = MockServer::start(MockChat::new().with_max_chars(100));
        let long = question(&"很长 ".repeat(100));
        let error = complete(&model(&server, provider), &long).await.unwrap_err();
        assert!(matches!(error, Error::ContextTooLong { .. }), "{provider} {error:?}");
        assert!(error.hint().contains("shorten the conversation"));
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_limit_that_the_model_cannot_reach_is_no_question_that_is_too_long() {
    for complaint in [
        "max_tokens is too large: 100000. This model supports at most 16384 completion tokens",
        "max_tokens: 8192 > 4096, which is too many output tokens for this model",
    ] {
        for provider in PROVIDERS {
            let chats = MockChat::new().then(ModelResponse::fail_with(400, complaint));
            let (_, hint, asked) = failure(provider, chats).await;
            assert!(hint.contains("lower max_tokens") && asked == 1, "{provider} {hint}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_an_error_and_never_a_short_answer() {
    let text = "a long answer, 很长的回答";
    for provider in PROVIDERS {
        for broken in [
            ModelResponse::text(text).disconnect_after(3),
            ModelResponse::text(text).end_early_after(3),
        ] {
            let (message, hint, asked) = failure(provider, MockChat::new().then(broken)).await;
            assert!(message.contains("was cut off"), "{provider} {message}");
            assert!(
                hint.contains("the answer so far is incomplete") && asked == 1,
                "{provider} {hint}"
            );
        }
        // All the text arrived, and only the end is missing.
        let unended = ModelResponse::text(text).end_early_after(99);
        let (answer, _) = run_script(provider, MockChat::new().then(unended)).await;
        match provider {
            "openai" => assert_eq!(answer.unwrap().text, text, "it had said why it stopped"),
            _ => assert!(answer.unwrap_err().to_string().contains("was cut off"), "{provider}"),
        }
        // In the middle of a call.
        let call = ModelResponse::call("save", json!({"content": "a text of some length"}))
            .disconnect_after(1);
        let (answer, _) = run_script(provider, MockChat::new().then(call)).await;
        assert!(answer.is_err(), "{provider}");
    }
}

#[tokio::test]
async fn what_breaks_before_anything_was_given_out_is_asked_again() {
    for provider in PROVIDERS {
        let broken = [
            ModelResponse::text("x").disconnect_after(0),
            ModelResponse::text("x").end_early_after(0),
            ModelResponse::text("x").error_after(0, "overloaded_error", "Overloaded"),
        ];
        for broken in broken {
            let (answer, requests) =
                run_script(provider, MockChat::new().then(broken).says("好")).await;
            assert_eq!((answer.unwrap().text.as_str(), requests.len()), ("好", 2), "{provider}");
        }
    }
}

#[tokio::test]
async fn an_error_in_the_middle_is_told_in_the_words_of_the_server() {
    for provider in PROVIDERS {
        let broken =
            ModelResponse::text("beginning").error_after(2, "overloaded_error", "忙 Overloaded");
        let (message, hint, asked) = failure(provider, MockChat::new().then(broken)).await;
        assert!(message.contains("忙 Overloaded"), "{provider} {message}");
        assert!(
            hint.contains("the answer so far is incomplete") && asked == 1,
            "{provider} {hint}"
        );
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up_before_and_within_an_answer() {
    for provider in PROVIDERS {
        for held in [
            ModelResponse::text("never").held_after(0),
            ModelResponse::text("never comes").held_after(2),
        ] {
            let server = MockServer::start(MockChat::new().then(held));
            let timeout = Duration::from_millis(200);
            let settings = ModelSettings { timeout, ..settings(&server, provider) };
            let error = complete(&model_for(&settings), &question("hi")).await.unwrap_err();
            assert!(error.to_string().contains("was silent for 200ms"), "{provider} {error}");
            assert!(error.hint().contains("raise timeout"), "{}", error.hint());
            assert!(server.requests().len() <= 1, "who was silent so long is not asked again");
        }
    }
}

#[tokio::test]
async fn dropping_an_answer_ends_the_request() {
    for provider in PROVIDERS {
        let slow = ModelResponse::text("slow answer").held_after(2);
        let server = Arc::new(MockServer::start(MockChat::new().then(slow)));
        let mut answer = model(&server, provider).chat(&question("hi")).await.unwrap();
        assert!(
            matches!(answer.next_chunk().await.unwrap(), Some(ChatChunk::Text(_))),
            "{provider}"
        );
        waits(&server, MockServer::await_held).await;
        drop(answer);
        waits(&server, MockServer::await_disconnect).await;
    }
}

#[tokio::test]
async fn giving_up_the_question_itself_ends_the_request() {
    for provider in PROVIDERS {
        let server = Arc::new(MockServer::start(
            MockChat::new().then(ModelResponse::text("slow").held_after(0)),
        ));
        let model = model(&server, provider);
        let request = question("hi");
        let asking = tokio::spawn(async move { model.chat(&request).await.map(drop) });
        waits(&server, MockServer::await_held).await;
        asking.abort();
        assert!(asking.await.unwrap_err().is_cancelled());
        waits(&server, MockServer::await_disconnect).await;
    }
}

#[tokio::test]
async fn servers_that_are_not_there_are_told_apart() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let at = |provider: &str, base: &str| {
        let server = MockServer::start(MockChat::new());
        let settings = ModelSettings { base_url: base.into(), ..settings(&server, provider) };
        model_for(&settings).with_retry_policy(RetryPolicy { retries: 0, ..HASTY })
    };
    let error =
        complete(&at("ollama", &format!("http://{closed}")), &question("hi")).await.unwrap_err();
    assert!(error.to_string().contains("no server listens there"), "{error}");
    assert!(error.hint().contains("start it with `ollama serve`"), "{}", error.hint());
    let nowhere = at("openai", "http://no-such-host.invalid/v1");
    let error = complete(&nowhere, &question("hi")).await.unwrap_err();
    assert!(error.to_string().contains("no server has this name"), "{error}");
    assert!(error.hint().contains("check base_url in [chat]"), "{}", error.hint());
    let page = MockServer::start(|_: &HttpRequest| {
        HttpResponse::bytes(200, "text/html", b"<html>".to_vec())
    });
    let error = complete(&at("openai", &page.url()), &question("hi")).await.unwrap_err();
    assert!(error.to_string().contains("web page") && error.hint().contains("/v1"), "{error}");
    let odd = MockServer::start(|_: &HttpRequest| {
        HttpResponse::bytes(200, "text/event-stream", b"data: no json\n\ndata: x\n\n".to_vec())
    });
    let error = complete(&at("gemini", &odd.url()), &question("hi")).await.unwrap_err();
    assert!(error.to_string().contains("is not JSON"), "{error}");
    let plain = page.url().replace("http://", "https://");
    let error = complete(&at("anthropic", &plain), &question("hi")).await.unwrap_err();
    assert!(error.to_string().contains("does not speak TLS"), "{error}");
}

#[tokio::test]
async fn a_server_is_asked_without_the_fields_it_does_not_know() {
    let chats = MockChat::new()
        .rejecting_field("stream_options")
        .rejecting_field("max_tokens")
        .rejecting_field("temperature")
        .rejecting_field("response_format")
        .says("{}")
        .says("again");
    let server = MockServer::start(chats);
    let model = model(&server, "openai");
    let request = ChatRequest {
        json: true,
        max_tokens: Some(50),
        temperature: Some(0.0),
        ..question("JSON please")
    };
    let whole = complete(&model, &request).await.unwrap();
    assert_eq!(
        (whole.text.as_str(), whole.tokens),
        ("{}", TokenUsage::default()),
        "no costs are told"
    );
    assert_eq!(server.requests().len(), 5);
    assert_eq!(server.requests()[4].json()["max_completion_tokens"], 50);
    assert_eq!(complete(&model, &request).await.unwrap().text, "again");
    assert_eq!(server.requests().len(), 6, "what was learned is kept");
}

#[tokio::test]
async fn two_questions_at_once_learn_the_same() {
    let chats =
        MockChat::new().rejecting_field("stream_options").otherwise(|_| ModelResponse::text("好"));
    let server = MockServer::start(chats);
    let model = model(&server, "openai");
    let request = question("hi");
    let answers = tokio::join!(
        complete(&model, &request),
        complete(&model, &request),
        complete(&model, &request)
    );
    for answer in [answers.0, answers.1, answers.2] {
        assert_eq!(answer.unwrap().text, "好");
    }
}

#[tokio::test]
async fn a_server_that_wants_thoughts_back_gets_a_stand_in() {
    let chats = MockChat::new()
        .requiring_reasoning()
        .calls("save", json!({}))
        .when_tool_result("kept", ModelResponse::text("好"));
    let server = MockServer::start(chats);
    let model = model(&server, "openai");
    let mut request = question("keep that");
    let ChatResponse { text, calls, .. } = complete(&model, &request).await.unwrap();
    let (call, name) = (calls[0].id.clone(), calls[0].name.clone());
    request.messages.push(ChatMessage::Assistant { text, calls });
    request.messages.push(ChatMessage::Tool { call, name, text: "kept".into(), failed: false });
    assert_eq!(complete(&model, &request).await.unwrap().text, "好");
    assert_eq!(complete(&model, &request).await.unwrap().text, "好");
    assert_eq!(server.requests().len(), 4, "it is asked twice once, and then known");
}

#[tokio::test]
async fn a_server_that_does_not_stream_is_understood() {
    let server = MockServer::start(|request: &HttpRequest| {
        use everlore_mock_llm::Responder;
        let mut body = request.json();
        body["stream"] = json!(false);
        let request = HttpRequest { body: body.to_string().into_bytes(), ..request.clone() };
        MockChat::new()
            .then(ModelResponse::text("整个 whole").and_call("save", json!({"a": 1})))
            .respond(&request)
    });
    let whole = complete(&model(&server, "openai"), &question("hi")).await.unwrap();
    let call = ToolCall { id: "call_s0".into(), name: "save".into(), arguments: json!({"a": 1}) };
    assert_eq!((whole.text.as_str(), whole.calls), ("整个 whole", vec![call]));
    assert_eq!((whole.stop, whole.tokens.written), (StopReason::ToolCalls, 7));
}

#[tokio::test]
async fn every_provider_lists_its_models_that_talk() {
    for provider in PROVIDERS {
        let server = MockServer::start(MockChat::new().with_key("sk-good"));
        let settings = ModelSettings {
            api_key: SecretString::new("sk-good"),
            model: String::new(),
            ..settings(&server, provider)
        };
        let names = list_models(&settings, &Proxies::default()).await.unwrap();
        assert_eq!(names, ["scripted-chat", "scripted-other"], "{provider}");
        let wrong = ModelSettings { api_key: SecretString::new(KEY), ..settings };
        let error = list_models(&wrong, &Proxies::default()).await.unwrap_err();
        assert!(error.to_string().contains("was refused"), "{provider} {error}");
        assert!(!error.to_string().contains(KEY));
    }
}

#[tokio::test]
async fn a_model_says_who_it_is_and_one_without_a_name_is_refused() {
    let server = MockServer::start(MockChat::new());
    assert_eq!(model(&server, "gemini").name(), "gemini/scripted-chat");
    let nameless = ModelSettings { model: String::new(), ..settings(&server, "openai") };
    let error = RemoteChatModel::new(&nameless, &Proxies::default()).unwrap_err();
    assert!(error.hint().contains("set model in [chat]"), "{}", error.hint());
}

#[test]
fn the_settings_of_the_documentation_name_models() {
    let page = include_str!("../../../../docs/models.md");
    let (_, docs) = page.split_once("\n## Language models\n").unwrap();
    let blocks: Vec<&str> =
        docs.split("```toml\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 9, "{} blocks", blocks.len());
    for block in blocks {
        let (config, warnings) = Config::parse(block).unwrap();
        assert_eq!((config.validate(), warnings), (vec![], vec![]), "{block}");
        for settings in [config.chat_model().unwrap(), config.memory_model().unwrap()] {
            RemoteChatModel::new(&settings, &Proxies::default()).unwrap();
        }
    }
}
