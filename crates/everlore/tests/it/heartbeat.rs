//! Tests of the heartbeat: each job once, quiet hours, missed runs, switches and history.

use std::{cell::Cell, sync::Arc};

use everlore::{
    Config, Engine, RememberRequest, Scope,
    config::MissedRuns,
    engine::{HeartbeatJob, HeartbeatReport, NewSchedule},
    store::{RamStore, SqliteStore, Store},
    types::Timestamp,
};

use crate::support::{fresh_path, scope, sqlite};

thread_local! {
    static NOW: Cell<Timestamp> = const { Cell::new(Timestamp::UNIX_EPOCH) };
}

fn now() -> Timestamp {
    NOW.get()
}

fn set_now(time: &str) {
    NOW.set(time.parse().unwrap());
}

fn engine(store: Arc<dyn Store>, config: Config) -> Engine {
    Engine::builder(store).clock(now).config(config).build()
}

async fn beat(engine: &Engine, listeners: &[Scope]) -> HeartbeatReport {
    engine.heartbeat(listeners).await.unwrap()
}

fn upkeep_runs(report: &HeartbeatReport) -> usize {
    let runs = report.runs.iter().filter(|run| run.job == HeartbeatJob::Upkeep);
    runs.map(|run| run.scopes).sum()
}

async fn remember(engine: &Engine, owner: &Scope) {
    engine.remember(owner, RememberRequest::new("I sail")).await.unwrap();
}

#[tokio::test]
async fn two_processes_run_each_job_once() {
    let path = fresh_path();
    let open =
        async || engine(Arc::new(SqliteStore::open(&path).await.unwrap()), Config::default());
    let (one, other) = (open().await, open().await);
    set_now("2026-03-02T12:00:00Z");
    for user in ["ann", "ben", "wang"] {
        remember(&one, &scope(user)).await;
    }
    let (first, second) = tokio::join!(beat(&one, &[]), beat(&other, &[]));
    assert_eq!(upkeep_runs(&first) + upkeep_runs(&second), 3);
    assert_eq!(upkeep_runs(&beat(&other, &[]).await), 0);
    set_now("2026-03-03T12:00:00Z");
    assert_eq!(upkeep_runs(&beat(&other, &[]).await), 3);
    let status = one.heartbeat_status().await.unwrap();
    assert!(!status.running && !status.quiet && status.enabled);
}

#[tokio::test]
async fn nothing_runs_in_quiet_hours() {
    let mut config = Config::default();
    config.heartbeat.quiet_hours = "22-7".into();
    let (engine, owner) = (engine(Arc::new(RamStore::default()), config), scope("wang"));
    set_now("2026-03-02T21:30:00Z");
    let hourly = NewSchedule { text: "every hour stretch".into(), ..NewSchedule::default() };
    engine.add_schedule(&owner, &hourly).await.unwrap();
    for time in ["2026-03-02T22:00:00Z", "2026-03-03T06:59:00Z"] {
        set_now(time);
        let report = beat(&engine, std::slice::from_ref(&owner)).await;
        assert!(report.quiet && report.runs.is_empty() && report.reminders.is_empty());
    }
    set_now("2026-03-03T07:00:00Z");
    let report = beat(&engine, std::slice::from_ref(&owner)).await;
    assert_eq!(upkeep_runs(&report), 1);
    assert_eq!(report.reminders[0].1.times, 10);
}

#[tokio::test]
async fn a_missed_run_is_made_up_once() {
    for (missed, runs) in [(MissedRuns::Once, [1, 1, 0, 1]), (MissedRuns::Skip, [1, 0, 0, 1])] {
        let mut config = Config::default();
        config.heartbeat.missed = missed;
        let (engine, owner) = (engine(Arc::new(RamStore::default()), config), scope("wang"));
        let days = ["02T12:00", "12T12:00", "12T12:01", "13T12:00"];
        for (day, expected) in days.into_iter().zip(runs) {
            set_now(&format!("2026-03-{day}:00Z"));
            remember(&engine, &owner).await;
            assert_eq!(upkeep_runs(&beat(&engine, &[]).await), expected, "{missed:?} {day}");
        }
    }
}

#[tokio::test]
async fn a_job_that_is_off_does_not_run_and_the_history_tells() {
    let (engine, owner) = (engine(sqlite().await, Config::default()), scope("wang"));
    set_now("2026-03-02T12:00:00Z");
    remember(&engine, &owner).await;
    engine.switch_job(HeartbeatJob::Upkeep, false).await.unwrap();
    assert_eq!(upkeep_runs(&beat(&engine, &[]).await), 0);
    engine.switch_job(HeartbeatJob::Upkeep, true).await.unwrap();
    assert_eq!(upkeep_runs(&beat(&engine, &[]).await), 1);
    let history = engine.heartbeat_history().await.unwrap();
    assert_eq!((history[0].job, history[0].at), (HeartbeatJob::Upkeep, now()));
    let key = engine.without_owner_rights();
    assert!(key.switch_job(HeartbeatJob::Upkeep, false).await.is_err());
}
