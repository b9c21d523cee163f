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
use super::entries::Entries;
use crate::config::replace;
use crate::embed::{self, QUANTUM};

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
struct Centroid(Box<[i8]>);

impl Point for Centroid {
    fn distance(&self, other: &Self) -> f32 {
        // Only the order counts, so that any model's quantum would do.
        #[expect(clippy::cast_precision_loss, reason = "products of bytes are small")]
        let product = embed::dot(&self.0, &other.0) as f32;
        1.0 - product * QUANTUM * QUANTUM
    }
}

impl Serialize for Centroid {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(bytemuck::cast_slice(&self.0))
    }
}

impl<'de> Deserialize<'de> for Centroid {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = <&[u8]>::deserialize(deserializer)?;
        Ok(Self(bytemuck::cast_slice(bytes).into()))
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
    pub(super) fn add(&mut self, project: i64, centroids: &Vectors) {
        let points = centroids.iter().map(|centroid| Centroid(centroid.into())).collect();
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
    pub(super) fn lists(&self, project: i64, question: &[i8]) -> Option<Vec<usize>> {
        let (_, graph) = self.projects.iter().find(|(known, _)| *known == project)?;
        let mut search = Search::default();
        let found = graph.search(&Centroid(question.into()), &mut search);
        Some(found.take(probed(graph.values.len())).map(|item| *item.value as usize).collect())
    }

    /// The centroids of a project, in the order of its lists.
    pub(super) fn of(&self, project: i64) -> Option<Vectors> {
        let (_, graph) = self.projects.iter().find(|(known, _)| *known == project)?;
        let dim = graph.iter().next()?.1.0.len();
        let mut flat = vec![0; dim * graph.values.len()];
        for ((_, centroid), list) in graph.iter().zip(&graph.values) {
            flat.get_mut(*list as usize * dim..)?.get_mut(..dim)?.copy_from_slice(&centroid.0);
        }
        Some(Vectors { dim, flat })
    }
}

fn probed(lists: usize) -> usize {
    lists.div_ceil(PROBED)
}

/// Vectors of one dimension, without names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Vectors {
    dim: usize,
    flat: Vec<i8>,
}

impl Vectors {
    pub(super) fn len(&self) -> usize {
        self.flat.len() / self.dim
    }

    fn iter(&self) -> impl Iterator<Item = &[i8]> {
        self.flat.chunks_exact(self.dim)
    }
}

/// Centroids of some vectors whose step is `quantum`: k-means by angle (spherical k-means), from a sample, the same for the
/// same vectors.
pub(super) fn train(vectors: &Entries, quantum: f32) -> Vectors {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a root is small and positive"
    )]
    let wanted = (((vectors.len() as f64).sqrt() * LISTS_PER_ROOT) as usize).clamp(1, vectors.len().max(1));
    let step = (vectors.len() / (wanted * SAMPLE)).max(1);
    let dim = vectors.dim();
    let sample: Vec<&[i8]> = vectors.iter().step_by(step).map(|(_, vector)| vector).collect();
    let flat = (0..wanted).flat_map(|list| sample[list * sample.len() / wanted]).copied().collect();
    let mut centroids = Vectors { dim, flat };
    for _ in 0..ROUNDS {
        let nearest = assign(&centroids, &sample);
        let mut sums = vec![0f32; centroids.flat.len()];
        for (list, vector) in nearest.into_iter().zip(&sample) {
            for (sum, value) in sums[list * dim..][..dim].iter_mut().zip(vector.iter()) {
                *sum += f32::from(*value);
            }
        }
        for (centroid, sum) in centroids.flat.chunks_exact_mut(dim).zip(sums.chunks_exact(dim)) {
            // One that nothing is near to stays where it is.
            if let Some(mean) = embed::unit_bytes(sum, quantum) {
                centroid.copy_from_slice(&mean);
            }
        }
    }
    centroids
}

/// The nearest centroid of each vector.
pub(super) fn assign(centroids: &Vectors, vectors: &[&[i8]]) -> Vec<usize> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let share = vectors.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = vectors
            .chunks(share)
            .map(|part| {
                let flat = &centroids.flat;
                scope.spawn(move || part.iter().map(|vector| nearest(flat, vector)).collect::<Vec<usize>>())
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    })
}

fn nearest(centroids: &[i8], vector: &[i8]) -> usize {
    let mut products = vec![0; centroids.len() / vector.len()];
    embed::dots(vector, centroids, &mut products);
    products
        .iter()
        .enumerate()
        .max_by_key(|(list, product)| (**product, std::cmp::Reverse(*list)))
        .map_or(0, |best| best.0)
}
