//! Finds the agent that a hint describes, or reports that none is certain.
//!
//! A wrong identity is worse than none: with it one agent reads another's answers. So a word weighs more the fewer
//! agents it fits, common words weigh nothing, and the best agent is named only if it matches enough of the hint and
//! clearly more of it than the next one.

use std::collections::{BTreeSet, HashMap};

use protocol_spec::id::AgentId;

use super::common_words::{is_stop_pair, is_stop_word, is_weak_word};
use super::{QUERY_WORDS_MAX, is_unspaced};
use crate::StoreError;

/// With fewer known agents, words are weighed as if there were this many: no word is common among three agents.
const AGENTS_MIN: f64 = 50.0;

/// The weight of a word found in another form of the same stem.
const STEM: f64 = 0.85;
/// The weight of a word found as the beginning of another.
const PREFIX: f64 = 0.6;
/// The weight of a word found in an answer and not in its question.
const TOLD: f64 = 0.95;
/// The weight of a word found outside of the best matching question.
const ELSEWHERE: f64 = 0.5;
/// The weights of a word that names an agent, by its name or project, or by a part of its id.
const NAME: f64 = 1.6;
const PART_OF_ID: f64 = 2.0;
/// The weight of a word in the path of its project, above the last part.
const PARENT: f64 = 0.6;
const RUNTIME: f64 = 0.8;
/// The weight of a pair of characters: a word of three has two.
const PAIR: f64 = 0.6;
const WEAK: f64 = 0.5;
/// The factors for an agent that works in the same directory, and for the one seen last.
const SAME_PROJECT: f64 = 1.3;
const SEEN_LAST: f64 = 1.01;

/// The shortest stem; a word of this length has no endings.
const STEM_BYTES_MIN: usize = 3;

/// The lowest score that counts.
const SCORE_MIN: f64 = 1.5;
/// The share of the hint that the best agent has to match …
const SHARE_MIN: f64 = 0.34;
/// … unless its score is at least this, and this many times that of the next agent.
const STRONG_MIN: f64 = 5.0;
const STRONG_RATIO: f64 = 2.5;
/// The factor by which the best agent has to exceed the next.
const CLEAR_RATIO: f64 = 1.25;
/// Agents below this share of the best are not listed.
const NAMED_SHARE_MIN: f64 = 0.25;

/// An agent that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The agent.
    pub agent: AgentId,
    /// The place of the words: its questions, its answers, or its facts.
    pub why: Vec<String>,
    /// Higher is better.
    pub score: f64,
}

/// One word of a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A word between spaces, in lower case.
    Word(String),
    /// Two neighbouring characters of a script without spaces; one, where it stands alone.
    Pair(String),
}

/// The known facts of an agent, apart from its conversation.
#[derive(Debug, Clone)]
pub struct AgentFacts {
    /// Its id.
    pub id: AgentId,
    /// The runtime it lives in.
    pub runtime: String,
    /// The directory it works in.
    pub project: String,
    /// The name a human gave it, or nothing.
    pub name: String,
}

/// The form in which a word is searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The word itself; characters without spaces are a phrase.
    Whole,
    /// Other words of its stem; what is found may also have the word itself.
    Stem,
    /// The beginning of a word.
    Beginning,
}

/// A question or an answer in which a word stands.
#[derive(Debug, Clone)]
pub struct Occurrence {
    /// The number of the question.
    pub seq: i64,
    /// Whether it is the answer to it.
    pub is_told: bool,
    /// The agent that asked.
    pub agent: String,
}

/// The index of a store, as a recall reads it.
pub trait WordIndex {
    /// Why it cannot be read.
    type Error: From<StoreError>;

    /// Returns all agents, the last seen first; of those seen at once, the one that asked last.
    fn agents(&self) -> Result<Vec<AgentFacts>, Self::Error>;

    /// Returns the newest occurrences of a word in lower case, newest first, about 250 at most.
    fn occurrences(&self, word: &str, form: Form) -> Result<Vec<Occurrence>, Self::Error>;

    /// Returns the first 200 characters of a prompt.
    fn prompt_beginning(&self, seq: i64) -> Result<String, Self::Error>;
}

/// The score of one agent.
#[derive(Default)]
struct Fit {
    /// The score of each question with its answer, and whether the question itself contributes.
    questions: HashMap<i64, (f64, bool)>,
    /// The score of everything in its conversation.
    said: f64,
    /// The score of its facts, and the fact that matched.
    facts: f64,
    which: Vec<String>,
}

