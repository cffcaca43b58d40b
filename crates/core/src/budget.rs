//! Budgets: what the agents of a feature, and of a run, may use. It must not know how they are kept.

/// What may be used at most; `None`: as much as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Agents that are started.
    pub attempts: Option<u64>,
    /// Time that agents work, on the monotonic clock, in milliseconds.
    pub time_ms: Option<u64>,
    /// What agents say they cost, in millionths of a dollar.
    pub cost_micros: Option<u64>,
}

/// The budgets of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budgets {
    /// Of each feature.
    pub feature: Budget,
    /// Of all features of the run together.
    pub run: Budget,
    /// What one attempt costs at most, in millionths of a dollar: so much is kept back for each agent
    /// at work. `None`: as much as the dearest one so far.
    pub attempt_micros: Option<u64>,
}

/// Whose budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetScope {
    /// That of one feature.
    Feature,
    /// That of the run.
    Run,
}

/// What a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// Agents.
    Attempts,
    /// Milliseconds.
    Time,
    /// Millionths of a dollar.
    Cost,
}

/// A budget that is used up, in the unit of its resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// Whose.
    pub scope: BudgetScope,
    /// Of what.
    pub resource: Resource,
    /// What was used.
    pub spent: u64,
    /// What may be used.
    pub cap: u64,
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Agents that were started.
    pub attempts: u64,
    /// Time that those that ended worked, in milliseconds.
    pub time_ms: u64,
    /// What those that ended say they cost, in millionths of a dollar.
    pub cost_micros: u64,
}

impl Budget {
    /// The same after a person gave it anew so often.
    #[must_use]
    pub fn raised(self, times: u32) -> Self {
        let grown = |cap: Option<u64>| cap.map(|cap| cap.saturating_mul(u64::from(times) + 1));
        Self {
            attempts: grown(self.attempts),
            time_ms: grown(self.time_ms),
            cost_micros: grown(self.cost_micros),
        }
    }

    /// Each resource with what may be used of it and what was.
    pub fn against(self, spent: Spent) -> [(Resource, Option<u64>, u64); 3] {
        [
            (Resource::Attempts, self.attempts, spent.attempts),
            (Resource::Time, self.time_ms, spent.time_ms),
            (Resource::Cost, self.cost_micros, spent.cost_micros),
        ]
    }

    /// The first resource of which nothing is left.
    pub fn overrun(self, scope: BudgetScope, spent: Spent) -> Option<Overrun> {
        self.against(spent).into_iter().find_map(|(resource, cap, spent)| {
            let cap = cap.filter(|cap| spent >= *cap)?;
            Some(Overrun { scope, resource, spent, cap })
        })
    }
}

impl BudgetScope {
    /// Its word in documents.
    pub fn word(self) -> &'static str {
        match self {
            Self::Feature => "feature",
            Self::Run => "run",
        }
    }
}
