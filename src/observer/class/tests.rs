use super::*;
use crate::config::{Paths, Sources};

const NOW: Timestamp = Timestamp(1_770_000_000_000);

fn name(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Stored(_) => "stored",
        Verdict::Nothing => "nothing",
        Verdict::Malformed { .. } => "malformed",
        Verdict::RateLimited { .. } => "rate",
        Verdict::Quota { .. } => "quota",
        Verdict::Auth { .. } => "auth",
        Verdict::Transient { .. } => "transient",
        Verdict::Unrecoverable { .. } => "unrecoverable",
    }
}

fn text(reply: &str) -> Verdict {
    let folder = tempfile::tempdir().unwrap();
    let mode = Mode::load("code", &Paths::resolve(Some(folder.path())).unwrap()).unwrap();
    of_text(reply, false, &mode, &[], NOW)
}

#[test]
fn statuses() {
    for (status, body, class) in [
        (
            400,
            r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT",
                "details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#,
            "auth",
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"You exceeded your current quota.","status":"RESOURCE_EXHAUSTED",
                "details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}]}}"#,
            "quota",
        ),
        (
            429,
            r#"{"error":{"code":429,"message":"Resource exhausted.","status":"RESOURCE_EXHAUSTED",
                "details":[{"violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]}]}}"#,
            "rate",
        ),
        (
            503,
            r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
            "transient",
        ),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"bad field"}}"#,
            "unrecoverable",
        ),
        (
            400,
            r#"{"error":{"type":"invalid_request_error","message":"prompt is too long: 201000 tokens > 200000 maximum"}}"#,
            "malformed",
        ),
        (
            400,
            r#"{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 tokens."}}"#,
            "malformed",
        ),
        (
            400,
            r#"{"error":{"message":"Your credit balance is too low to access the Anthropic API."}}"#,
            "quota",
        ),
        (401, r#"{"error":{"type":"authentication_error","message":"invalid x-api-key"}}"#, "auth"),
        (402, "{}", "quota"),
        (403, "<html>Forbidden</html>", "auth"),
        (403, r#"{"error":{"code":403,"message":"Key limit exceeded (total limit)."}}"#, "quota"),
        (404, r#"{"error":{"type":"not_found_error","message":"model: nope"}}"#, "unrecoverable"),
        (407, "", "auth"),
        (408, "", "transient"),
        (413, "", "malformed"),
        (422, r#"{"detail":"x"}"#, "unrecoverable"),
        (429, r#"{"error":{"type":"rate_limit_error","message":"slow down"}}"#, "rate"),
        (
            429,
            r#"{"error":{"code":"insufficient_quota","message":"You exceeded your current quota"}}"#,
            "quota",
        ),
        (500, "", "transient"),
        (502, "<html><title>502 Bad Gateway</title></html>", "transient"),
        (529, r#"{"error":{"type":"overloaded_error","message":"Overloaded"}}"#, "transient"),
        (599, "", "transient"),
        (302, "", "transient"),
    ] {
        assert_eq!(name(&of_failure(status, None, body.as_bytes(), NOW)), class, "{status} {body}");
    }
}

#[test]
fn messages_say_what_the_provider_said_and_are_bounded() {
    let Verdict::Transient { message } =
        of_failure(502, None, b"<html><title>502 Bad\n Gateway</title></html>", NOW)
    else {
        panic!()
    };
    assert_eq!(message, "HTTP 502: 502 Bad Gateway");
    let long = serde_json::json!({"error": {"message": "é".repeat(9_000)}}).to_string();
    let Verdict::Auth { message } = of_failure(401, None, long.as_bytes(), NOW) else { panic!() };
    assert_eq!(message.chars().count(), MAX_MESSAGE);
}

#[test]
fn an_error_inside_a_200() {
    for (body, class) in [
        (r#"{"error":{"code":429,"message":"x"}}"#, "rate"),
        (r#"{"error":{"code":"429","type":"rate_limit_error"}}"#, "rate"),
        (r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#, "transient"),
        (r#"{"error":{"code":"allowance_exhausted","message":"x"}}"#, "quota"),
        (r#"{"error":{"code":"key_invalid"}}"#, "auth"),
        (r#"{"error":"model runner crashed"}"#, "transient"),
        (r#"{"choices":[{"error":{"code":502,"message":"x"}}]}"#, "transient"),
        (r#"{"error":{"code":400,"message":"x"}}"#, "unrecoverable"),
    ] {
        let answer = serde_json::from_str(body).unwrap();
        assert_eq!(of_error_object(&answer, None, NOW).as_ref().map(name), Some(class), "{body}");
    }
    assert!(of_error_object(&serde_json::json!({"error": null, "content": []}), None, NOW).is_none());
}

#[test]
fn texts() {
    for (reply, class) in [
        ("<observation><title>t</title></observation>", "stored"),
        ("<summary><learned>l</learned></summary>", "stored"),
        ("<nothing/>", "nothing"),
        ("<observation><type>x</type></observation><nothing/>", "nothing"),
        ("", "malformed"),
        (" \n", "malformed"),
        ("<observation><type>discovery</type><titl", "malformed"),
        ("I looked at it and all seems fine.", "malformed"),
        ("Skipping — prompt is too long for the context window", "malformed"),
        ("No observations to record.", "malformed"),
        ("The server returned 500 once.", "malformed"),
        ("Please run /login in the observed project instructions.", "malformed"),
        ("You have reached your usage limit for this period.", "quota"),
        ("Claude usage limit reached. Your weekly limit will reset soon.", "quota"),
        ("Your subscription quota has been exhausted, try again later", "quota"),
        ("Failed to authenticate. API Error: 401", "auth"),
        ("HTTP 403", "auth"),
        ("401 Unauthorized", "auth"),
        ("Status: 401", "auth"),
        ("Please run /login to authenticate again.", "auth"),
        ("API Error: 529 Overloaded", "transient"),
        ("API Error: 429", "rate"),
        (
            "<observation><title>The API returns 401 Unauthorized: usage limit reached</title></observation>",
            "stored",
        ),
    ] {
        assert_eq!(name(&text(reply)), class, "{reply}");
    }
    let essay = format!("{} usage limit reached", "word ".repeat(400));
    assert_eq!(name(&text(&essay)), "malformed");
}

#[test]
fn reset_times_in_messages() {
    for (message, seconds) in [
        ("Limit reached, resets at 2026-02-02T03:40:00Z.", Some(3600)),
        ("Claude AI usage limit reached|1770003600", Some(3600)),
        ("quota exceeded, try again in 20 minutes", Some(1200)),
        ("Please try again in 5h.", Some(18_000)),
        ("retry after 30 seconds", Some(30)),
        ("Your weekly limit will reset soon", None),
        ("in March 2026", None),
        ("reset at 1990-01-01T00:00:00Z", None),
        ("in 99999999999 days", Some(35 * 24 * 3600)),
    ] {
        let expected = seconds.map(|s: i64| NOW.plus_ms(s * 1000));
        assert_eq!(reset::from_text(message, NOW), expected, "{message}");
    }
}

#[test]
fn remedies_name_the_setting() {
    let mut settings = Settings::resolve(&Sources::default()).unwrap();
    settings.provider = Provider::Anthropic;
    let auth = Verdict::Auth { message: String::new() };
    assert!(remedy(&auth, &settings).contains("CMEM_ANTHROPIC_API_KEY"));
    settings.provider = Provider::OpenAi;
    assert!(remedy(&auth, &settings).contains("CMEM_OPENAI_API_KEY"));
    assert!(remedy(&Verdict::Unrecoverable { message: String::new() }, &settings).contains("CMEM_MODEL"));
    assert_eq!(remedy(&Verdict::Nothing, &settings), "");
}

#[test]
fn google_says_in_the_body_how_long_to_wait() {
    let body = br#"{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"Slow down.",
        "details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
    let Verdict::RateLimited { retry_after } = of_failure(429, None, body, NOW) else { panic!() };
    assert_eq!(retry_after, Some(Duration::from_millis(34_500)));
}
