//! `vectors-MODEL.bin`: the vectors of `memory.db` in the order in which they are compared, so that a process reads only
//! what it needs of them. A cache: what is missing, damaged, or of another state is not used, and the rows answer.
//!
//! All numbers are little endian. Runs of one project lie together; each holds the ids of its observations (8 bytes
//! each) and then their vectors (as many bytes each as the model has dimensions). The head stands at the end, where it can
//! be written last: the dimension, sections with their runs, then a trailer of fixed length. Runs of an indexed section are inverted lists, in the order
//! of its centroids; those of another one are just pieces of it. It is read, not mapped: a file that is cut off while it
//! is used is an error then, not a signal.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::Near;
use super::Nearest;
use super::entries::Entries;
use crate::embed;

const MAGIC: [u8; 8] = *b"CMEMVEC2";
/// Epoch, watermark, place of the head, its length, its checksum, magic.
const TRAILER: usize = 8 + 8 + 8 + 4 + 4 + 8;

/// Of which state of the rows a cache is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct State {
    /// Changes when rows were taken away or moved.
    pub(super) epoch: i64,
    /// The last row in it.
    pub(super) watermark: i64,
}

/// Vectors of one project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) project: i64,
    /// How many vectors the centroids were made from; 0 = its runs are no lists.
    pub(super) trained: u64,
    pub(super) runs: Vec<Run>,
}

/// Vectors that are read together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    offset: u64,
    pub(super) count: u32,
    checksum: u32,
}

/// An open cache.
#[derive(Debug)]
pub(super) struct Cache {
    file: File,
    path: PathBuf,
    dim: usize,
    pub(super) state: State,
    /// Checksum of the head: another file about this one names it.
    pub(super) mark: u32,
    pub(super) sections: Vec<Section>,
}

impl Cache {
    /// The cache of vectors of this dimension; `None` if there is none that can be used. A damaged one is removed, for the
    /// next drainer.
    pub(super) fn open(path: &Path, dim: usize) -> Option<Self> {
        match Self::read(path, dim) {
            Ok(cache) => Some(cache),
            Err(error) => {
                if error.kind() != io::ErrorKind::NotFound {
                    let _ = fs::remove_file(path);
                }
                None
            }
        }
    }

    fn read(path: &Path, dim: usize) -> io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        let mut trailer = [0; TRAILER];
        file.read_exact_at(&mut trailer, length.checked_sub(TRAILER as u64).ok_or_else(damaged)?)?;
        let mut fields = Fields(&trailer);
        let state = State { epoch: fields.number()?, watermark: fields.number()? };
        let (offset, size, checksum): (i64, u32, u32) = (fields.number()?, fields.small()?, fields.small()?);
        if fields.0 != MAGIC {
            return Err(damaged());
        }
        let mut head = vec![0; size as usize];
        file.read_exact_at(&mut head, offset.cast_unsigned())?;
        if crc32fast::hash(&head) != checksum {
            return Err(damaged());
        }
        let (kept, head) = head.split_first_chunk().ok_or_else(damaged)?;
        if usize::try_from(u64::from_le_bytes(*kept)) != Ok(dim) {
            return Err(damaged());
        }
        let sections = sections(head)?;
        Ok(Self { file, path: path.to_owned(), dim, state, mark: checksum, sections })
    }

    /// Compares with every vector of some runs of a section.
    ///
    /// # Errors
    /// When a run is damaged or cannot be read; the cache is removed then.
    pub(super) fn scan<'a>(
        &self,
        runs: impl Iterator<Item = &'a Run>,
        question: &[i8],
        nearest: &mut Nearest,
    ) -> io::Result<()> {
        if question.len() != self.dim {
            return Err(damaged());
        }
        let (mut bytes, mut products) = (Vec::new(), Vec::new());
        for run in runs {
            self.load(run, &mut bytes)?;
            let (ids, vectors) = bytes.split_at(8 * run.count as usize);
            products.resize(run.count as usize, 0);
            embed::dots(question, bytemuck::cast_slice(vectors), &mut products);
            for (product, id) in products.iter().zip(ids.chunks_exact(8)) {
                if nearest.wants(*product) {
                    let observation = Fields(id).number()?;
                    nearest.offer(Near { product: *product, observation });
                }
            }
        }
        Ok(())
    }

    /// Ids and vectors of a run.
    pub(super) fn contents(&self, run: &Run) -> io::Result<Entries> {
        let mut bytes = Vec::new();
        self.load(run, &mut bytes)?;
        let (ids, vectors) = bytes.split_at(8 * run.count as usize);
        let mut entries = Entries::new(self.dim);
        for (id, vector) in ids.chunks_exact(8).zip(vectors.chunks_exact(self.dim)) {
            entries.push(Fields(id).number()?, bytemuck::cast_slice(vector));
        }
        Ok(entries)
    }

    fn load(&self, run: &Run, bytes: &mut Vec<u8>) -> io::Result<()> {
        bytes.resize(run.count as usize * (8 + self.dim), 0);
        let read = self.file.read_exact_at(bytes, run.offset);
        if read.is_err() || crc32fast::hash(bytes) != run.checksum {
            let _ = fs::remove_file(&self.path);
            return Err(damaged());
        }
        Ok(())
    }
}

