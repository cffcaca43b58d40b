//! The log: pages of it for people, the whole of a run for the daemon.

use std::collections::BTreeMap;

use rusqlite::Row;
use rusqlite::types::Value;
use tidegate_core::home::{Home, HomeEvent};
use tidegate_core::ids::{FeatureId, RunId};
use tidegate_core::run::{Event, Run};
use tidegate_core::time::WallMs;

use super::{View, corrupt};
use crate::chain::{self, Entry, GENESIS, HOME, Hash};
use crate::codec;
use crate::error::{Corrupt, StoreError};

/// Which events to read. `None` and an empty list mean any.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventFilter {
    /// Those of this run.
    pub run: Option<RunId>,
    /// Those of this feature of the run.
    pub feature: Option<FeatureId>,
    /// Those of these kinds.
    pub kinds: Vec<String>,
    /// Those recorded at this moment of the wall clock or later.
    pub since: Option<WallMs>,
    /// Those recorded before this moment of the wall clock.
    pub until: Option<WallMs>,
}

/// One entry of the log, as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its number in the log; rises, may leave numbers out.
    pub seq: u64,
    /// Its run; `None` for a fact of the home.
    pub run: Option<RunId>,
    /// Its feature.
    pub feature: Option<FeatureId>,
    /// Its number within its subject, from 1, without gaps.
    pub n: u64,
    /// Its kind.
    pub kind: String,
    /// When it was recorded, on the wall clock.
    pub at: WallMs,
    /// The epoch of the daemon that recorded it.
    pub epoch: u64,
    /// The rest of it: a JSON object.
    pub body: String,
}

/// An entry with all that its chain needs.
#[derive(Debug, Clone)]
pub(crate) struct Link {
    pub(crate) seq: u64,
    pub(crate) subject: String,
    pub(crate) n: u64,
    pub(crate) kind: String,
    pub(crate) at: u64,
    pub(crate) generation: u64,
    pub(crate) epoch: u64,
    pub(crate) body: String,
    pub(crate) hash: Hash,
}

/// The columns, in the order in which [`read`] takes them.
const COLUMNS: &str = "seq, subject, n, kind, at, generation, epoch, body, hash";

fn read(row: &Row<'_>) -> Result<Link, rusqlite::Error> {
    Ok(Link {
        seq: row.get(0)?,
        subject: row.get(1)?,
        n: row.get(2)?,
        kind: row.get(3)?,
        at: row.get(4)?,
        generation: row.get(5)?,
        epoch: row.get(6)?,
        body: row.get(7)?,
        hash: row.get(8)?,
    })
}

/// The statement of a page.
fn page_statement(after: u64, filter: &EventFilter, limit: u32) -> (String, Vec<Value>) {
    let after = Value::Integer(i64::try_from(after).unwrap_or(i64::MAX));
    let (condition, mut values) = match (&filter.run, &filter.feature) {
        (Some(run), Some(feature)) => (
            "subject = ? AND seq > ?",
            vec![Value::Text(chain::feature_subject(run, feature)), after],
        ),
        (Some(run), None) => ("run = ? AND seq > ?", vec![Value::Text(run.to_string()), after]),
        (None, Some(_) | None) => ("seq > ?", vec![after]),
    };
    // The number within a subject rises with the number in the log, and has the index.
    let order = if filter.run.is_some() && filter.feature.is_some() { "n" } else { "seq" };
    let mut sql = format!("SELECT {COLUMNS} FROM events WHERE {condition}");
    if !filter.kinds.is_empty() {
        let marks = vec!["?"; filter.kinds.len()].join(", ");
        sql.push_str(" AND kind IN (");
        sql.push_str(&marks);
        sql.push(')');
        values.extend(filter.kinds.iter().cloned().map(Value::Text));
    }
    for (limit, at) in [(" AND at >= ?", filter.since), (" AND at < ?", filter.until)] {
        if let Some(at) = at {
            sql.push_str(limit);
            values.push(Value::Integer(i64::try_from(at.0).unwrap_or(i64::MAX)));
        }
    }
    sql.push_str(" ORDER BY ");
    sql.push_str(order);
    sql.push_str(" LIMIT ?");
    values.push(Value::Integer(i64::from(limit)));
    (sql, values)
}

