//! What a short statement claims: of what, which value, and whether that is new.
//!
//! "We use MySQL for payments" claims *mysql* of *payments*; "Payments moved to PostgreSQL" claims *postgresql* of the same.
//! Nothing is understood beyond that: a statement that is not built in a known way claims nothing.

use std::collections::BTreeSet;

use super::lexicon::{CHINESE, ENGLISH, EVENTS, JOINED, RIVALS, Role, SPELLINGS, UNITS};

/// A statement is short; longer ones are told, not claimed.
const MAX_CHARS: usize = 240;

/// A claim.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claim {
    /// What it is about, as a set of words; empty = of the project as a whole.
    pub(super) subject: BTreeSet<String>,
    /// What is claimed of it: names and numbers.
    pub(super) values: BTreeSet<String>,
    /// What it was before, as far as that is said.
    former: BTreeSet<String>,
    /// It says that something changed.
    changed: bool,
    /// It says what something is, not what it uses.
    is: bool,
    /// It says that it is not so.
    negative: bool,
    /// What the value is for is said after it.
    purpose: bool,
}

/// What two claims have to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Verdict {
    /// They may both hold.
    Compatible,
    /// Somebody has to look.
    Contested,
    /// The new one says that the old one holds no longer.
    Replaced,
}

/// The claims of a text, one for each part of a sentence at most. `made` = it tells of work that was done, so that "Move
/// payments to PostgreSQL" is no plan.
pub(super) fn claims(text: &str, made: bool) -> Vec<Claim> {
    parts(text).into_iter().filter_map(|part| claim(part, made)).collect()
}

/// Whether a text says more than one thing.
pub(super) fn says_more(text: &str) -> bool {
    parts(text).len() > 1
}

/// Sentences, and their parts between commas.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next();
        let ends = match c {
            '\n' | ';' | '!' | '。' | '；' | '，' | '！' => true,
            '.' | ',' => next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            parts.push(&text[from..at]);
            from = at + c.len_utf8();
        }
    }
    parts.push(&text[from..]);
    parts.retain(|part| part.chars().any(char::is_alphanumeric));
    parts
}

/// A word of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    role: Option<Role>,
    /// It is written as a name: a capital that no sentence demands, digits, code.
    named: bool,
}

fn claim(part: &str, made: bool) -> Option<Claim> {
    if part.chars().count() > MAX_CHARS || part.contains(['?', '？']) {
        return None;
    }
    let words = words(part);
    let first = words.first()?;
    let ordered = first.role == Some(Role::Order);
    let words: Vec<Word> = words.iter().take_while(|word| word.role != Some(Role::Reason)).cloned().collect();
    let has = |role| words.iter().any(|word| word.role == Some(role));
    if has(Role::Hedge) || (ordered && !made) {
        return None;
    }
    let is_change = |word: &Word| {
        matches!(word.role, Some(Role::Change | Role::Replace)) || word.role == Some(Role::Order) && ordered
    };
    let change = words.iter().position(is_change);
    let relation = words.iter().position(|word| matches!(word.role, Some(Role::Is | Role::Use)));
    let passive = has(Role::Used);
    let start = match (change, relation) {
        (Some(change), _) => change,
        (None, Some(relation)) => relation,
        (None, None) if passive => 0,
        (None, None) if has(Role::Not) => words.iter().position(|word| word.role == Some(Role::Not))?,
        _ => return None,
    };
    let divider = change.and_then(|change| {
        let after = |word: &Word| word.role == Some(Role::Divider);
        words.iter().rposition(after).filter(|divider| *divider > change)
    });
    let replaces = change.is_some_and(|at| {
        words[at].role == Some(Role::Replace)
            || words[at].text.starts_with("replace")
            || words[at].text == "swap"
    });
    let mut claim = Claim {
        changed: change.is_some(),
        is: change.is_none() && words.get(start).is_some_and(|word| word.role == Some(Role::Is)),
        negative: has(Role::Not),
        ..Claim::default()
    };
    let (mut old, mut seen_value) = (false, false);
    for (at, word) in words.iter().enumerate() {
        match word.role {
            Some(Role::From) => old = change.is_some(),
            Some(Role::Instead) => old = true,
            Some(Role::Divider) if Some(at) == divider => old = false,
            _ => {}
        }
        if word.role.is_some() && (ordered || word.role != Some(Role::Order)) {
            continue;
        }
        let rival = group(&word.text).is_some();
        let value = rival || is_number(&word.text) || word.named;
        // Before a change a name may be what was there; before another verb it is what is talked of.
        let placed = at > start || passive || (change.is_some() && rival);
        if !(value && placed) {
            claim.subject.insert(stem(&word.text));
            claim.purpose |= seen_value;
            continue;
        }
        let is_old = match (change, divider) {
            _ if old => true,
            (Some(_), Some(divider)) => at < divider && (rival || replaces),
            (Some(change), None) if replaces => at > change,
            _ => false,
        };
        let unclear = change.is_some_and(|change| divider.is_none() && !replaces && at < change);
        match is_old {
            _ if unclear => claim.subject.insert(stem(&word.text)),
            true => claim.former.insert(word.text.clone()),
            false if change.is_some() && divider.is_some_and(|divider| at < divider) => {
                claim.subject.insert(stem(&word.text))
            }
            false => {
                seen_value = true;
                claim.values.insert(word.text.clone())
            }
        };
    }
    (!(claim.values.is_empty() && claim.former.is_empty())).then_some(claim)
}

