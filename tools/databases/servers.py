"""Database servers for tests: where the programs are, and how a server is created, started, queried and stopped."""

import os
import platform
import pwd
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

DEFAULT_FOLDER = Path(__file__).resolve().parents[2] / ".tools/databases"
URL_VARIABLES = ["EVERLORE_TEST_POSTGRES", "EVERLORE_TEST_MYSQL"]
ALTERNATIVE = f"otherwise start servers of your own and set {' and '.join(URL_VARIABLES)} to URLs that may create databases"
USER = "everlore"
# Below the ports that systems give to outgoing connections, which could take one between its choice and the start.
PORTS = range(10240, 32768)
# Both servers start in about a second; a busy machine may take many times that.
START_SECONDS = 60
STOP_SECONDS = 20
POLL_SECONDS = 0.05
# A port that another process takes in the meantime costs one attempt.
ATTEMPTS = 3
# Tests with many clients share one server.
MAX_CONNECTIONS = 400


def why_not_needed():
    """Returns the reason for starting no servers, or `None`."""
    if all(os.environ.get(name) for name in URL_VARIABLES):
        return f"{' and '.join(URL_VARIABLES)} name servers"
    if (platform.system(), platform.machine()) == ("Linux", "x86_64"):
        return None
    reason = f"the packages are for Linux on x86-64; {ALTERNATIVE}"
    # Tests must not be left out where a change is judged.
    return sys.exit(reason) if os.environ.get("CI") else reason


class StartError(Exception):
    """Server that does not start."""


class Installation:
    """Folder of the unpacked programs."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def postgres(self, program):
        return self.folder / "postgres/bin" / program

    def mariadb(self, program):
        folder = "sbin" if program == "mariadbd" else "bin"
        return self.folder / "mariadb/usr" / folder / program

    def environment(self, home="/"):
        """Returns all variables of a server: nothing of the caller's changes what it does."""
        mariadb = self.folder / "mariadb"
        libraries = [mariadb / "usr/lib/x86_64-linux-gnu", mariadb / "lib/x86_64-linux-gnu"]
        programs = [mariadb / "usr/bin", mariadb / "usr/sbin", "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"]
        return {"HOME": str(home), "TMPDIR": str(home), "LC_ALL": "C", "PATH": ":".join(map(str, programs)),
                "LD_LIBRARY_PATH": ":".join(map(str, libraries))}


class Server:
    """Server with a data folder, a port and one user. Subclasses know its programs."""

    def __init__(self, installation, folder, password):
        self.installation = installation
        self.folder = folder / self.scheme
        self.data = self.folder / "data"
        self.log = self.folder / "log"
        self.password = password
        self.port = self.process = None

    def create(self):
        """Creates the data folder."""
        # It holds the password.
        self.folder.mkdir(mode=0o700)
        self.prepare()
        if os.geteuid() == 0:
            own_by_server_user(self.folder)
        done = subprocess.run(
            self.as_server_user(signal.SIGKILL, self.creation()), env=self.environment(), cwd=self.folder, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, preexec_fn=unblock_signals)
        if done.returncode:
            raise StartError(f"{self.scheme}: {done.stdout.strip()}{self.access_hint()}")

    def launch(self):
        """Starts the server process without waiting for it."""
        self.port = free_port()
        # A session of its own: Ctrl+C stops the tests first, and they may still need the server.
        self.process = subprocess.Popen(
            self.as_server_user(self.orphan_signal, self.arguments()), env=self.environment(), cwd=self.folder,
            stdin=subprocess.DEVNULL, stdout=open(self.log, "w"), stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=unblock_signals)

    def await_answer(self, is_interrupted):
        """Waits until the server answers a query."""
        deadline = time.monotonic() + START_SECONDS
        for attempt in range(ATTEMPTS):
            if attempt:
                self.stop()
                self.launch()
            while self.process.poll() is None and time.monotonic() < deadline:
                if is_interrupted():
                    raise StartError("interrupted")
                if self.answers():
                    return
                time.sleep(POLL_SECONDS)
        raise StartError(f"{self.scheme} does not start:\n{self.last_lines()}")

    def answers(self):
        environment = {**self.environment(), "PGPASSWORD": self.password, "MYSQL_PWD": self.password}
        return subprocess.run(self.query("SELECT 1"), env=environment, capture_output=True).returncode == 0

    def stop(self):
        if self.process is None:
            return
        self.process.send_signal(self.stop_signal)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def last_lines(self):
        # Enough to see the reason, which both servers tell in their last lines.
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])

    def url(self):
        return f"{self.scheme}://{USER}:{self.password}@127.0.0.1:{self.port}/{self.database}"

    def access_hint(self):
        folder = self.installation.folder
        look = self.as_server_user(signal.SIGKILL, ["test", "-r", folder / "packages.lock"])
        if subprocess.run(look).returncode == 0:
            return ""
        return f"\nroot runs the servers as {server_user().pw_name}, who must be able to read {folder}"

    def environment(self):
        return self.installation.environment(self.folder)

    def as_server_user(self, orphan_signal, arguments):
        """Returns a command line that ends with this process, by a signal, and is not run by root."""
        prefix = ["setpriv", "--pdeathsig", orphan_signal.name.removeprefix("SIG")]
        if os.geteuid() == 0:
            user = server_user()
            prefix += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        return [*prefix, *map(str, arguments)]