impl View<'_> {
    /// The events behind number `after`, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the subject of one does not read back.
    pub fn events_after(
        &self,
        after: u64,
        filter: &EventFilter,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let (sql, values) = page_statement(after, filter, limit);
        let values = rusqlite::params_from_iter(values);
        let links = self.rows(&sql, values, "read events", read)?;
        links.into_iter().map(|link| Ok(event_row(link)?)).collect()
    }

    /// The facts of a run, with its chains proved. Empty when there is no such run.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] names the first entry that does not fit.
    pub fn replay(&self, run: &RunId) -> Result<Vec<Event>, StoreError> {
        let links = self.links(run)?;
        let mut chains = Chains::default();
        let mut events = Vec::with_capacity(links.len());
        for link in &links {
            chains.follow(Some(run), link)?;
            let event = codec::read_event(&link.kind, &link.body)
                .map_err(|error| at_entry(Some(run), link, &error))?;
            if chain::subject_text(run, &event.subject()) != link.subject {
                return Err(at_entry(Some(run), link, &"is in the chain of another subject").into());
            }
            events.push(event);
        }
        chains.end(Some(run), &self.heads(run)?)?;
        Ok(events)
    }

    /// A run as its facts make it; `None` when there is no such run.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] names the first entry that does not fit.
    pub fn rebuild(&self, run: &RunId) -> Result<Option<Run>, StoreError> {
        let events = self.replay(run)?;
        if events.is_empty() {
            return Ok(None);
        }
        match Run::replay(&events) {
            Some(rebuilt) if rebuilt.id == *run => Ok(Some(rebuilt)),
            Some(_) => Err(corrupt(Some(run), &"its facts are those of another run").into()),
            None => Err(corrupt(Some(run), &"its first fact is not its submit").into()),
        }
    }

    /// The home as its facts make it, with its chain proved.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] names the first entry that does not fit.
    pub fn home(&self) -> Result<Home, StoreError> {
        let mut home = Home::default();
        self.home_events()?.iter().for_each(|event| home.apply(event));
        Ok(home)
    }

    /// The facts of the home, with their chain proved.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] names the first entry that does not fit.
    pub fn home_events(&self) -> Result<Vec<HomeEvent>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE subject = 'home' ORDER BY n");
        let links = self.rows(&sql, [], "read the events of the home", read)?;
        let mut chains = Chains::default();
        let mut events = Vec::with_capacity(links.len());
        for link in &links {
            chains.follow(None, link)?;
            let event = codec::read_home_event(&link.kind, &link.body)
                .map_err(|error| at_entry(None, link, &error))?;
            events.push(event);
        }
        let sql = "SELECT subject, n, hash FROM chains WHERE subject = 'home'";
        let heads = self.rows(sql, [], "read the head of the home", read_head)?;
        chains.end(None, &heads)?;
        Ok(events)
    }

    /// The entries of a run in the order of the log.
    pub(crate) fn links(&self, run: &RunId) -> Result<Vec<Link>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM events WHERE run = ?1 ORDER BY seq");
        self.rows(&sql, [run.as_str()], "read the events of a run", read)
    }

    /// Whether the home's row names the newest event of the log.
    pub(crate) fn tail_is_newest(&self) -> Result<bool, StoreError> {
        let sql = "SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1";
        let newest: Option<(u64, Hash)> =
            self.row(sql, [], "read the newest event", |row| Ok((row.get(0)?, row.get(1)?)))?;
        let sql = "SELECT seq, head FROM home_state";
        let told = self.row(sql, [], "read the tail", |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(told == Some(newest.unwrap_or((0, GENESIS))))
    }

    /// Runs that have a log and no row.
    pub(crate) fn lone_logs(&self) -> Result<Vec<String>, StoreError> {
        self.rows(
            "SELECT DISTINCT run FROM events
             WHERE run IS NOT NULL AND NOT EXISTS (SELECT 1 FROM runs WHERE id = events.run)",
            [],
            "look for logs without a row",
            |row| row.get(0),
        )
    }

    fn heads(&self, run: &RunId) -> Result<Vec<(String, u64, Hash)>, StoreError> {
        // `0` is the character behind `/`.
        self.rows(
            "SELECT subject, n, hash FROM chains WHERE subject = ?1
             UNION ALL
             SELECT subject, n, hash FROM chains WHERE subject > ?1 || '/' AND subject < ?1 || '0'",
            [run.as_str()],
            "read the heads of a run's chains",
            read_head,
        )
    }
}

