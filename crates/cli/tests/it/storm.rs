//! A storm of commands: several clients send each of them twice while the daemon is killed again and
//! again. Each is carried out once, and each is answered, everybody the same.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::harness::{Home, end, post, until};

const CLIENTS: usize = 4;
/// Commands of a share, and how often the daemon is killed meanwhile.
const SHARE: (usize, usize) = (40, 10);

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

/// The n-th command: its route and its body.
fn command(home: &Home, held: &str, n: usize) -> (String, Value) {
    if n.is_multiple_of(2) {
        let submit = json!({
            "cwd": home.repo().root(),
            "actor": "keeper",
            "adhocRun": format!("q{n}"),
            "env": [["PATH", std::env::var("PATH").unwrap()], ["T", home.beside("")]],
            "work": { "launcher": {
                "argv": ["sh", "-c", format!("echo {n} >> $T/starts")], "resumeLimit": 0,
            } },
        });
        ("/runs".to_owned(), submit)
    } else {
        // Each value is another one: a change that is made twice would be told twice.
        (format!("/runs/{held}/priority"), json!({ "priority": n }))
    }
}

/// Sends a command until it is answered; the envelope's data.
fn send(home: &Home, held: &str, n: usize) -> Value {
    let (route, body) = command(home, held, n);
    let key = format!("storm-{n}");
    until(&format!("an answer to command {n}"), || {
        let answer = post(&home.path(), &route, &[("idempotency-key", &key)], &body).ok()?;
        if answer.body["ok"] == true {
            return Some(answer.body["data"].clone());
        }
        let again = answer.body["error"]["details"]["retryable"] == true;
        assert!(again, "command {n}: {:#}", answer.body);
        None
    })
}

#[test]
fn commands_of_four_clients_are_each_carried_out_once_while_the_daemon_is_killed() {
    let count = number("TIDEGATE_STORM_COMMANDS", SHARE.0);
    let kills = number("TIDEGATE_STORM_KILLS", SHARE.1);
    let home = Home::new();
    let running = home.script(&[], "mark a; await go");
    let held = home.script(&[], "true");
    home.pid("a");
    let answers: Mutex<BTreeMap<usize, Vec<Value>>> = Mutex::default();
    let (answered, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|client| {
                let (home, held, answers, answered) = (&home, &held, &answers, &answered);
                scope.spawn(move || {
                    // Two clients have the same commands, and come from different ends.
                    let mut own: Vec<usize> =
                        (0..count).filter(|n| n % 4 / 2 == client % 2).collect();
                    if client / 2 == 1 {
                        own.reverse();
                    }
                    for n in own {
                        let answer = send(home, held, n);
                        answers.lock().unwrap().entry(n).or_default().push(answer);
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                })
            })
            .collect();
        let killer = scope.spawn(|| {
            for kill in 0..kills {
                until("the next death", || {
                    let due = answered.load(Ordering::Relaxed) * kills >= kill * count * 2;
                    (due || done.load(Ordering::Relaxed)).then_some(())
                });
                if let Some(daemon) = home.daemon() {
                    end(daemon);
                }
                home.start_daemon();
            }
        });
        for client in clients {
            client.join().unwrap();
        }
        done.store(true, Ordering::Relaxed);
        killer.join().unwrap();
    });
    let answers = answers.into_inner().unwrap();
    assert_eq!(answers.len(), count);
    for (n, both) in &answers {
        assert_eq!(both.len(), 2, "command {n}");
        assert_eq!(both[0], both[1], "command {n} was answered in two ways");
    }
    check(&home, &held, &answers);
    home.go("go");
    home.ended(&running);
    home.ended(&held);
    println!("{count} commands of {CLIENTS} clients, twice each; {kills} kills");
    home.close();
}

/// Each left one effect and one record.
fn check(home: &Home, held: &str, answers: &BTreeMap<usize, Vec<Value>>) {
    let runs: BTreeSet<&str> = answers
        .values()
        .filter_map(|both| both[0]["runId"].as_str())
        .filter(|run| *run != held)
        .collect();
    let submits = answers.keys().filter(|n| n.is_multiple_of(2)).count();
    assert_eq!(runs.len(), submits, "two submits made one run, or one made two");
    for run in &runs {
        assert_eq!(home.ended(run)["status"], "completed");
    }
    let text = std::fs::read_to_string(home.beside("starts")).unwrap();
    let mut starts: Vec<usize> = text.lines().map(|line| line.parse().unwrap()).collect();
    starts.sort_unstable();
    let wanted: Vec<usize> = answers.keys().copied().filter(|n| n.is_multiple_of(2)).collect();
    assert_eq!(starts, wanted, "each launcher started once");
    let changes = home.events_of(held, "priority-changed");
    let mut told: Vec<u64> =
        changes.iter().map(|event| event["priority"].as_u64().unwrap()).collect();
    told.sort_unstable();
    let wanted: Vec<u64> =
        answers.keys().filter(|n| !n.is_multiple_of(2)).map(|n| *n as u64).collect();
    assert_eq!(told, wanted, "each priority was set once");
    let mut records = BTreeMap::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut words = vec!["daemon", "commands", "--limit", "100"];
        words.extend(cursor.iter().flat_map(|next| ["--cursor", next]));
        let page = home.data(&words);
        for command in page["commands"].as_array().unwrap() {
            let key = command["idempotency_key"].as_str().unwrap().to_owned();
            if key.starts_with("storm-") {
                assert_eq!(command["status"], "completed", "{command:#}");
                assert!(records.insert(key, command.clone()).is_none(), "two records: {command:#}");
            }
        }
        match page["next"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(records.len(), answers.len());
}
