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

impl Price {
    /// The price of a model: that of the longest name with which its own begins, whatever stands before a slash.
    pub fn of<'a>(model: &str, prices: &'a [Self]) -> Option<&'a Self> {
        let plain = model.rsplit('/').next().unwrap_or(model);
        prices.iter().filter(|price| plain.starts_with(&price.model)).max_by_key(|price| price.model.len())
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
        for bad in ["", "a", "a=1", "a=1/2", "a=1/2/3/4", "a=1/x/3", "=1/2/3", "a=-1/0/0", "a=inf/0/0"] {
            assert_eq!(Price::parse(bad), None, "{bad}");
        }
    }
}