/// Finds the matching agents, best first, and says whether the first is certain.
pub fn recall<I: WordIndex>(
    index: &I,
    hints: &str,
    project_dir: Option<&str>,
    is_wanted: &dyn Fn(&AgentId) -> Result<bool, StoreError>,
) -> Result<(Vec<Recalled>, bool), I::Error> {
    let mut agents = Vec::new();
    for agent in index.agents()? {
        if is_wanted(&agent.id)? {
            agents.push(agent);
        }
    }
    if let Some(named) = agents.iter().find(|agent| names(hints, agent.id.as_str())) {
        let why = vec![format!("its id is {}", named.id)];
        let found = Recalled {
            agent: named.id.clone(),
            why,
            score: f64::MAX,
        };
        return Ok((vec![found], true));
    }
    let tokens = informative(hints);
    let (fits, total) = fits(index, &agents, &tokens)?;
    let mut found = Vec::new();
    for (rank, (agent, fit)) in agents.iter().zip(fits).enumerate() {
        if let Some(recalled) = judged(index, agent, fit, project_dir, rank == 0)? {
            found.push(recalled);
        }
    }
    // Stable: of agents with the same score, the one seen last comes first.
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let is_clear = is_clear(&found, total);
    let least = found.first().map_or(0.0, |best| best.score * NAMED_SHARE_MIN);
    found.retain(|recalled| recalled.score >= least);
    Ok((found, is_clear))
}

/// Says whether the best agent matches enough of the hint, and clearly more than the next.
fn is_clear(found: &[Recalled], total: f64) -> bool {
    let Some(best) = found.first().map(|best| best.score) else {
        return false;
    };
    let next = found.get(1).map_or(0.0, |next| next.score);
    let is_enough = best >= SHARE_MIN * total || (best >= STRONG_MIN && best >= STRONG_RATIO * next);
    best >= SCORE_MIN && is_enough && best >= CLEAR_RATIO * next
}

/// Says whether a text names an agent by its whole id.
fn names(text: &str, id: &str) -> bool {
    let text = text.to_lowercase();
    let is_inside =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '-');
    text.match_indices(id).any(|(start, _)| {
        !is_inside(text[..start].chars().next_back()) && !is_inside(text[start + id.len()..].chars().next())
    })
}

/// Weighs every token against every agent; returns also the total weight of the hint.
fn fits<I: WordIndex>(
    index: &I,
    agents: &[AgentFacts],
    tokens: &[Token],
) -> Result<(Vec<Fit>, f64), I::Error> {
    let numbers: HashMap<&str, usize> = agents
        .iter()
        .enumerate()
        .map(|(place, agent)| (agent.id.as_str(), place))
        .collect();
    let mut fits: Vec<Fit> = agents.iter().map(|_| Fit::default()).collect();
    let many = (agents.len() as f64).max(AGENTS_MIN);
    let mut total = 0.0;
    for token in tokens {
        // By agent: by question, the score of the token and whether it was found in the question.
        let mut said: HashMap<usize, HashMap<i64, (f64, bool)>> = HashMap::new();
        for (occurrence, strength) in occurrences(index, token)? {
            let Occurrence { seq, is_told, agent } = occurrence;
            let Some(&agent) = numbers.get(agent.as_str()) else {
                continue;
            };
            let strength = if is_told { strength * TOLD } else { strength };
            let known = said.entry(agent).or_default().entry(seq).or_insert((0.0, false));
            *known = (known.0.max(strength), known.1 || !is_told);
        }
        let facts: Vec<Option<(f64, String)>> = agents.iter().map(|agent| agent.fact(token)).collect();
        let fitting = (0..agents.len()).filter(|place| said.contains_key(place) || facts[*place].is_some());
        let rarity = match fitting.count() {
            0 => many,
            count => many / count as f64,
        };
        let weight = token.weight() * (1.0 + rarity).ln();
        total += weight;
        for (fit, fact) in fits.iter_mut().zip(facts) {
            if let Some((strength, which)) = fact {
                fit.facts += weight * strength;
                if !fit.which.contains(&which) {
                    fit.which.push(which);
                }
            }
        }
        for (agent, questions) in said {
            let fit = &mut fits[agent];
            fit.said += weight * questions.values().map(|question| question.0).fold(0.0, f64::max);
            for (seq, (strength, was_asked)) in questions {
                let question = fit.questions.entry(seq).or_insert((0.0, false));
                *question = (question.0 + weight * strength, question.1 || was_asked);
            }
        }
    }
    Ok((fits, total))
}

