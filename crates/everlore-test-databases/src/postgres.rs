//! PostgreSQL servers: crash, restart, synchronous standby, failover.

use std::{fs, net::SocketAddr, path::PathBuf, process::Command};

use rustix::process::Signal;
use tokio_postgres::{Client, Config, NoTls, SimpleQueryMessage};

use crate::{
    DatabaseInstallation,
    ports::ReservedPort,
    process::{ServerProcess, run_to_end, server_command},
    random::random_password,
    readiness::{LOOK_TIMEOUT, Wait},
    server_folder::ServerFolder,
};

/// Superuser of every server.
const USER: &str = "everlore";

/// Database that every server has.
const DATABASE: &str = "postgres";

/// Signal when the test process dies. A fast shutdown frees the shared memory, SIGKILL would leak it.
const ON_ORPHANED: &str = "INT";

/// Settings of every server. Memory files of the data folder are deleted with it, those in `/dev/shm` would stay.
const SETTINGS: [(&str, &str); 3] = [
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("dynamic_shared_memory_type", "mmap"),
];

/// Line of `postmaster.pid`, from 0, with key and id of the shared memory.
const SHARED_MEMORY_LINE: usize = 6;

/// Options of a server.
#[derive(Clone, Debug, Default)]
pub struct PostgresOptions {
    settings: Vec<(String, String)>,
}

impl PostgresOptions {
    /// Sets a parameter of the server, such as `fsync`, which is on otherwise.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// PostgreSQL server of a test.
#[derive(Debug)]
pub struct PostgresServer {
    installation: DatabaseInstallation,
    options: PostgresOptions,
    password: String,
    port: ReservedPort,
    /// Names of the standbys made so far; the first that is connected is synchronous.
    standbys: Vec<String>,
    process: Option<ServerProcess>,
    folder: ServerFolder,
}

impl PostgresServer {
    /// Creates a database and starts a server, which waits for the disk at every commit.
    pub async fn start(options: PostgresOptions) -> Self {
        let mut server = Self::stopped(options, random_password());
        let password_file = server.folder.write("password", &server.password);
        let mut initdb = server.command("initdb");
        initdb.arg("-D").arg(server.folder.data()).args(["-U", USER, "-A", "scram-sha-256"]);
        initdb.arg("--pwfile").arg(password_file).args(["-E", "UTF8", "--locale=C", "--no-sync"]);
        // The password is random, so that one iteration is enough, and tests connect often.
        initdb.args(["-c", "scram_iterations=1"]);
        run_to_end(initdb).await;
        server.launch().await;
        server
    }

    /// Starts another server that holds every write before this one acknowledges it.
    pub async fn standby(&mut self) -> Self {
        let name = format!("standby_{}", self.standbys.len() + 1);
        let mut standby = Self::stopped(self.options.clone(), self.password.clone());
        let primary = format!("{} application_name={name}", self.connection_string());
        let mut backup = standby.command("pg_basebackup");
        backup.args(["-d", &primary, "-D"]).arg(standby.folder.data()).args(["-X", "stream"]);
        // -R: follow this primary. -C -S: with a slot, which keeps the log that the standby has not read.
        backup.args(["-R", "-C", "-S", &name, "-c", "fast", "--no-sync"]);
        run_to_end(backup).await;
        standby.launch().await;
        self.standbys.push(name);
        self.wait_for_standbys().await;
        standby
    }

    /// Kills all processes with SIGKILL and frees their shared memory.
    pub fn kill(&mut self) {
        let shared_memory = self.shared_memory();
        if let Some(mut process) = self.process.take() {
            process.kill_all();
        }
        if let Some(id) = shared_memory {
            // A server that shut down has freed it.
            let _ = Command::new("ipcrm").args(["-m", &id.to_string()]).output();
        }
    }

