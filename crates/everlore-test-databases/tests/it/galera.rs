//! A node of a Galera cluster is killed under writes to all nodes, and joins again.

use everlore_test_databases::GaleraCluster;

use crate::clients::write_to_mariadb;

/// Nodes of the cluster: the fewest of which a majority survives the loss of one.
const NODES: usize = 3;

/// Node that is killed.
const VICTIM: usize = 1;

#[tokio::test]
async fn survivors_have_every_acknowledged_row_and_a_killed_node_gets_them_again() {
    let mut cluster = GaleraCluster::start(NODES).await;
    let node = cluster.node(0);
    node.query("CREATE DATABASE everlore").await;
    node.query("CREATE TABLE everlore.written (client INT, line INT, PRIMARY KEY (client, line))")
        .await;
    let writers: Vec<_> =
        (0..NODES).map(|node| write_to_mariadb(cluster.url(node), node)).collect();
    for (rows, _) in &writers {
        rows.reach(20).await;
    }
    cluster.kill(VICTIM);
    cluster.wait_for_view().await;
    let mut acknowledged = Vec::new();
    for (rows, task) in writers {
        rows.stop();
        task.await.unwrap();
        acknowledged.push(rows.count());
    }
    cluster.rejoin(VICTIM).await;
    for node in 0..NODES {
        for (client, rows) in acknowledged.iter().enumerate() {
            let count = format!(
                "SELECT COUNT(*) FROM everlore.written WHERE client = {client} AND line < {rows}"
            );
            let found = cluster.node(node).query(&count).await;
            assert_eq!(found, Some(rows.to_string()), "client {client} on node {node}");
        }
    }
}
