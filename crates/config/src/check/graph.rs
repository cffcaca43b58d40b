//! The order that `needs` asks for: every name is known, nothing waits for itself or for a later
//! wave, and there is no circle.

use std::collections::{HashMap, VecDeque};

use crate::diagnostic::{Code, Sink};
use crate::near::{hint_for, quoted};
use crate::plan::{FeatureDoc, PlanDoc};
use crate::span::Span;

/// Names of a circle that a message shows.
const CIRCLE_SHOWN_MAX: usize = 12;

/// Features by number, and what each needs.
pub(crate) struct Graph<'d> {
    features: Vec<&'d FeatureDoc>,
    /// Index of each feature's wave in the plan.
    waves: Vec<usize>,
    by_id: HashMap<&'d str, usize>,
    edges: Vec<Vec<(usize, &'d Span)>>,
}

impl<'d> Graph<'d> {
    pub(crate) fn new(doc: &'d PlanDoc) -> Self {
        let placed = doc.waves.iter().enumerate();
        let placed = placed.flat_map(|(at, wave)| wave.features.iter().map(move |one| (at, one)));
        let (waves, features): (Vec<usize>, Vec<&FeatureDoc>) = placed.unzip();
        let mut by_id = HashMap::new();
        for (number, feature) in features.iter().enumerate() {
            if let Some(id) = &feature.id {
                by_id.entry(id.value.as_str()).or_insert(number);
            }
        }
        let edges = features
            .iter()
            .enumerate()
            .map(|(number, feature)| {
                let known = |need: &'d crate::Spanned<String>| {
                    by_id.get(need.value.as_str()).map(|to| (*to, &need.span))
                };
                // A feature that needs itself is told apart from circles.
                feature.needs.iter().filter_map(known).filter(|(to, _)| *to != number).collect()
            })
            .collect();
        Self { features, waves, by_id, edges }
    }

    fn id(&self, number: usize) -> &'d str {
        self.features[number].id.as_ref().map_or("?", |id| id.value.as_str())
    }

    /// Whether `from` waits for `to`, directly or through others.
    pub(crate) fn waits_for(&self, from: usize, to: usize) -> bool {
        self.path(from, to, |_| true).is_some()
    }

    /// A shortest way from `from` to `to` through features that `allowed` lets through.
    fn path(&self, from: usize, to: usize, allowed: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
        let mut before: HashMap<usize, usize> = HashMap::new();
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for (next, _) in &self.edges[at] {
                if *next == to {
                    let mut path = vec![at];
                    while let Some(earlier) = before.get(&path[path.len() - 1]) {
                        path.push(*earlier);
                    }
                    path.reverse();
                    return Some(path);
                }
                if *next != from && allowed(*next) && !before.contains_key(next) {
                    before.insert(*next, at);
                    queue.push_back(*next);
                }
            }
        }
        None
    }

    /// Groups of features that all wait for each other; a group has at least two.
    fn knots(&self) -> Vec<Vec<usize>> {
        let mut walk = Walk::new(self.edges.len());
        for start in 0..self.edges.len() {
            if walk.order[start].is_none() {
                walk.from(start, &self.edges);
            }
        }
        walk.knots
    }
}

/// Tarjan's walk with a stack of its own: a plan may be a chain of thousands.
struct Walk {
    order: Vec<Option<usize>>,
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: Vec<bool>,
    next: usize,
    knots: Vec<Vec<usize>>,
}

impl Walk {
    fn new(count: usize) -> Self {
        Self {
            order: vec![None; count],
            low: vec![0; count],
            open: Vec::new(),
            is_open: vec![false; count],
            next: 0,
            knots: Vec::new(),
        }
    }

    fn enter(&mut self, at: usize) {
        self.order[at] = Some(self.next);
        self.low[at] = self.next;
        self.next += 1;
        self.open.push(at);
        self.is_open[at] = true;
    }

    fn from(&mut self, start: usize, edges: &[Vec<(usize, &Span)>]) {
        self.enter(start);
        let mut stack = vec![(start, 0)];
        while let Some((at, edge)) = stack.pop() {
            if let Some((next, _)) = edges[at].get(edge) {
                stack.push((at, edge + 1));
                match self.order[*next] {
                    None => {
                        self.enter(*next);
                        stack.push((*next, 0));
                    }
                    Some(order) if self.is_open[*next] => {
                        self.low[at] = self.low[at].min(order);
                    }
                    Some(_) => {}
                }
                continue;
            }
            if let Some((parent, _)) = stack.last() {
                self.low[*parent] = self.low[*parent].min(self.low[at]);
            }
            if self.order[at] == Some(self.low[at]) {
                let from = self.open.iter().rposition(|one| *one == at).unwrap_or(0);
                let mut knot = self.open.split_off(from);
                for one in &knot {
                    self.is_open[*one] = false;
                }
                if knot.len() > 1 {
                    knot.sort_unstable();
                    self.knots.push(knot);
                }
            }
        }
    }
}

/// Checks the `needs` of every feature.
pub(crate) fn check_needs(graph: &Graph<'_>, sink: &mut Sink<'_>) {
    for (number, feature) in graph.features.iter().enumerate() {
        for need in &feature.needs {
            match graph.by_id.get(need.value.as_str()) {
                None => {
                    let message = format!("there is no feature {}", quoted(&need.value));
                    let hint = hint_for(&need.value, graph.by_id.keys().copied());
                    // The set has no order of its own: only a near miss is named.
                    let hint = if hint.starts_with("did") { hint } else { String::new() };
                    sink.error_hint(Code::UnknownNeed, &need.span, message, &hint);
                }
                Some(to) if *to == number => {
                    let message = format!("the feature {} needs itself", quoted(&need.value));
                    sink.error(Code::SelfNeed, &need.span, message);
                }
                Some(to) if graph.waves[*to] > graph.waves[number] => {
                    let message = format!(
                        "{} needs {}, which is in a later wave",
                        quoted(graph.id(number)),
                        quoted(&need.value)
                    );
                    let hint = "move one of them to another wave";
                    sink.error_hint(Code::LaterNeed, &need.span, message, hint);
                }
                Some(_) => {}
            }
        }
    }
    for knot in graph.knots() {
        let start = knot[0];
        let inside = |number: usize| knot.binary_search(&number).is_ok();
        let Some(path) = graph.path(start, start, inside) else { continue };
        let mut names: Vec<String> = path.iter().map(|one| quoted(graph.id(*one))).collect();
        if names.len() > CIRCLE_SHOWN_MAX {
            let left = names.len() - CIRCLE_SHOWN_MAX;
            names.truncate(CIRCLE_SHOWN_MAX);
            names.push(format!("{left} others"));
        }
        names.push(quoted(graph.id(start)));
        let next = path.get(1).copied().unwrap_or(start);
        let edge = graph.edges[start].iter().find(|(to, _)| *to == next);
        let span = edge.map_or(graph.features[start].span.clone(), |(_, span)| (*span).clone());
        let message = format!("features need each other in a circle: {}", names.join(" → "));
        sink.error_hint(Code::NeedCycle, &span, message, "take one of these needs out");
    }
}
