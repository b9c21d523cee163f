//! Inverted lists (IVF) with a graph over their centroids as the coarse quantizer, the scheme that FAISS calls IVF-HNSW
//! (<https://github.com/facebookresearch/faiss/wiki/Faiss-indexes>): a question is compared with the vectors of the
//! lists whose centroids are nearest to it, and with no others.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;

use instant_distance::{Builder, HnswMap, Point, Search};
use serde::{Deserialize, Serialize};

use super::cache::damaged;
use crate::config::replace;
use crate::embed::{self, DIM, QUANTUM};

/// From so many vectors of a project on, lists win over comparing with all of them in a process that has just begun,
/// the reading of the centroids included (`scripts/bench/scale`).
pub(super) const INDEXED_FROM: usize = if cfg!(test) { 800 } else { 100_000 };
/// A question is compared with one list in so many: recall of the ten nearest is then above 0.97 even for texts of
/// unrelated words, whose vectors form no groups (`scripts/bench/scale`).
const PROBED: usize = 4;
/// Lists for each root of the number of vectors.
const LISTS_PER_ROOT: f64 = 4.0;
/// Vectors for each list that the centroids are made from, and how often they are moved.
const SAMPLE: usize = 40;
const ROUNDS: usize = 4;

/// A centroid as the graph sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Centroid(Box<[i8; DIM]>);

impl Point for Centroid {
    fn distance(&self, other: &Self) -> f32 {
        #[expect(clippy::cast_precision_loss, reason = "products of bytes are small")]
        let product = embed::dot(&self.0, &other.0) as f32;
        1.0 - product * QUANTUM * QUANTUM
    }
}

impl Serialize for Centroid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0.map(i8::cast_unsigned))
    }
}

impl<'de> Deserialize<'de> for Centroid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        let bytes: &[u8; DIM] = bytes.try_into().map_err(|_| serde::de::Error::custom("not a centroid"))?;
        Ok(Self(Box::new(bytes.map(u8::cast_signed))))
    }
}

/// The centroids of the projects that have lists.
#[derive(Serialize, Deserialize)]
pub(super) struct Centroids {
    /// The cache whose runs they stand for.
    mark: u32,
    projects: Vec<(i64, HnswMap<Centroid, u32>)>,
}

impl Centroids {
    pub(super) fn new() -> Self {
        Self { mark: 0, projects: Vec::new() }
    }

    /// Adds a project; the graph is built here.
    pub(super) fn add(&mut self, project: i64, centroids: &[[i8; DIM]]) {
        let points = centroids.iter().map(|centroid| Centroid(Box::new(*centroid))).collect();
        let lists = (0..u32::try_from(centroids.len()).unwrap_or(u32::MAX)).collect();
        let graph = Builder::default()
            .ef_construction(100)
            .ef_search(2 * probed(centroids.len()))
            .seed(1)
            .build(points, lists);
        self.projects.push((project, graph));
    }

    /// Those for a cache of this mark; `None` if they are missing, damaged, or of another one.
    pub(super) fn open(path: &Path, mark: u32) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let (content, checksum) = bytes.split_last_chunk::<4>()?;
        if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
            return None;
        }
        postcard::from_bytes(content).ok().filter(|centroids: &Self| centroids.mark == mark)
    }

    pub(super) fn save(mut self, path: &Path, mark: u32) -> io::Result<()> {
        if self.projects.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            };
        }
        self.mark = mark;
        let mut bytes = postcard::to_stdvec(&self).map_err(|_| damaged())?;
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        replace(path, &bytes)
    }

    /// The lists to look into.
    pub(super) fn lists(&self, project: i64, question: &[i8; DIM]) -> Option<Vec<usize>> {
        let (_, graph) = self.projects.iter().find(|(known, _)| *known == project)?;
        let mut search = Search::default();
        let found = graph.search(&Centroid(Box::new(*question)), &mut search);
        Some(found.take(probed(graph.values.len())).map(|item| *item.value as usize).collect())
    }

    /// The centroids of a project, in the order of its lists.
    pub(super) fn of(&self, project: i64) -> Option<Vec<[i8; DIM]>> {
        let (_, graph) = self.projects.iter().find(|(known, _)| *known == project)?;
        let mut centroids = vec![[0; DIM]; graph.values.len()];
        for ((_, centroid), list) in graph.iter().zip(&graph.values) {
            centroids[*list as usize] = *centroid.0;
        }
        Some(centroids)
    }
}

fn probed(lists: usize) -> usize {
    lists.div_ceil(PROBED)
}

/// Centroids of some vectors: k-means by angle (spherical k-means), from a sample, the same for the same vectors.
pub(super) fn train(vectors: &[(i64, [i8; DIM])]) -> Vec<[i8; DIM]> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a root is small and positive"
    )]
    let wanted = (((vectors.len() as f64).sqrt() * LISTS_PER_ROOT) as usize).clamp(1, vectors.len().max(1));
    let step = (vectors.len() / (wanted * SAMPLE)).max(1);
    let sample: Vec<&[i8; DIM]> = vectors.iter().step_by(step).map(|(_, vector)| vector).collect();
    let mut centroids: Vec<[i8; DIM]> =
        (0..wanted).map(|list| *sample[list * sample.len() / wanted]).collect();
    for _ in 0..ROUNDS {
        let nearest = assign(&centroids, &sample);
        let mut sums = vec![[0f32; DIM]; centroids.len()];
        for (list, vector) in nearest.into_iter().zip(&sample) {
            for (sum, value) in sums[list].iter_mut().zip(vector.iter()) {
                *sum += f32::from(*value);
            }
        }
        for (centroid, sum) in centroids.iter_mut().zip(sums) {
            let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
            // One that nothing is near to stays where it is.
            if length > 0.0 {
                *centroid = embed::quantize(&sum.map(|value| value / length));
            }
        }
    }
    centroids
}

/// The nearest centroid of each vector.
pub(super) fn assign(centroids: &[[i8; DIM]], vectors: &[&[i8; DIM]]) -> Vec<usize> {
    let flat: Vec<i8> = centroids.as_flattened().to_vec();
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = vectors.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = vectors
            .chunks(share)
            .map(|part| {
                let flat = &flat;
                scope.spawn(move || part.iter().map(|vector| nearest(flat, vector)).collect::<Vec<usize>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

fn nearest(centroids: &[i8], vector: &[i8; DIM]) -> usize {
    let mut products = vec![0; centroids.len() / DIM];
    embed::dots(vector, centroids, &mut products);
    products
        .iter()
        .enumerate()
        .max_by_key(|(list, product)| (**product, std::cmp::Reverse(*list)))
        .map_or(0, |best| best.0)
}
