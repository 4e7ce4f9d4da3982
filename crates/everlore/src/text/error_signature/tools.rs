//! Tools: the language or program a text comes from, and the server it talks about.

use std::sync::LazyLock;

use regex::Regex;

/// Language or program that prints a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ErrorTool {
    Rust,
    Python,
    Node,
    Go,
    Java,
    DotNet,
    C,
    Make,
    Git,
    Docker,
    Kubernetes,
    Terraform,
    Ssh,
    Sql,
    Http,
    Shell,
}

/// Server that a client failed to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Service {
    Postgres,
    MySql,
    Sqlite,
    Redis,
    Mongo,
    Elastic,
    Kafka,
    RabbitMq,
    Docker,
    Kubernetes,
    Ssh,
    Smtp,
    /// A database that the text does not name.
    Database,
}

impl Service {
    /// Returns whether both may be one server: equal, or one of them just "a database" and the other a database.
    pub(super) fn may_be(self, other: Self) -> bool {
        let relational =
            |service| matches!(service, Self::Postgres | Self::MySql | Self::Sqlite | Self::Mongo);
        self == other
            || (self == Self::Database && relational(other))
            || (other == Self::Database && relational(self))
    }
}

/// Returns the tools whose marks a log shows, the most telling first.
pub(super) fn detect(lines: &[String]) -> Vec<ErrorTool> {
    let text = lines.join("\n");
    TOOL_MARKS.iter().filter(|(_, mark)| mark.is_match(&text)).map(|(tool, _)| *tool).collect()
}

/// Returns the server that a log talks about.
pub(super) fn service(lines: &[String]) -> Option<Service> {
    let text = lines.join("\n");
    SERVICE_MARKS.iter().find(|(_, mark)| mark.is_match(&text)).map(|(service, _)| *service)
}

static TOOL_MARKS: LazyLock<Vec<(ErrorTool, Regex)>> = LazyLock::new(|| {
    [
        (ErrorTool::Rust, r"error\[E\d{4}\]|(?i)\b(?:cargo|rustc|rustup|crates?\.io|RUST_BACKTRACE|clippy)\b|\.rs:\d+|panicked at|borrow checker|\bE0\d{3}\b"),
        (ErrorTool::Python, r"Traceback|\.py\b|(?i)\b(?:python3?|pip3?|conda|django|flask|pytest|poetry|venv|psycopg2?|sqlalchemy)\b|ModuleNotFoundError"),
        (ErrorTool::Node, r"(?i)\bnode(?:\.js|:|_modules|mon)|\b(?:npm|yarn|pnpm|npx|webpack|vite|typescript|tsc|eslint|axios)\b|\bTS\d{4}\b|\.(?:js|tsx?|jsx|mjs|cjs):\d+"),
        (ErrorTool::Go, r"\bgoroutine \d+|\.go:\d+|(?i)\bgo(?: build| mod| get| test| run|lang|\.sum|\.mod)|^go: |\ndial tcp"),
        (ErrorTool::Java, r"\bat [\w.$]+\(\w+\.java:\d+\)|\bjava\.|(?i)\b(?:maven|gradle|mvn|jvm|javac|spring)\b|\.java:\d+"),
        (ErrorTool::DotNet, r"\bSystem\.\w+Exception|\b(?:CS|NU|MSB)\d{4}\b|(?i)\bdotnet\b|\.csproj"),
        (ErrorTool::C, r"(?i)\b(?:gcc|g\+\+|clang|collect2|ld|cc1plus|cmake|msvc|lld)\b|\.(?:c|cc|cpp|h|hpp):\d+|undefined reference|未定义的引用"),
        (ErrorTool::Make, r"(?i)\bmake(?:\[\d+\])?: |Makefile|CMake"),
        (ErrorTool::Git, r"(?i)\bgit(?:hub|lab)?\b|\bfatal: |Auto-merging|\[rejected\]|CONFLICT \(|自动合并"),
        (ErrorTool::Docker, r"(?i)\bdocker|\bcontainerd?\b|\bcompose\b|manifest"),
        (ErrorTool::Kubernetes, r"(?i)\bkubectl\b|\bkubelet\b|\bpods?\b|\bk8s\b|kubernetes|\bhelm\b|BackOff|OOMKilled"),
        (ErrorTool::Terraform, r"(?i)terraform|\btfstate\b"),
        (ErrorTool::Ssh, r"(?i)\bssh\b|publickey|known_hosts|\bsftp\b|\bscp\b"),
        (ErrorTool::Sql, r"(?i)\b(?:psql|postgres(?:ql)?|mysql|mariadb|sqlite3?|sqlstate|psycopg2?|sqlalchemy|pgx|relation|constraint)\b|唯一约束|外键|数据库"),
        (ErrorTool::Http, r"(?i)\bhttps?\b|\bcurl\b|\bapi\b|status code|状态码"),
        (ErrorTool::Shell, r"(?i)\b(?:bash|zsh|sh|sudo|apt(?:-get)?|cp|mv|mkdir|tar|rsync)\b:|command not found|未找到命令|powershell"),
    ]
    .map(|(tool, mark)| (tool, Regex::new(mark).expect("the pattern is valid")))
    .to_vec()
});

