//! Models that made vectors: their numbers, and which one is in use. The row `models` of `meta` is the lock of changes.

use super::{
    database::{Database, number},
    driver::StatementResult,
    sql::{OnConflict, SqlRow, Statement, insert, sql, sql_row},
    tables::MODELS,
    transaction::RetryRule,
};
use crate::{
    error::{Error, Result},
    types::EmbeddingModelId,
};

/// Row of `meta` that names a model in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ModelUse {
    Embedder,
    Reranker,
}

impl ModelUse {
    fn meta_name(self) -> &'static str {
        match self {
            Self::Embedder => "model",
            Self::Reranker => "reranker",
        }
    }
}

/// Decodes the model in use.
pub(super) fn read_current(rows: Vec<SqlRow>) -> Result<Option<(u32, EmbeddingModelId)>> {
    let read = |mut row: SqlRow| {
        Ok((row.int(0)?, EmbeddingModelId { name: row.text(1)?, dimensions: row.int(2)? }))
    };
    rows.into_iter().next().map(read).transpose()
}

/// Registered models as far as one of them needs it, locked.
pub(super) struct ModelRegistry {
    /// Number of the model in use; 0 if there is none.
    pub(super) in_use: u32,
    /// Models so far.
    count: i64,
    /// Number and size of the wanted model.
    stored: Option<(u32, usize)>,
}

impl ModelRegistry {
    /// Creates the queries that lock the registry and look a model up.
    pub(super) fn select(model: &EmbeddingModelId, use_of: ModelUse) -> Vec<Statement> {
        vec![
            sql!("SELECT value FROM meta WHERE name = ? FOR UPDATE", "models"),
            sql!("SELECT value FROM meta WHERE name = ?", use_of.meta_name()),
            sql!("SELECT number, dimensions FROM models WHERE name = ?", &model.name),
        ]
    }

    /// Decodes the rows of [`ModelRegistry::select`].
    pub(super) fn read(results: Vec<StatementResult>) -> Result<Self> {
        let [count, in_use, stored] = super::database::rows(results)?;
        let read = |mut row: SqlRow| Ok::<_, Error>((row.int(0)?, row.int(1)?));
        Ok(Self {
            count: number(count)?,
            in_use: u32::try_from(number(in_use)?).map_err(Error::store)?,
            stored: stored.into_iter().next().map(read).transpose()?,
        })
    }

    /// Returns the number of the model, and the statements that register it if it is new.
    pub(super) fn register(&self, model: &EmbeddingModelId) -> Result<(u32, Vec<Statement>)> {
        if let Some((number, dimensions)) = self.stored {
            return check_size(model, dimensions).map(|()| (number, Vec::new()));
        }
        let number = u32::try_from(self.count + 1).map_err(Error::store)?;
        let row = sql_row![number, &model.name, model.dimensions];
        let statements = vec![
            insert(&MODELS, vec![row], OnConflict::Fail),
            sql!("UPDATE meta SET value = ? WHERE name = ?", number, "models"),
        ];
        Ok((number, statements))
    }
}

/// Creates the statement that takes a model into use.
pub(super) fn take_into_use(number: u32, use_of: ModelUse) -> Statement {
    sql!("UPDATE meta SET value = ? WHERE name = ?", number, use_of.meta_name())
}

fn check_size(model: &EmbeddingModelId, dimensions: usize) -> Result<()> {
    if dimensions == model.dimensions {
        return Ok(());
    }
    Err(Error::invalid(
        format!("model `{model}` had {dimensions} dimensions and now has {}", model.dimensions),
        "give another model another name",
    ))
}

/// Registers a model, takes it into use if told so, and returns its number.
pub(super) async fn register(
    db: &Database,
    model: &EmbeddingModelId,
    use_of: Option<ModelUse>,
) -> Result<u32> {
    db.retried(RetryRule::Idempotent, || async {
        let mut tx = db.begin().await?;
        let wanted = use_of.unwrap_or(ModelUse::Embedder);
        let registry = ModelRegistry::read(tx.run(ModelRegistry::select(model, wanted)).await?)?;
        let (number, mut statements) = registry.register(model)?;
        statements.extend(use_of.map(|use_of| take_into_use(number, use_of)));
        tx.commit(statements).await?;
        Ok(number)
    })
    .await
}
