//! One fault: who dies, and when. Its text is what repeats it.

use std::fmt;

use super::scene::Scene;
use super::victim::Victim;

/// One fault in one scene.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fault {
    /// What runs.
    pub(super) scene: Scene,
    /// From when on.
    pub(super) moment: Moment,
    /// Who dies.
    pub(super) kill: Kill,
}

/// A moment of a run.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    /// Before the home's first daemon starts.
    Start,
    /// At the n-th event of a kind.
    Event {
        /// The kind.
        kind: String,
        /// Which, from 1.
        number: usize,
    },
}

/// Who dies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kill {
    /// Processes that come to these fail points, each once.
    Points(Vec<Point>),
    /// A process, by somebody outside.
    Outside(Victim),
}

/// A fail point, and which time a process comes to it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Point {
    /// Its name.
    pub(super) name: String,
    /// Which time, from 1, counted in each process.
    pub(super) hit: u64,
}

impl Kill {
    /// What a process is told of it in its environment; nothing when somebody outside kills.
    pub(super) fn told(&self) -> Option<String> {
        let Self::Points(points) = self else { return None };
        let all: Vec<String> =
            points.iter().map(|at| format!("{}=kill@{}", at.name, at.hit)).collect();
        Some(all.join(";"))
    }
}

impl Moment {
    pub(super) fn event(kind: &str, number: usize) -> Self {
        Self::Event { kind: kind.to_owned(), number }
    }
}

impl Fault {
    /// Reads what `to_string` wrote.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('/');
        let (scene, moment, kill) = (parts.next()?, parts.next()?, parts.next()?);
        let scene = Scene::ALL.iter().find(|known| known.to_string() == scene)?;
        let moment = match moment.split_once('#') {
            Some((kind, number)) => Moment::event(kind, number.parse().ok()?),
            None if moment == "start" => Moment::Start,
            None => return None,
        };
        let point = |text: &str| {
            let (name, hit) = text.split_once('@')?;
            Some(Point { name: name.to_owned(), hit: hit.parse().ok()? })
        };
        let kill = match Victim::ALL.iter().find(|known| known.to_string() == kill) {
            Some(victim) => Kill::Outside(*victim),
            None => Kill::Points(kill.split('+').map(point).collect::<Option<_>>()?),
        };
        Some(Self { scene: *scene, moment, kill })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/", self.scene)?;
        match &self.moment {
            Moment::Start => f.write_str("start/")?,
            Moment::Event { kind, number } => write!(f, "{kind}#{number}/")?,
        }
        match &self.kill {
            Kill::Points(points) => {
                let all: Vec<String> =
                    points.iter().map(|at| format!("{}@{}", at.name, at.hit)).collect();
                f.write_str(&all.join("+"))
            }
            Kill::Outside(victim) => write!(f, "{victim}"),
        }
    }
}
