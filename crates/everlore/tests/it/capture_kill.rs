//! A process that stores turns and draws memories from them is killed at random moments, while its model fails half of the
//! time: every turn is there, every memory is drawn once, and nothing waits in the end.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use everlore::{
    Config, Engine, Error, Kind, Memory, Result, Scope, Turn,
    engine::ExtractRequest,
    llm::{Answer, ChatModel, ChatRequest, Message, Piece, Stop, Tokens},
    store::{SqliteStore, Store},
    types::{Role, Timestamp},
};
use serde_json::{Value, json};

use crate::support;

const ROUNDS: usize = 100;

/// Exchanges of one child, at most.
const EXCHANGES: usize = 12;

/// The longest wait between the last answer read and the kill, in microseconds: several readings fit in.
const MAX_WAIT: usize = 150_000;

/// How the child is told where the model is, where the file is, and when time began.
const MODEL: &str = "EVERLORE_TEST_KILL_MODEL";
const FILE: &str = "EVERLORE_TEST_KILL_FILE";
const BEGAN: &str = "EVERLORE_TEST_KILL_BEGAN";

/// Time runs faster, the same for all processes, so that leases and pauses end within the test.
const FASTER: i64 = 1_200;

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
    let seed = RandomState::new().hash_one("capture");
    println!("seed {seed}");
    BEGINNING.store(Timestamp::now().as_millisecond(), Ordering::Relaxed);
    let server = ModelServer::start(seed);
    let mut random = Random(seed | 1);
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..ROUNDS {
        acknowledged.extend(killed_child(&path, &server, round, &mut random));
    }
    let engine = engine_on(&path, &server.address).await;
    let drained = drain(&engine).await;
    let memories = support::all(&engine, &scope()).await;
    let by_hand = server.asked.load(Ordering::Relaxed);
    println!(
        "{} turns acknowledged, {} stored, {by_hand} questions, {} failed, {drained} left to the end",
        acknowledged.len(),
        memories.iter().filter(|memory| memory.kind == Kind::Turn).count(),
        server.failed.load(Ordering::Relaxed)
    );
    assert!(acknowledged.len() > 2 * ROUNDS, "the kills came too early to tell anything");
    assert!(by_hand > ROUNDS, "the model was hardly asked");
    assert_all_there(&memories, &acknowledged);
    assert_each_once(&memories);
    assert_eq!(engine.store().waiting(None).await.unwrap(), []);
    assert_eq!(engine.store().check(&scope()).await.unwrap(), Vec::<String>::new());
    engine.store().close().await;
}

/// Only does something when the test above starts it; by itself it checks that a turn without a model is read by rules.
#[tokio::test]
async fn child() {
    let Some(path) = std::env::var_os(FILE) else {
        let engine = support::ram();
        engine.observe(&scope(), vec![said("s", Role::User, "I like tea.")]).await.unwrap();
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
            said(&format!("s{}", number % 3), Role::User, &format!("I like {word}.")),
            said(&format!("s{}", number % 3), Role::Assistant, "Noted."),
        ];
        let saved = engine.observe(&scope(), turns).await.unwrap();
        let mut out = std::io::stdout().lock();
        writeln!(out, "ack {}", saved[0].id).and_then(|()| out.flush()).unwrap();
        drop(out);
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    std::future::pending::<()>().await;
}

