//! `proxy`: time to the first byte of a response, from a provider directly and through the memory proxy.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use everlore::{
    Config, Engine, Scope,
    config::{ModelSettings, SecretString},
    internal::llm::{ClientProtocol, Upstream},
    llm::{BuiltinEmbedder, Proxies},
    store,
};
use everlore_mock_llm::{MockChat, MockServer as Provider, ModelResponse};
use everlore_server::{Providers, Server, ServerOptions, Timeouts};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::{
    corpus::{Corpus, ScopeClass},
    table::{number, render},
    timing::SampleStats,
};

/// Samples of each route.
const ROUNDS: u32 = 200;

/// Total of the corpus per memory of the user: the largest scope has a tenth.
const CORPUS_SHARE: u32 = 10;

/// Messages of the conversation before the question.
const HISTORY: u32 = 20;

/// Pause between requests: the last exchange is stored before the next one comes.
const PAUSE: Duration = Duration::from_millis(15);

/// Model of the mock provider.
const MODEL: &str = "scripted-chat";

/// Time the first byte of a streamed response, directly and through the memory proxy, in one run
#[derive(clap::Args)]
pub(crate) struct ProxyArgs {
    /// Memories of the user; may be repeated
    #[arg(long, value_name = "COUNT", default_values_t = [10_000, 100_000])]
    memories: Vec<u32>,
}

/// Runs the command.
pub(crate) fn run(args: &ProxyArgs) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut rows = Vec::new();
    for memories in &args.memories {
        rows.extend(runtime.block_on(measure_size(*memories))?);
    }
    let heads = ["memories", "route", "first byte p50 ms", "p95 ms", "added p50 ms", "p95 ms"];
    println!("{ROUNDS} questions each, after {HISTORY} messages\n");
    println!("{}", render(&heads, &rows));
    Ok(())
}

async fn measure_size(memories: u32) -> Result<Vec<Vec<String>>> {
    let home = tempfile::tempdir()?;
    let corpus = Corpus::new(memories * CORPUS_SHARE, 1);
    let scope = *corpus.scopes_of(ScopeClass::Large).first().context("there is no large scope")?;
    let engine = fill_engine(home.path(), &corpus, scope, memories).await?;
    let provider =
        Provider::start(MockChat::new().otherwise(|_| ModelResponse::text("Well, 好的。")));
    let server = Server::bind(engine.clone(), options(home.path(), &provider)?).await?;
    let token = std::fs::read_to_string(server.token_file())?.trim().to_owned();
    let (address, upstream) =
        (server.info().address.to_string(), provider.url().replace("http://", ""));
    let alone = time_recall(&engine, &corpus, scope).await?;
    let (end, ended) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.run(async {
        // The sender may already be dropped.
        let _ = ended.await;
    }));
    let measure = move || ask_all(&corpus, scope, &ProxyTargets { upstream, address, token });
    let samples = tokio::task::spawn_blocking(measure).await??;
    drop(end);
    serving.await?;
    Ok(rows(memories, samples, alone))
}

