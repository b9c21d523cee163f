//! Calls of an observer: each is a row, whatever its answer was worth, since the provider bills it all the same.

use super::{Store, StoreError};
use crate::config::Price;
use crate::model::Timestamp;

/// One call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The batch that it was about.
    pub batch: &'a str,
    /// Who was called.
    pub provider: &'a str,
    /// The model that answered.
    pub model: &'a str,
    /// Class of the answer: `stored`, `nothing`, or that of the failure.
    pub class: &'a str,
    /// Input, cached and output tokens.
    pub usage: (i64, i64, i64),
    /// When it was answered.
    pub at: Timestamp,
}

/// What was asked of one model, and what its answers cost, useless ones among them.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[expect(missing_docs, reason = "the field names are the documentation")]
pub struct CallCount {
    pub model: String,
    pub calls: i64,
    /// Those whose answer confirmed nothing.
    pub failed: i64,
    pub input: i64,
    pub cached: i64,
    pub output: i64,
}

impl CallCount {
    /// What the tokens cost at the price of the model, if that is known; nothing for the embedded observer, and for
    /// calls that used no tokens.
    pub fn dollars(&self, prices: &[Price]) -> Option<f64> {
        if self.is_free() {
            return Some(0.0);
        }
        Price::of(&self.model, prices).map(|price| self.at(price))
    }

    /// The same for a limit that has to hold: at the dearest price there is where that of the model is not known.
    /// `None` when there is no price at all.
    pub fn dollars_at_most(&self, prices: &[Price]) -> Option<f64> {
        self.dollars(prices).or_else(|| Price::dearest(prices).map(|price| self.at(&price)))
    }

    fn is_free(&self) -> bool {
        self.model == "builtin" || (self.input, self.cached, self.output) == (0, 0, 0)
    }

    fn at(&self, price: &Price) -> f64 {
        price.dollars(self.input as f64, self.cached as f64, self.output as f64)
    }
}

/// What was used of a day's allowance.
#[derive(Debug, Clone, PartialEq)]
pub struct Spent {
    /// Input, cached and output tokens.
    pub tokens: u64,
    /// `None` = there is no price to count with.
    pub dollars: Option<f64>,
    /// Models whose price is not known: counted at the dearest one.
    pub unpriced: Vec<String>,
}

impl Spent {
    /// Which limit is reached, if one is; 0 = no limit. Without any price a limit in dollars ends with the first token.
    pub fn over(&self, daily_tokens: u64, daily_usd: f64) -> Option<String> {
        if daily_tokens > 0 && self.tokens >= daily_tokens {
            return Some(format!("{} tokens today; CMEM_DAILY_TOKENS is {daily_tokens}", self.tokens));
        }
        if daily_usd <= 0.0 {
            return None;
        }
        let models = self.unpriced.join(", ");
        match self.dollars {
            None => Some(format!(
                "CMEM_DAILY_USD is {daily_usd}, and CMEM_PRICES has no price to count {models} with"
            )),
            Some(dollars) if dollars < daily_usd => None,
            Some(dollars) if models.is_empty() => {
                Some(format!("${dollars:.4} today; CMEM_DAILY_USD is {daily_usd}"))
            }
            Some(dollars) => Some(format!(
                "${dollars:.4} today, with {models} at the dearest price of CMEM_PRICES, which has none for it; \
                 CMEM_DAILY_USD is {daily_usd}"
            )),
        }
    }
}

