//! The choice of a rule, and the text that a rule may agree to.

use protocol_spec::outcome::Origin;
use protocol_spec::payload::Payload;
use protocol_spec::time::Timestamp;
use serde::Deserialize;

use super::rule::PATTERN_BYTES_MAX;
use super::*;

fn policies(text: &str) -> Vec<Policy> {
    #[derive(Deserialize)]
    struct Config {
        policy: Vec<Policy>,
    }
    toml::from_str::<Config>(text).unwrap().policy
}

fn case() -> Case<'static> {
    Case {
        agent_id: "bako-nefi",
        agent_name: Some("Build bot"),
        runtime: "cursor",
        project_dir: "/home/me/web",
        asks: Asks::None,
        origin: Origin::Agent,
        prompt: "Tests are green. Shall I continue?",
        shape: None,
        minute_of_day: 12 * 60,
        at: Timestamp::from_millis(1_000),
    }
}

fn name<'a>(policies: &'a [Policy], case: &Case<'_>) -> Option<&'a str> {
    first_fitting(policies, |_| true, case).map(|policy| policy.name.as_str())
}

#[test]
fn the_first_rule_that_fits_decides() {
    let rules = policies(
        "[[policy]]\nname = \"never here\"\nproject = \"*/secret*\"\nhold = true\n\
         [[policy]]\nname = \"go on\"\nagent = \"build*\"\ntext = \"(?i).*shall i continue.\"\nanswer = \"Yes.\"\n\
         [[policy]]\nname = \"rest\"\nanswer = \"?\"",
    );
    assert_eq!(name(&rules, &case()), Some("go on"));
    assert_eq!(
        name(
            &rules,
            &Case {
                project_dir: "/home/me/secrets",
                ..case()
            }
        ),
        Some("never here")
    );
    assert_eq!(
        name(
            &rules,
            &Case {
                prompt: "Which one?",
                ..case()
            }
        ),
        Some("rest")
    );
    let without = first_fitting(&rules, |policy| policy.name != "go on", &case());
    assert_eq!(without.map(|policy| policy.name.as_str()), Some("rest"));
}

/// A careful human's rules: dangerous-sounding questions are left to the human, all others are confirmed or answered.
fn careful() -> Vec<Policy> {
    policies(
        "[[policy]]\nname = \"hold\"\ntext = \"(?i)delete|drop|force\"\nhold = true\n\
         [[policy]]\nname = \"confirm\"\npayload = \"confirm\"\nconfirm = true\n\
         [[policy]]\nname = \"go on\"\ntext = \"(?is)shall i.*\"\nanswer = \"Yes.\"",
    )
}