fn read_head(row: &Row<'_>) -> Result<(String, u64, Hash), rusqlite::Error> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?))
}

fn at_entry(run: Option<&RunId>, link: &Link, why: &impl ToString) -> Corrupt {
    Corrupt { seq: Some(link.seq), ..corrupt(run, why) }
}

fn event_row(link: Link) -> Result<EventRow, Corrupt> {
    let unknown = |error: &dyn std::fmt::Display| Corrupt {
        run: None,
        seq: Some(link.seq),
        why: format!("subject {:?}: {error}", link.subject),
    };
    let (run, feature) = if link.subject == HOME {
        (None, None)
    } else {
        let (run, feature) = match link.subject.split_once('/') {
            Some((run, feature)) => (run, Some(feature)),
            None => (link.subject.as_str(), None),
        };
        let run = RunId::new(run).map_err(|error| unknown(&error))?;
        let feature = feature.map(FeatureId::new).transpose().map_err(|error| unknown(&error))?;
        (Some(run), feature)
    };
    Ok(EventRow {
        seq: link.seq,
        run,
        feature,
        n: link.n,
        kind: link.kind,
        at: WallMs(link.at),
        epoch: link.epoch,
        body: link.body,
    })
}

/// The chains of several subjects, followed entry by entry.
#[derive(Debug, Default)]
struct Chains {
    heads: BTreeMap<String, (u64, Hash)>,
    token: (u64, u64),
}

impl Chains {
    fn follow(&mut self, run: Option<&RunId>, link: &Link) -> Result<(), Corrupt> {
        let (n, previous) = self.heads.get(&link.subject).copied().unwrap_or((0, GENESIS));
        if link.n != n + 1 {
            let why = format!("{} has entry {} behind entry {n}", link.subject, link.n);
            return Err(at_entry(run, link, &why));
        }
        if (link.generation, link.epoch) < self.token {
            return Err(at_entry(run, link, &"was recorded under a fenced epoch"));
        }
        self.token = (link.generation, link.epoch);
        let entry = Entry {
            seq: link.seq,
            subject: &link.subject,
            n: link.n,
            kind: &link.kind,
            at: link.at,
            generation: link.generation,
            epoch: link.epoch,
            body: &link.body,
        };
        if chain::link(&previous, &entry) != link.hash {
            let why = format!("entry {} of {} does not match its hash", link.n, link.subject);
            return Err(at_entry(run, link, &why));
        }
        self.heads.insert(link.subject.clone(), (link.n, link.hash));
        Ok(())
    }

    /// Compares the ends with the recorded heads, so that a cut tail is found.
    fn end(self, run: Option<&RunId>, recorded: &[(String, u64, Hash)]) -> Result<(), Corrupt> {
        let recorded: BTreeMap<_, _> =
            recorded.iter().map(|(subject, n, hash)| (subject.clone(), (*n, *hash))).collect();
        for (subject, head) in &recorded {
            if self.heads.get(subject) != Some(head) {
                let why = format!("the log of {subject} does not end at entry {}", head.0);
                return Err(corrupt(run, &why));
            }
        }
        match self.heads.keys().find(|subject| !recorded.contains_key(*subject)) {
            None => Ok(()),
            Some(subject) => Err(corrupt(run, &format!("{subject} has no recorded head"))),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::store::{Options, Store};

    #[test]
    fn page_with_any_filter_neither_scans_nor_sorts() {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open_with(home.path(), Options { ballast_bytes: 0 }).unwrap();
        for bits in 0..8_u32 {
            let on = |bit: u32| bits & (1 << bit) != 0;
            let filter = EventFilter {
                run: on(0).then(|| RunId::from_parts(1, 1)),
                feature: (on(0) && on(1)).then(|| FeatureId::new("f").unwrap()),
                kinds: if on(2) { vec!["landed".into(), "submitted".into()] } else { vec![] },
                since: None,
                until: None,
            };
            let (sql, values) = page_statement(7, &filter, 100);
            let mut statement = store.conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let rows = statement
                .query_map(rusqlite::params_from_iter(values), |row| row.get::<_, String>(3))
                .unwrap();
            let plan = rows.collect::<Result<Vec<_>, _>>().unwrap().join("\n");
            assert!(plan.contains("SEARCH events"), "{filter:?}: {plan}");
            assert!(!plan.contains("SCAN") && !plan.contains("TEMP B-TREE"), "{filter:?}: {plan}");
        }
    }
}
