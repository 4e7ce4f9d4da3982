//! A process that stores turns and extracts memories is killed at random moments, while its model fails half of the
//! time: every turn is stored, every memory is extracted once, and nothing is pending in the end.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use everlore::{
    Config, Engine, Kind, Memory, Scope, Turn,
    engine::ExtractRequest,
    internal::store_of,
    llm::{Proxies, RemoteChatModel, RetryPolicy},
    store::{SqliteStore, Store},
    types::{Role, Timestamp},
};
use everlore_mock_llm::{MockChat, MockServer, ModelResponse};
use serde_json::{Value, json};

use crate::support;

const ROUNDS: usize = 100;

/// Most exchanges of one child.
const EXCHANGES: usize = 12;

/// Most model requests between the last acknowledgement and the kill.
const MAX_REQUESTS: usize = 4;

/// Longest wait for these requests: a session may be leased to a child that was killed, or pause after a failure.
const MAX_WAIT: Duration = Duration::from_millis(400);

/// Longest pause between the last of these and the kill, in microseconds: an answer is parsed and committed meanwhile.
const MAX_PAUSE: usize = 20_000;

/// Environment variables that tell the child the model's address, the database file and the start of time.
const MODEL: &str = "EVERLORE_TEST_KILL_MODEL";
const FILE: &str = "EVERLORE_TEST_KILL_FILE";
const BEGAN: &str = "EVERLORE_TEST_KILL_BEGAN";

/// Speed-up of time, the same for all processes, so that leases and pauses end within the test.
const FASTER: i64 = 1_200;

/// One quick retry: leases and pauses of the queue run faster too.
const QUICK_RETRY: RetryPolicy = RetryPolicy {
    retries: 1,
    first_pause: Duration::from_millis(1),
    max_pause: Duration::from_millis(1),
};

static BEGINNING: AtomicI64 = AtomicI64::new(0);

fn clock() -> Timestamp {
    let began = BEGINNING.load(Ordering::Relaxed);
    let real = Timestamp::now().as_millisecond();
    Timestamp::from_millisecond(began + (real - began) * FASTER).unwrap()
}

#[tokio::test]
async fn every_turn_is_there_and_every_memory_is_drawn_once_whatever_is_killed() {
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = folder.path().join("everlore.db");
    let seed = support::seed();
    BEGINNING.store(Timestamp::now().as_millisecond(), Ordering::Relaxed);
    let provider = FlakyProvider::start(seed);
    let mut random = Xorshift(seed | 1);
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(killed_child(&path, &provider, round, &mut random));
    }
    let engine = engine_on(&path, &provider.server.url()).await;
    let drained = drain(&engine).await;
    let memories = support::all(&engine, &scope()).await;
    let requests = provider.requests.load(Ordering::Relaxed);
    println!(
        "{} turns acknowledged, {} stored, {requests} questions, {} failed, {drained} left to the end",
        acknowledged.len(),
        memories.iter().filter(|memory| memory.kind == Kind::Turn).count(),
        provider.failed.load(Ordering::Relaxed)
    );
    assert!(acknowledged.len() > 2 * ROUNDS, "the kills came too early to tell anything");
    assert!(requests > ROUNDS, "the model was hardly called");
    assert!(provider.failed.load(Ordering::Relaxed) > requests / 3, "it hardly failed");
    assert_all_there(&memories, &acknowledged);
    assert_each_once(&memories);
    assert_eq!(store_of(&engine).queue().pending(None).await.unwrap(), []);
    assert_eq!(engine.admin().check_index(&scope()).await.unwrap(), Vec::<String>::new());
    engine.admin().close().await;
}

