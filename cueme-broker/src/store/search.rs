//! Full-text search in what was asked and told; how texts become words is in [`words`](super::words).
//!
//! Indexing follows behind the commits: the engine does it when it has nothing else to do, and before a search.

use std::collections::{BTreeMap, HashMap};

use protocol_spec::id::AgentId;
use rusqlite::{Connection, OptionalExtension, params};

use super::load::parse;
use super::words::{QUERY_WORDS_MAX, beginning, query, segment, whole, words};
use super::{Store, StoreError};

/// How many rows are indexed in one transaction …
pub(super) const INDEX_BATCH: u32 = 200;
/// … and after how many bytes it ends early, because whoever asks or answers waits for it.
const INDEX_BATCH_BYTES: usize = 256 * 1024;
/// How much of a text is indexed, in characters; of a payload as well.
const INDEXED_CHARS_MAX: u32 = 100_000;
/// How many of the newest places of a word are ranked.
const RANKED_HITS_MAX: u32 = 250;

/// An agent that was found, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    /// The agent.
    pub agent: AgentId,
    /// Where the words were found: what it asked, what it was told, or what it is.
    pub why: Vec<String>,
    /// Higher is better.
    pub score: f64,
}

impl Store {
    /// Indexes some of what has been written since; returns whether there may be more.
    pub fn index_some(&self) -> Result<bool, StoreError> {
        let questions = self.index_rows(
            "questions_indexed",
            "SELECT seq, 2 * seq, substr(prompt, 1, ?3) || ' ' || substr(ifnull(payload, ''), 1, ?3) FROM questions
             WHERE seq > ?1 ORDER BY seq LIMIT ?2",
        )?;
        let decisions = self.index_rows(
            "decisions_indexed",
            "SELECT id, 2 * seq + 1, substr(ifnull(redacted_text, text), 1, ?3) FROM decisions
             WHERE id > ?1 ORDER BY id LIMIT ?2",
        )?;
        Ok(questions || decisions)
    }

    /// Indexes a question that stands before the mark, where [`index_some`](Self::index_some) does not look.
    pub(super) fn index_question(
        &self,
        seq: i64,
        prompt: &str,
        payload: Option<&str>,
    ) -> Result<(), StoreError> {
        let chars = INDEXED_CHARS_MAX as usize;
        let beginning = |text: &str| text.chars().take(chars).collect::<String>();
        let body = format!("{} {}", beginning(prompt), beginning(payload.unwrap_or_default()));
        self.run(
            "INSERT OR REPLACE INTO search (rowid, body) VALUES (?1, ?2)",
            params![2 * seq, segment(&body)],
        )
    }

    fn index_rows(&self, mark: &str, sql: &str) -> Result<bool, StoreError> {
        let from: i64 = self
            .connection
            .prepare_cached("SELECT value FROM marks WHERE name = ?1")?
            .query_row(params![mark], |row| row.get(0))?;
        let mut last = from;
        let (mut count, mut bytes) = (0, 0);
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut insert = self
            .connection
            .prepare_cached("INSERT OR REPLACE INTO search (rowid, body) VALUES (?1, ?2)")?;
        let mut rows = statement.query(params![from, INDEX_BATCH, INDEXED_CHARS_MAX])?;
        while let Some(row) = rows.next()? {
            last = row.get(0)?;
            count += 1;
            let body: String = row.get(2)?;
            insert.execute(params![row.get::<_, i64>(1)?, segment(&body)])?;
            bytes += body.len();
            if bytes >= INDEX_BATCH_BYTES {
                break;
            }
        }
        if count > 0 {
            self.run("UPDATE marks SET value = ?2 WHERE name = ?1", params![mark, last])?;
        }
        Ok(count == INDEX_BATCH || bytes >= INDEX_BATCH_BYTES)
    }
}

/// Finds the sequence numbers of questions in which all words occur, newest first.
pub(super) fn find_all(
    connection: &Connection,
    text: &str,
    agent: Option<&AgentId>,
    before: Option<i64>,
    limit: u32,
) -> Result<Vec<i64>, StoreError> {
    let Some(query) = query(connection, text)? else {
        return Ok(Vec::new());
    };
    // A question and its answer are two rows; together at most twice as many rows as questions are wanted.
    let mut statement = connection.prepare_cached(
        "SELECT search.rowid >> 1 FROM search JOIN cues ON cues.seq = search.rowid >> 1
         WHERE search MATCH ?1 AND search.rowid < ?2 AND (?3 IS NULL OR cues.agent_id = ?3)
         ORDER BY search.rowid DESC LIMIT ?4",
    )?;
    let before = before.map_or(i64::MAX, |seq| seq.saturating_mul(2));
    let mut rows = statement.query(params![
        query,
        before,
        agent.map(AgentId::as_str),
        limit.saturating_mul(2)
    ])?;
    let mut found: Vec<i64> = Vec::new();
    while let Some(row) = rows.next()? {
        let seq = row.get(0)?;
        if found.last() != Some(&seq) {
            found.push(seq);
        }
    }
    found.truncate(limit as usize);
    Ok(found)
}

