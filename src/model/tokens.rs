//! What a text costs a model to read.

/// Estimates tokens without a tokenizer: four ASCII characters a token, and one token for each character
/// of scripts that tokenizers do not merge. Errs on the high side for prose.
pub fn estimate_tokens(text: &str) -> usize {
    let ascii = text.bytes().filter(u8::is_ascii).count();
    let other = text.chars().filter(|c| !c.is_ascii()).count();
    ascii.div_ceil(4) + other
}

#[cfg(test)]
mod tests {
    use super::estimate_tokens;

    #[test]
    fn scripts_are_priced_differently() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("four"), 1);
        assert_eq!(estimate_tokens("接口鉴权"), 4);
    }
}
