//! MCP over standard input and output: one process, one client.

use everlore::{Error, Result};
use rmcp::{ServiceExt, service::ServerInitializeError, transport::io::stdio_pipes};

use super::Mcp;

impl Mcp {
    /// Answers until the input ends. What was asked before is answered; nothing else is written to standard output.
    pub async fn serve_stdio(self) -> Result<()> {
        let failed = |error: std::io::Error| Error::io("answering over standard output", error);
        match self.serve(stdio_pipes()).await {
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