fn words(part: &str) -> Vec<Word> {
    let mut text = part.to_owned();
    for (phrase, joined) in JOINED {
        while let Some(at) = text.to_lowercase().find(phrase).filter(|at| {
            let whole = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
            text.is_char_boundary(*at)
                && text.is_char_boundary(at + phrase.len())
                && whole(text[..*at].chars().next_back())
                && whole(text[at + phrase.len()..].chars().next())
        }) {
            text.replace_range(at..at + phrase.len(), joined);
        }
    }
    let mut words = Vec::new();
    let mut code = false;
    let mut chars = text.chars().peekable();
    while let Some(&c) = chars.peek() {
        let mut run = String::new();
        let take = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
                    run: &mut String,
                    in_run: fn(char) -> bool| {
            while let Some(c) = chars.next_if(|c| in_run(*c)) {
                run.push(c);
            }
        };
        if c == '`' {
            code = !code;
            chars.next();
        } else if is_han(c) {
            take(&mut chars, &mut run, is_han);
            han_words(&run, &mut words);
        } else if is_in_word(c) {
            take(&mut chars, &mut run, is_in_word);
            word(&run, code, &mut words);
        } else if c == '=' || c == '→' {
            chars.next();
            let role = if c == '=' { Role::Is } else { Role::Change };
            words.push(Word { text: c.to_string(), role: Some(role), named: false });
            if c == '→' {
                words.push(Word { text: c.to_string(), role: Some(Role::Divider), named: false });
            }
        } else {
            chars.next();
        }
    }
    // A number and its unit are one value.
    let mut at = 0;
    while at + 1 < words.len() {
        if is_number(&words[at].text) && UNITS.contains(&words[at + 1].text.as_str()) {
            let unit = words.remove(at + 1);
            words[at].text = format!("{} {}", words[at].text, unit.text);
        }
        at += 1;
    }
    words
}

fn word(run: &str, code: bool, words: &mut Vec<Word>) {
    let bare = run.trim_matches(['.', '-', '\'', '’', '/', '_', '+', '%']);
    let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
    if bare.is_empty() {
        return;
    }
    let lower = bare.to_lowercase().replace('’', "'");
    let text = spelled(&lower).to_owned();
    let role = if code { None } else { role(ENGLISH, &lower) };
    let begins = words.is_empty();
    let capital = bare.chars().next().is_some_and(char::is_uppercase);
    let inner = bare.chars().skip(1).any(|c| c.is_uppercase() || c.is_numeric() || "._/".contains(c));
    words.push(Word { named: role.is_none() && (code || inner || (capital && !begins)), text, role });
}

