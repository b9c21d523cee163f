//! Path globs: `*` and `?` within one name, `**` over any number of names.

/// Whether the whole of `path` matches. A trailing `/**` also matches the directory itself. Takes at most
/// |pattern| × |path| steps, whatever the pattern.
pub(super) fn matches(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').collect();
    let path: Vec<&str> = path.split('/').collect();
    wild(&pattern, &path, |part| *part == "**", |part, name| name_matches(part, name))
}

fn name_matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    wild(&pattern, &name, |part| *part == '*', |part, letter| *part == '?' || part == letter)
}

/// Matching with one kind of wildcard for "any number": when the rest does not fit, the latest wildcard takes
/// one item more. Earlier ones never need to, since a later one can take what they would have taken.
fn wild<T>(pattern: &[T], items: &[T], is_any: impl Fn(&T) -> bool, fits: impl Fn(&T, &T) -> bool) -> bool {
    let (mut at, mut item) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while item < items.len() {
        match pattern.get(at) {
            Some(part) if is_any(part) => {
                retry = Some((at, item));
                at += 1;
            }
            Some(part) if fits(part, &items[item]) => {
                at += 1;
                item += 1;
            }
            _ => {
                let Some((any, taken)) = retry else { return false };
                retry = Some((any, taken + 1));
                at = any + 1;
                item = taken + 1;
            }
        }
    }
    pattern[at..].iter().all(is_any)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn table() {
        for (pattern, path, expected) in [
            ("/tmp/*", "/tmp/secret", true),
            ("/tmp/*", "/tmp/a/b", false),
            ("/tmp/*", "/tmp", false),
            ("/tmp/?", "/tmp/a", true),
            ("/tmp/?", "/tmp/ab", false),
            ("/tmp/?", "/tmp/é", true),
            ("/Users/*/kunden/**", "/Users/me/kunden/a/b/c", true),
            ("/Users/*/kunden/**", "/Users/me/kunden", true),
            ("/Users/*/kunden/**", "/Users/me/kunden-2", false),
            ("/**/secret", "/a/b/secret", true),
            ("/**/secret", "/secret", true),
            ("/**/a/*/b", "/a/x/a/y/b", true),
            ("/a*c*e", "/abcde", true),
            ("/a*c*e", "/abcd", false),
            ("**", "/anything", true),
            ("/a.c", "/abc", false),
            ("/[ab]", "/a", false),
        ] {
            assert_eq!(matches(pattern, path), expected, "{pattern} {path}");
        }
    }

    proptest! {
        #[test]
        fn every_path_matches_itself_and_never_panics(pattern in "\\PC{0,30}", path in "[^*?]{0,30}") {
            prop_assert!(matches(&path, &path));
            let _ = matches(&pattern, &path);
        }

        #[test]
        fn a_wildcard_takes_any_one_name(name in "[^/*?]{0,10}") {
            let path = format!("/x/{name}/y");
            let doubled = format!("/x/{name}/{name}/y");
            prop_assert!(matches("/x/*/y", &path));
            prop_assert!(!matches("/x/*/y", &doubled));
            prop_assert!(matches("/x/**/y", &doubled));
        }
    }

    #[test]
    fn many_wildcards_stay_fast() {
        let pattern = "/**/*a*a*a*a*a*a*b".repeat(8);
        assert!(!matches(&pattern, &"/aaaaaaaaaaaaaaaaaaaaaaaa".repeat(40)));
    }
}