/// Returns the text around the first of the words, on one line.
pub(super) fn snippet(text: &str, wanted: &str) -> String {
    const BEFORE_CHARS: usize = 40;
    const SNIPPET_CHARS: usize = 160;
    let lower = text.to_lowercase();
    let place = words(wanted)
        .filter_map(|word| lower.find(&word.to_lowercase()))
        .min()
        .unwrap_or(0);
    // Lowercasing may change lengths; counting characters keeps the cut inside the text all the same.
    let start = lower[..place].chars().count().saturating_sub(BEFORE_CHARS);
    let mut cut: String = text
        .chars()
        .skip(start)
        .take(SNIPPET_CHARS)
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    if start > 0 {
        cut.insert(0, '…');
    }
    if text.chars().nth(start + SNIPPET_CHARS).is_some() {
        cut.push('…');
    }
    cut
}

/// Finds the agents that fit what is remembered of them, best first.
pub(super) fn recall(
    connection: &Connection,
    hints: &str,
    project_dir: Option<&str>,
    limit: usize,
) -> Result<Vec<Recalled>, StoreError> {
    let mut found: Vec<Recalled> = Vec::new();
    words_said(connection, hints, &mut found)?;
    what_they_are(connection, hints, project_dir, &mut found)?;
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.truncate(limit);
    Ok(found)
}

/// Credits agents for the words in what they asked and were told.
fn words_said(connection: &Connection, hints: &str, found: &mut Vec<Recalled>) -> Result<(), StoreError> {
    let mut prompt =
        connection.prepare_cached("SELECT substr(prompt, 1, 200) FROM questions WHERE seq = ?1")?;
    for ((agent, is_answer), (score, seq)) in best_rows(connection, score_rows(connection, hints)?)? {
        let prompt: String = prompt.query_row(params![seq], |row| row.get(0))?;
        let beginning = crate::machine::beginning_of(&prompt);
        let why = if is_answer {
            format!("was told, when it asked \"{beginning}\"")
        } else {
            format!("asked \"{beginning}\"")
        };
        credit(found, agent, score, why);
    }
    Ok(())
}

/// Scores the newest rows in which words stand.
///
/// SQLite's own rank looks at everything that was ever said to find out how rare a word is. Here the newest places of each
/// word say so: the further apart they lie, the rarer it is.
fn score_rows(connection: &Connection, hints: &str) -> Result<HashMap<i64, f64>, StoreError> {
    let mut scores = HashMap::new();
    for word in words(hints).take(QUERY_WORDS_MAX) {
        let rows = newest_places(connection, word)?;
        let (Some(newest), Some(oldest)) = (rows.first(), rows.last()) else {
            continue;
        };
        let apart = (newest - oldest) as f64 / rows.len() as f64;
        for row in rows {
            *scores.entry(row).or_default() += 1.0 + (1.0 + apart).ln();
        }
    }
    Ok(scores)
}

/// The score and the question of a row, for what each agent asked, and for what it was told.
type BestRows = BTreeMap<(AgentId, bool), (f64, i64)>;

/// Returns the best row of each.
fn best_rows(connection: &Connection, scores: HashMap<i64, f64>) -> Result<BestRows, StoreError> {
    let mut whose = connection.prepare_cached("SELECT agent_id FROM cues WHERE seq = ?1")?;
    let mut best = BestRows::new();
    for (row, score) in scores {
        let (seq, is_answer) = (row >> 1, row & 1 == 1);
        let agent: Option<String> = whose.query_row(params![seq], |row| row.get(0)).optional()?;
        let Some(agent) = agent else { continue };
        let known = best.entry((parse(agent)?, is_answer)).or_insert((score, seq));
        if (score, seq) > *known {
            *known = (score, seq);
        }
    }
    Ok(best)
}

/// Returns the newest rows in which a word stands; failing that, those in which a longer one begins with it.
fn newest_places(connection: &Connection, word: &str) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT rowid FROM search WHERE search MATCH ?1 ORDER BY rowid DESC LIMIT ?2")?;
    let mut places = |phrase: &str| -> rusqlite::Result<Vec<i64>> {
        statement
            .query_map(params![phrase, RANKED_HITS_MAX], |row| row.get(0))?
            .collect()
    };
    let found = places(&whole(word))?;
    if found.is_empty() {
        return Ok(places(&beginning(connection, word)?)?);
    }
    Ok(found)
}