/// Reads what is due, again and again, as a worker does.
async fn read(engine: &Engine) {
    loop {
        engine.extract_due().await.unwrap();
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Reads what is left; returns how many turns that were.
async fn drain(engine: &Engine) -> usize {
    let waiting = engine.store().waiting(None).await.unwrap();
    let turns = waiting.iter().map(|it| it.turns).sum();
    while !engine.store().waiting(None).await.unwrap().is_empty() {
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
    let mut drawn: HashMap<_, Vec<&str>> = HashMap::new();
    for memory in memories.iter().filter(|memory| memory.kind != Kind::Turn) {
        for turn in &memory.source.turns {
            drawn.entry(*turn).or_default().push(&memory.content);
        }
    }
    let users = memories.iter().filter(|it| it.source.role == Some(Role::User));
    for turn in users {
        let word = turn.content.trim_start_matches("I like ").trim_end_matches('.');
        let expected = format!("The user likes {word}.");
        assert_eq!(drawn.get(&turn.id), Some(&vec![expected.as_str()]), "{}", turn.content);
    }
}

/// Starts a child, kills it, and returns the ids of the turns that it acknowledged.
fn killed_child(
    path: &Path,
    server: &ModelServer,
    round: usize,
    random: &mut Random,
) -> Vec<String> {
    let mut child = start(path, server);
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut lines = Vec::new();
    let enough = random.below(EXCHANGES);
    while lines.len() < enough {
        let line = next_line(&mut answers);
        lines.extend(line.or_else(|| panic!("round {round}: the child ended by itself")));
        lines.retain(|line| line.starts_with("ack "));
    }
    std::thread::sleep(Duration::from_micros(random.below(MAX_WAIT) as u64));
    child.kill().unwrap();
    child.wait().unwrap();
    // What was answered before the kill counts, even if nobody had read it yet.
    lines.extend(std::iter::from_fn(|| next_line(&mut answers)));
    let id = |line: String| line.strip_prefix("ack ").map(|id| id.trim().to_owned());
    lines.into_iter().filter_map(id).collect()
}

fn start(path: &Path, server: &ModelServer) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["capture_kill::child", "--exact", "--nocapture"])
        .env(FILE, path)
        .env(MODEL, &server.address)
        .env(BEGAN, BEGINNING.load(Ordering::Relaxed).to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The next whole line; one cut short by the kill was not answered.
fn next_line(answers: &mut impl BufRead) -> Option<String> {
    let mut line = String::new();
    answers.read_line(&mut line).unwrap();
    line.ends_with('\n').then_some(line)
}

async fn engine_on(path: &Path, model: &str) -> Engine {
    let mut config = Config::default();
    config.memory_agent.enabled = true;
    config.memory_agent.model = "line".into();
    config.memory_agent.timeout = Duration::from_secs(5);
    config.memory_agent.extract.batch_size = 2;
    config.memory_agent.extract.max_facts = 1_000;
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(path).await.unwrap());
    let model = Arc::new(LineModel { address: model.to_owned() });
    Engine::new(store).with_config(config).with_clock(clock).with_chat_model(model)
}

fn scope() -> Scope {
    support::scope("sam")
}

fn said(session: &str, role: Role, text: &str) -> Turn {
    Turn { role: Some(role), ..support::turn(session, "", text) }
}

/// A model at the other end of a line: the data goes there, the answer comes back.
struct LineModel {
    address: String,
}

struct Whole(VecDeque<Piece>);

#[async_trait]
impl ChatModel for LineModel {
    fn name(&self) -> &str {
        "line"
    }

    async fn chat(&self, request: &ChatRequest) -> Result<Box<dyn Answer>> {
        let Some(Message::User { text }) = request.messages.last() else { panic!("no question") };
        let (address, question) = (self.address.clone(), json!(text).to_string());
        let asked = tokio::task::spawn_blocking(move || ask(&address, &question)).await;
        match asked.unwrap() {
            Ok(answer) if !answer.is_empty() => {
                let end = Piece::End { stop: Stop::Done, tokens: Tokens::default() };
                Ok(Box::new(Whole([Piece::Text(answer), end].into())))
            }
            _ => Err(Error::Remote { message: "the line was cut".into(), hint: "wait".into() }),
        }
    }
}

fn ask(address: &str, question: &str) -> std::io::Result<String> {
    let mut line = TcpStream::connect(address)?;
    writeln!(line, "{question}")?;
    let mut answer = String::new();
    line.read_to_string(&mut answer)?;
    Ok(answer)
}

#[async_trait]
impl Answer for Whole {
    async fn next(&mut self) -> Result<Option<Piece>> {
        Ok(self.0.pop_front())
    }
}

/// Answers every second question, on average; cuts the line or talks nonsense otherwise.
struct ModelServer {
    address: String,
    asked: Arc<AtomicUsize>,
    failed: Arc<AtomicUsize>,
}

impl ModelServer {
    fn start(seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (asked, failed) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let counts = (Arc::clone(&asked), Arc::clone(&failed));
        std::thread::spawn(move || {
            let mut random = Random(seed.rotate_left(17) | 1);
            for line in listener.incoming().flatten() {
                counts.0.fetch_add(1, Ordering::Relaxed);
                let fate = random.below(8);
                counts.1.fetch_add(usize::from(fate >= 4), Ordering::Relaxed);
                // Whoever asked may have been killed.
                let _ = reply(line, fate);
            }
        });
        Self { address, asked, failed }
    }
}

fn reply(mut line: TcpStream, fate: usize) -> std::io::Result<()> {
    let mut question = String::new();
    BufReader::new(line.try_clone()?).read_line(&mut question)?;
    match fate {
        0..4 => line.write_all(answer(&question).as_bytes()),
        4..7 => Ok(()),
        _ => line.write_all(b"{\"memories\": [{\"statement\": \"half a thou"),
    }
}

fn answer(question: &str) -> String {
    let data: String = serde_json::from_str(question).unwrap_or_default();
    let turns = data.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
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

/// A word for a number: hexadecimal in consonants that no stemming touches.
fn word(number: usize) -> String {
    let letter = |digit: char| b"bcfhjkmnpqrtvwxz"[digit.to_digit(16).unwrap() as usize] as char;
    format!("zz{}", format!("{number:08x}").chars().map(letter).collect::<String>())
}

/// Xorshift: moments need to be many, not secret.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}
