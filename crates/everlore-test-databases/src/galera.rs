//! Galera clusters: MariaDB servers that all take writes and all hold every write.

use crate::{
    DatabaseInstallation, MariaDbServer, mariadb::random_password, ports::ReservedPort,
    readiness::Wait,
};

/// Settings that notice a dead node within two seconds instead of fifteen. A cluster that starts anew forgets the old one.
const PROVIDER_OPTIONS: [&str; 9] = [
    "gcache.size=16M",
    "pc.recovery=false",
    "pc.announce_timeout=PT0.3S",
    "evs.keepalive_period=PT0.25S",
    "evs.inactive_check_period=PT0.2S",
    "evs.suspect_timeout=PT1S",
    "evs.inactive_timeout=PT3S",
    "evs.join_retrans_period=PT0.3S",
    "gmcast.peer_timeout=PT1S",
];

/// Cluster of MariaDB servers, numbered from 0.
#[derive(Debug)]
pub struct GaleraCluster {
    nodes: Vec<GaleraNode>,
}

#[derive(Debug)]
struct GaleraNode {
    server: MariaDbServer,
    /// Ports beside that for clients.
    ports: NodePorts,
}

#[derive(Debug)]
struct NodePorts {
    /// Traffic of the group.
    group: ReservedPort,
    /// Copy of the whole data to a node that joins.
    full_transfer: ReservedPort,
    /// Missed writes to a node that joins again.
    incremental_transfer: ReservedPort,
}

impl GaleraCluster {
    /// Forms a cluster of this many nodes; three take about ten seconds.
    pub async fn start(size: usize) -> Self {
        let password = random_password();
        let new_node = || GaleraNode::stopped(password.clone());
        let mut cluster = Self { nodes: std::iter::repeat_with(new_node).take(size).collect() };
        cluster.nodes[0].server.create_data().await;
        let arguments = cluster.arguments(0, "");
        cluster.nodes[0].server.launch(&arguments).await;
        for number in 1..size {
            cluster.rejoin(number).await;
        }
        cluster
    }

    /// Kills a node with SIGKILL. [`Self::wait_for_view`] waits until the others go on without it.
    pub fn kill(&mut self, number: usize) {
        self.nodes[number].server.kill();
    }

    /// Starts a node that does not run, and waits until it has all writes and every other node knows it.
    pub async fn rejoin(&mut self, number: usize) {
        let arguments = self.arguments(number, &self.group_addresses());
        self.nodes[number].server.launch_without_waiting(&arguments);
        self.wait_for_view().await;
    }

    /// Waits until the running nodes form a cluster and all of them take writes.
    pub async fn wait_for_view(&mut self) {
        let wait = Wait::new();
        while !self.has_view().await {
            self.nodes.iter_mut().for_each(|node| node.server.assert_running());
            wait.pause("the view of the cluster").await;
        }
    }

    /// Returns `true` if all running nodes take writes and know each other.
    async fn has_view(&self) -> bool {
        let running: Vec<&GaleraNode> = self.nodes.iter().filter(|node| node.runs()).collect();
        for node in &running {
            if !node.is_synced(running.len()).await {
                return false;
            }
        }
        true
    }

    /// Returns the URL of a node for a user who may do everything, with the password.
    pub fn url(&self, number: usize) -> String {
        self.node(number).url()
    }

    /// Returns the server of a node.
    pub fn node(&self, number: usize) -> &MariaDbServer {
        &self.nodes[number].server
    }

    fn group_addresses(&self) -> String {
        let addresses = self.nodes.iter().map(|node| node.ports.group.address().to_string());
        addresses.collect::<Vec<_>>().join(",")
    }

    /// Returns the arguments of a node that joins the cluster of these addresses; none make a new one.
    fn arguments(&self, number: usize, addresses: &str) -> Vec<String> {
        let NodePorts { group, full_transfer, incremental_transfer } = &self.nodes[number].ports;
        let library =
            DatabaseInstallation::find().mariadb_root().join("lib/galera/libgalera_smm.so");
        let (group, incremental) = (group.address(), incremental_transfer.address());
        vec![
            // What replication of rows requires.
            "--binlog-format=ROW".to_owned(),
            "--innodb-autoinc-lock-mode=2".to_owned(),
            "--wsrep-on=ON".to_owned(),
            format!("--wsrep-provider={}", library.display()),
            format!("--wsrep-cluster-address=gcomm://{addresses}"),
            format!("--wsrep-node-address={group}"),
            format!("--wsrep-sst-receive-address={}", full_transfer.address()),
            "--wsrep-sst-method=rsync".to_owned(),
            format!(
                "--wsrep-provider-options=gmcast.listen_addr=tcp://{group};ist.recv_addr={incremental};{}",
                PROVIDER_OPTIONS.join(";")
            ),
        ]
    }
}

impl GaleraNode {
    fn stopped(password: String) -> Self {
        let ports = NodePorts {
            group: ReservedPort::new(),
            full_transfer: ReservedPort::new(),
            incremental_transfer: ReservedPort::new(),
        };
        Self { server: MariaDbServer::stopped(password), ports }
    }

    fn runs(&self) -> bool {
        self.server.process_id().is_some()
    }

    /// Returns `true` if the node takes writes in a cluster of this size.
    async fn is_synced(&self, size: usize) -> bool {
        let status = "SELECT GROUP_CONCAT(VARIABLE_VALUE ORDER BY VARIABLE_NAME SEPARATOR ' ') \
             FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME IN \
             ('wsrep_cluster_size', 'wsrep_cluster_status', 'wsrep_local_state_comment', 'wsrep_ready')";
        let found = self.server.try_query(status).await.ok().flatten();
        found.is_some_and(|found| found == format!("{size} Primary Synced ON"))
    }
}
