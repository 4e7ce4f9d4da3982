//! Client of the home's running server, for commands that must be faster than opening the files themselves.
//!
//! It only talks to a server of the same home, version and settings. Any error means that there is no server: the
//! caller then works on the files, which is safe beside a server.

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

use crate::CliContext;
use everlore::internal::files::regular_file::{self, MAX_SETTINGS_BYTES};

/// Time to connect: a server on this machine accepts at once, or not at all.
#[cfg(feature = "server")]
const CONNECT_TIMEOUT: Duration = Duration::from_millis(200);

/// Time to answer, longer than a recall takes; after it the files are read instead.
#[cfg(feature = "server")]
const RESPONSE_TIMEOUT: Duration = Duration::from_millis(1_000);

/// Largest response.
#[cfg(feature = "server")]
const MAX_RESPONSE_BYTES: u64 = 16 * 1024 * 1024;

/// Request to the server for the context of a prompt (`POST /v1/context`).
#[cfg_attr(not(feature = "server"), expect(dead_code, reason = "only a server reads it"))]
pub(crate) struct FetchContextRequest<'a> {
    /// Token budget of the block.
    pub(crate) budget: usize,
    pub(crate) session: &'a str,
    /// Time since which the model sees all turns of the session.
    pub(crate) visible_since: Timestamp,
    /// Set if the query is the error of a failed tool.
    pub(crate) is_failure: bool,
}

/// Returns `true` if a server runs on the home, whatever its settings.
pub(crate) fn is_running(cx: &CliContext) -> bool {
    #[cfg(feature = "server")]
    return everlore_server::find_running(&cx.home).is_some();
    #[cfg(not(feature = "server"))]
    return {
        let _ = cx;
        false
    };
}

/// Returns the block for a query, as [`everlore::Engine::inject`] builds it; `None` if no server answers.
#[cfg(feature = "server")]
pub(crate) fn fetch_context(
    cx: &CliContext,
    query: &str,
    request: &FetchContextRequest<'_>,
) -> Option<String> {
    let FetchContextRequest { budget, session, visible_since, is_failure } = request;
    let body = json!({
        "query": query, "budget": budget, "session": session, "seen_since": visible_since, "failure": is_failure,
    });
    let response = post(cx, "/v1/context", &body)?;
    Some(response.get("text")?.as_str()?.to_owned())
}

/// Returns `None`: this program was built without a server.
#[cfg(not(feature = "server"))]
pub(crate) fn fetch_context(
    _: &CliContext,
    _: &str,
    _: &FetchContextRequest<'_>,
) -> Option<String> {
    None
}

#[cfg(feature = "server")]
fn post(cx: &CliContext, path: &str, body: &Value) -> Option<Value> {
    let running =
        everlore_server::find_running(&cx.home).filter(|running| is_compatible(running, cx))?;
    let token =
        regular_file::read_to_string(&cx.home.join("server.token"), MAX_SETTINGS_BYTES).ok()?;
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
    let mut response = Vec::new();
    stream.take(MAX_RESPONSE_BYTES).read_to_end(&mut response).ok()?;
    response_body(&response)
}

/// Returns `true` if the server has this program's version and settings.
#[cfg(feature = "server")]
fn is_compatible(running: &ServerInfo, cx: &CliContext) -> bool {
    running.version == env!("CARGO_PKG_VERSION") && running.settings == cx.settings.digest()
}

/// Returns the JSON of a complete response with status 200.
#[cfg(feature = "server")]
fn response_body(response: &[u8]) -> Option<Value> {
    let end = response.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
    let (head, body) = (std::str::from_utf8(&response[..end]).ok()?, &response[end + 4..]);
    let mut lines = head.lines();
    let is_ok = lines.next()?.split(' ').nth(1)? == "200";
    let length = lines.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    (is_ok && length == Some(body.len())).then(|| serde_json::from_slice(body).ok())?
}

/// Percent-encodes a value of a query string.
#[cfg(feature = "server")]
fn percent_encode(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing into a string cannot fail.
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(all(test, feature = "server"))]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_response_counts() {
        let body = |text: &str| response_body(text.replace('\n', "\r\n").as_bytes());
        assert_eq!(
            body("HTTP/1.1 200 OK\ncontent-length: 7\n\n{\"a\":1}"),
            Some(json!({ "a": 1 }))
        );
        assert_eq!(body("HTTP/1.1 200 OK\ncontent-length: 9\n\n{\"a\":1}"), None);
        assert_eq!(body("HTTP/1.1 200 OK\n\n{\"a\":1}"), None);
        assert_eq!(body("HTTP/1.1 401 No\ncontent-length: 2\n\n{}"), None);
        assert_eq!(body("SSH-2.0"), None);
    }

    #[test]
    fn names_in_any_language_can_be_sent() {
        assert_eq!(percent_encode("anna b&小"), "anna%20b%26%E5%B0%8F");
    }
}
