//! For any input of an agent, every character is in the page's text, or is a mark that the page says it leaves out.

#[allow(unreachable_pub, reason = "the targets of `cargo fuzz` use it too")]
#[path = "../../tests/src/hostile/visible.rs"]
mod visible;

use cueme_broker::edge;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_character_is_shown_or_is_a_mark_that_is_told_of(
        fragments in prop::collection::vec(prop::sample::select(&visible::FRAGMENTS[..]), 1..40)
    ) {
        let source = fragments.concat();
        let shown = edge::markdown(&source);
        let told = visible::check(&source, &visible::text_of(&shown.html), shown.hides_marks);
        prop_assert_eq!(told, Ok(()));
    }
}

#[test]
fn a_rendering_that_swallows_something_is_noticed() {
    for (source, text) in [
        ("a [b]: c", "a"),
        ("**a**", "a"),
        ("a\u{202e}b", "ab"),
        ("ab", "ba"),
    ] {
        assert!(visible::check(source, text, false).is_err(), "{source}");
    }
    assert_eq!(visible::check("**a**", "a", true), Ok(()));
    assert!(visible::check("**a** b", "a", true).is_err());
}
