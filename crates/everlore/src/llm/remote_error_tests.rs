//! Tests of the classification of server errors by status, header and message.

use super::*;

fn request_info(key: &str) -> RequestInfo {
    RequestInfo {
        host: "api.example".into(),
        model: "m".into(),
        key: SecretString::new(key),
        key_source: "OPENAI_API_KEY".into(),
        missing_model_hint: "get it".into(),
    }
}

fn error_for(status: u16, after: &str, body: &str) -> RemoteError {
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, after.parse().unwrap());
    headers.insert(DATE, "Mon, 02 Mar 2026 12:00:00 GMT".parse().unwrap());
    RemoteError::from_response(
        &request_info("sk-1"),
        StatusCode::from_u16(status).unwrap(),
        &headers,
        body.as_bytes(),
    )
}

fn error_body(body: &str) -> String {
    serde_json::json!({ "error": { "message": body } }).to_string()
}

#[test]
fn each_status_is_told_by_what_helps() {
    let kinds = |status: u16, body: &str| match error_for(status, "", body) {
        RemoteError::Transient { .. } => "wait",
        RemoteError::TooLarge { .. } => "less",
        RemoteError::Permanent { .. } => "change",
        other => panic!("{other:?}"),
    };
    for status in [408, 429, 500, 502, 503, 504, 529] {
        assert_eq!(kinds(status, ""), "wait", "{status}");
    }
    for status in [301, 400, 401, 402, 403, 404, 405, 422] {
        assert_eq!(kinds(status, ""), "change", "{status}");
    }
    assert_eq!(kinds(413, ""), "less");
    assert_eq!(
        kinds(400, &error_body("This model's maximum context length is 8192 tokens")),
        "less"
    );
    assert_eq!(kinds(400, r#"{"error":"input length exceeds the context length"}"#), "less");
    assert_eq!(kinds(429, &error_body("You exceeded your current quota")), "change");
}

#[test]
fn the_time_to_wait_is_read_as_seconds_and_as_a_date() {
    let after = |text| match error_for(429, text, "") {
        RemoteError::Transient { after, .. } => after.map(|after| after.as_millis()),
        other => panic!("{other:?}"),
    };
    assert_eq!(after("7"), Some(7_000));
    assert_eq!(after("0.5"), Some(500));
    assert_eq!(after("Mon, 02 Mar 2026 12:00:30 GMT"), Some(30_000));
    assert_eq!(after("Mon, 02 Mar 2026 11:00:00 GMT"), Some(0), "in the past");
    assert_eq!(after("soon"), None);
    assert_eq!(after("-3"), None);
}

#[test]
fn a_refused_key_is_named_by_its_place_and_never_shown() {
    let body = error_body("Incorrect API key provided: sk-1. 错误的密钥");
    let error = Error::from(error_for(401, "", &body));
    let described = format!("{error} {}", error.hint());
    assert!(
        described.contains("the key in OPENAI_API_KEY was refused by api.example (401)"),
        "{described}"
    );
    assert!(described.contains("错误的密钥") && !described.contains("sk-1"), "{described}");
    assert_eq!(error.code(), "remote");
    let none = RemoteError::from_response(
        &request_info(""),
        StatusCode::UNAUTHORIZED,
        &HeaderMap::new(),
        b"",
    );
    let none = Error::from(none);
    assert!(
        none.to_string().contains("there is none") && none.hint().contains("OPENAI_API_KEY"),
        "{none}"
    );
    assert!(!format!("{:?}", request_info("sk-1")).contains("sk-1"));
}

#[test]
fn a_long_complaint_is_cut() {
    let RemoteError::Permanent { message, .. } =
        error_for(400, "", &error_body(&"很".repeat(10_000)))
    else {
        panic!()
    };
    assert!(message.chars().count() < 300, "{message}");
}

#[test]
fn failures_of_language_models_are_told_by_what_helps() {
    let described = |status: u16, body: &str| match error_for(status, "", body) {
        RemoteError::Transient { message, after } => format!("wait {after:?}: {message}"),
        RemoteError::TooLarge { message } => format!("less: {message}"),
        RemoteError::Permanent { message, hint } => format!("change: {message} / {hint}"),
        other => panic!("{other:?}"),
    };
    let gemini_key =
        r#"[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key."}}]"#;
    assert!(described(400, gemini_key).contains("the key in OPENAI_API_KEY was refused"));
    let credit = error_body("Your credit balance is too low to access the API");
    assert!(described(400, &credit).contains("no credit left"));
    assert!(described(402, &error_body("Insufficient Balance")).contains("no credit left"));
    let minute = r#"{"error":{"code":429,"message":"You exceeded your current quota","details":[{"retryDelay":"34s"}]}}"#;
    assert!(described(429, minute).starts_with("wait Some(34s)"), "a limit by the minute passes");
    assert!(
        described(400, &error_body("prompt is too long: 208310 tokens > 200000 maximum"))
            .starts_with("less")
    );
    let count =
        error_body("The input token count (1200000) exceeds the maximum number of tokens allowed");
    assert!(described(400, &count).starts_with("less"));
}

#[test]
fn refusals_of_tools_are_known_by_their_words() {
    let refuses = |status, words: &str| {
        refuses_tools(StatusCode::from_u16(status).unwrap(), words.as_bytes())
    };
    assert!(refuses(400, "registry.ollama.ai/library/gemma3:4b does not support tools"));
    assert!(refuses(400, r#""auto" tool choice requires --enable-auto-tool-choice to be set"#));
    assert!(refuses(500, "tools param requires --jinja flag"));
    assert!(refuses(404, "No endpoints found that support tool use"));
    assert!(refuses(400, "Function calling is not enabled for models/gemma-3"));
    assert!(refuses(400, r#"{"error":{"message":"该模型不支持工具调用"}}"#));
    assert!(refuses(400, r#"{"message":"\u8be5\u6a21\u578b\u4e0d\u652f\u6301\u5de5\u5177"}"#));
    assert!(refuses(422, "此模型不支援函數調用") && refuses(400, "tool_choice is not supported"));
    assert!(!refuses(400, "该模型不支持图片") && !refuses(400, "工具数量超过上限"));
    assert!(!refuses(400, "temperature is not supported with this model"));
    assert!(!refuses(401, "does not support tools") && !refuses(400, "too many tools"));
}

#[test]
fn an_error_in_the_middle_of_an_answer_is_told_by_its_number_or_name() {
    let described =
        |error: Value| match RemoteError::from_stream_error(&request_info("sk-1"), &error) {
            RemoteError::Transient { message, .. } => format!("wait: {message}"),
            RemoteError::TooLarge { message } => format!("less: {message}"),
            RemoteError::Permanent { message, .. } => format!("change: {message}"),
            other => panic!("{other:?}"),
        };
    let named =
        |kind: &str| described(serde_json::json!({ "error": { "type": kind, "message": "忙" } }));
    assert_eq!(named("overloaded_error"), "wait: api.example answered with status 529: 忙");
    assert_eq!(named("rate_limit_error"), "wait: api.example answered with status 429: 忙");
    assert_eq!(named("invalid_request_error"), "change: api.example answered with status 400: 忙");
    assert_eq!(named("anything"), "wait: api.example answered with status 500: 忙");
    assert!(named("authentication_error").contains("was refused"));
    let numbered =
        |code: Value| described(serde_json::json!({ "error": { "code": code, "message": "x" } }));
    assert!(numbered(serde_json::json!(502)).contains("502"));
    assert!(numbered(serde_json::json!("503")).contains("503"));
    assert!(
        described(serde_json::json!({ "error": "runner stopped" })).contains("500: runner stopped")
    );
}
