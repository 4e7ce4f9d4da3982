//! MariaDB servers: crash and restart. A cluster of them is in `galera.rs`.

use std::{net::SocketAddr, path::PathBuf, process::Command};

use mysql_async::{Conn, Opts, OptsBuilder, prelude::Queryable};
use rustix::process::Signal;

use crate::{
    DatabaseInstallation,
    ports::ReservedPort,
    process::{ServerProcess, run_to_end, server_command},
    random::random_password,
    readiness::{LOOK_TIMEOUT, Wait},
    server_folder::ServerFolder,
};

/// User of every server, who may do everything.
const USER: &str = "everlore";

/// Database that every server has.
const DATABASE: &str = "mysql";

/// Signal when the test process dies. Nothing outlives the server but its folder.
const ON_ORPHANED: &str = "KILL";

/// Options of a server.
#[derive(Clone, Debug, Default)]
pub struct MariaDbOptions {
    arguments: Vec<String>,
}

impl MariaDbOptions {
    /// Adds an argument of `mariadbd`, such as `--innodb-lock-wait-timeout=1`.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<String>) -> Self {
        self.arguments.push(argument.into());
        self
    }
}

/// MariaDB server of a test.
#[derive(Debug)]
pub struct MariaDbServer {
    installation: DatabaseInstallation,
    options: MariaDbOptions,
    password: String,
    port: ReservedPort,
    process: Option<ServerProcess>,
    folder: ServerFolder,
}

impl MariaDbServer {
    /// Creates a database and starts a server, which waits for the disk at every commit.
    pub async fn start(options: MariaDbOptions) -> Self {
        let mut server = Self::stopped(random_password());
        server.create_data().await;
        server.launch(&options.arguments).await;
        server.options = options;
        server
    }

    /// Kills all processes with SIGKILL.
    pub fn kill(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.kill_all();
        }
    }

    /// Shuts the server down in order.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.end(Signal::TERM);
        }
    }

    /// Starts the server again, on the same port and data, after stopping it if it runs.
    pub async fn restart(&mut self) {
        self.stop();
        let arguments = self.options.arguments.clone();
        self.launch(&arguments).await;
    }

    /// Returns the URL for a user who may do everything, with the password.
    pub fn url(&self) -> String {
        self.url_at(self.address())
    }

    /// Returns the URL of this server behind another address, such as that of a proxy.
    pub fn url_at(&self, address: SocketAddr) -> String {
        format!("mysql://{USER}:{}@{address}/{DATABASE}", self.password)
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

    /// Runs a statement on a new connection and returns its first value as text.
    ///
    /// # Panics
    /// If the server does not answer or reports an error.
    pub async fn query(&self, statement: &str) -> Option<String> {
        let answer = self.try_query(statement).await;
        answer.unwrap_or_else(|error| panic!("{statement}: {error:?}"))
    }

    pub(crate) async fn try_query(&self, statement: &str) -> mysql_async::Result<Option<String>> {
        // The client would change to the socket of the server, which lets only its own account in.
        let opts = OptsBuilder::from_opts(Opts::from_url(&self.url())?).prefer_socket(false);
        let look = async {
            let mut connection = Conn::new(opts).await?;
            let value = connection.query_first(statement).await?;
            connection.disconnect().await?;
            Ok(value)
        };
        let in_time = tokio::time::timeout(LOOK_TIMEOUT, look).await;
        in_time.unwrap_or_else(|elapsed| Err(std::io::Error::from(elapsed).into()))
    }

    /// Returns a server with an empty folder.
    pub(crate) fn stopped(password: String) -> Self {
        Self {
            installation: DatabaseInstallation::find(),
            options: MariaDbOptions::default(),
            password,
            port: ReservedPort::new(),
            process: None,
            folder: ServerFolder::create(),
        }
    }

    /// Creates the system tables, and the file of statements that creates the user.
    pub(crate) async fn create_data(&self) {
        let account = format!("{USER}@'127.0.0.1'");
        let password = &self.password;
        let statements = format!(
            "CREATE OR REPLACE USER {account} IDENTIFIED BY '{password}';\n\
             GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;\n"
        );
        self.folder.write("init.sql", &statements);
        let mut install = self.command("mariadb-install-db");
        // Root needs the account of the server, so that no other user of the machine comes in without the password.
        install.args(["--skip-test-db", "--auth-root-socket-user=nobody"]);
        run_to_end(install).await;
    }

    /// Starts the server with these arguments and waits until it answers.
    pub(crate) async fn launch(&mut self, arguments: &[String]) {
        self.launch_without_waiting(arguments);
        let wait = Wait::new();
        while self.try_query("SELECT 1").await.is_err() {
            self.assert_running();
            wait.pause("MariaDB").await;
        }
    }

    pub(crate) fn launch_without_waiting(&mut self, arguments: &[String]) {
        let mut command = self.command("mariadbd");
        let (usr, folder) = (self.installation.mariadb_root(), self.folder.path());
        for (option, path) in [
            ("plugin-dir", usr.join("lib/mysql/plugin")),
            ("lc-messages-dir", usr.join("share/mysql")),
            ("socket", folder.join("socket")),
            ("pid-file", folder.join("pid")),
        ] {
            command.arg(format!("--{option}={}", path.display()));
        }
        command.args(["--bind-address=127.0.0.1", "--skip-name-resolve"]);
        command.arg(format!("--port={}", self.port.number())).args(arguments);
        // It runs once: afterwards the user is in the data, and a node of a cluster must not write before it has joined.
        let statements = folder.join("init.sql");
        if statements.exists() {
            let done = folder.join("init-done.sql");
            std::fs::rename(&statements, &done).expect("a folder of this test");
            command.arg(format!("--init-file={}", done.display()));
        }
        self.process = Some(ServerProcess::launch(command, &self.folder.log()));
    }

    /// Fails the test if the server has ended.
    pub(crate) fn assert_running(&mut self) {
        self.process.iter_mut().for_each(ServerProcess::assert_running);
    }

    /// Returns a program with the options that all of them share.
    fn command(&self, program: &str) -> Command {
        let program = self.installation.mariadb_program(program);
        let mut command = server_command(&self.installation, &self.folder, ON_ORPHANED, &program);
        command.arg("--no-defaults");
        command.arg(format!("--basedir={}", self.installation.mariadb_root().display()));
        command.arg(format!("--datadir={}", self.folder.data().display()));
        command
    }
}

impl Drop for MariaDbServer {
    fn drop(&mut self) {
        self.kill();
    }
}
