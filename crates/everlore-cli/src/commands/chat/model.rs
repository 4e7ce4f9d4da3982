//! The model of the settings that answers.

use std::sync::Arc;

use everlore::llm::ChatModel;

use crate::{context::Context, failure::Result};

/// The model of the settings, or another one of the same provider; none if the settings name none.
pub(super) async fn of(_cx: &Context, _name: Option<&str>) -> Result<Option<Arc<dyn ChatModel>>> {
    Ok(None)
}
