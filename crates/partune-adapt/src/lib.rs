//! Which of several settings something is best run with, found while it runs again and again.
//!
//! The load of a region changes from turn to turn and drifts, so two settings are only compared next to each other: in *pairs* of one execution each, in an order that a
//! coin decides. Where both are alike, either is then as likely to be the faster of a pair, whatever the load does: what many pairs say is no pattern of the load (a sign
//! test, to which outliers count no more than others). A rival takes the place of what is kept if chance would hardly say so of as many pairs, and by more than [`WORTH`]. It is given up early where it is plainly slower.
//! When all rivals had their turn there is a rest, the longer the less there was to change; a load that has changed ends it. Whatever is kept is held against the program's own setting
//! at once, since who wins may have been lucky, and after each rest: what has become worse, or is no better, is reverted.
//!
//! What trying costs is bounded: no contest begins while trying has cost more than [`SHARE`] of all the time.

/// What a rival has to save of an execution, as a share.
const WORTH: f64 = 0.02;
/// The part of all the time that rivals may cost.
const SHARE: f64 = 0.02;
/// How many standard deviations of chance the pairs have to be away from a draw.
const SURE: f64 = 3.4;
const MOST_PAIRS: usize = 30;
/// As many more lost than won end a contest.
const PLAINLY: i32 = 4;
/// So many times what the kept setting takes, in two of three pairs, and it is over: one may be anything's fault.
const HOPELESS: f64 = 2.0;
/// Executions with the program's own setting at first, of which the last ones are no longer those of a cold start.
const WARM_UP: u32 = 4;
/// Executions of the first rest, of the longest with the program's own setting, and with another: what its own would take by now is not seen in a rest.
const RESTS: [u32; 3] = [50, 1 << 20, 1 << 12];
/// The part of a rest that nothing ends early: else what a machine does by the way would, again and again.
const UNDISTURBED: u32 = 16;
/// So many changes are told.
const TOLD: usize = 1000;
/// Executions by whose median a change of the load is known, and how much that is.
const RECENT: usize = 8;
const CHANGED: f64 = 1.1;

/// The settings are numbered; 0 is the program's own.
#[derive(Debug)]
pub struct Choice {
    settings: usize,
    kept: usize,
    doing: Doing,
    /// Rivals that wait for their turn.
    waiting: Vec<usize>,
    rest: u32,
    /// What was kept during the last rest.
    rested: usize,
    /// What the kept setting took lately, the oldest first.
    recent: Vec<f64>,
    /// The same when the rest began.
    usual: Vec<f64>,
    /// What an execution would take with the program's own setting, in what it takes with the kept one.
    own: f64,
    /// What executions with the kept one took since that was known.
    since: f64,
    random: u64,
    tally: Tally,
}

#[derive(Debug)]
enum Doing {
    Resting { left: u32 },
    Contest(Contest),
}

#[derive(Debug)]
struct Contest {
    rival: usize,
    /// What each of a pair took by the logarithm of kept / rival.
    pairs: Vec<f64>,
    /// The rival comes first in this pair.
    is_rival_first: bool,
    /// What the first of the pair took.
    first: Option<f64>,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Executions with each setting.
    pub executions: Vec<u64>,
    /// The time of all.
    pub took: f64,
    /// What that is less than with the program's own setting, as pairs of executions say, and after what trying has cost.
    pub saved: f64,
    /// What was kept from which execution on: the first times, and the last.
    pub changes: Vec<Change>,
}

/// Another setting was kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// How many executions there were before.
    pub at: u64,
    pub to: usize,
    /// What the one before takes, in what this one takes.
    pub ratio: f64,
}

impl Choice {
    /// Of so many settings, of which 0 is the program's own.
    #[must_use]
    pub fn new(settings: usize) -> Choice {
        Choice {
            settings,
            kept: 0,
            doing: Doing::Resting { left: WARM_UP },
            waiting: Vec::new(),
            rest: RESTS[0],
            rested: 0,
            recent: Vec::new(),
            usual: Vec::new(),
            own: 1.0,
            since: 0.0,
            random: 0x9e37_79b9_7f4a_7c15,
            tally: Tally { executions: vec![0; settings.max(1)], ..Tally::default() },
        }
    }

    /// The setting of the next execution.
    #[must_use]
    pub fn next(&self) -> usize {
        match &self.doing {
            Doing::Contest(contest) if contest.is_rival_first == contest.first.is_none() => contest.rival,
            _ => self.kept,
        }
    }

    /// What the next execution took with the setting that was said, in any unit.
    pub fn took(&mut self, time: f64) {
        // What takes no time that the clock knows compares with nothing.
        let time = if time.is_finite() { time.max(1e-9) } else { return };
        let setting = self.next();
        self.tally.executions[setting] += 1;
        self.tally.took += time;
        if setting == self.kept {
            if self.recent.len() == RECENT {
                self.recent.remove(0);
            }
            self.recent.push(time);
            if self.kept != 0 {
                let undelayed = self.undelayed(time);
                self.tally.saved += undelayed * (self.own - 1.0);
                self.since += undelayed;
            }
        }
        match &mut self.doing {
            Doing::Resting { left } => {
                // After a change nothing is known of what is usual.
                if self.usual.len() < RECENT && self.recent.len() == RECENT {
                    self.usual.clone_from(&self.recent);
                }
                *left = left.saturating_sub(1);
                let (is_over, rested) = (*left == 0, self.rest.saturating_sub(*left));
                if is_over || rested >= self.rest / UNDISTURBED && self.is_other_load() {
                    self.wake();
                }
            }
            Doing::Contest(contest) => match contest.first.take() {
                None => contest.first = Some(time),
                Some(first) => {
                    let [kept, rival] = if contest.is_rival_first { [time, first] } else { [first, time] };
                    contest.pairs.push((kept / rival).ln());
                    // With the program's own setting nothing is saved, whatever it takes.
                    if contest.rival != 0 {
                        self.tally.saved += self.undelayed(kept) * self.own - rival;
                    }
                    self.judge();
                }
            },
        }
    }

    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    /// The setting that is kept.
    #[must_use]
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// What an execution with the kept setting took, without what delayed it: of that nothing was saved.
    fn undelayed(&self, time: f64) -> f64 {
        time.min(HOPELESS * median(&self.recent))
    }

