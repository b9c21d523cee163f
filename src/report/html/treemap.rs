//! Files as rectangles as large as their history, folder by folder (squarified: each row of them as square as it can be).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::escaped;

/// The picture, in pixels of its own.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 480.0;
/// Height of the name of a folder.
const HEAD: f64 = 16.0;
/// Most files with a rectangle of their own; the others share one.
const FILES: usize = 80;
/// Colours.
const COLOURS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// One folder, with those of its files that have a rectangle of their own.
struct Folder<'a> {
    name: String,
    /// Path, name and weight.
    files: Vec<(&'a str, &'a str, usize)>,
    weight: usize,
}

/// A picture of files with their weights, the heaviest first.
pub(super) fn treemap(files: &[(&str, usize)]) -> String {
    let mut by_folder: BTreeMap<&str, Folder<'_>> = BTreeMap::new();
    for (path, weight) in files.iter().take(FILES) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = by_folder.entry(folder).or_insert_with_key(|folder| Folder {
            name: if folder.is_empty() { String::from("/") } else { (*folder).to_owned() },
            files: Vec::new(),
            weight: 0,
        });
        folder.files.push((path, name, *weight));
        folder.weight += weight;
    }
    let mut folders: Vec<Folder<'_>> = by_folder.into_values().collect();
    let others: usize = files.iter().skip(FILES).map(|file| file.1).sum();
    if others > 0 {
        let name = format!("{} more files", files.len() - FILES);
        folders.push(Folder { name, files: Vec::new(), weight: others });
    }
    folders.sort_by(|a, b| b.weight.cmp(&a.weight).then_with(|| a.name.cmp(&b.name)));
    let mut out = format!(
        "<svg class=\"tree\" role=\"img\" aria-label=\"{} files by how many memories are about them\" viewBox=\"0 0 \
         {WIDTH} {HEIGHT}\">",
        files.len()
    );
    let whole = Area { x: 0.0, y: 0.0, width: WIDTH, height: HEIGHT };
    let weights: Vec<usize> = folders.iter().map(|folder| folder.weight).collect();
    for (index, (folder, area)) in folders.iter().zip(squarify(&weights, whole)).enumerate() {
        let colour = index % COLOURS;
        rectangle(&mut out, area, colour, &folder.name, &folder.name, folder.weight);
        if area.height < 2.0 * HEAD {
            continue;
        }
        let inner = Area {
            x: area.x + 3.0,
            y: area.y + HEAD + 3.0,
            width: (area.width - 6.0).max(0.0),
            height: (area.height - HEAD - 6.0).max(0.0),
        };
        let weights: Vec<usize> = folder.files.iter().map(|file| file.2).collect();
        for ((path, name, weight), area) in folder.files.iter().zip(squarify(&weights, inner)) {
            rectangle(&mut out, area, colour, name, path, *weight);
        }
    }
    out.push_str("</svg>");
    out
}

/// One rectangle; its name is cut off at its edge.
fn rectangle(out: &mut String, area: Area, colour: usize, name: &str, full: &str, weight: usize) {
    let Area { x, y, width, height } = area;
    let _ = write!(
        out,
        "<svg x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\"><rect class=\"t{colour}\" \
         width=\"100%\" height=\"100%\"><title>{}: {weight}</title></rect>",
        escaped(full)
    );
    if width > 24.0 && height > 13.0 {
        let _ = write!(out, "<text x=\"4\" y=\"12\">{}</text>", escaped(name));
    }
    out.push_str("</svg>");
}

/// An area for each weight, the heaviest first, which together fill the whole.
fn squarify(weights: &[usize], whole: Area) -> Vec<Area> {
    let sum: usize = weights.iter().sum();
    let scale = whole.width * whole.height / sum.max(1) as f64;
    let sizes: Vec<f64> = weights.iter().map(|weight| *weight as f64 * scale).collect();
    let (mut areas, mut left, mut rest) = (Vec::with_capacity(sizes.len()), whole, &sizes[..]);
    while !rest.is_empty() {
        let side = left.width.min(left.height);
        let mut count = 1;
        while count < rest.len() && worst(&rest[..=count], side) <= worst(&rest[..count], side) {
            count += 1;
        }
        let (row, after) = rest.split_at(count);
        let sum: f64 = row.iter().sum();
        let upright = left.width >= left.height;
        let depth = if side > 0.0 { sum / side } else { 0.0 };
        let mut along = 0.0;
        for size in row {
            let length = if depth > 0.0 { size / depth } else { 0.0 };
            areas.push(match upright {
                true => Area { x: left.x, y: left.y + along, width: depth, height: length },
                false => Area { x: left.x + along, y: left.y, width: length, height: depth },
            });
            along += length;
        }
        left = match upright {
            true => Area { x: left.x + depth, width: (left.width - depth).max(0.0), ..left },
            false => Area { y: left.y + depth, height: (left.height - depth).max(0.0), ..left },
        };
        rest = after;
    }
    areas
}

/// The longest side of a row's areas by the shortest, where it is worst.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let ratio = |size: f64| (side * side * size / (sum * sum)).max(sum * sum / (side * side * size));
    row.iter().copied().map(ratio).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_whole_in_proportion_and_do_not_overlap() {
        let whole = Area { x: 0.0, y: 0.0, width: 600.0, height: 400.0 };
        let weights = [6, 6, 4, 3, 2, 2, 1];
        let areas = squarify(&weights, whole);
        let sum: f64 = areas.iter().map(|area| area.width * area.height).sum();
        assert!((sum - 240_000.0).abs() < 1.0);
        for (area, weight) in areas.iter().zip(weights) {
            assert!((area.width * area.height - 10_000.0 * f64::from(weight as u32)).abs() < 1.0, "{area:?}");
            assert!(area.x + area.width < 600.1 && area.y + area.height < 400.1, "{area:?}");
        }
        for (index, a) in areas.iter().enumerate() {
            for b in &areas[index + 1..] {
                let wide = (a.x + a.width).min(b.x + b.width) - a.x.max(b.x);
                let high = (a.y + a.height).min(b.y + b.height) - a.y.max(b.y);
                assert!(wide < 0.01 || high < 0.01, "{a:?} and {b:?}");
            }
        }
        assert!(squarify(&[], whole).is_empty());
    }

    #[test]
    fn files_without_room_share_a_rectangle() {
        let paths: Vec<String> = (0..100).map(|n| format!("src/f{n}.rs")).collect();
        let files: Vec<(&str, usize)> = paths.iter().map(|path| (path.as_str(), 1)).collect();
        let picture = treemap(&files);
        assert!(
            picture.contains("20 more files: 20") && picture.matches("<title>").count() == 82,
            "{picture}"
        );
    }
}
