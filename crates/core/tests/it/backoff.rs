//! Waits before retries: bounded, spread, and the same after every restart.

use proptest::prelude::*;
use tidegate_core::exit::Reason;
use tidegate_core::run::{Effect, EffectKey, Input, Report, Retry, Run, Wait, Work};
use tidegate_core::time::{BootMs, WallMs};

use crate::fixture::{
    Shape, capture_all, claim, config, exit, exited, fid, job_finished, newest, plan_run, take,
};
use crate::matrix::{ready, slot};
use crate::telling::tell;

const RETRY: Retry = Retry { backoff_ms: 1_000, backoff_ms_max: 60_000 };

/// A run whose builder has failed that often.
fn failed(times: u32) -> Run {
    let mut run = plan_run(&Shape { attempts_max: 9, ..Shape::default() });
    if let Work::Plan { spec, .. } = &mut run.work {
        spec.retry = RETRY;
    }
    take(&mut run, &claim());
    for _ in 0..times {
        if run.plan().unwrap().1.features[&fid("a")].wait.is_some() {
            take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
        }
        if run.plan().unwrap().1.features[&fid("a")].failures != 1 {
            take(&mut run, &slot());
        }
        take(&mut run, &ready());
        let job = newest(&run);
        take(&mut run, &job_finished(job, exited(1)));
        capture_all(&mut run);
    }
    run
}

fn wait(run: &Run) -> Option<Wait> {
    run.plan().unwrap().1.features[&fid("a")].wait
}

fn alarms(run: &Run) -> Vec<EffectKey> {
    let open = run.outstanding().into_iter();
    open.filter(|(_, effect)| matches!(effect, Effect::AwaitRetry { .. })).map(|(k, _)| k).collect()
}

#[test]
fn first_retry_comes_at_once_and_further_ones_wait_longer_from_one_to_the_next() {
    assert_eq!(wait(&failed(1)), None);
    let waits: Vec<u64> = (2..=5).map(|times| wait(&failed(times)).unwrap().ms).collect();
    for (ms, whole) in waits.iter().zip([1_000, 2_000, 4_000, 8_000]) {
        assert!((whole / 2..=whole).contains(ms), "{ms} of {whole}");
    }
}

#[test]
fn wait_refuses_a_slot_until_it_is_due_and_keeps_its_iteration() {
    let mut run = failed(2);
    assert_eq!(alarms(&run).len(), 1);
    assert!(tell(&run, &slot()).unwrap_err().contains("waits for its time"));
    assert_eq!(run.plan().unwrap().1.features[&fid("a")].iteration, 1);
    take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
    assert!(alarms(&run).is_empty());
    take(&mut run, &slot());
    let feature = &run.plan().unwrap().1.features[&fid("a")];
    assert_eq!((feature.iteration, feature.failures), (1, 2));
}

#[test]
fn held_run_begins_no_further_attempt_even_when_that_would_come_at_once() {
    let mut run = failed(0);
    take(&mut run, &slot());
    take(&mut run, &ready());
    take(&mut run, &crate::matrix::hold());
    let job = newest(&run);
    take(&mut run, &job_finished(job, exited(1)));
    capture_all(&mut run);
    take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
    assert!(tell(&run, &slot()).unwrap_err().contains("held"));
}

#[test]
fn person_who_retries_does_not_wait() {
    let mut run = failed(2);
    take(&mut run, &crate::matrix::retry());
    assert_eq!(wait(&run), None);
    take(&mut run, &slot());
}

#[test]
fn attempt_lost_by_a_reboot_is_tried_again_at_once() {
    let mut run = failed(2);
    take(&mut run, &Input::Report(Report::RetryDue { feature: fid("a") }));
    take(&mut run, &slot());
    take(&mut run, &ready());
    let job = newest(&run);
    take(&mut run, &job_finished(job, exit(Reason::LostReboot, None)));
    capture_all(&mut run);
    assert_eq!(wait(&run), None);
}

#[test]
fn restart_neither_shortens_a_wait_nor_doubles_it_and_another_boot_ends_it() {
    let wait = Wait { until: BootMs(100_000), ms: 4_000, about: WallMs(0) };
    // The clock of this boot goes on, whoever reads it.
    assert_eq!(wait.left_ms(BootMs(96_000)), 4_000);
    assert_eq!(wait.left_ms(BootMs(99_000)), 1_000);
    assert_eq!(wait.left_ms(BootMs(100_000)), 0);
    assert_eq!(wait.left_ms(BootMs(500)), 0, "a clock of another boot");
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn waits_are_bounded_by_half_and_whole_and_the_same_each_time(
        failures in 0..200_u32, backoff_ms in 0..100_000_u64, most in 0..1_000_000_u64,
        name in "[a-z/]{0,20}",
    ) {
        let retry = Retry { backoff_ms, backoff_ms_max: most };
        let ms = retry.wait_ms(failures, &name);
        prop_assert_eq!(ms, retry.wait_ms(failures, &name));
        prop_assert!(ms <= most);
        if (2..20).contains(&failures) {
            let whole = (backoff_ms << (failures - 2)).min(most);
            prop_assert!(ms >= whole - whole / 2 && ms <= whole);
        }
    }

    #[test]
    fn waits_of_jobs_that_fail_together_are_spread(name in "[a-z]{1,10}") {
        let waits: std::collections::BTreeSet<u64> =
            (0..20).map(|n| RETRY.wait_ms(4, &format!("{name}/{n}"))).collect();
        prop_assert!(waits.len() > 10, "{waits:?}");
    }
}
