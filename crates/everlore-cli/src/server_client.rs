//! The server of the home, where one runs: asked by commands that must be quicker than opening the files themselves.
//!
//! Only a server of the same home, the same version and the same settings is asked. Whatever goes wrong means that there is
//! none: the caller then works on the files, which is safe beside a server.

#[cfg(feature = "server")]
use std::{
    fmt::Write as _,
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

#[cfg(feature = "server")]
use everlore_server::ServerInfo;
#[cfg(feature = "server")]
use serde_json::{Value, json};

use everlore::types::Timestamp;

use crate::cli_context::CliContext;

/// A server on this machine answers a connection at once, or not at all.
#[cfg(feature = "server")]
const CONNECT_TIMEOUT: Duration = Duration::from_millis(200);

/// Longer than a recall takes; then the files are read instead.
#[cfg(feature = "server")]
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1_000);

/// The most bytes of an answer.
#[cfg(feature = "server")]
const MAX_RESPONSE_BYTES: u64 = 16 * 1024 * 1024;

/// What a conversation may be told.
#[cfg_attr(not(feature = "server"), expect(dead_code, reason = "only a server is told"))]
pub(crate) struct ContextRequest<'a> {
    /// The most tokens.
    pub(crate) budget: usize,
    /// The conversation.
    pub(crate) session: &'a str,
    /// Since when its model sees what is said in it.
    pub(crate) visible_since: Timestamp,
}

/// Whether a server runs on the home, whatever its settings are.
pub(crate) fn is_running(cx: &CliContext) -> bool {
    #[cfg(feature = "server")]
    return everlore_server::find_running(&cx.home).is_some();
    #[cfg(not(feature = "server"))]
    return {
        let _ = cx;
        false
    };
}

/// The block for a query, as [`everlore::Engine::inject`] makes it; none if no server tells it.
#[cfg(feature = "server")]
pub(crate) fn fetch_context(
    cx: &CliContext,
    query: &str,
    told: &ContextRequest<'_>,
) -> Option<String> {
    let ContextRequest { budget, session, visible_since: since } = told;
    let body = json!({ "query": query, "budget": budget, "session": session, "seen_since": since });
    let answer = post(cx, "/v1/context", &body)?;
    Some(answer.get("text")?.as_str()?.to_owned())
}

/// The same, where there is no server.
#[cfg(not(feature = "server"))]
pub(crate) fn fetch_context(_: &CliContext, _: &str, _: &ContextRequest<'_>) -> Option<String> {
    None
}

#[cfg(feature = "server")]
fn post(cx: &CliContext, path: &str, body: &Value) -> Option<Value> {
    let running =
        everlore_server::find_running(&cx.home).filter(|running| is_compatible(running, cx))?;
    let token = std::fs::read_to_string(cx.home.join("server.token")).ok()?;
    let address = running.local_address();
    let mut stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT).ok()?;
    stream.set_read_timeout(Some(RESPONSE_TIMEOUT)).ok()?;
    stream.set_write_timeout(Some(RESPONSE_TIMEOUT)).ok()?;
    stream.set_nodelay(true).ok()?;
    let body = body.to_string();
    let (agent, user) = (percent_encode(cx.scope.agent()), percent_encode(cx.scope.user()));
    let request = format!(
        "POST {path}?agent={agent}&user={user} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        token.trim(),
        body.len(),
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut answer).ok()?;
    response_body(&answer)
}

/// Whether it answers as this program would.
#[cfg(feature = "server")]
fn is_compatible(running: &ServerInfo, cx: &CliContext) -> bool {
    running.version == env!("CARGO_PKG_VERSION") && running.settings == cx.settings.digest()
}

/// The JSON of an answer that went well and is whole.
#[cfg(feature = "server")]
fn response_body(answer: &[u8]) -> Option<Value> {
    let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = (std::str::from_utf8(&answer[..end]).ok()?, &answer[end + 4..]);
    let mut lines = head.lines();
    let well = lines.next()?.split(' ').nth(1)? == "200";
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    (well && length == Some(body.len())).then(|| serde_json::from_slice(body).ok())?
}

/// A text as a value in an address.
#[cfg(feature = "server")]
fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            true => out.push(char::from(byte)),
            // Writing into a string cannot fail.
            false => _ = write!(out, "%{byte:02X}"),
        }
    }
    out
}

#[cfg(all(test, feature = "server"))]
mod tests {
    use super::*;

    #[test]
    fn only_an_answer_that_is_whole_counts() {
        let answer = |text: &str| response_body(text.replace('\n', "\r\n").as_bytes());
        assert_eq!(
            answer("HTTP/1.1 200 OK\ncontent-length: 7\n\n{\"a\":1}"),
            Some(json!({ "a": 1 }))
        );
        assert_eq!(answer("HTTP/1.1 200 OK\ncontent-length: 9\n\n{\"a\":1}"), None);
        assert_eq!(answer("HTTP/1.1 200 OK\n\n{\"a\":1}"), None);
        assert_eq!(answer("HTTP/1.1 401 No\ncontent-length: 2\n\n{}"), None);
        assert_eq!(answer("SSH-2.0"), None);
    }

    #[test]
    fn names_in_any_language_can_be_sent() {
        assert_eq!(percent_encode("anna b&小"), "anna%20b%26%E5%B0%8F");
    }
}
