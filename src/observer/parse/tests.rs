use proptest::prelude::*;

use super::*;
use crate::config::Paths;

fn mode() -> Mode {
    let folder = tempfile::tempdir().unwrap();
    Mode::load("code", &Paths::resolve(Some(folder.path())).unwrap()).unwrap()
}

fn read(reply: &str) -> Parsed {
    parse(reply, &mode(), &[7, 12], false)
}

fn only(reply: &str) -> Draft {
    let parsed = read(reply);
    assert_eq!(parsed.drafts.len(), 1, "{reply}: {parsed:?}");
    parsed.drafts.into_iter().next().unwrap()
}

#[test]
fn a_whole_reply() {
    let parsed = read(
        "<observation><type>bugfix</type><title>Token check first</title><subtitle>Expired tokens</subtitle>
         <facts><fact>a.rs: rejects</fact><fact>limit 15 min</fact></facts><narrative>It was so.\n\nNow it is not.</narrative>
         <concepts><concept>gotcha</concept><concept>pattern</concept></concepts>
         <keywords><keyword>auth</keyword><keyword>鉴权</keyword></keywords>
         <files_read><file>a.rs</file></files_read><files_modified><file>b.rs</file></files_modified>
         <supersedes>12, 99</supersedes></observation>
         <summary><request>Fix it</request><investigated></investigated><learned>l</learned><completed>c</completed>
         <next_steps>n</next_steps><notes>x</notes></summary>",
    );
    let draft = &parsed.drafts[0];
    assert_eq!((draft.r#type.as_str(), draft.title.as_str()), ("bugfix", "Token check first"));
    assert_eq!(draft.narrative, "It was so.\n\nNow it is not.");
    assert_eq!(draft.facts, ["a.rs: rejects", "limit 15 min"]);
    assert_eq!(draft.concepts, ["gotcha", "pattern"]);
    assert_eq!(draft.keywords, ["auth", "鉴权"]);
    assert_eq!(
        (&draft.files_read[..], &draft.files_modified[..]),
        (&[String::from("a.rs")][..], &[String::from("b.rs")][..])
    );
    assert_eq!(draft.supersedes, [12]);
    let summary = parsed.summary.unwrap();
    assert_eq!(
        (summary.request.as_str(), summary.investigated.as_str(), summary.notes.as_str()),
        ("Fix it", "", "x")
    );
}

#[test]
fn blocks_are_found_anywhere() {
    for reply in [
        "```xml\n<observation><title>t</title></observation>\n```",
        "Sure! Here it is:\n<observation><title>t</title></observation>\nHope this helps.",
        "<OBSERVATION id=\"1\"><Title lang='en'>t</TITLE></Observation>",
        "< observation >< title >t</ title ></ observation >",
        "<observations><observation>\n<title>\n t \n</title></observation></observations>",
        "<observation><title>t<narrative></narrative></observation>",
        "<observation><title>t</observation>",
    ] {
        assert_eq!(only(reply).title, "t", "{reply}");
    }
}

#[test]
fn inner_markup_and_fences_are_text() {
    let draft = only(
        "<observation><title>a <div> b</title><narrative>Use ```rust\nVec<String>\n``` and <title> tags</narrative></observation>",
    );
    assert_eq!(draft.title, "a <div> b");
    assert_eq!(draft.narrative, "Use ```rust\nVec<String>\n``` and <title> tags");
}

#[test]
fn entities_are_decoded_once() {
    let draft = only(
        "<observation><title>a &lt;b&gt; &amp;amp; &quot;c&quot; &apos;d&apos; &#233;&#x4e2d; &unknown; & &#0; &#xffffffff;</title></observation>",
    );
    assert_eq!(draft.title, "a <b> &amp; \"c\" 'd' é中 &unknown; & &#0; &#xffffffff;");
}

#[test]
fn what_survives() {
    for (inner, title) in [
        ("<title>t</title>", "t"),
        ("<narrative>One thing. Another.</narrative>", "One thing"),
        ("<facts><fact>f</fact></facts>", "f"),
        ("<concepts><concept>gotcha</concept></concepts>", "gotcha"),
        ("<subtitle>s</subtitle><concepts>gotcha</concepts>", "s"),
    ] {
        assert_eq!(only(&format!("<observation>{inner}</observation>")).title, title, "{inner}");
    }
    for inner in
        ["", "<type>bugfix</type>", "<title> </title><narrative>\n</narrative>", "<subtitle>s</subtitle>"]
    {
        let parsed = read(&format!("<observation>{inner}</observation>"));
        assert!(parsed.drafts.is_empty() && parsed.tagged, "{inner}");
    }
    let reply = "<observation><type>x</type></observation><observation><title>good</title></observation><observation/>";
    assert_eq!(only(reply).title, "good");
}

#[test]
fn types_and_concepts() {
    assert_eq!(only("<observation><title>t</title></observation>").r#type, "bugfix");
    assert_eq!(only("<observation><type>code</type><title>t</title></observation>").r#type, "code");
    let concepts = |list: &str| {
        only(&format!(
            "<observation><type>discovery</type><title>t</title><concepts>{list}</concepts></observation>"
        ))
        .concepts
    };
    assert_eq!(concepts("<concept>gotcha: long text</concept>"), ["gotcha"]);
    assert_eq!(
        concepts("<concept>discovery</concept><concept>discovery: x</concept><concept>pattern</concept>"),
        ["pattern"]
    );
    assert_eq!(concepts("<concept>: only text</concept>"), Vec::<String>::new());
    assert_eq!(concepts("gotcha, pattern"), ["gotcha", "pattern"]);
    assert_eq!(concepts("\n- gotcha\n- trade-off\n"), ["gotcha", "trade-off"]);
}

#[test]
fn lists_as_lines_and_unclosed_items() {
    let facts =
        |list: &str| only(&format!("<observation><title>t</title><facts>{list}</facts></observation>")).facts;
    assert_eq!(facts("\n- one\n* two\n\nthree\n"), ["one", "two", "three"]);
    assert_eq!(facts("<fact>one<fact>two</fact>"), ["one", "two"]);
    assert_eq!(facts("-5 is less than --4"), ["-5 is less than --4"]);
}

#[test]
fn a_cut_reply_gives_what_is_complete() {
    let reply = "<observation><title>whole</title></observation><observation><title>also closed</title><narrative>half a sent";
    let titles = |cut| -> Vec<String> {
        parse(reply, &mode(), &[], cut).drafts.into_iter().map(|draft| draft.title).collect()
    };
    assert_eq!(titles(true), ["whole"]);
    assert_eq!(titles(false), ["whole", "also closed"]);
    assert!(read("<observation><type>discovery</type><titl").drafts.is_empty());
    assert!(read("<observation><title>half a ti").drafts.is_empty());
    let unclosed = "<observation><title>a</title><observation><title>b</title></observation>";
    assert_eq!(parse(unclosed, &mode(), &[], true).drafts.len(), 2);
}

#[test]
fn summaries_need_one_of_five_fields() {
    for (inner, kept) in [
        ("plain words", false),
        ("<notes>n</notes>", false),
        ("<request> </request>", false),
        ("<learned>l</learned>", true),
        ("<next_steps>n</next_steps>", true),
    ] {
        assert_eq!(read(&format!("<summary>{inner}</summary>")).summary.is_some(), kept, "{inner}");
    }
}

#[test]
fn nothing_and_prose() {
    for reply in
        ["<nothing/>", "<nothing />", "Well: <Nothing reason=\"listing only\"/>", "<nothing></nothing>"]
    {
        assert!(read(reply).nothing, "{reply}");
    }
    for reply in ["", "I looked at it and all seems fine.", "a < b > c", "<nothings/>", "<title>t</title>"] {
        let parsed = read(reply);
        assert!(!parsed.tagged && parsed.drafts.is_empty(), "{reply}");
    }
}

#[test]
fn lengths_are_capped() {
    let long = "wort ".repeat(20_000);
    let draft = only(&format!(
        "<observation><type>{long}</type><title>{long}</title><narrative>{long}</narrative><facts><fact>{long}</fact></facts></observation>"
    ));
    assert!(draft.title.chars().count() <= MAX_LINE && draft.r#type.chars().count() <= MAX_TYPE);
    assert!(draft.narrative.len() <= MAX_NARRATIVE && draft.facts[0].len() <= MAX_FACT);
    let many = "<observation><title>t</title></observation>".repeat(500);
    assert_eq!(read(&many).drafts.len(), MAX_OBSERVATIONS);
}

#[test]
fn a_megabyte_of_openings_takes_linear_time() {
    let begun = std::time::Instant::now();
    for piece in [
        "<observation>",
        "<",
        "<title>",
        "<observation><title>",
        "< / ",
        "&",
        "<observation ",
        "<facts><fact>",
    ] {
        read(&piece.repeat(1_000_000 / piece.len()));
    }
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

proptest! {
    #[test]
    fn never_panics(parts in proptest::collection::vec(prop_oneof![
        Just("<observation>"), Just("</observation>"), Just("<title>"), Just("</title>"), Just("<facts>"),
        Just("<fact>"), Just("</fact>"), Just("</facts>"), Just("<summary>"), Just("<request>"), Just("<nothing/>"),
        Just("<concepts>"), Just("gotcha: x"), Just("&#x"), Just("é中🚀"), Just("<"), Just("/>"), Just(" "), Just("a"),
    ], 0..40), noise in "\\PC{0,40}", cut: bool) {
        let reply = parts.concat() + &noise;
        let parsed = parse(&reply, &mode(), &[1], cut);
        for draft in parsed.drafts {
            prop_assert!(!draft.title.trim().is_empty());
            prop_assert!(!draft.r#type.is_empty());
        }
    }
}