static SERVICE_MARKS: LazyLock<Vec<(Service, Regex)>> = LazyLock::new(|| {
    [
        (Service::Docker, r"(?i)docker\.sock|docker daemon|dockerDesktop|docker_engine|:237[56]\b"),
        (Service::Kubernetes, r"(?i):6443\b|connection to the server .* was refused - did you|\bkubectl\b|apiserver"),
        (Service::Redis, r"(?i)\bredis\b|\b6379\b"),
        (Service::Mongo, r"(?i)mongo|\b27017\b"),
        (Service::Elastic, r"(?i)elasticsearch|opensearch|:9200\b"),
        (Service::Kafka, r"(?i)kafka|:9092\b"),
        (Service::RabbitMq, r"(?i)rabbitmq|amqp|\b5672\b"),
        (Service::Postgres, r"(?i)\b(?:psql|postgres(?:ql)?|psycopg2?|pgx|pg_\w+|pg-pool|libpq|pgbouncer|asyncpg|pq)\b|\b543[2-4]\b|\bPG::|org\.postgresql|relation '[^']*' does not exist|syntax error at or near|LINE \d+: |违反(?:了)?(?:唯一|外键|非空|检查)约束|(?:关系|字段) ?'[^']*' 不存在|violates (?:unique|foreign key|check|not-null) constraint|PgError|tokio.postgres"),
        (Service::MySql, r"(?i)mysql|mariadb|\bER_[A-Z]|Duplicate entry '|Unknown column '|Table '[^']*' doesn't exist|a foreign key constraint fails|Lock wait timeout exceeded|\b3306\b|\bERROR [12]\d{3} \(\w{5}\)|SQLSTATE\[\w{5}\] \[[12]\d{3}\]|Access denied for user '|InnoDB"),
        (Service::Sqlite, r"(?i)sqlite|no such table: |no such column: |(?:UNIQUE|FOREIGN KEY|NOT NULL|CHECK) constraint failed"),
        (Service::Ssh, r"(?i)\bssh:|port 22\b|:22\b"),
        (Service::Smtp, r"(?i)\bsmtp\b|:587\b|:465\b"),
        (Service::Database, r"(?i)\bdatabase (?:server|connection)|\bdb (?:server|connection)|数据库"),
    ]
    .map(|(service, mark)| (service, Regex::new(mark).expect("the pattern is valid")))
    .to_vec()
});

#[cfg(test)]
mod tests {
    use super::{ErrorTool, Service, detect, service};

    #[test]
    fn a_port_or_a_driver_names_the_server() {
        assert_eq!(
            service(&["connect ECONNREFUSED 127.0.0.1:5432".to_owned()]),
            Some(Service::Postgres)
        );
        assert_eq!(service(&["redis.exceptions.ConnectionError".to_owned()]), Some(Service::Redis));
        assert_eq!(service(&["连不上数据库,说拒绝连接".to_owned()]), Some(Service::Database));
        assert_eq!(service(&["connect ECONNREFUSED 127.0.0.1:8080".to_owned()]), None);
    }

    #[test]
    fn an_unnamed_database_may_be_any() {
        assert!(Service::Database.may_be(Service::MySql));
        assert!(
            !Service::Redis.may_be(Service::MySql) && !Service::Database.may_be(Service::Redis)
        );
    }

    #[test]
    fn tools_show_by_their_marks() {
        assert_eq!(detect(&["error[E0382]: use of moved value".to_owned()]), [ErrorTool::Rust]);
        assert!(detect(&["  File 'a.py', line 1".to_owned()]).contains(&ErrorTool::Python));
    }
}
