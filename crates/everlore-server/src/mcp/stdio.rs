//! MCP over standard input and output: one process, one client.

use everlore::{Error, Result};
use rmcp::{
    ServiceExt,
    service::ServerInitializeError,
    transport::{async_rw::AsyncRwTransport, io::stdio_pipes},
};

use super::McpServer;

/// The longest message. Who sends one is the one who started this process, and what is longer is dropped without an answer:
/// far more than any tool takes, so that they are told by the tool.
const MAX_LINE_BYTES: usize = 256 * 1024 * 1024;

impl McpServer {
    /// Answers until the input ends. What was asked before is answered; nothing else is written to standard output.
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
            // The client went away before it said anything: nothing was asked, so nothing failed.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(failed(std::io::Error::other(error))),
        }
    }
}
