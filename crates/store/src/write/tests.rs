//! The schema's words are those of the enums: a row of every one is taken.

#![expect(clippy::unwrap_used, reason = "tests")]

use rusqlite::Connection;
use tidegate_core::ids::{FeatureId, JobId, QuestionId, RunId};
use tidegate_core::run::{Feature, Job, JobState};
use tidegate_core::time::WallMs;

use super::people::{write_message, write_question};
use super::projection::{write_feature, write_job};
use crate::codec::samples;
use crate::error::StoreError;
use crate::row::{FeatureRow, JobRow, MessageRow, QuestionRow};
use crate::store::{Options, Store};

/// A store whose rows need no run of their own.
fn lone_rows() -> (tempfile::TempDir, Store) {
    let home = tempfile::tempdir().unwrap();
    let store = Store::open_with(home.path(), Options { ballast_bytes: 0 }).unwrap();
    store.conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    (home, store)
}

fn job(conn: &Connection, number: u32, job: Job) -> Result<(), StoreError> {
    write_job(conn, 1, &JobRow { id: JobId::new(RunId::from_parts(1, 1), number), job })
}

#[test]
fn schema_takes_a_feature_in_every_state() {
    let (_home, store) = lone_rows();
    for (position, state) in (0..).zip(samples::feature_states()) {
        let row = FeatureRow {
            id: FeatureId::new(format!("f{position}")).unwrap(),
            position,
            wave: 1,
            title: "t".into(),
            feature: Feature { state, ..Feature::default() },
        };
        write_feature(&store.conn, 1, &row).unwrap_or_else(|error| panic!("{row:?}: {error}"));
    }
}

#[test]
fn schema_takes_a_job_of_every_purpose_and_end() {
    let (_home, store) = lone_rows();
    let blank = |purpose| Job {
        purpose,
        attempt: 1,
        nonce: "n".into(),
        created_at: WallMs(1),
        stalled: None,
        session: None,
        told: None,
        evidence: None,
        state: JobState::Launching,
    };
    let purposes = samples::purposes();
    let finished = samples::exits().into_iter().map(|exit| Job {
        state: JobState::Finished { started: None, exit },
        ..blank(purposes[0].clone())
    });
    let jobs = purposes.iter().cloned().map(blank).chain(finished);
    for (number, each) in (1..).zip(jobs) {
        let shown = format!("{each:?}");
        job(&store.conn, number, each).unwrap_or_else(|error| panic!("{shown}: {error}"));
    }
}

#[test]
fn schema_takes_a_question_of_every_fate_and_a_message_however_far_it_came() {
    let (_home, store) = lone_rows();
    for (number, question) in (1..).zip(samples::questions()) {
        let row = QuestionRow { id: QuestionId::new(RunId::from_parts(1, 1), number), question };
        write_question(&store.conn, 1, &row).unwrap_or_else(|error| panic!("{row:?}: {error}"));
    }
    for (number, message) in (1..).zip(samples::messages()) {
        let row = MessageRow { number, message };
        write_message(&store.conn, 1, &row).unwrap_or_else(|error| panic!("{row:?}: {error}"));
    }
}
