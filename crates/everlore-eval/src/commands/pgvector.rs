//! `pgvector`: the size of a scope from which on an HNSW index of the database is faster than the engine's exact search.

use std::time::Instant;

use anyhow::Result;
use serde::Serialize;

use crate::{
    scale::{
        database_server::DatabaseServer,
        hnsw_table::HnswTable,
        vector_search::{SearchFigures, SizedScope, open_engine},
    },
    table::{number, render},
};

/// Dimensions of the built-in model.
const DIMENSIONS: usize = 256;

/// Measure the engine's exact vector search beside an HNSW index of pgvector, on one PostgreSQL
#[derive(clap::Args)]
pub(crate) struct PgvectorArgs {
    /// Memories of each scope; all scopes share one database and one index
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [10_000, 100_000, 300_000, 1_000_000])]
    sizes: Vec<u32>,
    /// Questions in each scope
    #[arg(long, value_name = "COUNT", default_value_t = 30)]
    queries: usize,
    /// Neighbours that a search in the index keeps in sight (hnsw.ef_search)
    #[arg(long, value_name = "COUNT", value_delimiter = ',', default_values_t = [50, 100, 200, 400, 800])]
    breadth: Vec<u32>,
    /// Megabytes of index blocks that the engine keeps in RAM (cache_mb of the address)
    #[arg(long, value_name = "MB", value_delimiter = ',', default_values_t = [96, 512])]
    cache_mb: Vec<u32>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Everything that a run measured.
#[derive(Debug, Serialize)]
struct CrossoverReport {
    load_seconds: f64,
    index_seconds: f64,
    index_bytes: i64,
    table_bytes: i64,
    /// Bytes of the blocks that hold the vectors of the engine.
    block_bytes: i64,
    searches: Vec<SearchFigures>,
}

/// Runs the command.
pub(crate) fn run(args: &PgvectorArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server = DatabaseServer::start_postgres(&runtime);
    let report = runtime.block_on(measure(args, &server.url()))?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

async fn measure(args: &PgvectorArgs, url: &str) -> Result<CrossoverReport> {
    let table = HnswTable::create(url, DIMENSIONS).await?;
    let began = Instant::now();
    let scopes = load(args, url, &table).await?;
    let load_seconds = began.elapsed().as_secs_f64();
    eprintln!("building the index");
    let began = Instant::now();
    table.build_index().await?;
    let index_seconds = began.elapsed().as_secs_f64();
    let mut searches = Vec::new();
    for scope in &scopes {
        eprintln!("measuring a scope of {}", scope.size);
        searches.extend(measure_scope(args, url, &table, scope).await?);
    }
    Ok(CrossoverReport {
        load_seconds,
        index_seconds,
        index_bytes: table.relation_bytes("nearest_meaning").await?,
        table_bytes: table.relation_bytes("nearest").await?,
        block_bytes: table.relation_bytes("block_vectors").await?,
        searches,
    })
}

async fn load(args: &PgvectorArgs, url: &str, table: &HnswTable) -> Result<Vec<SizedScope>> {
    let engine = open_engine(url, true).await?;
    let mut scopes = Vec::new();
    for (number, &size) in args.sizes.iter().enumerate() {
        eprintln!("loading a scope of {size}");
        let mut scope = SizedScope::new(number as u32, size, args.queries).await?;
        scope.load(&engine, table).await?;
        scopes.push(scope);
    }
    engine.admin().close().await;
    Ok(scopes)
}

async fn measure_scope(
    args: &PgvectorArgs,
    url: &str,
    table: &HnswTable,
    scope: &SizedScope,
) -> Result<Vec<SearchFigures>> {
    let words = open_engine(url, false).await?;
    let mut figures = vec![scope.time_recalls(&words, "recall by words alone").await?];
    words.admin().close().await;
    for cache in &args.cache_mb {
        let engine = open_engine(&format!("{url}?cache_mb={cache}"), true).await?;
        let way = format!("recall with vectors, cache {cache} MB");
        figures.push(scope.time_recalls(&engine, &way).await?);
        figures.push(scope.time_exact(&engine, &format!("exact, cache {cache} MB")).await?);
        engine.admin().close().await;
    }
    for breadth in &args.breadth {
        figures.push(scope.time_hnsw(table, *breadth).await?);
    }
    let engine = open_engine(url, true).await?;
    figures.push(scope.time_saves(&engine).await?);
    engine.admin().close().await;
    figures.push(scope.time_hnsw_saves(table).await?);
    Ok(figures)
}

fn print(report: &CrossoverReport) {
    let megabytes = |bytes: i64| number(bytes as f64 / 1e6);
    println!(
        "loaded in {} s; index built in {} s",
        number(report.load_seconds),
        number(report.index_seconds)
    );
    println!(
        "HNSW index {} MB of a table of {} MB in all; blocks of vectors {} MB\n",
        megabytes(report.index_bytes),
        megabytes(report.table_bytes),
        megabytes(report.block_bytes)
    );
    let row = |it: &SearchFigures| {
        let recall = it.recall.map_or_else(|| "–".to_owned(), |share| format!("{share:.3}"));
        vec![
            format!("{}k: {}", it.size / 1_000, it.way),
            number(it.ms.min),
            number(it.ms.p50),
            number(it.ms.p95),
            recall,
        ]
    };
    let rows: Vec<_> = report.searches.iter().map(row).collect();
    println!("{}", render(&["scope: way", "least ms", "p50 ms", "p95 ms", "recall@50"], &rows));
}
