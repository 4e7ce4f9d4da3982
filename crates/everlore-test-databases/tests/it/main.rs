//! Tests of the servers and the proxy, with the real programs.

// The packages are for this system only.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod clients;
mod failover;
mod faults;
mod galera;
mod orphans;
mod restart;
