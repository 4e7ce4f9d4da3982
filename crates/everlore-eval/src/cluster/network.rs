//! A network before the database that delays, cuts, truncates, refuses and swallows, as a seed decides.

use std::{
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use everlore_test_databases::{
    Fault, FaultProxy, MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer,
};

use super::{
    ClusterOptions, ClusterReport,
    failover::{create_database, in_database},
    fleet::ServerFleet,
    verify::find_faults,
    writers::{WriteLoad, write_while},
};
use crate::random::SplitMix64;

/// Clients that write through the bad network.
const CLIENTS: usize = 16;

/// Limits of the connections, in seconds: short, so that many are reached.
const LIMITS: &str = "connect_timeout=2&acquire_timeout=2&statement_timeout=2";

/// Longest request: a call of the database takes at most 2 + 2 + 5 seconds, a request makes some, and the first that fails
/// ends it. Those before it may have been slow.
const MAX_REQUEST_S: f64 = 20.0;

/// Writes through a bad network to PostgreSQL.
pub(super) fn before_postgres(options: &ClusterOptions) -> Result<ClusterReport> {
    let server = options.runtime.block_on(PostgresServer::start(PostgresOptions::default()));
    let proxy = options.runtime.block_on(FaultProxy::start(server.address()));
    disturb(options, "bad network, PostgreSQL", &proxy, &server.url_at(proxy.address()))
}

/// Writes through a bad network to MariaDB.
pub(super) fn before_mariadb(options: &ClusterOptions) -> Result<ClusterReport> {
    let server = options.runtime.block_on(MariaDbServer::start(MariaDbOptions::default()));
    create_database(options, &server);
    let proxy = options.runtime.block_on(FaultProxy::start(server.address()));
    disturb(options, "bad network, MariaDB", &proxy, &in_database(&server.url_at(proxy.address())))
}

fn disturb(
    options: &ClusterOptions,
    name: &str,
    proxy: &FaultProxy,
    url: &str,
) -> Result<ClusterReport> {
    let fleet = ServerFleet::start(&options.binary, vec![format!("{url}?{LIMITS}"); 2])?;
    let load = WriteLoad { clients: CLIENTS, recalls: true, has_impatient: true, number: 0 };
    let began = Instant::now();
    let ((), log) = write_while(&fleet.access(), load, |_| {
        change_faults(options, proxy);
        options.runtime.block_on(proxy.set(Fault::None));
    });
    let mut report = ClusterReport::new(
        format!("{name}, seed {}", options.seed),
        &log,
        began.elapsed().as_secs_f64(),
    );
    if report.longest_request_s > MAX_REQUEST_S {
        report.faults.push(format!("a request took {:.1} s", report.longest_request_s));
    }
    if !log.uncertain.is_empty() {
        report.faults.push(format!("{} writes were never acknowledged", log.uncertain.len()));
    }
    fleet.wait_until_ready()?;
    report.faults.extend(find_faults(options, &fleet, &log)?);
    Ok(report)
}

/// Changes the disturbance until the time is over.
fn change_faults(options: &ClusterOptions, proxy: &FaultProxy) {
    let mut random = SplitMix64::from_keys(&[options.seed]);
    let began = Instant::now();
    while began.elapsed() < options.length {
        let (fault, millis) = next_fault(&mut random);
        options.runtime.block_on(async {
            if fault == Fault::None {
                proxy.cut().await;
            }
            proxy.set(fault).await;
        });
        let left = options.length.saturating_sub(began.elapsed());
        thread::sleep(Duration::from_millis(millis).min(left));
    }
}

/// Draws a disturbance and its length in milliseconds. Every third is none, after all connections were cut. One in ten of
/// the silences is longer than any limit.
fn next_fault(random: &mut SplitMix64) -> (Fault, u64) {
    let length = random.between(100, 1_500);
    let bytes = random.between(1, 5_000) as usize;
    match random.below(9) {
        0..=2 => (Fault::None, length),
        3 => (Fault::Delay(Duration::from_millis(random.between(1, 50))), length),
        4 => (Fault::TruncateRequests(bytes), length),
        5 => (Fault::TruncateResponses(bytes), length),
        6 => (Fault::Refuse, length),
        _ if random.chance(10) => (Fault::Blackhole, 12_000),
        _ => (Fault::Blackhole, length),
    }
}
