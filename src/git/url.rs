//! Remote URLs without what must not be kept.

/// Takes user, password, query and fragment out of a remote URL; the user of an SSH address stays.
///
/// `None` when it is not clear where the credentials end. Forms as in git's documentation, `git help clone`,
/// "GIT URLS".
pub(super) fn without_credentials(url: &str) -> Option<String> {
    let url = url.trim();
    if url.is_empty() || url.contains(char::is_control) {
        return None;
    }
    let Some((scheme, rest)) = url.split_once("://") else { return scp_like(url) };
    let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
    if path.contains('@') && authority.contains([':', '@']) {
        // Perhaps a password with a slash in it.
        return None;
    }
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (user.split(':').next().unwrap_or_default(), host),
        None => ("", authority),
    };
    let keeps_user = !user.is_empty() && matches!(scheme, "ssh" | "git+ssh" | "ssh+git");
    let user = if keeps_user { format!("{user}@") } else { String::new() };
    Some(format!("{scheme}://{user}{host}{path}"))
}

/// The same for every way to spell the URL of one repository: host and path, without scheme, user, port and `.git`.
pub fn remote_id(url: &str) -> String {
    let url = url.trim().trim_end_matches('/');
    let url = url.strip_suffix(".git").unwrap_or(url);
    let (host, path) = match url.split_once("://") {
        Some(("file", path)) => return path.to_owned(),
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => match url.split_once(':') {
            Some((host, path)) if !host.contains('/') => (host, path),
            _ => return url.to_owned(),
        },
    };
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let host = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    format!("{}/{}", host.to_lowercase(), path.trim_start_matches('/'))
}

/// `user@host:path`, or a plain path.
fn scp_like(url: &str) -> Option<String> {
    let before_path = url.split('/').next().unwrap_or_default();
    match before_path.split_once('@') {
        Some((user, _)) if user.contains(':') => None,
        _ => Some(url.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keeps_the_place_and_drops_the_credentials() {
        for (url, kept) in [
            ("https://github.com/x/y.git", Some("https://github.com/x/y.git")),
            ("https://token@github.com/x/y", Some("https://github.com/x/y")),
            ("https://me:s3cret@host:8443/x/y?token=a#b", Some("https://host:8443/x/y")),
            ("https://me:p@ss@host/x", Some("https://host/x")),
            ("https://me:pa/ss@host/x", None),
            ("https://me:12/34@host/x", None),
            ("https://me:p@s/s@host/x", None),
            ("https://host/@scope/x", Some("https://host/@scope/x")),
            ("ssh://git@github.com:22/x/y", Some("ssh://git@github.com:22/x/y")),
            ("ssh://git:pw@github.com/x", Some("ssh://git@github.com/x")),
            ("git@github.com:x/y.git", Some("git@github.com:x/y.git")),
            ("me:pw@host:x", None),
            ("/srv/git/x.git", Some("/srv/git/x.git")),
            ("../x", Some("../x")),
            ("file:///srv/x", Some("file:///srv/x")),
            ("  ", None),
        ] {
            assert_eq!(without_credentials(url).as_deref(), kept, "{url}");
        }
    }

    #[test]
    fn one_repository_has_one_name_however_it_is_reached() {
        for url in [
            "https://Host.example/x/y.git",
            "https://host.example/x/y/",
            "ssh://git@host.example:22/x/y.git",
            "git@host.example:x/y.git",
        ] {
            assert_eq!(remote_id(url), "host.example/x/y", "{url}");
        }
        assert_eq!(remote_id("/srv/git/x.git"), "/srv/git/x");
        assert_ne!(remote_id("https://host.example/x/y"), remote_id("https://host.example/x/z"));
    }

    proptest! {
        #[test]
        fn no_password_survives(user in "[a-z]{1,8}", tail in "[a-z/@:?#]{0,6}", scheme in "https?|ssh") {
            let url = format!("{scheme}://{user}:hunter2{tail}@host.example/x/y");
            let kept = without_credentials(&url).unwrap_or_default();
            prop_assert!(!kept.contains("hunter2"), "{url} -> {kept}");
        }

        #[test]
        fn twice_is_once(url in "\\PC{0,40}") {
            if let Some(kept) = without_credentials(&url) {
                prop_assert_eq!(without_credentials(&kept), Some(kept));
            }
        }
    }
}
