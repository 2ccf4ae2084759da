//! A link as a picture that a phone can read.

use qrcode::QrCode;
use qrcode::render::svg;

/// Draws a QR code as SVG, or nothing when the text is too long for one.
pub(super) fn draw(text: &str) -> Option<String> {
    let code = QrCode::new(text).ok()?;
    Some(
        code.render::<svg::Color<'_>>()
            .min_dimensions(240, 240)
            .dark_color(svg::Color("#000000"))
            .light_color(svg::Color("#ffffff"))
            .build(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_becomes_a_picture() {
        let svg = draw("http://192.168.1.5:7000/login/abc").unwrap();
        assert!(svg.contains("<svg") && !svg.contains("<script"), "{svg}");
        assert_eq!(draw(&"x".repeat(10_000)), None);
    }
}