    /// Whether the kept setting takes plainly more or less than when the rest began: all of what it took lately than all of what it took then.
    fn is_other_load(&self) -> bool {
        let by = median(&self.recent) / median(&self.usual);
        let [now, usual] = [&self.recent, &self.usual].map(|times| {
            times.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), time| (least.min(*time), most.max(*time)))
        });
        self.recent.len() == RECENT && (by > CHANGED && now.0 > usual.1 || by < 1.0 / CHANGED && now.1 < usual.0)
    }

    /// The rest is over: who waits goes on, or all others come anew.
    fn wake(&mut self) {
        if self.waiting.is_empty() {
            // The last is the first to come: the program's own setting, where that is not the kept one.
            self.waiting.extend((0..self.settings).rev().filter(|it| *it != self.kept));
        }
        self.go_on();
    }

    /// The next contest, or a rest.
    fn go_on(&mut self) {
        // What was saved may be spent as well.
        let is_affordable = self.tally.saved > -SHARE * self.tally.took;
        let rival = if is_affordable { self.waiting.pop() } else { None };
        if let Some(rival) = rival {
            let is_rival_first = self.toss();
            self.doing = Doing::Contest(Contest { rival, pairs: Vec::new(), is_rival_first, first: None });
            return;
        }
        let left = if self.waiting.is_empty() {
            let has_changed = std::mem::replace(&mut self.rested, self.kept) != self.kept;
            self.rest =
                if has_changed { RESTS[0] } else { (self.rest * 2).min(RESTS[if self.kept == 0 { 1 } else { 2 }]) };
            self.rest
        } else {
            1
        };
        // Who was tried before the load changed may be the better one now.
        let is_other_load = self.is_other_load();
        self.usual.clone_from(&self.recent);
        if is_other_load && self.waiting.is_empty() {
            return self.wake();
        }
        self.doing = Doing::Resting { left };
    }

    /// After a pair: whether the contest is over, and who has won.
    fn judge(&mut self) {
        let Doing::Contest(contest) = &self.doing else { return };
        let (pairs, rival) = (&contest.pairs, contest.rival);
        let won = pairs.iter().filter(|it| **it > 0.0).count() as i32;
        let ahead = 2 * won - pairs.len() as i32;
        let by = median(pairs);
        let sure = SURE * (pairs.len() as f64).sqrt();
        if f64::from(ahead) >= sure && by > WORTH {
            if rival == 0 {
                self.known_anew(by);
            }
            self.own = if rival == 0 { 1.0 } else { self.own * by.exp() };
            // Who won may have been lucky: fresh pairs with the program's own setting say what it saves, and come next.
            self.waiting.retain(|it| *it != 0);
            self.waiting.extend((rival != 0).then_some(0));
            self.keep(rival, by);
            self.go_on();
            return;
        }
        let worse = pairs.iter().rev().take(3).filter(|it| **it < -HOPELESS.ln()).count();
        // By how much the program's own loses is to be known, so it has all its pairs.
        let is_hopeless = worse > 1 && rival != 0;
        let is_over = if rival == 0 { -f64::from(ahead) >= sure } else { -ahead >= PLAINLY };
        if is_hopeless || is_over || pairs.len() == MOST_PAIRS {
            if rival == 0 {
                self.defended(by);
            }
            self.go_on();
            return;
        }
        let is_rival_first = self.toss();
        if let Doing::Contest(contest) = &mut self.doing {
            contest.is_rival_first = is_rival_first;
        }
    }

    /// The program's own setting did not win against the kept one; by how much it lost is known anew. In doubt it is kept.
    fn defended(&mut self, by: f64) {
        self.known_anew(by);
        if by > -WORTH {
            self.own = 1.0;
            self.keep(0, by);
        } else {
            self.own = (-by).exp();
        }
    }

    /// Pairs say what the program's own setting takes now. When that changed since they said so last nobody saw: half of the time counts as now.
    fn known_anew(&mut self, by: f64) {
        self.tally.saved += self.since * ((-by).exp() - self.own) / 2.0;
        self.since = 0.0;
    }

    /// Another setting is kept from now on; `by` is the logarithm of what the one before takes in what this one does.
    fn keep(&mut self, setting: usize, by: f64) {
        // The last change is always told.
        self.tally.changes.truncate(TOLD - 1);
        self.tally.changes.push(Change { at: self.tally.executions.iter().sum(), to: setting, ratio: by.exp() });
        self.kept = setting;
        self.since = 0.0;
        // What the one before took says nothing of this one.
        self.recent.clear();
        self.usual.clear();
    }

    /// A coin: the same ones in every run.
    fn toss(&mut self) -> bool {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random >> 63 == 1
    }
}

/// NaN of nothing.
fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}
