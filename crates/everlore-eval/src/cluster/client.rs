//! HTTP client that goes on to the next server when one does not answer, as a load balancer would make it do.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::fleet::ServerAccess;

/// Longest wait for an answer; a request that takes longer counts as hung.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);

/// Answer of a server.
#[derive(Debug)]
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    /// Set if the answer tells when to try again.
    pub(super) has_retry_after: bool,
    pub(super) body: Value,
}

impl HttpAnswer {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

/// Client of several servers, on one kept connection at a time.
pub(super) struct ClusterClient {
    servers: Vec<ServerAccess>,
    /// Number of the server in use.
    current: usize,
    stream: Option<BufReader<TcpStream>>,
    /// Longest wait for an answer.
    patience: Duration,
}

impl ClusterClient {
    /// Creates a client that begins with a server and waits so long for each answer.
    pub(super) fn new(servers: Vec<ServerAccess>, first: usize, patience: Duration) -> Self {
        let current = first % servers.len();
        Self { servers, current, stream: None, patience }
    }

    /// Goes on to the next server.
    pub(super) fn next_server(&mut self) {
        self.current = (self.current + 1) % self.servers.len();
        self.stream = None;
    }

    pub(super) fn get(&mut self, path: &str) -> Result<HttpAnswer> {
        self.send("GET", path, None, "")
    }

    /// Sends a body; `key` makes the write idempotent.
    pub(super) fn post(
        &mut self,
        path: &str,
        key: Option<&str>,
        body: &Value,
    ) -> Result<HttpAnswer> {
        self.send("POST", path, key, &body.to_string())
    }

    fn send(
        &mut self,
        method: &str,
        path: &str,
        key: Option<&str>,
        body: &str,
    ) -> Result<HttpAnswer> {
        let ServerAccess { address, token } = &self.servers[self.current];
        let key = key.map_or_else(String::new, |key| format!("idempotency-key: {key}\r\n"));
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n{key}\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.exchange(&request);
        if answer.is_err() {
            self.stream = None;
        }
        answer
    }

    fn exchange(&mut self, request: &str) -> Result<HttpAnswer> {
        if self.stream.is_none() {
            let stream = TcpStream::connect(&self.servers[self.current].address)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(self.patience))?;
            self.stream = Some(BufReader::new(stream));
        }
        let stream = self.stream.as_mut().context("just connected")?;
        stream.get_mut().write_all(request.as_bytes())?;
        read_answer(stream)
    }
}

fn read_answer(stream: &mut BufReader<TcpStream>) -> Result<HttpAnswer> {
    let mut line = String::new();
    ensure!(stream.read_line(&mut line)? > 0, "the server closed the connection");
    let status = line.split(' ').nth(1).context("no status")?.parse()?;
    let (mut length, mut has_retry_after) = (0, false);
    loop {
        line.clear();
        ensure!(stream.read_line(&mut line)? > 0, "the server closed the connection");
        let (name, value) = line.trim_end().split_once(':').unwrap_or((line.trim_end(), ""));
        match name.to_ascii_lowercase().as_str() {
            "" => break,
            "content-length" => length = value.trim().parse()?,
            "retry-after" => has_retry_after = true,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(HttpAnswer {
        status,
        has_retry_after,
        body: serde_json::from_slice(&body).unwrap_or_default(),
    })
}
