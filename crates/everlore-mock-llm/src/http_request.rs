//! Parser of HTTP/1.1 requests.

use std::io::{self, BufRead, Read};

use serde_json::Value;

/// Recorded HTTP request.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    /// Method, such as `GET` or `POST`.
    pub method: String,
    /// Path with the query string.
    pub path: String,
    /// Header names in lower case, with their values.
    pub headers: Vec<(String, String)>,
    /// Whole body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Returns the value of a header; `name` is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON; null if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// Reads the next request; `None` if the client ended the connection between two requests.
pub(crate) fn read_request(reader: &mut impl BufRead) -> io::Result<Option<HttpRequest>> {
    let first = read_line(reader)?;
    let mut words = first.split(' ');
    let (Some(method), Some(path)) = (words.next().filter(|word| !word.is_empty()), words.next())
    else {
        return Ok(None);
    };
    let (method, path) = (method.to_owned(), path.to_owned());
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let mut request = HttpRequest { method, path, headers, body: Vec::new() };
    let length =
        request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    // No header of a test is longer; the limit ends a client that never stops.
    reader.take(64 << 10).read_line(&mut line)?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
