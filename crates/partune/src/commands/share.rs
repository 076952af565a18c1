//! Shares as people write them: `0.05`, `5%`.

/// A share of something: a number between 0 and 1, or per cent.
pub(crate) fn share(text: &str) -> Result<f64, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let share = number.trim().parse::<f64>().ok().map(|number| number / of);
    share
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| "a share between 0 and 1; 5 % is 0.05 or 5%".to_owned())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn shares_are_numbers_up_to_one_or_per_cent() {
        assert_eq!(
            ["0.05", "5%", "5 %", "0", "1", "100%", "0.1%"].map(share),
            [0.05, 0.05, 0.05, 0.0, 1.0, 1.0, 0.001].map(Ok)
        );
        for wrong in ["5", "101%", "-0.1", "NaN", "inf", "", "%", "much"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
