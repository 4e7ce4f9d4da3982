//! MCP over standard input and output: one process, one client.

use everlore::{Error, Result};
use rmcp::{
    ServiceExt,
    service::ServerInitializeError,
    transport::{async_rw::AsyncRwTransport, io::stdio_pipes},
};

use super::McpServer;

/// Longest message; a longer one is dropped without an answer. The sender is the process that started this one, and the
/// limit is far above that of any tool, whose error it gets instead.
const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

impl McpServer {
    /// Answers until the input ends, also the last requests. Nothing else is written to standard output.
    pub async fn serve_stdio(self) -> Result<()> {
        let failed = |error: std::io::Error| Error::io("answering over standard output", error);
        let (input, output) = stdio_pipes();
        let lines =
            AsyncRwTransport::new_server(input, output).with_max_line_length(MAX_LINE_BYTES);
        match self.serve(lines).await {
            Ok(running) => {
                let ended = running.waiting().await;
                ended.map(drop).map_err(|error| failed(std::io::Error::other(error)))
            }
            // The client left before its first request, so nothing failed.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(failed(std::io::Error::other(error))),
        }
    }
}
