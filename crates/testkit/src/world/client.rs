//! Clients: each request has a key, is sent again until it is answered, and its answer is kept.

use std::collections::BTreeMap;

use serde_json::Value;
use tidegate_core::ids::RunId;
use tidegate_daemon::engine::{Answer, Command, Idempotency};

use super::course::World;
use super::daemon::Parcel;
use super::schedule::Happening;
use crate::faults::{Fault, Mutation};

/// Names a request of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct OrderNo(u32);

/// A request, and what became of it.
#[derive(Debug)]
struct Order {
    command: Command,
    actor: String,
    key: String,
    /// The answer, once there was one that counts.
    answer: Option<Value>,
    /// Whether it was refused for good.
    refused: bool,
    sends: u32,
}

/// All requests.
#[derive(Debug, Default)]
pub(super) struct Clients {
    orders: BTreeMap<OrderNo, Order>,
}

impl Clients {
    /// The request as it goes over the wire.
    pub(super) fn request(&self, no: OrderNo) -> (Command, Idempotency) {
        let order = &self.orders[&no];
        let (actor, key) = (order.actor.clone(), order.key.clone());
        let body_hash = format!("{:064x}", no.0);
        (order.command.clone(), Idempotency { actor, key, body_hash, args: Value::Null })
    }

    /// Whether every request has its answer.
    pub(super) fn are_served(&self) -> bool {
        self.orders.values().all(|order| order.answer.is_some() || order.refused)
    }

    /// The requests that were granted.
    pub(super) fn granted(&self) -> impl Iterator<Item = (OrderNo, &Command, &Value)> {
        let granted = |(no, order): (&OrderNo, &'_ Order)| (*no, order.answer.is_some());
        self.orders.iter().filter_map(move |(no, order)| {
            let (no, has) = granted((no, order));
            has.then_some((no, &order.command, order.answer.as_ref()?))
        })
    }
}

impl World {
    /// A client makes up its mind.
    pub(super) fn order(&mut self, actor: &str, command: Command) {
        let no = OrderNo(u32::try_from(self.clients.orders.len()).unwrap_or(u32::MAX));
        let order = Order {
            command,
            actor: actor.to_owned(),
            key: format!("key-{}", no.0),
            answer: None,
            refused: false,
            sends: 0,
        };
        self.clients.orders.insert(no, order);
        self.plan_in((0, 50), Happening::Send(no));
    }

    pub(super) fn send(&mut self, no: OrderNo) {
        let Some(daemon) = &self.daemon else {
            return self.plan_in((100, 2_000), Happening::Send(no));
        };
        let number = daemon.number;
        let forgets = self.mutation == Mutation::ForgetKeys;
        if let Some(order) = self.clients.orders.get_mut(&no) {
            order.sends += 1;
            if forgets {
                order.key = format!("key-{}-{}", no.0, order.sends);
            }
        }
        self.plan_in((0, 20), Happening::Arrive(number, Box::new(Parcel::Order(no))));
    }

    /// A launcher's verb tells the daemon that files changed; without one nobody is told.
    pub(super) fn nudge(&mut self, run: &RunId) {
        if let Some(daemon) = &self.daemon {
            let number = daemon.number;
            let parcel = Box::new(Parcel::Nudge(run.clone()));
            self.plan_in((0, 20), Happening::Arrive(number, parcel));
        }
    }

    /// Connections break with the daemon: whoever waits asks again by the same key.
    pub(super) fn clients_lose_the_daemon(&mut self) {
        let open = self.clients.orders.iter().filter(|(_, o)| o.answer.is_none() && !o.refused);
        let open: Vec<OrderNo> = open.map(|(no, _)| *no).collect();
        for no in open {
            self.plan_in((50, 2_000), Happening::Send(no));
        }
    }

    pub(super) fn answered(&mut self, no: OrderNo, answer: Answer) {
        let Some(order) = self.clients.orders.get_mut(&no) else { return };
        match (&order.answer, answer) {
            (None, Ok(value)) => {
                order.answer = Some(value);
                order.refused = false;
                if self.strikes(Fault::RepeatRequest) {
                    self.plan_in((0, 30_000), Happening::Send(no));
                }
            }
            (Some(known), Ok(value)) if *known == value => {}
            (Some(known), Ok(value)) => {
                let known = known.clone();
                self.fail(|| format!("I3: {no:?} was answered {known}, then {value}"));
            }
            (Some(_), Err(problem)) if problem.details.retryable => {}
            (Some(_), Err(problem)) => {
                self.fail(|| format!("I3: {no:?} was granted, then refused: {}", problem.message));
            }
            // The lane is another one by now: whoever launched looks again, and here gives up.
            (None, Err(problem)) if problem.code.as_str() == "version_conflict" => {
                order.refused = true;
            }
            (None, Err(problem)) if problem.details.retryable => {
                self.plan_in((200, 1_000), Happening::Send(no));
            }
            (None, Err(_)) => order.refused = true,
        }
    }
}