/// Writes a cache beside the old one and replaces it at once.
#[derive(Debug)]
pub(super) struct Writer {
    out: BufWriter<File>,
    draft: PathBuf,
    dim: usize,
    offset: u64,
    sections: Vec<Section>,
}

impl Writer {
    pub(super) fn create(path: &Path, dim: usize) -> io::Result<Self> {
        let draft = path.with_extension(format!("bin.{}", std::process::id()));
        let out = BufWriter::with_capacity(1 << 20, File::create(&draft)?);
        Ok(Self { out, draft, dim, offset: 0, sections: Vec::new() })
    }

    /// Begins the next project.
    pub(super) fn section(&mut self, project: i64, trained: u64) {
        self.sections.push(Section { project, trained, runs: Vec::new() });
    }

    /// Writes a run of the present section: observations, and their vectors one after the other.
    pub(super) fn run(&mut self, ids: &[i64], vectors: &[i8]) -> io::Result<()> {
        let mut bytes: Vec<u8> = ids.iter().flat_map(|id| id.to_le_bytes()).collect();
        let count = u32::try_from(ids.len()).map_err(|_| damaged())?;
        bytes.extend_from_slice(bytemuck::cast_slice(vectors));
        self.out.write_all(&bytes)?;
        let run = Run { offset: self.offset, count, checksum: crc32fast::hash(&bytes) };
        self.offset += bytes.len() as u64;
        if let Some(section) = self.sections.last_mut() {
            section.runs.push(run);
        }
        Ok(())
    }

    /// Finishes the file; returns its mark.
    pub(super) fn finish(mut self, path: &Path, state: State) -> io::Result<u32> {
        let mut head = (self.dim as u64).to_le_bytes().to_vec();
        head.extend((self.sections.len() as u64).to_le_bytes());
        for section in &self.sections {
            head.extend(section.project.to_le_bytes());
            head.extend(section.trained.to_le_bytes());
            head.extend((section.runs.len() as u64).to_le_bytes());
            for run in &section.runs {
                head.extend(run.offset.to_le_bytes());
                head.extend(run.count.to_le_bytes());
                head.extend(run.checksum.to_le_bytes());
            }
        }
        let mark = crc32fast::hash(&head);
        self.out.write_all(&head)?;
        self.out.write_all(&state.epoch.to_le_bytes())?;
        self.out.write_all(&state.watermark.to_le_bytes())?;
        self.out.write_all(&self.offset.to_le_bytes())?;
        self.out.write_all(&u32::try_from(head.len()).map_err(|_| damaged())?.to_le_bytes())?;
        self.out.write_all(&mark.to_le_bytes())?;
        self.out.write_all(&MAGIC)?;
        self.out.flush()?;
        fs::rename(&self.draft, path)?;
        Ok(mark)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Gone already if it was finished.
        let _ = fs::remove_file(&self.draft);
    }
}

fn sections(head: &[u8]) -> io::Result<Vec<Section>> {
    let mut fields = Fields(head);
    let mut sections = Vec::new();
    for _ in 0..fields.number()? {
        let (project, trained, runs) = (fields.number()?, fields.number()?.cast_unsigned(), fields.number()?);
        let run = |_| {
            Ok::<_, io::Error>(Run {
                offset: fields.number()?.cast_unsigned(),
                count: fields.small()?,
                checksum: fields.small()?,
            })
        };
        sections.push(Section { project, trained, runs: (0..runs).map(run).collect::<Result<_, _>>()? });
    }
    Ok(sections)
}

/// Reads numbers one after the other.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn number(&mut self) -> io::Result<i64> {
        let (field, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(i64::from_le_bytes(*field))
    }

    fn small(&mut self) -> io::Result<u32> {
        let (field, rest) = self.0.split_first_chunk().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*field))
    }
}

pub(super) fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the vector cache is damaged")
}
