//! What tokens cost, by model: data that the user can correct.

/// Dollars per million tokens.
#[derive(Debug, Clone, PartialEq)]
pub struct Price {
    /// How the names of the models begin that it is for.
    pub model: String,
    /// Input tokens, cache writes among them.
    pub input: f64,
    /// Input tokens read from the provider's cache.
    pub cached: f64,
    /// Output tokens.
    pub output: f64,
}

/// The default of `CMEM_PRICES`: list prices of Anthropic and Google, and of OpenAI's embeddings. What `gemini-flash-latest` stands for changes; it
/// was Gemini 2.5 Flash then.
pub(super) const LIST: &str = "claude-haiku-4-5=1/0.1/5,claude-sonnet-4-5=3/0.3/15,claude-opus-4-5=5/0.5/25,\
    gemini-2.5-flash=0.3/0.03/2.5,gemini-2.5-flash-lite=0.1/0.01/0.4,gemini-flash-latest=0.3/0.03/2.5,\
    text-embedding-3-small=0.02/0.02/0,text-embedding-3-large=0.13/0.13/0";
/// When these were the list prices.
pub const LIST_DATE: &str = "November 2025";

/// Tokens that go into one observation, and that come out with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokensPerObservation {
    /// Input tokens, none of them from a cache.
    pub input: f64,
    /// Output tokens, its share of the session's summaries among them.
    pub output: f64,
}

/// As `scripts/bench/observer_cost` measures it over the recorded sessions; that fails when it drifts away.
pub const TOKENS_PER_OBSERVATION: TokensPerObservation =
    TokensPerObservation { input: 3000.0, output: 370.0 };

impl Price {
    /// What so many tokens cost, in dollars.
    pub fn dollars(&self, input: f64, cached: f64, output: f64) -> f64 {
        (input * self.input + cached * self.cached + output * self.output) / 1_000_000.0
    }

    /// The price of a model: that of the longest name with which its own begins, whatever stands before a slash. An
    /// alias of the `claude` command, such as `haiku` or `sonnet[1m]`, has that of the newest model so named.
    pub fn of<'a>(model: &str, prices: &'a [Self]) -> Option<&'a Self> {
        let plain = model.rsplit('/').next().unwrap_or(model);
        let by_name = prices
            .iter()
            .filter(|price| plain.starts_with(&price.model))
            .max_by_key(|price| price.model.len());
        by_name.or_else(|| {
            let alias = format!("claude-{}-", plain.split('[').next().filter(|alias| !alias.is_empty())?);
            prices.iter().filter(|price| price.model.starts_with(&alias)).max_by_key(|price| &price.model)
        })
    }

    /// What no model of these exceeds; `None` when there is none.
    pub fn dearest(prices: &[Self]) -> Option<Self> {
        prices.iter().cloned().reduce(|dear, price| Self {
            model: String::new(),
            input: dear.input.max(price.input),
            cached: dear.cached.max(price.cached),
            output: dear.output.max(price.output),
        })
    }

    /// Reads `MODEL=INPUT/CACHED/OUTPUT`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (model, numbers) = text.split_once('=')?;
        let mut numbers = numbers.split('/').map(|number| number.trim().parse::<f64>().ok());
        let mut next = || numbers.next().flatten().filter(|number| number.is_finite() && *number >= 0.0);
        let price = Self { model: model.trim().to_owned(), input: next()?, cached: next()?, output: next()? };
        (!price.model.is_empty() && numbers.next().is_none()).then_some(price)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts() {
        let prices: Vec<Price> =
            ["a=1/0.1/5", " a-large = 3/0.3/15 "].into_iter().filter_map(Price::parse).collect();
        let input = |model: &str| Price::of(model, &prices).map(|price| price.input);
        assert_eq!(
            (input("a-small-001"), input("vendor/a-large-2"), input("b")),
            (Some(1.0), Some(3.0), None)
        );
        let claude: Vec<Price> = LIST.split(',').filter_map(Price::parse).collect();
        let name = |model: &str| Price::of(model, &claude).map(|price| price.model.as_str());
        assert_eq!(
            (name("haiku"), name("sonnet[1m]"), name("poem"), name("")),
            (Some("claude-haiku-4-5"), Some("claude-sonnet-4-5"), None, None)
        );
        for bad in ["", "a", "a=1", "a=1/2", "a=1/2/3/4", "a=1/x/3", "=1/2/3", "a=-1/0/0", "a=inf/0/0"] {
            assert_eq!(Price::parse(bad), None, "{bad}");
        }
    }
}
