//! What the stand-in for a model writes, for both sides: notes of the length that models write.

/// An observation; no two numbers give the same.
pub fn observation(number: usize) -> String {
    format!(
        "<observation>
<type>bugfix</type>
<title>Requirement ^0.{number} is bounded by the minor version again in matches_caret</title>
<subtitle>Versions below 1.0 matched requirements of an older minor version, so that incompatible releases were chosen</subtitle>
<facts><fact>matches_caret in src/eval.rs compares the minor version with == when the major version of the requirement is 0</fact>\
<fact>`^0.{number}` means >=0.{number}.0 and below the next minor version</fact>\
<fact>tests/test_version_req.rs::test_caret failed with `matched 0.{number}.9` before the change</fact></facts>
<narrative>A clean-up had merged the two branches for a requirement without a patch number into one comparison with >=, which is \
right only from 1.0 on. Below 1.0 a new minor version may break its users, therefore the comparison is == there. The case for \
major versions above 0 is as it was. Case {number} of the table in the tests covers it.</narrative>
<concepts><concept>problem-solution</concept><concept>gotcha</concept></concepts>
<keywords><keyword>semver range</keyword><keyword>compatible release</keyword><keyword>zero version</keyword></keywords>
<files_read><file>tests/test_version_req.rs</file></files_read>
<files_modified><file>src/eval.rs</file></files_modified>
<supersedes></supersedes>
</observation>
"
    )
}

/// A summary of the session.
pub const SUMMARY: &str = "<summary>
<request>Find out why the tests of version requirements fail since the clean-up of src/eval.rs, and mend it.</request>
<investigated>The failing tests, the comparison functions in src/eval.rs, and the history of the clean-up.</investigated>
<learned>Requirements below 1.0 without a patch number need an equal minor version; prereleases are compared strictly.</learned>
<completed>Both comparisons are mended and the tests of requirements pass.</completed>
<next_steps>The tests of version parsing still fail for another reason.</next_steps>
<notes></notes>
</summary>
";
