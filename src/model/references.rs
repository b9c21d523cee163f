use super::RecordId;

/// A part of a text that refers to records as `[12, S3]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part<'a> {
    /// As it stands; brackets around anything but ids belong to it, and so does the index of `argv[2]`.
    Text(&'a str),
    /// The ids of one pair of brackets.
    References(Vec<RecordId>),
}

/// The parts of a text, in their order.
pub fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, opened)) = rest.split_once('[') {
        let is_index = before.ends_with(|c: char| c.is_alphanumeric() || "_])".contains(c));
        let group = opened.split_once(']').filter(|_| !is_index);
        match group.and_then(|(inside, after)| Some((ids(inside)?, after))) {
            Some((ids, after)) => {
                parts.extend([Part::Text(before), Part::References(ids)]);
                rest = after;
            }
            None => {
                parts.push(Part::Text(&rest[..=before.len()]));
                rest = opened;
            }
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// Ids separated by commas or semicolons, and nothing else.
fn ids(text: &str) -> Option<Vec<RecordId>> {
    text.split([',', ';', '，', '、']).map(|part| part.parse().ok()).collect()
}
