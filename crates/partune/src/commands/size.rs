//! Sizes as people write them: `4096`, `64M`, `2G`.

/// A number of bytes: `4096`, `256K`, `64M`, `1G`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.to_ascii_uppercase().strip_suffix(['K', 'M', 'G']) {
        Some(digits) => (
            digits.to_owned(),
            1_u64 << (10 * (1 + "KMG".find(text.to_ascii_uppercase().chars().last().unwrap_or('K')).unwrap_or(0))),
        ),
        None => (text.to_owned(), 1),
    };
    let bytes = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| format!("{text} is not a size: write 4096, 256K, 64M or 1G"))
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(["4096", "256k", "64M", "1G"].map(size), [Ok(4096), Ok(256 << 10), Ok(64 << 20), Ok(1 << 30)]);
        assert!(size("64MB").is_err() && size("").is_err() && size("0").is_err());
    }
}