impl Store {
    /// What was used since then, as a limit has to count it: by the observer, and for embeddings.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn spent(&self, since: Timestamp, prices: &[Price]) -> Result<Spent, StoreError> {
        let calls = self.calls(since)?;
        let tokens = calls.iter().map(|count| count.input + count.cached + count.output).sum::<i64>();
        Ok(Spent {
            tokens: u64::try_from(tokens).unwrap_or_default(),
            dollars: calls.iter().try_fold(0.0, |sum, count| Some(sum + count.dollars_at_most(prices)?)),
            unpriced: calls
                .iter()
                .filter(|count| count.dollars(prices).is_none())
                .map(|count| count.model.clone())
                .collect(),
        })
    }

    /// Records a call.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn record_call(&self, call: &Call<'_>) -> Result<(), StoreError> {
        let (input, cached, output) = call.usage;
        self.conn
            .prepare_cached(
                "INSERT INTO calls (batch, provider, model, class, input_tokens, cached_tokens, output_tokens, at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
            )?
            .execute((
                call.batch,
                call.provider,
                call.model,
                call.class,
                input,
                cached,
                output,
                call.at.0,
            ))?;
        Ok(())
    }

    /// Calls by model since then, the most called first.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn calls(&self, since: Timestamp) -> Result<Vec<CallCount>, StoreError> {
        self.calls_between(since, Timestamp(i64::MAX))
    }

    /// Calls by model from one moment to just before another, the most called first.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn calls_between(&self, since: Timestamp, until: Timestamp) -> Result<Vec<CallCount>, StoreError> {
        let mut statement = self.conn.prepare_cached(
            "SELECT model, count(*), count(*) FILTER (WHERE class NOT IN ('stored', 'nothing')),
                    sum(input_tokens), sum(cached_tokens), sum(output_tokens)
             FROM calls WHERE at >= ?1 AND at < ?2 GROUP BY model ORDER BY count(*) DESC, model",
        )?;
        let calls = statement.query_map([since.0, until.0], |row| {
            Ok(CallCount {
                model: row.get(0)?,
                calls: row.get(1)?,
                failed: row.get(2)?,
                input: row.get(3)?,
                cached: row.get(4)?,
                output: row.get(5)?,
            })
        })?;
        Ok(calls.collect::<Result<_, _>>()?)
    }

    /// Whether a provider has confirmed a batch after a moment.
    ///
    /// # Errors
    /// [`StoreError::Sql`].
    pub fn answered_since(&self, provider: &str, moment: Timestamp) -> Result<bool, StoreError> {
        Ok(self
            .conn
            .prepare_cached(
                "SELECT EXISTS (SELECT 1 FROM calls
                   WHERE provider = ?1 AND at > ?2 AND class IN ('stored', 'nothing'))",
            )?
            .query_row((provider, moment.0), |row| row.get(0))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, Sources};

    fn count(model: &str, input: i64) -> CallCount {
        CallCount { model: model.to_owned(), calls: 1, failed: 0, input, cached: 0, output: 0 }
    }

    #[test]
    fn a_model_without_a_price_costs_a_limit_the_dearest_one() {
        let (settings, _) = Settings::resolve_lenient(&Sources::default());
        let prices = &settings.prices;
        let dearest = prices.iter().map(|price| price.input).fold(0.0, f64::max);
        let unknown = count("who-knows", 1_000_000);
        assert_eq!((unknown.dollars(prices), unknown.dollars_at_most(prices)), (None, Some(dearest)));
        let known = count("claude-haiku-4-5-20251001", 1_000_000);
        assert_eq!(known.dollars_at_most(prices), known.dollars(prices));
        assert_eq!(unknown.dollars_at_most(&[]), None);
        for free in [count("builtin", 7), count("who-knows", 0)] {
            assert_eq!((free.dollars(&[]), free.dollars_at_most(&[])), (Some(0.0), Some(0.0)), "{free:?}");
        }
    }

    #[test]
    fn every_call_counts_and_only_confirmed_ones_are_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let paths = crate::config::Paths::resolve(Some(folder.path())).unwrap();
        let store = Store::open(&paths).unwrap();
        for (class, at) in [("malformed", 10), ("stored", 20), ("transient", 30)] {
            let call = Call {
                batch: "b",
                provider: "anthropic",
                model: "m",
                class,
                usage: (100, 10, 1),
                at: Timestamp(at),
            };
            store.record_call(&call).unwrap();
        }
        let counts = store.calls(Timestamp(0)).unwrap();
        let all =
            CallCount { model: String::from("m"), calls: 3, failed: 2, input: 300, cached: 30, output: 3 };
        assert_eq!(counts, [all]);
        assert_eq!(store.calls(Timestamp(30)).unwrap()[0].calls, 1);
        let answered = |provider, moment| store.answered_since(provider, Timestamp(moment)).unwrap();
        assert!(answered("anthropic", 19) && !answered("anthropic", 20) && !answered("builtin", 0));
    }
}