    /// Shuts the server down in order; open transactions are aborted.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.end(Signal::INT);
        }
    }

    /// Starts the server again, on the same port and data, after stopping it if it runs.
    pub async fn restart(&mut self) {
        self.stop();
        self.launch().await;
    }

    /// Makes a standby a primary, which waits for no standby.
    pub async fn promote(&mut self) {
        // The time is a limit in seconds; it takes a tenth of one.
        self.query("SELECT pg_promote(true, 60)").await;
        self.query("ALTER SYSTEM RESET synchronous_standby_names").await;
        self.query("SELECT pg_reload_conf()").await;
    }

    /// Returns the URL for a superuser, with the password.
    pub fn url(&self) -> String {
        self.url_at(self.address())
    }

    /// Returns the URL of this server behind another address, such as that of a proxy.
    pub fn url_at(&self, address: SocketAddr) -> String {
        format!("postgres://{USER}:{}@{address}/{DATABASE}", self.password)
    }

    /// Returns the folder of the database's files.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.data()
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.port.address()
    }

    /// Returns the id of the first process, if the server was not killed or stopped.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(ServerProcess::id)
    }

    /// Returns the id of the System V shared memory segment, if the server has one.
    pub fn shared_memory(&self) -> Option<u32> {
        let lines = fs::read_to_string(self.folder.data().join("postmaster.pid")).ok()?;
        lines.lines().nth(SHARED_MEMORY_LINE)?.split_whitespace().nth(1)?.parse().ok()
    }

    /// Runs a statement on a new connection, as psql would, and returns its first value.
    ///
    /// # Panics
    /// If the server does not answer or reports an error.
    pub async fn query(&self, statement: &str) -> Option<String> {
        let answer = self.try_query(statement).await;
        answer.unwrap_or_else(|error| panic!("{statement}: {error:?}"))
    }

    async fn try_query(&self, statement: &str) -> Result<Option<String>, tokio_postgres::Error> {
        let client = connect(&self.url()).await?;
        let rows = client.simple_query(statement).await?;
        let row = rows.into_iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(row.and_then(|row| row.get(0).map(str::to_owned)))
    }

    fn stopped(options: PostgresOptions, password: String) -> Self {
        Self {
            installation: DatabaseInstallation::find(),
            options,
            password,
            port: ReservedPort::new(),
            standbys: Vec::new(),
            process: None,
            folder: ServerFolder::create(),
        }
    }

    fn command(&self, program: &str) -> Command {
        let program = self.installation.postgres_program(program);
        server_command(&self.installation, &self.folder, ON_ORPHANED, &program)
    }

    async fn launch(&mut self) {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.folder.data()).args(["-p", &self.port.number().to_string()]);
        let own = self.options.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in SETTINGS.into_iter().chain(own) {
            command.args(["-c", &format!("{name}={value}")]);
        }
        self.process = Some(ServerProcess::launch(command, &self.folder.log()));
        let wait = Wait::new();
        while self.try_query("SELECT 1").await.is_err() {
            self.process.iter_mut().for_each(ServerProcess::assert_running);
            wait.pause("PostgreSQL").await;
        }
    }

    /// Demands the standbys, and waits until one of them is synchronous.
    async fn wait_for_standbys(&self) {
        let names = self.standbys.join(", ");
        self.query(&format!("ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 ({names})'"))
            .await;
        self.query("SELECT pg_reload_conf()").await;
        let synchronous = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
        let wait = Wait::new();
        while self.query(synchronous).await.is_none() {
            wait.pause("a synchronous standby").await;
        }
    }

    /// Returns the parameters of a connection as PostgreSQL's own programs read them.
    fn connection_string(&self) -> String {
        let (port, password) = (self.port.number(), &self.password);
        format!("host=127.0.0.1 port={port} user={USER} password={password}")
    }
}

impl Drop for PostgresServer {
    /// Ends the server without waiting for its clients or the disk: its data is deleted.
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.end(Signal::QUIT);
        }
    }
}

/// Connects, and polls the connection until the client is dropped.
async fn connect(url: &str) -> Result<Client, tokio_postgres::Error> {
    let mut config: Config = url.parse()?;
    let (client, connection) = config.connect_timeout(LOOK_TIMEOUT).connect(NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
