//! Keep-alive HTTP/1.1 client, as small as possible so that the client's own cost is not measured.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::ServerProcess;

/// Longest wait for a response; a request that takes longer counts as hung.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

pub(super) struct LoadClient {
    stream: BufReader<TcpStream>,
    host: String,
    token: String,
}

impl LoadClient {
    pub(super) fn connect(server: &ServerProcess) -> Result<Self> {
        let stream = TcpStream::connect(&server.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
        let (host, token) = (server.address.clone(), server.token.clone());
        Ok(Self { stream: BufReader::new(stream), host, token })
    }

    pub(super) fn get(&mut self, path: &str) -> Result<Value> {
        self.send("GET", path, "")
    }

    pub(super) fn post(&mut self, path: &str, body: &Value) -> Result<Value> {
        self.send("POST", path, &body.to_string())
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Value> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            self.host,
            self.token,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (status, length) = self.head()?;
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        let text = String::from_utf8_lossy(&body);
        if !(200..300).contains(&status) {
            bail!("{method} {path}: {status} {text}");
        }
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }

    /// Reads the status and the content length.
    fn head(&mut self) -> Result<(u16, usize)> {
        let mut line = String::new();
        ensure!(self.stream.read_line(&mut line)? > 0, "the server closed the connection");
        let status = line.split(' ').nth(1).context("no status")?.parse()?;
        let mut length = 0;
        loop {
            line.clear();
            ensure!(self.stream.read_line(&mut line)? > 0, "the server closed the connection");
            let (name, value) = line.trim_end().split_once(':').unwrap_or((line.trim_end(), ""));
            if name.is_empty() {
                return Ok((status, length));
            }
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse()?;
            }
        }
    }
}
