use super::*;

#[test]
fn values_are_drawn_between_the_ends_of_their_axis() {
    let axis = Axis { least: 10.0, most: 30.0, ticks: Vec::new() };
    assert_eq!([10.0, 20.0, 30.0].map(|value| axis.at(value, (600, 100))), [600, 350, 100]);
}

#[test]
fn the_same_drawing_is_the_same_text() {
    let draw = || {
        Canvas::draw(100, |canvas| {
            canvas.line(&[(0, 0), (500, 70), (900, 90)], Stroke::new(INK, 3).dashed())?;
            canvas.text((10, 10), "a < b & c", Align::Left, FAINT)
        })
    };
    let svg = draw().unwrap();
    assert_eq!(svg, draw().unwrap());
    assert!(svg.contains("a &lt; b &amp; c") && svg.ends_with("</svg>\n"), "{svg}");
}