/// Child process of the test above. Run by itself, it checks that rules capture a turn without a model.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(FILE) else {
        let engine = support::ram();
        engine.observe(&scope(), vec![turn_by("s", Role::User, "I like tea.")]).await.unwrap();
        let done = engine.extract(&scope(), &ExtractRequest::default()).await.unwrap();
        assert_eq!((done.len(), done[0].by.as_str()), (1, "rules"));
        return;
    };
    BEGINNING.store(std::env::var(BEGAN).unwrap().parse().unwrap(), Ordering::Relaxed);
    let engine = engine_on(Path::new(&path), &std::env::var(MODEL).unwrap()).await;
    tokio::join!(talk(&engine), read(&engine));
}

/// Stores exchanges and acknowledges them.
async fn talk(engine: &Engine) {
    for number in 0..EXCHANGES {
        let word = word(std::process::id() as usize * EXCHANGES + number);
        let turns = vec![
            turn_by(&format!("s{}", number % 3), Role::User, &format!("I like {word}.")),
            turn_by(&format!("s{}", number % 3), Role::Assistant, "Noted."),
        ];
        let saved = engine.observe(&scope(), turns).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {}", saved[0].id).and_then(|()| out.flush()).unwrap();
        drop(out);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    std::future::pending::<()>().await;
}

/// Captures due sessions again and again, as a worker does.
async fn read(engine: &Engine) {
    loop {
        engine.extract_due().await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Captures what is pending and returns the number of turns.
async fn drain(engine: &Engine) -> usize {
    let pending = store_of(engine).queue().pending(None).await.unwrap();
    let turns = pending.iter().map(|it| it.turns).sum();
    while !store_of(engine).queue().pending(None).await.unwrap().is_empty() {
        engine.extract(&scope(), &ExtractRequest::default()).await.unwrap();
    }
    turns
}

fn assert_all_there(memories: &[Memory], acknowledged: &[String]) {
    let ids: Vec<String> = memories.iter().map(|memory| memory.id.to_string()).collect();
    for id in acknowledged {
        assert!(ids.contains(id), "turn {id} is lost");
    }
}

fn assert_each_once(memories: &[Memory]) {
    let mut extracted: HashMap<_, Vec<&str>> = HashMap::new();
    for memory in memories.iter().filter(|memory| memory.kind != Kind::Turn) {
        for turn in &memory.source.turns {
            extracted.entry(*turn).or_default().push(&memory.content);
        }
    }
    let users = memories.iter().filter(|it| it.source.role == Some(Role::User));
    for turn in users {
        // The model of this test says "The user likes", the built-in extractor keeps the words.
        let word = turn.content.trim_start_matches("I like ").trim_end_matches('.');
        let contents = extracted.get(&turn.id).map_or(&[][..], Vec::as_slice);
        assert!(matches!(contents, [content] if content.contains(word)), "{turn:?}: {contents:?}");
    }
}

/// Starts a child, kills it after some acknowledgements and model requests, and returns the ids of the turns that it
/// acknowledged.
fn killed_child(
    path: &Path,
    provider: &FlakyProvider,
    round: usize,
    random: &mut Xorshift,
) -> Vec<String> {
    let mut child = start(path, &provider.server.url());
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    let acknowledgements = random.below(EXCHANGES);
    while lines.len() < acknowledgements {
        let line = next_line(&mut answers);
        lines.extend(line.or_else(|| panic!("round {round}: the child ended by itself")));
        lines.retain(|line| line.starts_with("ack "));
    }
    provider.wait_for(random.below(MAX_REQUESTS + 1));
    std::thread::sleep(Duration::from_micros(random.below(MAX_PAUSE) as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    // Acknowledgements before the kill count, even if they were not read yet.
    lines.extend(std::iter::from_fn(|| next_line(&mut answers)));
    let id = |line: String| line.strip_prefix("ack ").map(|id| id.trim().to_owned());
    lines.into_iter().filter_map(id).collect()
}

fn start(path: &Path, provider: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["capture_kill::child", "--exact", "--nocapture"])
        .env(FILE, path)
        .env(MODEL, provider)
        .env(BEGAN, BEGINNING.load(Ordering::Relaxed).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Returns the next complete line; one cut short by the kill was not acknowledged.
fn next_line(answers: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.ends_with('\n').then_some(line)
}

async fn engine_on(path: &Path, provider: &str) -> Engine {
    let mut config = Config::default();
    config.memory_agent.enabled = true;
    config.memory_agent.provider = "openai".into();
    config.memory_agent.model = "scripted-chat".into();
    config.memory_agent.base_url = format!("{provider}/v1");
    config.memory_agent.timeout = Duration::from_secs(5);
    config.memory_agent.extract.batch_size = 2;
    config.memory_agent.extract.max_facts = 1_000;
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path).await.unwrap());
    let model = Arc::new(model(&config));
    Engine::builder(store).config(config).clock(clock).chat_model(model).build()
}

fn scope() -> Scope {
    support::scope("sam")
}

fn turn_by(session: &str, role: Role, text: &str) -> Turn {
    Turn { role: Some(role), ..support::turn(session, "", text) }
}

/// Returns the settings of a provider's model.
fn model(config: &Config) -> RemoteChatModel {
    let settings = config.memory_model().unwrap();
    RemoteChatModel::new(&settings, &Proxies::default()).unwrap().with_retry_policy(QUICK_RETRY)
}

/// Provider that answers every second question, on average, and fails in all ways otherwise.
struct FlakyProvider {
    server: MockServer,
    requests: Arc<AtomicUsize>,
    failed: Arc<AtomicUsize>,
}

impl FlakyProvider {
    fn start(seed: u64) -> Self {
        let (requests, failed) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counts = (Arc::clone(&requests), Arc::clone(&failed));
        let mut random = Xorshift(seed.rotate_left(17) | 1);
        let server = MockServer::start(MockChat::new().otherwise(move |request| {
            counts.0.fetch_add(1, Ordering::Relaxed);
            let fate = random.below(8);
            counts.1.fetch_add(usize::from(fate >= 4), Ordering::Relaxed);
            response_for(fate, &answer(request.last_user_message().unwrap_or_default()))
        }));
        Self { server, requests, failed }
    }

    /// Waits until the provider has got this many more requests, at most [`MAX_WAIT`].
    fn wait_for(&self, requests: usize) {
        let (begun, end) = (Instant::now(), self.requests.load(Ordering::Relaxed) + requests);
        while self.requests.load(Ordering::Relaxed) < end && begun.elapsed() < MAX_WAIT {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn response_for(fate: usize, answer: &str) -> ModelResponse {
    match fate {
        0..4 => ModelResponse::text(answer),
        4 => ModelResponse::fail(500),
        5 => ModelResponse::fail(429),
        6 => ModelResponse::text(answer).disconnect_after(3),
        _ => ModelResponse::text("{\"memories\": [{\"statement\": \"half a thou"),
    }
}

/// Returns a model's answer to the lines of a conversation.
fn answer(question: &str) -> String {
    let turns = question.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let memory = |turn: Value| {
        let word = turn["text"].as_str()?.strip_prefix("I like ")?.trim_end_matches('.').to_owned();
        let is_new = turn.get("context").is_none();
        is_new.then(|| {
            json!({
                "statement": format!("The user likes {word}."), "kind": "user", "confidence": 0.9,
                "turns": [turn["turn"]],
                "about": {"subject": "user", "attribute": "likes", "value": word},
            })
        })
    };
    json!({ "memories": turns.filter_map(memory).collect::<Vec<_>>() }).to_string()
}

/// Returns a word for a number: hexadecimal in consonants that no stemming touches.
fn word(number: usize) -> String {
    let letter = |digit: char| b"bcfhjkmnpqrtvwxz"[digit.to_digit(16).unwrap() as usize] as char;
    format!("zz{}", format!("{number:08x}").chars().map(letter).collect::<String>())
}

/// Xorshift: the moments need to be many, not secret.
struct Xorshift(u64);

impl Xorshift {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
