//! The corrected time of a recorded one, on one clock.

use partune_base::{Span, Time};

use super::forward::Jump;

/// A function from recorded to corrected time that does not decrease.
pub(super) struct Correction {
    /// In order of `from`; before the first one nothing is corrected.
    pieces: Vec<Piece>,
}

/// The function from `from` to the begin of the next piece: the offset left of a jump, and what a ramp adds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) from: Time,
    pub(super) jump: Option<Jump>,
    pub(super) ramp: Option<Ramp>,
}

/// An offset that grows linearly from one point to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ramp {
    pub(super) from: (Time, Span),
    pub(super) to: (Time, Span),
}

impl Ramp {
    /// The offset at a time between the ends, rounded down.
    pub(super) fn at(&self, time: Time) -> Span {
        let whole = i128::from(self.to.0.since(self.from.0).0);
        if whole == 0 {
            return self.from.1;
        }
        let part = i128::from(time.since(self.from.0).0).min(whole);
        let rise = i128::from((self.to.1 - self.from.1).0);
        Span(self.from.1.0 + (rise * part).div_euclid(whole) as i64)
    }
}

impl Piece {
    fn at(&self, time: Time) -> Time {
        let left = self.jump.map_or(Span::ZERO, |jump| jump.offset_at(time));
        let added = self.ramp.map_or(Span::ZERO, |ramp| ramp.at(time));
        time + left + added
    }
}

impl Correction {
    pub(super) fn new(pieces: Vec<Piece>) -> Correction {
        Correction { pieces }
    }

    pub(super) fn is_identity(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The corrected time. `cursor` remembers the piece, since times are mostly asked in order.
    pub(super) fn at(&self, time: Time, cursor: &mut usize) -> Time {
        let covers = |piece: usize| {
            let begins = |piece: usize| self.pieces.get(piece).is_none_or(|piece| piece.from > time);
            self.pieces.get(piece).is_some_and(|piece| piece.from <= time) && begins(piece + 1)
        };
        if covers(*cursor + 1) {
            *cursor += 1;
        } else if !covers(*cursor) {
            let after = self.pieces.partition_point(|piece| piece.from <= time);
            let Some(last) = after.checked_sub(1) else { return time };
            *cursor = last;
        }
        self.pieces[*cursor].at(time)
    }
}
