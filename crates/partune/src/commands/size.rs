//! Numbers as people write them: counts (`8`) and sizes (`4096`, `64M`).

/// What reads whole numbers from `least` on.
pub(crate) fn count<T: TryFrom<u64>>(least: u64) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = whole(text, 1).ok_or_else(|| format!("a whole number, at least {least}"))??;
        if number < least {
            return Err(format!("at least {least}"));
        }
        T::try_from(number).map_err(|_| too_large(text))
    }
}

/// A number of bytes: `4096`, `256K`, `64M`, `1G`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    const UNITS: [(char, u64); 3] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let unit = |it: &(char, u64)| Some((text.strip_suffix([it.0, it.0.to_ascii_lowercase()])?, it.1));
    let (digits, factor) = UNITS.iter().find_map(unit).unwrap_or((text, 1));
    whole(digits, factor).ok_or_else(|| format!("{text} is not a size: write 4096, 256K, 64M or 1G"))?
}

/// A size that is not nothing.
pub(crate) fn positive_size(text: &str) -> Result<u64, String> {
    size(text).and_then(|bytes| if bytes > 0 { Ok(bytes) } else { Err("at least 1".to_owned()) })
}

/// Digits as a number, so many times; none where there is something else.
fn whole(digits: &str, factor: u64) -> Option<Result<u64, String>> {
    let is_number = !digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit());
    let number = || digits.parse::<u64>().ok()?.checked_mul(factor);
    is_number.then(|| number().ok_or_else(|| too_large(digits)))
}

fn too_large(text: &str) -> String {
    format!("{text} is too large")
}

#[cfg(test)]
mod tests {
    use super::{count, positive_size, size};

    #[test]
    fn sizes_have_units() {
        assert_eq!(["4096", "256k", "64M", "1G"].map(size), [Ok(4096), Ok(256 << 10), Ok(64 << 20), Ok(1 << 30)]);
        assert!(["64MB", "", "-1", "M", "+1"].iter().all(|text| size(text).is_err_and(|it| it.contains("not a size"))));
        assert!(
            ["99999999999G", "18446744073709551616"]
                .iter()
                .all(|text| size(text).is_err_and(|it| it.contains("too large")))
        );
        assert!(size("0") == Ok(0) && positive_size("0").is_err());
    }

    #[test]
    fn counts_are_whole_numbers() {
        assert_eq!((count::<usize>(0)("0"), count::<u32>(2)("2")), (Ok(0), Ok(2)));
        for wrong in ["", "abc", "-1", "1.5", "+1", "0x1"] {
            assert_eq!(count::<u32>(1)(wrong), Err("a whole number, at least 1".to_owned()), "{wrong}");
        }
        assert_eq!(count::<u32>(3)("2"), Err("at least 3".to_owned()));
        assert_eq!(count::<u32>(0)("4294967296"), Err("4294967296 is too large".to_owned()));
        assert!(count::<u64>(0)("99999999999999999999").is_err_and(|it| it.contains("too large")));
    }
}
