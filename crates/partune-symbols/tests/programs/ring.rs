//! Generics, closures, traits and modules.
mod queue {
    pub struct Ring<T> {
        cells: Vec<Option<T>>,
        next: usize,
    }

    impl<T: Clone + std::fmt::Debug> Ring<T> {
        pub fn new(size: usize) -> Self {
            Self { cells: vec![None; size], next: 0 }
        }

        #[inline(always)]
        fn place(&mut self) -> usize {
            let place = self.next % self.cells.len();
            self.next += 1;
            place
        }

        #[inline(never)]
        pub fn push(&mut self, value: T) -> Option<T> {
            let place = self.place();
            self.cells[place].replace(value)
        }
    }
}

trait Show {
    fn show(&self) -> String;
}

impl Show for u64 {
    fn show(&self) -> String {
        format!("<{self}>")
    }
}

fn main() {
    let mut numbers = queue::Ring::new(3);
    let mut words = queue::Ring::new(2);
    let lost: Vec<_> = (0..10u64).filter_map(|i| numbers.push(i).map(|old| old.show())).collect();
    for word in &lost {
        words.push(word.clone());
    }
    println!("{lost:?}");
}
