//! The three functions of C's mathematics library that anybody here calls: the ranking of what a search found, and of
//! libraries SQLite, `num-bigint`, `tokio` and `cssparser`.
//!
//! Given here, they are in the program, and the library is not loaded. It is one more file to find, to map and to bind
//! each time an agent asks something, which took 0.3 ms of 3.1 where it was measured.

#![allow(
    unsafe_code,
    reason = "a function with a name of C's has to be marked so; these take and return numbers only"
)]

#[unsafe(no_mangle)]
extern "C" fn log(number: f64) -> f64 {
    libm::log(number)
}

#[unsafe(no_mangle)]
extern "C" fn log2(number: f64) -> f64 {
    libm::log2(number)
}

#[unsafe(no_mangle)]
extern "C" fn pow(base: f64, exponent: f64) -> f64 {
    libm::pow(base, exponent)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{LN_10, LOG2_10, SQRT_2};
    use std::hint::black_box;

    #[test]
    fn what_the_standard_library_calls_is_right() {
        let is_close = |found: f64, expected: f64| (found - expected).abs() < 1e-12;
        assert!(is_close(black_box(10_f64).ln(), LN_10));
        assert!(is_close(black_box(10_f64).log2(), LOG2_10));
        assert!(is_close(black_box(2_f64).powf(black_box(0.5)), SQRT_2));
        assert!(black_box(-1_f64).ln().is_nan());
        assert_eq!(black_box(0_f64).log2(), f64::NEG_INFINITY);
    }
}