class Postgres(Server):
    """PostgreSQL server that loses data in a power cut, which tests do not have."""

    scheme, database = "postgres", "postgres"
    # A fast shutdown frees the shared memory; SIGKILL would leak it.
    stop_signal = orphan_signal = signal.SIGINT

    def prepare(self):
        (self.folder / "password").write_text(self.password)

    def creation(self):
        # The password keeps other users of the machine out. One iteration: it is random, and tests connect often.
        return [self.installation.postgres("initdb"), "-D", self.data, "-U", USER, "-A", "scram-sha-256",
                f"--pwfile={self.folder / 'password'}", "-c", "scram_iterations=1", "-E", "UTF8", "--locale=C", "--no-sync"]

    def arguments(self):
        settings = {"listen_addresses": "127.0.0.1", "unix_socket_directories": "", "dynamic_shared_memory_type": "mmap",
                    "fsync": "off", "max_connections": MAX_CONNECTIONS}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        return [self.installation.postgres("postgres"), "-D", self.data, "-p", self.port, *options]

    def query(self, statement):
        return [self.installation.postgres("psql"), "-X", "-h", "127.0.0.1", "-p", str(self.port), "-U", USER, "-d",
                self.database, "-c", statement]


class MariaDb(Server):
    """MariaDB server that loses data in a power cut, which tests do not have."""

    scheme, database = "mysql", "mysql"
    # Nothing outlives the process but its folder, which is deleted.
    stop_signal = orphan_signal = signal.SIGKILL

    def prepare(self):
        account = f"{USER}@'127.0.0.1'"
        # The server runs these lines before it listens.
        (self.folder / "init.sql").write_text(
            f"CREATE OR REPLACE USER {account} IDENTIFIED BY '{self.password}';\n"
            f"GRANT ALL PRIVILEGES ON *.* TO {account} WITH GRANT OPTION;\n")

    def creation(self):
        return [self.installation.mariadb("mariadb-install-db"), *self.common(), "--skip-test-db",
                f"--auth-root-socket-user={server_user().pw_name}"]

    def common(self):
        # No settings for character sets: tests see the defaults of a stock server.
        return ["--no-defaults", f"--basedir={self.installation.folder / 'mariadb/usr'}", f"--datadir={self.data}",
                "--debug-no-sync", "--innodb-flush-log-at-trx-commit=0"]

    def arguments(self):
        usr = self.installation.folder / "mariadb/usr"
        return [self.installation.mariadb("mariadbd"), *self.common(), f"--plugin-dir={usr / 'lib/mysql/plugin'}",
                f"--lc-messages-dir={usr / 'share/mysql'}", "--bind-address=127.0.0.1", f"--port={self.port}",
                f"--socket={self.folder / 'socket'}", f"--pid-file={self.folder / 'pid'}", "--skip-name-resolve",
                f"--init-file={self.folder / 'init.sql'}", f"--max-connections={MAX_CONNECTIONS}"]

    def query(self, statement):
        return [self.installation.mariadb("mariadb"), "--no-defaults", "--protocol=tcp", "-h", "127.0.0.1", "-P",
                str(self.port), "-u", USER, "-e", statement]


def server_user():
    """Returns the account that servers run as: both refuse root."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


def own_by_server_user(folder):
    user = server_user()
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, user.pw_uid, user.pw_gid)


def free_port():
    for port in random.sample(PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise StartError("no port is free")


def unblock_signals():
    """Undoes in a child what the runner blocks for itself."""
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
