//! The same, ended by guards.
fn main() {
    {
        let _setup = partune_regions::phase("setup");
        for _ in partune_regions::iterations("steps", 0..2) {
            let _solve = partune_regions::region("solve");
        }
    }
    {
        let _off = partune_regions::unrecorded();
        let _unseen = partune_regions::region("unseen");
    }
    println!("done");
}
