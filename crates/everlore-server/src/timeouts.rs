//! Time limits of the server, in one place so that tests can shorten them.

use std::time::Duration;

/// Time limits for clients, shutdown and certificate reloads. The defaults suit a server on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// Longest time for a client to send its request headers, and longest idle time between two requests.
    pub headers: Duration,
    /// Longest time for a client to send a request body (a few megabytes over a poor line); of an import, each chunk.
    pub body: Duration,
    /// Longest time in which a client reads nothing of what it was sent.
    pub write: Duration,
    /// Longest time for a TLS handshake.
    pub tls_handshake: Duration,
    /// Interval between two checks for a renewed certificate; certificates are renewed weeks before they expire.
    pub certificate_poll: Duration,
    /// Longest wait for running requests when the server ends.
    pub shutdown: Duration,
    /// Longest wait for a running extraction when the server ends; the next worker repeats one that is cut short.
    pub worker_stop: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            headers: Duration::from_secs(10),
            body: Duration::from_secs(30),
            write: Duration::from_secs(20),
            tls_handshake: Duration::from_secs(10),
            certificate_poll: Duration::from_secs(2),
            shutdown: Duration::from_secs(30),
            worker_stop: Duration::from_secs(5),
        }
    }
}
