//! What background work costs, and what it may cost (A6).

use std::time::Duration;

use jiff::{ToSpan, civil::Date};
use serde::Serialize;

use super::super::{Engine, capture::MAX_TURNS};
use crate::{
    error::Result,
    llm::TokenUsage,
    store::{LedgerEntry, ModelSpend},
    text::tokens::estimate_tokens,
    types::Scope,
};

/// What an extraction asks for beside the conversation: the built-in instructions have about so many tokens.
const PROMPT_TOKENS: u64 = 1_200;

/// A memory that an extraction proposes takes about so many tokens, with its title, tags and confidence.
const TOKENS_PER_FACT: u64 = 80;

/// Whether background work may ask a model now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Allowance {
    /// Whether it may.
    pub allowed: bool,
    /// If not, why, and what happens instead.
    pub reason: Option<String>,
    /// Tokens that are left today; none without a cap.
    pub tokens_left: Option<u64>,
    /// What may be spent today; none without a cap.
    pub cost_left: Option<f64>,
}

/// What the next extraction would cost, as far as it can be told before.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ExtractionPreview {
    /// Turns that it would read.
    pub turns: usize,
    /// Tokens that a model would read.
    pub read: u64,
    /// Tokens that it would write at most.
    pub written: u64,
    /// What that costs by the prices in the settings.
    pub cost: f64,
}

/// What a scope spent, what all of them spent today, and what comes next.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LedgerReport {
    /// By day and job, the newest day first.
    pub spending: Vec<LedgerEntry>,
    /// All of it.
    pub total: ModelSpend,
    /// What all agents and users together spent today.
    pub today: ModelSpend,
    /// Whether more may be spent today.
    pub allowance: Allowance,
    /// The next extraction.
    pub next: ExtractionPreview,
}

impl Engine {
    /// Whether background work may ask a model now. Above a daily cap it goes on by rules, and says why.
    pub async fn may_spend(&self, scope: &Scope, job: &str) -> Result<Allowance> {
        let today = self.store.ledger().total_on(self.today()).await?;
        let allowance = self.allowance(&today);
        if let Some(reason) = &allowance.reason {
            tracing::info!(%scope, job, "{reason}");
        }
        Ok(allowance)
    }

    /// Writes down what background work spent.
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

    /// What was spent in the last days, today included.
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

    /// What the next extraction would cost, by our own count of tokens.
    pub async fn preview_extraction_cost(&self, scope: &Scope) -> Result<ExtractionPreview> {
        let waiting = self.store.queue().pending(Some(scope)).await?;
        let turns = match waiting.first() {
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
            format!("the budget of the day is spent ({what}): rules do the work until tomorrow")
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
