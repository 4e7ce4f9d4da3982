//! Cost of one recall and one save: time, round trips, and processor time of the engine and of its database.

use std::{fs, time::Duration};

use anyhow::{Context, Result};
use everlore::Engine;
use everlore_test_databases::{Fault, FaultProxy};
use serde::Serialize;
use tokio::runtime::Runtime;

use super::{
    engine_subject::{EngineSubject, scope, turn},
    measure::load_corpus,
    subject::{ScaleSubject, SubjectKind},
    vector_search::open_engine,
};
use crate::{
    corpus::{Corpus, ScopeClass},
    timing::{SampleStats, process_cpu_seconds, timed},
};

/// Operations that are measured on the plain line, and on the slow one.
const OPERATIONS: u32 = 256;
const SLOW_OPERATIONS: u32 = 20;
/// Memories of one batch while loading.
const LOAD_BATCH: usize = 20_000;
/// Operations before the first that counts.
const WARM_UP: u32 = 20;
/// Time that every byte takes longer on the slow line, one way.
const ONE_WAY: Duration = Duration::from_millis(5);
/// Ticks of a processor second in `/proc`, on every Linux that we run on.
const TICKS_PER_SECOND: f64 = 100.0;
/// Fields of `/proc/PID/stat` behind the name in parentheses.
const PARENT: usize = 1;
const USER_TICKS: usize = 11;
const FIELDS_OF_TICKS: usize = 4;

/// Cost of an operation.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct OperationCost {
    pub(crate) ms: SampleStats,
    /// Round trips to the database, by the time that a slower line adds; 0 without a server.
    pub(crate) round_trips: f64,
    /// Processor time of the engine in milliseconds.
    pub(crate) engine_cpu_ms: f64,
    /// Processor time of the database server in milliseconds.
    pub(crate) database_cpu_ms: f64,
}

/// Costs of a class of scopes.
#[derive(Debug, Serialize)]
pub(crate) struct ClassCost {
    pub(crate) scope_size: u32,
    pub(crate) recall: OperationCost,
    pub(crate) save: OperationCost,
}

/// Costs of a subject.
#[derive(Debug, Serialize)]
pub(crate) struct SubjectCost {
    pub(crate) subject: &'static str,
    pub(crate) bytes_per_memory: f64,
    pub(crate) classes: Vec<ClassCost>,
}

/// Kind of operation.
#[derive(Clone, Copy)]
enum Operation {
    Recall,
    Save,
}

/// Engine on a line to the database, with what its operations need.
struct CostLine<'a> {
    runtime: &'a Runtime,
    engine: &'a Engine,
    corpus: &'a Corpus,
    class: ScopeClass,
}

/// Loads a corpus into the engine on a new database and measures operations in three classes of scopes.
pub(crate) fn measure_costs(kind: SubjectKind, corpus: &Corpus, total: u32) -> Result<SubjectCost> {
    let folder = tempfile::tempdir()?;
    let mut subject = EngineSubject::of_kind(kind, folder.path())?;
    load_corpus(&mut subject, corpus, LOAD_BATCH)?;
    subject.reopen()?;
    let bytes_per_memory = subject.bytes()? as f64 / f64::from(total);
    let classes = [ScopeClass::Fixed80, ScopeClass::Fixed1k, ScopeClass::Large];
    let classes = classes.map(|class| class_cost(&subject, corpus, class));
    let classes = classes.into_iter().collect::<Result<_>>()?;
    Ok(SubjectCost { subject: kind.name(), bytes_per_memory, classes })
}

fn class_cost(subject: &EngineSubject, corpus: &Corpus, class: ScopeClass) -> Result<ClassCost> {
    let runtime = subject.runtime();
    let engine = subject.engine()?;
    let line = CostLine { runtime, engine, corpus, class };
    let scope_size = corpus.size(corpus.scopes_of(class)[0]);
    let cost = |operation| -> Result<OperationCost> {
        let plain = line.cost(operation, subject)?;
        Ok(OperationCost { round_trips: round_trips(&line, operation, subject)?, ..plain })
    };
    Ok(ClassCost { scope_size, recall: cost(Operation::Recall)?, save: cost(Operation::Save)? })
}

