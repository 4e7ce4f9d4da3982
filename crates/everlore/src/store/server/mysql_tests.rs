//! The conformance suite and the cases of server databases on MySQL or MariaDB.

use crate::store::conformance::TestStore;

async fn fresh() -> TestStore {
    super::tests::fresh("EVERLORE_TEST_MYSQL").await
}

crate::store::conformance::suite!(fresh);

super::server_cases_tests::server_cases!("EVERLORE_TEST_MYSQL");
