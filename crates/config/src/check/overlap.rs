//! The `paths` of features: globs that parse and stay inside, and a warning where two features of a
//! wave could write the same file.

use globset::GlobBuilder;

use super::glob::can_meet;
use super::graph::Graph;
use super::path::inner_path;
use crate::diagnostic::{Code, Sink};
use crate::near::quoted;
use crate::plan::PlanDoc;
use crate::span::Span;

/// Pairs of globs of one wave that are compared; beyond that the check is left out.
const PAIRS_MAX: usize = 20_000;

/// Globs longer than this are compared as if they meet nothing.
const GLOB_BYTES_MAX: usize = 256;

struct Claim<'d> {
    /// Number of the feature in the plan.
    feature: usize,
    name: &'d str,
    glob: &'d str,
    span: &'d Span,
}

/// Checks the paths of every feature.
pub(crate) fn check_paths(doc: &PlanDoc, graph: &Graph<'_>, sink: &mut Sink<'_>) {
    let mut number = 0;
    for wave in &doc.waves {
        let mut claims: Vec<Claim<'_>> = Vec::new();
        for feature in &wave.features {
            let name = feature.id.as_ref().map_or("?", |id| id.value.as_str());
            for path in &feature.paths {
                if is_fit_glob(&path.value, &path.span, sink) && path.value.len() <= GLOB_BYTES_MAX
                {
                    let (glob, span) = (path.value.as_str(), &path.span);
                    claims.push(Claim { feature: number, name, glob, span });
                }
            }
            number += 1;
        }
        warn_of_overlaps(&claims, graph, sink);
    }
}

/// Whether it is a glob of paths below the root; else it is said why not.
pub(crate) fn is_fit_glob(glob: &str, span: &Span, sink: &mut Sink<'_>) -> bool {
    if let Err(why) = inner_path(glob) {
        sink.error(Code::BadPath, span, format!("the path {} {why}", quoted(glob)));
        return false;
    }
    if let Err(error) = GlobBuilder::new(glob).literal_separator(true).build() {
        let message = format!("the glob {} does not parse: {}", quoted(glob), error.kind());
        sink.error(Code::BadGlob, span, message);
        return false;
    }
    true
}

fn warn_of_overlaps(claims: &[Claim<'_>], graph: &Graph<'_>, sink: &mut Sink<'_>) {
    let pairs = claims
        .iter()
        .enumerate()
        .flat_map(|(at, left)| claims[at + 1..].iter().map(move |right| (left, right)));
    let mut told: Vec<(usize, usize)> = Vec::new();
    for (left, right) in pairs.filter(|(l, r)| l.feature != r.feature).take(PAIRS_MAX) {
        let pair = (left.feature, right.feature);
        if told.contains(&pair) || !can_meet(left.glob, right.glob) {
            continue;
        }
        told.push(pair);
        if graph.waits_for(pair.0, pair.1) || graph.waits_for(pair.1, pair.0) {
            continue;
        }
        let line = sink.source().line(left.span.start);
        let message = format!(
            "{} and {} may change the same files: {} and {} on line {line}",
            quoted(right.name),
            quoted(left.name),
            quoted(right.glob),
            quoted(left.glob),
        );
        let hint = "put them into different waves, or let one need the other";
        sink.warning(Code::OverlappingPaths, right.span, message, hint);
    }
}