/// A run of Chinese: the known words in it, longest first, and what is between them.
fn han_words(run: &str, words: &mut Vec<Word>) {
    let mut unknown = String::new();
    let mut rest = run;
    while let Some(c) = rest.chars().next() {
        let known = CHINESE.iter().flat_map(|(role, list)| list.iter().map(move |word| (Some(*role), *word)));
        let names = RIVALS.iter().flat_map(|group| group.iter().map(|word| (None, *word)));
        let spellings = SPELLINGS.iter().map(|(word, _)| (None, *word));
        let units = UNITS.iter().filter(|_| unknown.is_empty()).map(|word| (None, *word));
        let all = known.chain(names).chain(spellings).chain(units);
        // After a change, a divider; the same word elsewhere is a verb.
        let after_change = unknown.is_empty()
            && words.last().is_some_and(|word| matches!(word.role, Some(Role::Change | Role::Replace)));
        let fits = |(role, word): &(Option<Role>, &str)| {
            rest.starts_with(word) && (*role != Some(Role::Divider) || after_change)
        };
        let rank = |(role, word): &(Option<Role>, &str)| (word.len(), *role == Some(Role::Divider));
        let Some((role, found)) = all.filter(fits).max_by_key(rank) else {
            unknown.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        flush(&mut unknown, words);
        words.push(Word { text: spelled(found).to_owned(), role, named: false });
        rest = &rest[found.len()..];
    }
    flush(&mut unknown, words);
}

fn flush(unknown: &mut String, words: &mut Vec<Word>) {
    if !unknown.is_empty() {
        words.push(Word { text: std::mem::take(unknown), role: None, named: false });
    }
}

fn role(table: &[(Role, &[&str])], word: &str) -> Option<Role> {
    table.iter().find(|(_, words)| words.contains(&word)).map(|(role, _)| *role)
}

fn spelled(word: &str) -> &str {
    SPELLINGS.iter().find(|(other, _)| *other == word).map_or(word, |(_, usual)| usual)
}

/// Which names a name competes with.
fn group(word: &str) -> Option<usize> {
    RIVALS.iter().position(|group| group.contains(&word))
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['v', 'V', '-', '+']);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

fn is_path(word: &str) -> bool {
    word.contains('/') || word.rsplit_once('.').is_some_and(|(_, end)| (1..=4).contains(&end.len()))
}

fn is_han(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x9FFF | 0xF900..=0xFAFF | 0x2_0000..=0x3_FFFF)
}

fn is_in_word(c: char) -> bool {
    (c.is_alphanumeric() && !is_han(c)) || "_-./'’+%>".contains(c)
}

/// Singular and plural are one word.
fn stem(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(root) if root.len() > 2 => return format!("{root}y"),
        _ => {}
    }
    match word.strip_suffix('s') {
        Some(root) if root.len() > 2 && !root.ends_with('s') => root.to_owned(),
        _ => word.to_owned(),
    }
}

impl Claim {
    /// What a later claim means for this one.
    pub(super) fn against(&self, new: &Self) -> Verdict {
        let same_subject = self.subject == new.subject;
        if self.negative != new.negative {
            let (yes, no) = if self.negative { (new, self) } else { (self, new) };
            let denied = || yes.values.iter().any(|value| no.values.contains(value));
            return if same_subject && denied() { Verdict::Replaced } else { Verdict::Compatible };
        }
        if self.negative || self.values.is_empty() {
            return Verdict::Compatible;
        }
        if !same_subject {
            // What was is named, but of a part of what is talked of, or of more.
            let named = self.values.iter().any(|value| new.former.contains(value));
            let moved = new.changed && !new.values.is_empty();
            let nested = self.subject.is_subset(&new.subject) || new.subject.is_subset(&self.subject);
            return if moved && named && nested { Verdict::Contested } else { Verdict::Compatible };
        }
        if self.values.iter().any(|value| new.former.contains(value) && !new.values.contains(value)) {
            return self.unless_it_says_more(new);
        }
        if let Some(verdict) = self.rivals(new) {
            return verdict;
        }
        if self.subject.iter().any(|word| EVENTS.contains(&word.as_str())) {
            return Verdict::Compatible;
        }
        self.other_value(new)
    }

    /// Names of one group in both, one in each.
    fn rivals(&self, new: &Self) -> Option<Verdict> {
        let groups = |claim: &Self| claim.values.iter().filter_map(|value| group(value)).collect::<Vec<_>>();
        let (ours, theirs) = (groups(self), groups(new));
        let once = |list: &[usize], wanted| list.iter().filter(|found| **found == wanted).count() == 1;
        let differs = |wanted: &usize| {
            let of = |claim: &Self| claim.values.iter().find(|value| group(value) == Some(*wanted)).cloned();
            of(self) != of(new)
        };
        let shared =
            ours.iter().find(|wanted| once(&ours, **wanted) && once(&theirs, **wanted) && differs(wanted))?;
        // What else is named may be a part, a place or a further thing of the same kind.
        let beside = |claim: &Self| -> BTreeSet<String> {
            let other = |value: &&String| group(value) != Some(*shared) && !is_number(value);
            claim.values.iter().filter(other).cloned().collect()
        };
        let (ours, theirs) = (beside(self), beside(new));
        let only_theirs = theirs.difference(&ours).all(|value| group(value).is_some());
        Some(match (ours.is_subset(&theirs), theirs.is_subset(&ours)) {
            (true, _) if only_theirs => Verdict::Replaced,
            (false, true) => Verdict::Contested,
            _ => Verdict::Compatible,
        })
    }

