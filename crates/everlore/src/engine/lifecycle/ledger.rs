//! Spending of background work and its daily budget.

use std::time::Duration;

use jiff::{ToSpan, civil::Date};
use serde::Serialize;

use super::super::{Engine, capture::MAX_TURNS};
use crate::{
    error::Result,
    llm::TokenUsage,
    store::{LedgerEntry, ModelSpend},
    sync::boxed,
    text::tokens::estimate_tokens,
    types::Scope,
};

/// Approximate tokens of the built-in instructions that an extraction sends besides the conversation.
const PROMPT_TOKENS: u64 = 1_200;

/// Approximate tokens per extracted memory, with its title, tags and confidence.
const TOKENS_PER_FACT: u64 = 80;

/// Permission of background work to call a model, and the rest of the daily budget.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Allowance {
    /// Set when a call is allowed.
    pub allowed: bool,
    /// Reason of a refusal, and what happens instead.
    pub reason: Option<String>,
    /// Tokens left today; `None` without a cap.
    pub tokens_left: Option<u64>,
    /// Cost left today; `None` without a cap.
    pub cost_left: Option<f64>,
}

/// Estimated cost of the next extraction.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExtractionPreview {
    /// Number of turns it would read.
    pub turns: usize,
    /// Tokens that the model would read.
    pub read: u64,
    /// Most tokens that the model would write.
    pub written: u64,
    /// Cost at the prices in the settings.
    pub cost: f64,
}

/// Spending of a scope, spending of all scopes today, and the estimate of the next extraction.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerReport {
    /// Spending by day and job, newest day first.
    pub spending: Vec<LedgerEntry>,
    /// Total of `spending`.
    pub total: ModelSpend,
    /// Spending of all agents and users today.
    pub today: ModelSpend,
    /// Rest of today's budget.
    pub allowance: Allowance,
    /// Estimate of the next extraction.
    pub next: ExtractionPreview,
}

impl Engine {
    /// Returns the permission of background work to call a model. Above a daily cap it continues by rules; the reason
    /// says so and is logged. Fails if the ledger cannot be read.
    pub async fn may_spend(&self, scope: &Scope, job: &str) -> Result<Allowance> {
        let today = self.store.ledger().total_on(self.today()).await?;
        let allowance = self.allowance(&today);
        if let Some(reason) = &allowance.reason {
            tracing::info!(%scope, job, "{reason}");
        }
        Ok(allowance)
    }

    /// Records the tokens and duration of a model call in the ledger.
    pub async fn record_spending(
        &self,
        scope: &Scope,
        job: &str,
        tokens: TokenUsage,
        elapsed: Duration,
    ) -> Result<()> {
        let TokenUsage { read, cached, written } = tokens;
        let cost = self.config.memory_agent.budget.cost(read, written);
        let millis = elapsed.as_millis() as u64;
        let spent = ModelSpend { calls: 1, read, cached, written, millis, cost };
        self.store.ledger().record(scope, self.today(), job, spent).await
    }

    /// Returns the spending of the last `days` days, today included, with today's budget and the next estimate.
    #[boxed]
    pub async fn ledger(&self, scope: &Scope, days: u32) -> Result<LedgerReport> {
        let today = self.today();
        let back = i32::try_from(days.saturating_sub(1)).unwrap_or(i32::MAX);
        let since = today.checked_sub(back.days()).unwrap_or(Date::MIN);
        let spending = self.store.ledger().entries(scope, since).await?;
        let total = spending.iter().fold(ModelSpend::default(), |sum, line| sum.plus(line.spend));
        let today = self.store.ledger().total_on(today).await?;
        let (allowance, next) =
            (self.allowance(&today), self.preview_extraction_cost(scope).await?);
        Ok(LedgerReport { spending, total, today, allowance, next })
    }

    /// Estimates the cost of the next extraction with the engine's own token count.
    pub async fn preview_extraction_cost(&self, scope: &Scope) -> Result<ExtractionPreview> {
        let pending = self.store.queue().pending(Some(scope)).await?;
        let turns = match pending.first() {
            Some(next) => {
                self.store
                    .queue()
                    .unread_turns(scope, next.session.as_deref(), MAX_TURNS)
                    .await?
                    .turns
            }
            None => Vec::new(),
        };
        let max_facts = self.settings(scope.agent()).memory_agent.extract.max_facts as u64;
        let said: usize = turns.iter().map(|turn| estimate_tokens(&turn.content)).sum();
        let (mut read, mut written) = (said as u64, max_facts * TOKENS_PER_FACT);
        (read, written) = if turns.is_empty() { (0, 0) } else { (read + PROMPT_TOKENS, written) };
        let cost = self.config.memory_agent.budget.cost(read, written);
        Ok(ExtractionPreview { turns: turns.len(), read, written, cost })
    }

    fn allowance(&self, today: &ModelSpend) -> Allowance {
        let budget = &self.config.memory_agent.budget;
        let tokens_left =
            (budget.daily_tokens > 0).then(|| budget.daily_tokens.saturating_sub(today.tokens()));
        let cost_left =
            (budget.daily_cost > 0.0).then(|| (budget.daily_cost - today.cost).max(0.0));
        let over = |what: String| {
            format!("the daily budget is spent ({what}): rules replace the model until tomorrow")
        };
        let reason = if tokens_left == Some(0) {
            Some(over(format!("{} of {} tokens", today.tokens(), budget.daily_tokens)))
        } else {
            (cost_left == Some(0.0))
                .then(|| over(format!("{:.4} of {:.4}", today.cost, budget.daily_cost)))
        };
        Allowance { allowed: reason.is_none(), reason, tokens_left, cost_left }
    }

    fn today(&self) -> Date {
        self.now().date()
    }
}