/// Turns a fit into a score with its reasons; nothing where nothing matches.
fn judged<I: WordIndex>(
    index: &I,
    agent: &AgentFacts,
    fit: Fit,
    project_dir: Option<&str>,
    is_last_seen: bool,
) -> Result<Option<Recalled>, I::Error> {
    let best = fit
        .questions
        .iter()
        .map(|(seq, (score, was_asked))| (*score, *seq, *was_asked))
        .max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut why = Vec::new();
    let mut score = fit.facts;
    if let Some((best, seq, was_asked)) = best {
        score += best + ELSEWHERE * (fit.said - best).max(0.0);
        let prompt = index.prompt_beginning(seq)?;
        let asked = cueme_rules::beginning_of(&prompt);
        why.push(if was_asked {
            format!("asked \"{asked}\"")
        } else {
            format!("was told, when it asked \"{asked}\"")
        });
    }
    if score <= 0.0 {
        return Ok(None);
    }
    why.extend(fit.which);
    // Where it works and when it was last seen make one agent likelier than another, but are no reason alone.
    if project_dir == Some(agent.project.as_str()) {
        score *= SAME_PROJECT;
        why.push("works in the same project directory".into());
    }
    if is_last_seen {
        score *= SEEN_LAST;
    }
    Ok(Some(Recalled {
        agent: agent.id.clone(),
        why,
        score,
    }))
}

/// Returns the newest occurrences of a token, as it is or in another form, each with its weight.
fn occurrences<I: WordIndex>(index: &I, token: &Token) -> Result<Vec<(Occurrence, f64)>, I::Error> {
    let find = |word: &str, form, strength| -> Result<Vec<(Occurrence, f64)>, I::Error> {
        let found = index.occurrences(word, form)?;
        Ok(found
            .into_iter()
            .map(|occurrence| (occurrence, strength))
            .collect())
    };
    let word = match token {
        Token::Pair(pair) => return find(pair, Form::Whole, 1.0),
        Token::Word(word) => word,
    };
    let mut found = find(word, Form::Whole, 1.0)?;
    if has_forms(word) {
        found.extend(find(word, Form::Stem, STEM)?);
    }
    if found.is_empty() && word.chars().count() > 3 {
        found = find(word, Form::Beginning, PREFIX)?;
    }
    Ok(found)
}

/// Says whether a word is one that has endings.
fn has_forms(word: &str) -> bool {
    word.len() > STEM_BYTES_MIN && word.bytes().all(|letter| letter.is_ascii_alphabetic())
}

/// Returns the words among these that are other forms of a word.
pub fn other_forms_of<'a>(word: &str, words: &'a BTreeSet<String>) -> Vec<&'a str> {
    let stem = stem(word);
    let is_form = |form: &&str| *form != word && self::stem(form) == stem;
    words.iter().map(String::as_str).filter(is_form).collect()
}

impl AgentFacts {
    /// Returns how well a token fits what the agent is, and which fact says so.
    fn fact(&self, token: &Token) -> Option<(f64, String)> {
        let project = self.project.trim_end_matches('/');
        let (parents, last) = project.rsplit_once('/').unwrap_or(("", project));
        let is_in = |text: &str| tokens(text).contains(token);
        let facts = [
            (PART_OF_ID, is_in(self.id.as_str()), "id", self.id.as_str()),
            (NAME, is_in(&self.name), "name", &self.name),
            (NAME, is_in(last), "project", &self.project),
            (
                RUNTIME,
                is_in(&self.runtime.replace('_', " ")),
                "runtime",
                &self.runtime,
            ),
            (PARENT, is_in(parents), "project", &self.project),
        ];
        facts
            .into_iter()
            .find(|(_, fits, ..)| *fits)
            .map(|(strength, _, what, value)| (strength, format!("its {what} is {value}")))
    }
}

impl Token {
    fn weight(&self) -> f64 {
        match self {
            Self::Pair(_) => PAIR,
            Self::Word(word) if is_weak_word(word) => WEAK,
            Self::Word(_) => 1.0,
        }
    }