    /// The same is said with another number or name.
    fn other_value(&self, new: &Self) -> Verdict {
        let mut ours: Vec<&String> = self.values.difference(&new.values).collect();
        let mut theirs: Vec<&String> = new.values.difference(&self.values).collect();
        let (Some(old), Some(other)) = (ours.pop(), theirs.pop()) else { return Verdict::Compatible };
        if !(ours.is_empty() && theirs.is_empty()) {
            return Verdict::Compatible;
        }
        let about = self.subject.len() + self.values.intersection(&new.values).count();
        match (is_number(old), is_number(other)) {
            (true, true) if about > 0 => Verdict::Replaced,
            (false, false) if group(old).is_some() || group(other).is_some() => Verdict::Compatible,
            (false, false) if self.is && new.is && about > 1 => Verdict::Replaced,
            // What is moved to another file is often another part of the same.
            (false, false) if is_path(old) || is_path(other) => Verdict::Compatible,
            (false, false) if about > 0 && (new.changed || (self.purpose && new.purpose)) => {
                Verdict::Contested
            }
            _ => Verdict::Compatible,
        }
    }

    /// One value is denied: what else is said may still hold.
    fn unless_it_says_more(&self, new: &Self) -> Verdict {
        let further = self
            .values
            .iter()
            .any(|value| !new.former.contains(value) && !new.values.contains(value) && !is_number(value));
        if further { Verdict::Contested } else { Verdict::Replaced }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(old: &str, new: &str) -> Verdict {
        let (old, new) = (claims(old, false), claims(new, true));
        let all = old.iter().flat_map(|old| new.iter().map(move |new| old.against(new)));
        all.max().unwrap_or(Verdict::Compatible)
    }

    #[test]
    fn the_same_with_another_value_is_replaced() {
        for (old, new) in [
            ("We use MySQL for payments", "Payments moved to PostgreSQL"),
            ("We use MySQL for payments", "We use PostgreSQL for payments"),
            ("We use MySQL for payments", "Migrated the payments service from MySQL to Postgres"),
            ("We use MySQL for payments", "Migrate payments to PostgreSQL"),
            ("We use MySQL for payments", "Replaced MySQL with PostgreSQL in payments"),
            ("We use MySQL for payments", "PostgreSQL replaced MySQL for payments"),
            ("We use MySQL for payments", "Payments now run on PostgreSQL instead of MySQL."),
            ("We use MySQL for payments", "We no longer use MySQL for payments"),
            ("MySQL is used for payments", "Payments are stored in PostgreSQL"),
            ("The database is MySQL", "The project uses PostgreSQL 15 now"),
            ("项目使用 MySQL", "项目迁到了 PostgreSQL"),
            ("用 MySQL", "项目已从 MySQL 迁移到 PostgreSQL 15"),
            ("支付服务使用 MySQL", "支付改用 PostgreSQL"),
            ("支付使用 MySQL", "支付用 PostgreSQL 取代了 MySQL"),
            ("支付使用 MySQL", "把支付的 MySQL 换成 PostgreSQL"),
            ("支付使用 MySQL", "支付不再使用 MySQL"),
            ("Retry limit is 3", "The retry limit is 5"),
            ("The retry limit is 3", "The retry limit was reviewed, the retry limit is now 5."),
            ("Upload timeout is 30 s", "Raised the upload timeout to 5 minutes"),
            ("max_retries = 3", "max_retries = 5"),
            ("默认端口是 8080", "默认端口改为 9090"),
            ("Payments use PostgreSQL 15", "Payments use PostgreSQL 17"),
            ("Payments use PostgreSQL 15", "Payments upgraded to PostgreSQL 17"),
            ("Releases are cut on Tuesdays", "Releases are cut on Thursdays"),
            ("The config file is `settings.json`", "The config file is `config.toml`"),
            ("Telemetry is disabled", "Telemetry is enabled"),
            ("Tests run with Jest", "Tests moved from Jest to Vitest"),
        ] {
            assert_eq!(
                verdict(old, new),
                Verdict::Replaced,
                "{old} / {new}\n{:?}\n{:?}",
                claims(old, false),
                claims(new, true)
            );
        }
    }

    #[test]
    fn two_facts_may_both_hold() {
        for (old, new) in [
            ("The auth module uses JWT", "The auth module hashes passwords with bcrypt"),
            ("The auth module uses JWT", "The auth module uses bcrypt"),
            ("Auth tokens expire after 15 minutes", "Auth sessions expire after 24 hours"),
            ("We use PostgreSQL for payments", "We use Redis for payments"),
            ("We use MySQL for payments", "Orders moved to PostgreSQL"),
            ("We use MySQL for payments", "Payments in staging moved to PostgreSQL"),
            ("Payment tests use SQLite", "Payments moved to PostgreSQL"),
            ("We use MySQL", "Payments use PostgreSQL"),
            ("We use MySQL for payments", "We should move payments to PostgreSQL"),
            ("We use MySQL for payments", "Could payments use PostgreSQL?"),
            ("We use MySQL for payments", "If payments move to PostgreSQL the pool must grow"),
            ("We use MySQL for payments", "Payments do not use PostgreSQL"),
            ("Never use MySQL for payments", "We use PostgreSQL for payments"),
            ("Payments use PostgreSQL", "Payments were using MySQL before"),
            ("MySQL runs on port 3306", "PostgreSQL runs on port 5432"),
            ("MySQL is slow on payments", "PostgreSQL is slow on payments"),
            ("The retry limit of uploads is 3", "The retry limit of downloads is 5"),
            ("Version 2 is broken", "Version 3 is broken"),
            ("The bug in parser.rs is on line 30", "The bug in parser.rs is on line 45"),
            ("The cause is `auth.rs`", "The cause is `db.rs`"),
            ("Added 3 tests to auth", "Added 5 tests to auth"),
            ("The login page is slow", "The login page is broken"),
            ("Deploys fail on Mondays", "Deploys fail on Fridays"),
            ("The eu cluster runs PostgreSQL 15", "The us cluster runs PostgreSQL 17"),
            ("We support MySQL and PostgreSQL", "We support SQLite"),
            ("API uses FastAPI", "API uses Pydantic"),
            ("We use Redis as the queue", "We use Memcached as the cache"),
            ("Always use tabs in Go", "Always use spaces in Python"),
            ("Moved helpers to src/a.rs", "Moved helpers to src/b.rs"),
            ("`parse` uses `memchr`", "`parse` now uses `Cow`"),
            ("支付使用 MySQL", "订单使用 PostgreSQL"),
            ("支付使用 MySQL", "考虑把支付迁移到 PostgreSQL"),
            ("接口鉴权用 JWT", "接口返回用 JSON"),
            ("retry limit is five", "the button is green"),
            ("Project uses Forgejo for source control", "Project uses Forgejo for source control."),
        ] {
            assert_eq!(
                verdict(old, new),
                Verdict::Compatible,
                "{old} / {new}\n{:?}\n{:?}",
                claims(old, false),
                claims(new, true)
            );
        }
    }

    #[test]
    fn what_cannot_be_told_is_for_somebody_to_look_at() {
        for (old, new) in [
            ("We use MySQL", "Migrated payments from MySQL to PostgreSQL"),
            ("Payment reports use MySQL", "Migrated payments from MySQL to PostgreSQL"),
            ("Payments use MySQL and Redis", "Payments moved to PostgreSQL"),
            ("We use Frobnicate for payments", "We use Quuxify for payments"),
            ("Payments use Frobnicate", "Payments switched to Quuxify"),
        ] {
            assert_eq!(
                verdict(old, new),
                Verdict::Contested,
                "{old} / {new}\n{:?}\n{:?}",
                claims(old, false),
                claims(new, true)
            );
        }
    }

    #[test]
    fn an_order_is_a_claim_only_of_work_that_was_done() {
        assert_eq!(claims("Migrate payments to PostgreSQL", false), []);
        assert_eq!(claims("Migrate payments to PostgreSQL", true).len(), 1);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_and_claims_nothing_against_itself(text in "(\\PC|\n| use | moved to |迁移到|不再|MySQL|[0-9]){0,60}") {
            for claim in claims(&text, true) {
                if claim.former.is_empty() {
                    assert_eq!(claim.against(&claim), Verdict::Compatible, "{claim:?}");
                }
            }
        }
    }
}