#[test]
fn a_text_is_looked_for_in_everything_the_human_would_read() {
    let rules = careful();
    for (payload, fitting) in [
        (
            r#"{"type":"confirm","text":"Delete the production database?"}"#,
            "hold",
        ),
        (r#"{"type":"confirm","confirm_label":"Delete it"}"#, "hold"),
        (r#"{"type":"confirm","cancel_label":"\u0044rop it"}"#, "hold"),
        (r#"{"type":"confirm","text":"Tidy up?"}"#, "confirm"),
    ] {
        let payload = Payload::parse(payload).unwrap();
        let case = Case {
            prompt: "Please confirm",
            asks: Asks::Confirm,
            shape: Some(payload.shape()),
            ..case()
        };
        assert_eq!(name(&rules, &case), Some(fitting), "{payload:?}");
    }
    for payload in [
        r#"{"type":"choice","options":["Stop","Force-push"]}"#,
        r#"{"type":"form","fields":[{"label":"Table to drop"}]}"#,
        r#"{"type":"form","fields":[{"label":"What","options":["keep","delete"]}]}"#,
    ] {
        let payload = Payload::parse(payload).unwrap();
        let case = Case {
            shape: Some(payload.shape()),
            ..case()
        };
        assert_eq!(name(&rules, &case), Some("hold"), "{payload:?}");
    }
}

#[test]
fn what_a_button_says_by_itself_is_not_looked_at() {
    let rules = policies("[[policy]]\nname = \"x\"\ntext = \"Confirm|Cancel\"\nhold = true");
    let payload = Payload::parse(r#"{"type":"confirm"}"#).unwrap();
    let case = Case {
        shape: Some(payload.shape()),
        ..case()
    };
    assert_eq!(name(&rules, &case), None);
}

#[test]
fn a_text_is_found_however_late_it_comes() {
    let prompt = format!("{} Shall I delete it?", "-".repeat(270_000));
    let case = Case {
        prompt: &prompt,
        ..case()
    };
    assert_eq!(name(&careful(), &case), Some("hold"));
}

#[test]
fn a_question_too_long_to_be_looked_at_is_a_humans() {
    let rules = careful();
    let prompt = format!("Shall I?{}", "-".repeat(PATTERN_BYTES_MAX));
    let case = Case {
        prompt: &prompt,
        ..case()
    };
    assert_eq!(name(&rules, &case), Some("hold"));
    assert_eq!(name(&rules[2..], &case), None);
}

#[test]
fn a_rule_that_answers_agrees_to_the_whole_text_and_to_nothing_appended() {
    let rules =
        policies("[[policy]]\nname = \"go on\"\ntext = \"Shall I run the tests\\\\?\"\nanswer = \"Yes.\"");
    for (prompt, fits) in [
        ("Shall I run the tests?", true),
        ("Shall I run the tests?\n", true),
        ("Shall I run the tests? And push to production?", false),
        ("Shall I run the tests?\n\nAnd push?", false),
        ("Not only this. Shall I run the tests?", false),
    ] {
        assert_eq!(
            name(&rules, &Case { prompt, ..case() }).is_some(),
            fits,
            "{prompt}"
        );
    }
    let confirm =
        policies("[[policy]]\nname = \"x\"\ntext = \"Go on.\"\npayload = \"confirm\"\nconfirm = true");
    for (payload, fits) in [
        (r#"{"type":"confirm"}"#, true),
        (r#"{"type":"confirm","text":"and delete everything"}"#, false),
        (r#"{"type":"confirm","confirm_label":"Delete"}"#, false),
    ] {
        let payload = Payload::parse(payload).unwrap();
        let case = Case {
            prompt: "Go on?",
            asks: Asks::Confirm,
            shape: Some(payload.shape()),
            ..case()
        };
        assert_eq!(name(&confirm, &case).is_some(), fits, "{payload:?}");
    }
}

#[test]
fn an_approval_is_matched_by_its_command_and_not_by_the_tool_or_the_folder() {
    let rules = policies(
        "[[policy]]\nname = \"tests\"\norigin = \"approval\"\ntext = \"(cargo|npm) test( .*)?\"\nconfirm = true",
    );
    for (prompt, fits) in [
        ("May Bash run in /home/me/web?\n\n```\nnpm test\n```", true),
        (
            "The agent wants to run this command:\n\ncargo test --workspace",
            true,
        ),
        ("May Bash run in /srv/cargo test?\n\n```\nrm -rf /\n```", false),
        ("May Bash run?\n\n```\nnpm test\nrm -rf /\n```", false),
        ("May Bash run?\n\n````\nnpm test\n```\nrm\n````", false),
        ("May Bash run?\n\n```\nrm -rf /\n```\n\n```\nnpm test\n```", false),
        (
            "May Bash run?\n\n```\nnpm test\n```\n\n```\n{ \"sandbox\": false }\n```",
            false,
        ),
        ("npm test\n\nrm -rf /", false),
    ] {
        let case = Case {
            prompt,
            origin: Origin::Approval,
            ..case()
        };
        assert_eq!(name(&rules, &case).is_some(), fits, "{prompt}");
    }
    let all = policies(
        "[[policy]]\nname = \"x\"\norigin = \"approval\"\ntext = '''npm test\\n\\{ \"timeout\": \\d+ \\}'''\nconfirm = true",
    );
    let case = Case {
        prompt: "May `Bash` run in `/app`?\n\n```\nnpm test\n```\n\n```\n{ \"timeout\": 9 }\n```",
        origin: Origin::Approval,
        ..case()
    };
    assert_eq!(name(&all, &case), Some("x"), "all of the input is seen");
}

#[test]
fn each_condition_counts() {
    let rules = policies(
        "[[policy]]\nname = \"x\"\nruntime = [\"cursor\", \"codex\"]\npayload = \"choice\"\nhours = \"09:00-17:00\"\nchoose = \"A\"",
    );
    let fitting = Case {
        asks: Asks::Choice,
        ..case()
    };
    assert_eq!(name(&rules, &fitting), Some("x"));
    assert_eq!(name(&rules, &case()), None);
    assert_eq!(
        name(
            &rules,
            &Case {
                runtime: "kiro",
                ..fitting
            }
        ),
        None
    );
    assert_eq!(
        name(
            &rules,
            &Case {
                minute_of_day: 17 * 60,
                ..fitting
            }
        ),
        None
    );
}

#[test]
fn hooks_and_approvals_are_answered_only_by_rules_that_name_them() {
    let rules = policies("[[policy]]\nname = \"all\"\nanswer = \"Yes.\"");
    for (origin, fits) in [
        (Origin::Agent, true),
        (Origin::Adapter, true),
        (Origin::Hook, false),
        (Origin::Approval, false),
    ] {
        assert_eq!(
            name(&rules, &Case { origin, ..case() }).is_some(),
            fits,
            "{origin:?}"
        );
    }
    let rules = policies("[[policy]]\nname = \"approve\"\norigin = \"approval\"\nconfirm = true");
    assert_eq!(
        name(
            &rules,
            &Case {
                origin: Origin::Approval,
                ..case()
            }
        ),
        Some("approve")
    );
    assert_eq!(name(&rules, &case()), None);
}

#[test]
fn a_rule_that_makes_no_sense_is_refused_with_the_reason() {
    let refused = |text: &str| toml::from_str::<Policy>(text).unwrap_err().to_string();
    assert!(refused("name = \"x\"").contains("does nothing"));
    assert!(refused("name = \"x\"\nanswer = \"y\"\nhold = true").contains("both"));
    assert!(refused("name = \"x\"\nconfirm = true\nchoose = \"y\"").contains("more than one"));
    assert!(refused("name = \"x\"\nanswer = \"y\"\ntext = \"(\"").contains("pattern"));
    assert!(refused("name = \"x\"\nanser = \"y\"").contains("anser"));
    assert!(refused("name = \"a/b\"\nhold = true").contains("name"));
    assert!(
        refused("name = \"x\"\nanswer = \"y\"\ntext = \"a\"\nsays = \"a\"").contains("both text and says")
    );
}

#[test]
fn words_are_taken_as_they_are_but_for_the_star() {
    let rules = policies("[[policy]]\nname = \"x\"\nsays = 'Tests are green. Shall I *?'\nanswer = \"go\"");
    assert_eq!(name(&rules, &case()), Some("x"));
    for prompt in [
        "Tests are green. Shall I deploy?",
        "tests are green. shall I first\nwait?",
    ] {
        assert_eq!(name(&rules, &Case { prompt, ..case() }), Some("x"), "{prompt}");
    }
    for prompt in ["Testsxare green. Shall I go?", "No. Tests are green. Shall I go?"] {
        assert_eq!(name(&rules, &Case { prompt, ..case() }), None, "{prompt}");
    }
    let literal = policies("[[policy]]\nname = \"x\"\nsays = '\\*\\*Now\\*\\* a\\\\b?'\nanswer = \"go\"");
    assert_eq!(
        name(
            &literal,
            &Case {
                prompt: r"**Now** a\b?",
                ..case()
            }
        ),
        Some("x")
    );
    assert_eq!(
        name(
            &literal,
            &Case {
                prompt: r"--Now-- a\b?",
                ..case()
            }
        ),
        None
    );
    assert_eq!(literal[0].describe(), r#"text "\*\*Now\*\* a\\b?": answer "go""#);
}

#[test]
fn what_a_question_says_is_escaped_into_a_rule_that_fits_it_and_nothing_else() {
    let prompt = r"Drop `*.log` in C:\tmp?";
    let asked = Case { prompt, ..case() };
    let rule = format!(
        "[[policy]]\nname = \"x\"\nsays = '{}'\nanswer = \"go\"",
        asked.says()
    );
    let rules = policies(&rule);
    assert_eq!(name(&rules, &asked), Some("x"));
    assert_eq!(
        name(
            &rules,
            &Case {
                prompt: r"Drop `all.log` in C:\tmp?",
                ..case()
            }
        ),
        None
    );
}

#[test]
fn a_rule_ends() {
    let rules = policies("[[policy]]\nname = \"x\"\nuntil = \"1970-01-01T00:00:01Z\"\nanswer = \"go\"");
    assert_eq!(name(&rules, &case()), None);
    assert_eq!(
        name(
            &rules,
            &Case {
                at: Timestamp::from_millis(999),
                ..case()
            }
        ),
        Some("x")
    );
}

#[test]
fn a_rule_says_in_words_what_it_does() {
    let rules = policies(
        "[[policy]]\nname = \"x\"\nagent = \"b*\"\nhours = \"09:00-17:00\"\nchoose = \"A\"\nanswer = \"go\"",
    );
    assert_eq!(
        rules[0].describe(),
        "agent b*, at 09:00-17:00: answer \"A\" and \"go\""
    );
}