    fn is_common(&self) -> bool {
        match self {
            Self::Word(word) => is_stop_word(word) || word.chars().nth(1).is_none(),
            Self::Pair(pair) => is_stop_pair(pair),
        }
    }
}

/// Returns the tokens that say something, each once.
fn informative(hints: &str) -> Vec<Token> {
    let mut informative: Vec<Token> = Vec::new();
    for token in tokens(hints) {
        if !token.is_common() && !informative.contains(&token) {
            informative.push(token);
        }
    }
    informative.truncate(QUERY_WORDS_MAX);
    informative
}

/// Splits a text into words, and runs of characters without spaces into pairs.
fn tokens(text: &str) -> Vec<Token> {
    let text = text.to_lowercase();
    let letters: Vec<char> = text.chars().collect();
    let kind = |letter: &char| (is_unspaced(*letter), letter.is_alphanumeric());
    let mut tokens = Vec::new();
    for run in letters.chunk_by(|a, b| kind(a) == kind(b)) {
        match (is_unspaced(run[0]), run[0].is_alphanumeric()) {
            (true, _) if run.len() == 1 => tokens.push(Token::Pair(run.iter().collect())),
            (true, _) => tokens.extend(run.windows(2).map(|pair| Token::Pair(pair.iter().collect()))),
            (false, true) => tokens.push(Token::Word(run.iter().collect())),
            (false, false) => {}
        }
    }
    tokens
}

/// Strips an English ending, so that `migrations` and `migrating` meet.
///
/// Both what is remembered and what is indexed go through it, so it only has to be consistent, not right.
pub fn stem(word: &str) -> String {
    const ENDINGS: &[(&str, &str)] = &[
        ("ational", "ate"),
        ("ization", "ize"),
        ("isation", "ise"),
        ("ations", "at"),
        ("ation", "at"),
        ("ators", "at"),
        ("ator", "at"),
        ("ating", "at"),
        ("ated", "at"),
        ("ates", "at"),
        ("ate", "at"),
        ("ments", "ment"),
        ("ings", ""),
        ("ing", ""),
        ("ies", "y"),
        ("ied", "y"),
        ("ers", "er"),
        ("ed", ""),
        ("es", ""),
        ("ly", ""),
        ("s", ""),
        ("e", ""),
    ];
    if !has_forms(word) {
        return word.to_owned();
    }
    let stripped = ENDINGS.iter().find_map(|(ending, instead)| {
        let stem = word.strip_suffix(ending)?;
        let is_long = stem.len() + instead.len() >= STEM_BYTES_MIN;
        (is_long && !(*ending == "s" && stem.ends_with('s'))).then(|| format!("{stem}{instead}"))
    });
    let mut stem = stripped.unwrap_or_else(|| word.to_owned());
    let mut last = stem.bytes().rev();
    let is_doubled =
        matches!((last.next(), last.next()), (Some(a), Some(b)) if a == b && !b"lsz".contains(&a));
    if stem.len() > STEM_BYTES_MIN && (is_doubled || stem.ends_with('e')) {
        stem.pop();
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["migration", "migrations", "migrate", "migrating", "migrated"][..],
            &["query", "queries"],
            &["stop", "stopped", "stopping", "stops"],
            &["cache", "caching", "cached", "caches"],
            &["test", "tests", "testing"],
        ] {
            let stems: Vec<String> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|other| *other == stems[0]), "{stems:?}");
        }
        assert_ne!(stem("port"), stem("portal"));
        assert_eq!(stem("class"), "class");
    }

    #[test]
    fn chinese_is_remembered_in_pairs_and_common_words_are_not() {
        let words = informative("请问 the 数据库 migration of a shop_v2");
        let pair = |text: &str| Token::Pair(text.into());
        let word = |text: &str| Token::Word(text.into());
        assert_eq!(
            words,
            [
                pair("数据"),
                pair("据库"),
                word("migration"),
                word("shop"),
                word("v2")
            ]
        );
    }

    #[test]
    fn an_id_is_named_whole_or_not_at_all() {
        assert!(names("I am Bako-Nefi, I think", "bako-nefi"));
        assert!(!names("bako-nefis", "bako-nefi") && !names("my-bako-nefi", "bako-nefi"));
    }
}
