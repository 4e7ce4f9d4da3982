//! Tests of the servers and the proxy, with the real programs.

// The packages are for this system only.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod clients;
mod failover;
mod faults;
mod galera;
mod orphans;
mod restart;
mod runner;
