use super::*;
use crate::config::{Paths, Provider, Settings, Sources};

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
        (403, "<html>Forbidden</html>", "transient"),
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

/// Bodies as providers and the servers in front of them send them.
#[test]
fn answers_of_real_life() {
    for (whose, status, body, class) in [
        (
            "OpenRouter moderation",
            403,
            r#"{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged",
                "metadata":{"reasons":["violence"],"flagged_input":"kill","provider_name":"OpenAI"}}}"#,
            "malformed",
        ),
        (
            "Azure filter",
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
                "type":null,"param":"prompt","code":"content_filter","status":400,
                "innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#,
            "malformed",
        ),
        (
            "OpenAI usage policy",
            400,
            r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
                "type":"invalid_request_error","code":"invalid_prompt"}}"#,
            "malformed",
        ),
        (
            "Anthropic filter",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
            "malformed",
        ),
        (
            "LiteLLM of Azure",
            400,
            r#"{"error":{"message":"litellm.ContentPolicyViolationError: AzureException - The response was filtered","type":null,"code":"400"}}"#,
            "malformed",
        ),
        (
            "OpenAI larger than a minute's allowance",
            429,
            r#"{"error":{"message":"Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 10000, Requested 24500.",
                "type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#,
            "malformed",
        ),
        (
            "Groq",
            413,
            r#"{"error":{"message":"Request too large for model `llama` on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}"#,
            "malformed",
        ),
        (
            "GitHub Models",
            413,
            r#"{"error":{"code":"tokens_limit_reached","message":"Request body too large for gpt-4o model. Max size: 8000 tokens."}}"#,
            "malformed",
        ),
        (
            "llama.cpp",
            400,
            r#"{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}"#,
            "malformed",
        ),
        (
            "llama.cpp of old",
            500,
            r#"{"error":{"code":500,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"server_error"}}"#,
            "malformed",
        ),
        (
            "vLLM",
            400,
            r#"{"object":"error","message":"This model's maximum context length is 8192 tokens. However, you requested 30000 tokens","type":"BadRequestError","param":null,"code":400}"#,
            "malformed",
        ),
        (
            "vLLM of another day",
            400,
            r#"{"error":{"message":"The decoder prompt (length 9000) is longer than the maximum model length of 8192.","type":"BadRequestError","code":400}}"#,
            "malformed",
        ),
        (
            "LM Studio",
            400,
            r#"{"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}"#,
            "malformed",
        ),
        (
            "LiteLLM of anything",
            400,
            r#"{"error":{"message":"litellm.ContextWindowExceededError: litellm.BadRequestError: x","type":null,"code":"400"}}"#,
            "malformed",
        ),
        (
            "Gemini",
            400,
            r#"{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            "malformed",
        ),
        ("Bedrock", 400, r#"{"message":"Input is too long for requested model."}"#, "malformed"),
        (
            "OpenRouter of whom it asked",
            400,
            r#"{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"prompt is too long: 210000 tokens > 200000 maximum\"}}","provider_name":"Anthropic"}}}"#,
            "malformed",
        ),
        (
            "Bedrock throttling",
            429,
            r#"{"message":"Too many tokens, please wait before trying again."}"#,
            "rate",
        ),
        (
            "Anthropic tokens a minute",
            429,
            r#"{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your organization's rate limit of 50,000 input tokens per minute."}}"#,
            "rate",
        ),
        (
            "OpenRouter upstream",
            429,
            r#"{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"x is temporarily rate-limited upstream. Please retry shortly","provider_name":"Chutes"}}}"#,
            "rate",
        ),
        (
            "OpenRouter a day",
            429,
            r#"{"error":{"message":"Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 free model requests per day","code":429,
                "metadata":{"headers":{"X-RateLimit-Limit":"50","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1770003600000"}}}}"#,
            "quota",
        ),
        (
            "OpenAI a day",
            429,
            r#"{"error":{"message":"Rate limit reached for gpt-4o on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.","type":"requests","code":"rate_limit_exceeded"}}"#,
            "quota",
        ),
        (
            "OpenAI by another's gateway",
            429,
            r#"{"error":{"message":"You exceeded your current quota, please check your plan and billing details."}}"#,
            "quota",
        ),
        (
            "Anthropic limit of one's own",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-02-05 at 00:00 UTC."}}"#,
            "quota",
        ),
        (
            "DeepSeek",
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}"#,
            "quota",
        ),
        (
            "Anthropic disabled",
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}"#,
            "auth",
        ),
        (
            "xAI",
            400,
            r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai."}"#,
            "auth",
        ),
        (
            "Gemini in another country",
            400,
            r#"{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}"#,
            "auth",
        ),
        (
            "Gemini leaked key",
            403,
            r#"{"error":{"code":403,"message":"Your API key was reported as leaked. Please use another API key.","status":"PERMISSION_DENIED"}}"#,
            "auth",
        ),
        (
            "OpenAI no such model",
            404,
            r#"{"error":{"message":"The model `m1` does not exist or you do not have access to it.","type":"invalid_request_error","code":"model_not_found"}}"#,
            "unrecoverable",
        ),
        (
            "OpenAI not this project's model",
            403,
            r#"{"error":{"message":"Project `proj_x` does not have access to model `gpt-5`","type":"invalid_request_error","code":"model_not_found"}}"#,
            "unrecoverable",
        ),
        (
            "Ollama no such model",
            404,
            r#"{"error":{"message":"model \"qwen3:8b\" not found, try pulling it first","type":"api_error","param":null,"code":null}}"#,
            "unrecoverable",
        ),
        (
            "Ollama without memory",
            500,
            r#"{"error":{"message":"model requires more system memory (8.0 GiB) than is available (4.0 GiB)","type":"api_error"}}"#,
            "transient",
        ),
        (
            "a tunnel that is away",
            404,
            "<html>The endpoint x.example is offline. ERR_NGROK_3200</html>",
            "transient",
        ),
        ("a web server", 404, "<html><h1>404 Not Found</h1><hr>nginx</html>", "transient"),
        ("another path of Ollama", 404, "404 page not found", "transient"),
        (
            "Cloudflare",
            403,
            "<!DOCTYPE html><title>Attention Required! | Cloudflare</title>Sorry, you have been blocked",
            "transient",
        ),
        (
            "a web server in front",
            413,
            "<html><title>413 Request Entity Too Large</title></html>",
            "malformed",
        ),
        ("a web server's limit", 429, "<html>rate limited</html>", "rate"),
        ("basic authentication", 401, "<html>401 Authorization Required</html>", "auth"),
        ("captive portal", 511, "<html>login</html>", "transient"),
    ] {
        assert_eq!(name(&of_failure(status, None, body.as_bytes(), NOW)), class, "{whose}");
    }
}