/// Times recall and packing alone, on the engine.
async fn time_recall(engine: &Engine, corpus: &Corpus, scope: u32) -> Result<Vec<f64>> {
    let (mut samples, budget) = (Vec::new(), engine.config().memory.inject.token_budget);
    for round in 0..ROUNDS {
        let request = engine.context_request(&Scope::default(), corpus.query(scope, round));
        let start = Instant::now();
        engine.context(&request, budget).await?;
        samples.push(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(samples)
}

async fn fill_engine(home: &Path, corpus: &Corpus, scope: u32, memories: u32) -> Result<Engine> {
    let store = store::open(home.join("everlore.db")).await?;
    let mut config = Config::default();
    // Every question gets memories: the most expensive case.
    (config.recall.min_confidence, config.recall.floor) = (0.0, 0.0);
    let engine = Engine::builder(store)
        .embedder(Arc::new(BuiltinEmbedder::new()))
        .home(home)
        .config(config)
        .build();
    corpus.observe(&engine, scope, memories).await?;
    Ok(engine)
}

fn options(home: &Path, provider: &Provider) -> Result<ServerOptions> {
    let settings = ModelSettings {
        provider: "openai".to_owned(),
        model: MODEL.to_owned(),
        base_url: format!("{}/v1", provider.url()),
        api_key: SecretString::default(),
        key_location: String::new(),
        key_command: String::new(),
        timeout: Duration::from_secs(10),
        temperature: None,
        max_tokens: None,
        section: "chat",
    };
    let relay = Upstream::for_model(&settings, ClientProtocol::Openai, &Proxies::default())?;
    Ok(ServerOptions {
        home: home.to_owned(),
        address: "127.0.0.1:0".parse()?,
        allow_remote: false,
        tls: None,
        allowed_hosts: Vec::new(),
        scope: Scope::default(),
        max_body_bytes: 1 << 20,
        requests_per_second: u32::MAX,
        mcp_tools: Vec::new(),
        settings_digest: String::new(),
        timeouts: Timeouts::default(),
        providers: Providers { openai: relay.map(Arc::new), ..Providers::default() },
    })
}

/// Addresses of the provider and of the proxy.
struct ProxyTargets {
    upstream: String,
    address: String,
    token: String,
}

/// Times the first byte on each route in turn: direct, proxy with memory off, proxy with memory.
fn ask_all(corpus: &Corpus, scope: u32, targets: &ProxyTargets) -> Result<[Vec<f64>; 3]> {
    let bearer = format!("authorization: Bearer {}\r\n", targets.token);
    let off = format!("{bearer}x-memory-mode: off\r\n");
    let mut clients = [
        StreamingClient::connect(&targets.upstream, "")?,
        StreamingClient::connect(&targets.address, &off)?,
        StreamingClient::connect(&targets.address, &bearer)?,
    ];
    let mut samples = [const { Vec::new() }; 3];
    let mut added = 0;
    for round in 0..ROUNDS {
        let body = conversation(corpus, scope, round).to_string();
        for (client, samples) in clients.iter_mut().zip(&mut samples) {
            std::thread::sleep(PAUSE);
            let (ms, head) = client.first_byte(&body)?;
            samples.push(ms);
            added += u32::from(head.contains("x-everlore-memory: added"));
        }
    }
    ensure!(added == ROUNDS, "memory was added to {added} of {ROUNDS} questions");
    Ok(samples)
}

/// Builds a conversation with a long prompt and tools, of which only the end differs from round to round.
fn conversation(corpus: &Corpus, scope: u32, round: u32) -> Value {
    let mut messages =
        vec![json!({ "role": "system", "content": "Be helpful. 请简短。".repeat(200) })];
    for position in 0..HISTORY {
        let role = if position % 2 == 0 { "user" } else { "assistant" };
        let text = corpus.memory(i64::from(position), scope, position).text;
        messages.push(json!({ "role": role, "content": text }));
    }
    messages.push(json!({ "role": "user", "content": corpus.query(scope, round) }));
    let tool = json!({ "type": "function", "function": { "name": "look", "parameters": { "type": "object" } } });
    json!({ "model": MODEL, "stream": true, "messages": messages, "tools": [tool] })
}

/// Keep-alive connection.
struct StreamingClient {
    stream: TcpStream,
    reader: BufReader<TcpStream>,
    headers: String,
}

impl StreamingClient {
    fn connect(address: &str, headers: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let reader = BufReader::new(stream.try_clone()?);
        Ok(Self { stream, reader, headers: headers.to_owned() })
    }

    /// Sends a request, reads the whole response, and returns the milliseconds to its first byte with its head.
    fn first_byte(&mut self, body: &str) -> Result<(f64, String)> {
        let request = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{}content-length: {}\r\n\r\n{body}",
            self.headers,
            body.len()
        );
        let start = Instant::now();
        self.stream.write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            ensure!(self.reader.read_line(&mut head)? > 0, "the connection ended: {head}");
        }
        let mut took = None;
        loop {
            let mut size = String::new();
            self.reader.read_line(&mut size)?;
            took.get_or_insert_with(|| start.elapsed().as_secs_f64() * 1e3);
            let mut chunk = vec![0; usize::from_str_radix(size.trim(), 16)? + 2];
            self.reader.read_exact(&mut chunk)?;
            if chunk.len() == 2 {
                ensure!(head.starts_with("HTTP/1.1 200"), "{head}");
                return Ok((took.unwrap_or_default(), head));
            }
        }
    }
}

fn rows(memories: u32, samples: [Vec<f64>; 3], alone: Vec<f64>) -> Vec<Vec<String>> {
    let names = ["directly", "through the proxy, memory off", "through the proxy, with memory"];
    let direct = samples[0].clone();
    let row = |(name, samples): (&str, Vec<f64>)| {
        // Each question is compared with the same one sent directly a moment before.
        let added = samples.iter().zip(&direct).map(|(one, other)| one - other).collect();
        let (stats, added) = (SampleStats::from_samples(samples), SampleStats::from_samples(added));
        let figures = [stats.p50, stats.p95, added.p50, added.p95].map(number);
        [vec![memories.to_string(), name.to_owned()], figures.to_vec()].concat()
    };
    let recall = SampleStats::from_samples(alone);
    let recall = ["–".to_owned(), "–".to_owned(), number(recall.p50), number(recall.p95)];
    let recall = [vec![memories.to_string(), "recall alone".to_owned()], recall.to_vec()].concat();
    names.into_iter().zip(samples).map(row).chain([recall]).collect()
}