/// Measures round trips by the time that a slower line adds to an operation.
fn round_trips(line: &CostLine<'_>, operation: Operation, subject: &EngineSubject) -> Result<f64> {
    let Some(server) = subject.server() else { return Ok(0.0) };
    let proxy = line.runtime.block_on(FaultProxy::start(server.address()));
    let engine = line.runtime.block_on(open_engine(&server.url_at(proxy.address()), true))?;
    let near = CostLine { engine: &engine, ..*line };
    let fast = near.run(operation, SLOW_OPERATIONS)?;
    line.runtime.block_on(proxy.set(Fault::Delay(ONE_WAY)));
    let slow = near.run(operation, SLOW_OPERATIONS)?;
    line.runtime.block_on(proxy.set(Fault::None));
    line.runtime.block_on(engine.admin().close());
    Ok((slow.p50 - fast.p50) / (2.0 * ONE_WAY.as_secs_f64() * 1e3))
}

impl CostLine<'_> {
    fn cost(&self, operation: Operation, subject: &EngineSubject) -> Result<OperationCost> {
        self.run(operation, 0)?;
        let before = cpu_ms(subject)?;
        let ms = self.run_cold(operation, 0, OPERATIONS)?;
        let after = cpu_ms(subject)?;
        let share = |index: usize| (after[index] - before[index]) / f64::from(OPERATIONS);
        let (engine_cpu_ms, database_cpu_ms) = (share(0), share(1));
        Ok(OperationCost { ms, round_trips: 0.0, engine_cpu_ms, database_cpu_ms })
    }

    /// Times operations after some that warm the caches.
    fn run(&self, operation: Operation, count: u32) -> Result<SampleStats> {
        self.run_cold(operation, OPERATIONS, WARM_UP)?;
        self.run_cold(operation, OPERATIONS + WARM_UP, count)
    }

    fn run_cold(&self, operation: Operation, first: u32, count: u32) -> Result<SampleStats> {
        let scopes = self.corpus.scopes_of(self.class);
        let mut samples = Vec::new();
        for number in first..first + count {
            let owner = scopes[number as usize % scopes.len()];
            samples.push(timed(|| self.operate(operation, owner, number))?.1);
        }
        Ok(SampleStats::from_samples(samples))
    }

    fn operate(&self, operation: Operation, owner: u32, number: u32) -> Result<()> {
        match operation {
            Operation::Recall => {
                let request =
                    self.engine.recall_request(&scope(owner)?, self.corpus.query(owner, number));
                self.runtime.block_on(self.engine.recall(&request))?;
            }
            Operation::Save => {
                let position = self.corpus.size(owner) + number;
                let memory = self.corpus.memory(number.into(), owner, position);
                self.runtime.block_on(self.engine.observe(&scope(owner)?, vec![turn(&memory)?]))?;
            }
        }
        Ok(())
    }
}

/// Returns the processor time of this process and of the database server so far, in milliseconds.
fn cpu_ms(subject: &EngineSubject) -> Result<[f64; 2]> {
    let own = process_cpu_seconds().context("the system tells processor time")? * 1e3;
    let server = subject.server().and_then(|server| server.process_id());
    Ok([own, server.map_or(0.0, |id| server_ticks(id) * 1e3 / TICKS_PER_SECOND)])
}

/// Returns the processor ticks of a server, its processes and those that ended.
fn server_ticks(id: u32) -> f64 {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let belongs = |fields: &Vec<f64>, process: u32| {
        process == id || fields.get(PARENT) == Some(&f64::from(id))
    };
    let ticks = numbers.filter_map(|process| {
        let fields = stat_fields(process)?;
        let own = if process == id { FIELDS_OF_TICKS } else { FIELDS_OF_TICKS / 2 };
        belongs(&fields, process).then(|| fields[USER_TICKS..USER_TICKS + own].iter().sum::<f64>())
    });
    ticks.sum()
}

/// Returns the numbers of `/proc/PID/stat` behind the name, with 0 for the state.
fn stat_fields(process: u32) -> Option<Vec<f64>> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    let fields: Vec<f64> = fields.split(' ').map(|field| field.parse().unwrap_or(0.0)).collect();
    (fields.len() > USER_TICKS + FIELDS_OF_TICKS).then_some(fields)
}