#[test]
fn what_a_filter_says_is_not_repeated() {
    let body = br#"{"error":{"code":403,"message":"Your input was flagged for: zirconium","metadata":{"flagged_input":"zirconium"}}}"#;
    let Verdict::Malformed { reason } = of_failure(403, None, body, NOW) else { panic!() };
    assert!(reason.contains("filter") && !reason.contains("zirconium"), "{reason}");
}

#[test]
fn waits_are_read_from_bodies() {
    let wait = |body: &str| match of_failure(429, None, body.as_bytes(), NOW) {
        Verdict::RateLimited { retry_after } => retry_after.map(|wait| wait.as_millis()),
        Verdict::Quota { reset, .. } => reset.map(|at| u128::try_from(at.since_ms(NOW)).unwrap()),
        other => panic!("{other:?}"),
    };
    for (body, ms) in [
        (
            r#"{"error":{"message":"Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s."}}"#,
            Some(20_000),
        ),
        (r#"{"error":{"message":"Please try again in 1m30.5s."}}"#, Some(90_500)),
        (r#"{"error":{"message":"Please try again in 450ms."}}"#, Some(450)),
        (r#"{"error":{"message":"slow down"}}"#, None),
        (
            r#"{"error":{"message":"Rate limit reached on requests per day (RPD). Please try again in 7m12s."}}"#,
            Some(432_000),
        ),
        (
            r#"{"error":{"message":"Rate limit exceeded: free-models-per-day","metadata":{"headers":{"X-RateLimit-Reset":"1770003600000"}}}}"#,
            Some(3_600_000),
        ),
        (
            r#"{"error":{"message":"Rate limit exceeded: free-models-per-min","metadata":{"headers":{"X-RateLimit-Reset":"1770000030000"}}}}"#,
            Some(30_000),
        ),
        // Google's wait beside a day's allowance is that of another limit.
        (
            r#"{"error":{"status":"RESOURCE_EXHAUSTED","message":"You exceeded your current quota. Please retry in 34.07s.",
            "details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]},{"retryDelay":"34s"}]}}"#,
            None,
        ),
    ] {
        assert_eq!(wait(body), ms, "{body}");
    }
    // The header is the better word.
    let body = br#"{"error":{"message":"Please try again in 20s."}}"#;
    let Verdict::RateLimited { retry_after } = of_failure(429, Some(Duration::from_secs(5)), body, NOW)
    else {
        panic!()
    };
    assert_eq!(retry_after, Some(Duration::from_secs(5)));
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
        (
            "The agent saw an HTTP 403 from the staging server and retried; nothing worth keeping.",
            "malformed",
        ),
        ("Nothing to record: the user only looked at why the disk quota was exceeded.", "malformed"),
        ("The disk quota has been exceeded on the build host.", "malformed"),
        ("Rate limit reached: the agent waited and went on.", "malformed"),
        ("Usage limit reached while the tests ran, so the agent mocked the server.", "malformed"),
        ("Your weekly limit reached the user's dashboard, which shows credits now.", "malformed"),
        ("API Error: the endpoint returns 429 when the queue is full.", "malformed"),
        ("HTTP 401 came back because the token had expired.", "malformed"),
        ("401 Unauthorized was the answer of the registry to the push.", "malformed"),
        ("Failed to authenticate users whose name holds a blank; the regex is mended.", "malformed"),
        ("Invalid API keys are now refused by the server with a clear message.", "malformed"),
        ("You've hit your limit · resets 9pm (UTC)", "quota"),
        ("5-hour limit reached ∙ resets 7pm", "quota"),
        ("Claude AI usage limit reached|1770003600", "quota"),
        ("Your credit balance is too low to access the Anthropic API.", "quota"),
        (
            "API Error: 401 {\"type\":\"error\",\"error\":{\"type\":\"authentication_error\",\"message\":\"x\"}}",
            "auth",
        ),
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
        ("resets in 2h 30m", Some(9_000)),
        ("Please try again in 1h2m3.5s", Some(3_723)),
        ("retry after 30 seconds", Some(30)),
        ("Your weekly limit will reset soon", None),
        ("in March 2026", None),
        ("reset at 1990-01-01T00:00:00Z", None),
        ("in 99999999999 days", Some(35 * 24 * 3600)),
        // NOW is 2026-02-02T02:40:00Z, a Monday; in the zone of the user, which is two hours ahead, 04:40.
        ("You've hit your session limit · resets 5am", Some(1200)),
        ("You've hit your session limit · resets 4:50am", Some(600)),
        ("5-hour limit reached ∙ resets 16:40", Some(12 * 3600)),
        ("resets 3am", Some(22 * 3600 + 1200)),
        ("resets 12am", Some(19 * 3600 + 1200)),
        ("You've hit your limit · resets 3am (UTC)", Some(1200)),
        ("Your limit will reset at 10pm (America/New_York).", Some(1200)),
        ("Weekly limit reached ∙ resets Feb 6, 1pm", Some(4 * 86_400 + 8 * 3600 + 1200)),
        ("Weekly limit reached ∙ resets Feb 6 at 1pm (Europe/Berlin)", Some(4 * 86_400 + 9 * 3600 + 1200)),
        ("You will regain access on 2026-02-05 at 00:00 UTC.", Some(2 * 86_400 + 21 * 3600 + 1200)),
        ("resets 25pm", None),
        ("resets 3pm (Nowhere/Land)", Some(10 * 3600 + 1200)),
        ("the test resets 3 counters", None),
    ] {
        let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(2));
        // A machine without the time zone database.
        if message.contains("(America") && jiff::tz::TimeZone::get("America/New_York").is_err()
            || message.contains("(Europe") && jiff::tz::TimeZone::get("Europe/Berlin").is_err()
        {
            continue;
        }
        let found = reset::from_text_in(message, NOW, &zone).map(|at| at.since_ms(NOW) / 1000);
        assert_eq!(found, seconds, "{message}");
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
    assert!(
        remedy(&Verdict::Unrecoverable { message: String::new() }, &settings)
            .contains("CMEM_OPENAI_BASE_URL")
    );
    settings.provider = Provider::Claude;
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
