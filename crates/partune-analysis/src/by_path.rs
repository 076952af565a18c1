//! Sums by call path in a dense array, which is used again by the next PE or task.

use std::ops::AddAssign;

use partune_base::{CallPathId, Id};

/// What is added up of call paths. Memory: that of one sum a call path, whether it is touched or not.
pub struct ByPath<S> {
    sums: Vec<Option<S>>,
    touched: Vec<CallPathId>,
}

impl<S: AddAssign> ByPath<S> {
    pub fn new(paths: usize) -> ByPath<S> {
        ByPath { sums: std::iter::repeat_with(|| None).take(paths).collect(), touched: Vec::new() }
    }

    pub fn add(&mut self, path: CallPathId, more: S) {
        match &mut self.sums[path.index()] {
            Some(sum) => *sum += more,
            none => {
                *none = Some(more);
                self.touched.push(path);
            }
        }
    }

    /// The sum of a path to which something was added.
    pub fn get_mut(&mut self, path: CallPathId) -> Option<&mut S> {
        self.sums[path.index()].as_mut()
    }

    /// The sums in order of path; none is left.
    pub fn take(&mut self) -> Vec<(CallPathId, S)> {
        self.touched.sort_unstable();
        let sums = &mut self.sums;
        self.touched.drain(..).filter_map(|path| Some((path, sums[path.index()].take()?))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_in_order_of_path_and_taken_once() {
        let mut sums = ByPath::new(4);
        for (path, more) in [(3, 5), (1, 0), (3, 7), (1, 2)] {
            sums.add(CallPathId(path), more);
        }
        *sums.get_mut(CallPathId(3)).expect("it was added") -= 1;
        assert_eq!(sums.get_mut(CallPathId(0)), None);
        assert_eq!(sums.take(), [(CallPathId(1), 2), (CallPathId(3), 11)]);
        assert_eq!(sums.take(), []);
    }
}
