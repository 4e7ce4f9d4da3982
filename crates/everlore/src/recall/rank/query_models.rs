//! Models that read the query while the index is read and ranked: nothing before reranking needs them.

use std::{future::poll_fn, sync::Arc, task::Poll};

use super::rerank;
use crate::{
    llm::{EncodedQuery, MessageReading},
    recall::{RecallDeps, RecallRequest},
    sync::BoxFuture,
};

/// Readings of the query by the models.
#[derive(Default)]
pub(crate) struct QueryReadings {
    /// Query as encoded by the reranker, names of speakers included.
    pub(super) encoded_query: Option<EncodedQuery>,
    /// Memory that the message calls for, by the message model.
    pub(crate) message: Option<MessageReading>,
}

/// Models at work on a query.
pub(crate) enum QueryModels<'a> {
    Reading(BoxFuture<'a, QueryReadings>),
    Done(Arc<QueryReadings>),
}

impl<'a> QueryModels<'a> {
    /// Starts the models of a request; local ones run on threads of their own.
    pub(crate) async fn start(deps: RecallDeps<'a>, request: &'a RecallRequest) -> Self {
        let mut reading: BoxFuture<'a, QueryReadings> = Box::pin(async move {
            let message = read_message(deps, request);
            let encoded = rerank::encode_ahead(deps, request);
            let (message, encoded_query) = tokio::join!(message, encoded);
            QueryReadings { encoded_query, message }
        });
        // The first poll hands the work to its threads.
        match poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await {
            Poll::Ready(readings) => Self::Done(Arc::new(readings)),
            Poll::Pending => Self::Reading(reading),
        }
    }

    /// Waits for the readings.
    pub(crate) async fn finish(&mut self) -> Arc<QueryReadings> {
        let readings = match self {
            Self::Reading(reading) => Arc::new(reading.as_mut().await),
            Self::Done(readings) => return Arc::clone(readings),
        };
        *self = Self::Done(Arc::clone(&readings));
        readings
    }
}

/// Returns the message model's reading of the message; `None` without a model or if it fails.
async fn read_message(deps: RecallDeps<'_>, request: &RecallRequest) -> Option<MessageReading> {
    let reading = deps.message_model?.read_message(&request.query).await;
    reading.inspect_err(|error| tracing::warn!("cannot judge the message: {error}")).ok()
}