fn what_they_are(
    connection: &Connection,
    hints: &str,
    project_dir: Option<&str>,
    found: &mut Vec<Recalled>,
) -> Result<(), StoreError> {
    let words: Vec<String> = words(hints).map(str::to_lowercase).collect();
    let mut statement = connection.prepare_cached(
        "SELECT agent_id, runtime, project_dir, ifnull(name, ''), seen_at FROM agents ORDER BY seen_at DESC",
    )?;
    let mut rows = statement.query([])?;
    let mut place = 0.0_f64;
    while let Some(row) = rows.next()? {
        let agent: AgentId = parse(row.get(0)?)?;
        let project: String = row.get(2)?;
        let facts = [
            ("id", agent.to_string()),
            ("runtime", row.get(1)?),
            ("project", project.clone()),
            ("name", row.get(3)?),
        ];
        for (what, value) in &facts {
            let value = value.to_lowercase();
            let hits = words.iter().filter(|word| value.contains(word.as_str())).count();
            if hits > 0 {
                credit(
                    found,
                    agent.clone(),
                    2.0 * hits as f64,
                    format!("its {what} is {value}"),
                );
            }
        }
        // Where it works and when it was last seen make one agent likelier than another, but are no reason alone.
        if let Some(known) = found.iter_mut().find(|known| known.agent == agent) {
            if project_dir == Some(project.as_str()) {
                known.score = known.score * 1.5 + 3.0;
                known.why.push("works in the same project directory".into());
            }
            known.score += 1.0 / (1.0 + place);
        }
        place += 1.0;
    }
    Ok(())
}

fn credit(found: &mut Vec<Recalled>, agent: AgentId, score: f64, why: String) {
    match found.iter_mut().find(|known| known.agent == agent) {
        Some(known) => {
            known.score += score;
            known.why.push(why);
        }
        None => found.push(Recalled {
            agent,
            why: vec![why],
            score,
        }),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_shows_the_first_of_the_words_and_says_where_it_was_cut() {
        assert_eq!(snippet("short\ttext", "TEXT"), "short text");
        assert_eq!(snippet("nothing of it", "kettle"), "nothing of it");
        let far = format!("{}kettle{}", "a".repeat(41), "b".repeat(114));
        assert_eq!(snippet(&far, "kettle"), format!("…{}", &far[1..]));
        let longer = format!("{far}bb");
        assert_eq!(snippet(&longer, "b kettle"), format!("…{}…", &longer[1..161]));
        let near = format!("{}kettle", "a".repeat(40));
        assert_eq!(snippet(&near, "kettle"), near);
    }

    #[test]
    fn rare_words_weigh_more_and_several_weigh_together() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE search USING fts5 (body);
                 INSERT INTO search (rowid, body) VALUES (2, 'rare common'), (4, 'common'), (12, 'rare')",
            )
            .unwrap();
        let scores = score_rows(&connection, "rare, common").unwrap();
        // Two places each: ten apart, and two apart.
        let (rare, common) = (1.0 + 6.0_f64.ln(), 1.0 + 2.0_f64.ln());
        assert_eq!(scores[&2], rare + common);
        assert_eq!(scores[&4], common);
        assert_eq!(scores[&12], rare);
    }

    #[test]
    fn a_whole_word_is_preferred_to_the_beginning_of_one() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE VIRTUAL TABLE search USING fts5 (body);
                 INSERT INTO search (rowid, body) VALUES (1, 'rare'), (2, 'rarely'), (3, 'rare 数  据')",
            )
            .unwrap();
        let places = |word| newest_places(&connection, word).unwrap();
        assert_eq!(places("rare"), [3, 1]);
        assert_eq!(places("rarel"), [2]);
        assert_eq!(places("数据"), [3]);
        assert!(places("据数").is_empty());
    }

    #[test]
    fn what_an_agent_is_adds_to_what_it_said_and_the_last_seen_come_first() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch(
                "CREATE TABLE agents (agent_id, runtime, project_dir, name, seen_at);
                 INSERT INTO agents VALUES ('tavilron', 'cursor', '/work/kettle', 'Kettle mender', 3),
                     ('belmora', 'codex', '/work/other', NULL, 2), ('sandrik', 'codex', '/work/other', NULL, 1)",
            )
            .unwrap();
        let id = |agent: &str| -> AgentId { agent.parse().unwrap() };
        let mut found = Vec::new();
        credit(&mut found, id("belmora"), 4.0, "asked".into());
        credit(&mut found, id("belmora"), 2.0, "was told".into());
        credit(&mut found, id("sandrik"), 2.0, "asked".into());
        what_they_are(&connection, "KETTLE work mender", Some("/work/other"), &mut found).unwrap();
        let scores: Vec<(&str, f64)> = found
            .iter()
            .map(|recalled| (recalled.agent.as_str(), recalled.score))
            .collect();
        // One word in each project is two points; the same project is half as much again and three.
        assert_eq!(
            scores,
            [
                ("belmora", (6.0 + 2.0) * 1.5 + 3.0 + 1.0 / 2.0),
                ("sandrik", (2.0 + 2.0) * 1.5 + 3.0 + 1.0 / 3.0),
                ("tavilron", 4.0 + 4.0 + 1.0),
            ]
        );
        assert_eq!(
            found[2].why,
            ["its project is /work/kettle", "its name is kettle mender"]
        );
    }
}
