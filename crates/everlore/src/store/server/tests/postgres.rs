//! The conformance suite on PostgreSQL.

use crate::store::conformance::TestStore;

async fn fresh() -> TestStore {
    super::fresh("EVERLORE_TEST_POSTGRES").await
}

crate::store::conformance::suite!(fresh);
