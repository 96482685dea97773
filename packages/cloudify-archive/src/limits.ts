/** Bounds of memory and work while an archive is read. */
export interface Limits {
  /** Bytes of one item of a page. */
  maxItemBytes: number;
  /** Bytes of one line of a database dump. */
  maxLineBytes: number;
  /** Nesting of a value. */
  maxDepth: number;
  /** Ids that are remembered for one type of one tenant (new layouts), or for all tables together (legacy). */
  maxIndexEntries: number;
  /** Bytes of a small file that is read whole: metadata, configuration. */
  maxSmallFileBytes: number;
  /** Objects of one pickled value, counted as written out. */
  maxPickleObjects: number;
}

export const DEFAULT_LIMITS: Limits = {
  maxItemBytes: 64 * 2 ** 20,
  maxLineBytes: 256 * 2 ** 20,
  maxDepth: 200,
  maxIndexEntries: 3_000_000,
  maxSmallFileBytes: 2 ** 20,
  maxPickleObjects: 2_000_000,
};
