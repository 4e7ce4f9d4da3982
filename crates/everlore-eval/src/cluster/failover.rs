//! Failures of the database under writes: a primary that is replaced, a node of a cluster that dies, a server that is
//! killed and comes back.

use std::{
    collections::BTreeSet,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use anyhow::Result;
use everlore::internal::lock;
use everlore_test_databases::{
    GaleraCluster, MariaDbOptions, MariaDbServer, PostgresOptions, PostgresServer,
};

use super::{
    ClusterOptions, ClusterReport,
    fleet::ServerFleet,
    verify::find_faults,
    writers::{AcknowledgedWrite, WriteLoad, WriteLog, write_while},
};

/// Clients that write during a failure.
const CLIENTS: usize = 16;

/// Writes of each client, on average, before the database fails.
const WRITES_BEFORE: usize = 5;

/// Longest time to the first success after the database's own recovery.
const MAX_RECOVERY_S: f64 = 10.0;

/// Time after which a client that cannot write counts as stuck.
const STUCK_AFTER: Duration = Duration::from_secs(60);

/// Time that a killed server stays away: longer than Everlore tries a request again, so that clients see the outage.
const OUTAGE: Duration = Duration::from_secs(7);

/// Interval of looks at what clients did.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Database for the memories on a MariaDB server.
pub(super) const DATABASE: &str = "everlore";

/// Kills PostgreSQL's primary and promotes its synchronous standby.
pub(super) fn fail_over_postgres(options: &ClusterOptions, run: usize) -> Result<ClusterReport> {
    let (mut primary, mut standby) = options.runtime.block_on(async {
        let mut primary = PostgresServer::start(PostgresOptions::default()).await;
        let standby = primary.standby().await;
        (primary, standby)
    });
    let url = join_hosts(&[primary.url(), standby.url()]);
    let fleet = ServerFleet::start(&options.binary, vec![url; 2])?;
    measure_failure(options, "failover of PostgreSQL", run, &fleet, || {
        primary.kill();
        options.runtime.block_on(standby.promote());
    })
}

/// Kills one of three nodes of a Galera cluster; every server begins with another one.
pub(super) fn fail_over_galera(options: &ClusterOptions, run: usize) -> Result<ClusterReport> {
    let mut cluster = options.runtime.block_on(GaleraCluster::start(3));
    let fleet = ServerFleet::start(&options.binary, galera_urls(options, &cluster))?;
    measure_failure(options, "failover of Galera", run, &fleet, || {
        cluster.kill(run % 3);
        options.runtime.block_on(cluster.wait_for_view());
    })
}

/// Kills PostgreSQL and starts it again.
pub(super) fn kill_postgres(options: &ClusterOptions, run: usize) -> Result<ClusterReport> {
    let mut server = options.runtime.block_on(PostgresServer::start(PostgresOptions::default()));
    let fleet = ServerFleet::start(&options.binary, vec![server.url(); 2])?;
    measure_failure(options, "kill -9 of PostgreSQL", run, &fleet, || {
        server.kill();
        thread::sleep(OUTAGE);
        options.runtime.block_on(server.restart());
    })
}

/// Kills MariaDB and starts it again.
pub(super) fn kill_mariadb(options: &ClusterOptions, run: usize) -> Result<ClusterReport> {
    let mut server = options.runtime.block_on(MariaDbServer::start(MariaDbOptions::default()));
    let url = create_database(options, &server);
    let fleet = ServerFleet::start(&options.binary, vec![url; 2])?;
    measure_failure(options, "kill -9 of MariaDB", run, &fleet, || {
        server.kill();
        thread::sleep(OUTAGE);
        options.runtime.block_on(server.restart());
    })
}

/// Creates the database for the memories and returns its address.
pub(super) fn create_database(options: &ClusterOptions, server: &MariaDbServer) -> String {
    let create = format!("CREATE DATABASE IF NOT EXISTS {DATABASE}");
    options.runtime.block_on(server.query(&create));
    in_database(&server.url())
}

/// Returns an address with the database for the memories in place of the server's own.
pub(super) fn in_database(url: &str) -> String {
    let base = url.rsplit_once('/').map_or(url, |(base, _)| base);
    format!("{base}/{DATABASE}")
}

/// Returns an address for a server on each node, which names the other nodes too.
pub(super) fn galera_urls(options: &ClusterOptions, cluster: &GaleraCluster) -> Vec<String> {
    create_database(options, cluster.node(0));
    let urls: Vec<String> = (0..3).map(|number| in_database(&cluster.url(number))).collect();
    let from = |first: usize| {
        let mut urls = urls.clone();
        urls.rotate_left(first);
        join_hosts(&urls)
    };
    (0..3).map(from).collect()
}

/// Joins addresses that differ in their hosts.
fn join_hosts(urls: &[String]) -> String {
    let host = |url: &String| {
        let place = url.rsplit_once('@').map_or("", |(_, place)| place);
        place.split('/').next().unwrap_or_default().to_owned()
    };
    let hosts: Vec<String> = urls.iter().map(host).collect();
    urls[0].replacen(&hosts[0], &hosts.join(","), 1)
}

/// Lets clients write while the database fails and recovers, and looks for every write.
fn measure_failure(
    options: &ClusterOptions,
    name: &str,
    run: usize,
    fleet: &ServerFleet,
    fail_and_recover: impl FnOnce(),
) -> Result<ClusterReport> {
    let (began, load) = (
        Instant::now(),
        WriteLoad { clients: CLIENTS, recalls: false, has_impatient: false, number: run as u64 },
    );
    let (recovered, log) = write_while(&fleet.access(), load, |log| {
        wait_for(log, |log| log.acknowledged.len() >= CLIENTS * WRITES_BEFORE);
        fail_and_recover();
        let recovered = Instant::now();
        wait_for(log, |log| clients_after(log, recovered).len() == CLIENTS);
        recovered
    });
    let mut report = ClusterReport::new(name, &log, began.elapsed().as_secs_f64());
    let after = |write: &AcknowledgedWrite| write.at.checked_duration_since(recovered);
    let first = log.acknowledged.iter().filter_map(after).min();
    report.first_success_s = first.map(|time| time.as_secs_f64());
    let firsts = (0..CLIENTS).filter_map(|client| {
        let own = log.acknowledged.iter().filter(|write| write.client == client);
        own.filter_map(after).min()
    });
    report.all_clients_s = firsts.max().map(|time| time.as_secs_f64());
    if report.all_clients_s.is_none_or(|seconds| seconds > MAX_RECOVERY_S) {
        report.faults.push(format!("not all clients could write within {MAX_RECOVERY_S} s"));
    }
    if !log.uncertain.is_empty() {
        report.faults.push(format!("{} writes were never acknowledged", log.uncertain.len()));
    }
    report.faults.extend(find_faults(options, fleet, &log)?);
    Ok(report)
}

/// Waits until the clients did something, but not forever: the report tells if they did not.
fn wait_for(log: &Mutex<WriteLog>, condition: impl Fn(&WriteLog) -> bool) {
    let began = Instant::now();
    while !condition(&lock(log)) && began.elapsed() < STUCK_AFTER {
        thread::sleep(POLL_INTERVAL);
    }
}

/// Returns the clients with a write after a moment.
fn clients_after(log: &WriteLog, moment: Instant) -> BTreeSet<usize> {
    let after = log.acknowledged.iter().rev().take_while(|write| write.at > moment);
    after.map(|write| write.client).collect()
}
