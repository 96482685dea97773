import { createHash } from 'node:crypto';
import { ArchiveRefused } from '../archive-refused';
import type { SkipReason } from '../model/record';
import { identityOf } from '../model/shape-item';
import type { RecordType } from '../model/types';
import type { Archive } from '../open-archive';
import type { Page } from './list-pages';
import { normalize } from './normalize';
import { readItems } from './read-items';

interface Again {
  reason: SkipReason;
  message: string;
}

/**
 * Decides which of several items with one id counts: the last. Objects that change while a snapshot is written are appended to it
 * again. Only ids are remembered: about 100 bytes each, and at most `maxIndexEntries` of them.
 */
export class Replaced {
  #next = 0;

  private constructor(private readonly replaced: ReadonlySet<number>) {}

  /** Reads all items once. @throws ArchiveRefused limit */
  static async of(archive: Archive, type: RecordType, pages: readonly Page[]): Promise<Replaced> {
    const last = new Map<string, number>();
    /** Ordinals that are not the last of their id. */
    const replaced = new Set<number>();
    let ordinal = 0;
    for (const page of pages) {
      for await (const { raw, notes, place } of readItems(archive, page.file)) {
        const id = identityOf(type, normalize(type, raw, page, notes));
        const before = id === null ? undefined : last.get(id);
        if (before !== undefined) replaced.add(before);
        if (id !== null) last.set(id, ordinal);
        if (last.size > archive.limits.maxIndexEntries)
          throw new ArchiveRefused(
            'limit',
            `more than ${archive.limits.maxIndexEntries} ${type} in a tenant`,
            place,
          );
        ordinal++;
      }
    }
    return new Replaced(replaced);
  }

  /** To be called for every item, in the order of `of`. */
  check(): Again | null {
    return this.replaced.has(this.#next++)
      ? { reason: 'replaced', message: 'a later item has the same id' }
      : null;
  }
}

/**
 * Finds events that are in several files of one execution: the original appends all events of an execution that went on while the
 * snapshot was written, without ids. Equal events within one file are different events.
 */
export class RepeatedEvents {
  #source = '';
  #file = '';
  /** Digests of events of the current source in earlier files, and in the current one. */
  #earlier = new Set<string>();
  #current = new Set<string>();
  readonly #shared: ReadonlySet<string>;

  /** `pages` have all pages of a source one after the other. */
  constructor(
    pages: readonly Page[],
    private readonly maxEvents: number,
  ) {
    const met = new Set<string>();
    const shared = new Set<string>();
    for (const page of pages) (met.has(sourceOf(page)) ? shared : met).add(sourceOf(page));
    this.#shared = shared;
  }

  /** To be called for every event, in the order of the pages. @throws ArchiveRefused limit */
  check(page: Page, text: Buffer): Again | null {
    const source = sourceOf(page);
    if (!this.#shared.has(source)) return null;
    if (source !== this.#source) {
      this.#source = source;
      this.#earlier = new Set();
      this.#current = new Set();
    } else if (page.file !== this.#file) {
      for (const digest of this.#current) this.#earlier.add(digest);
      this.#current = new Set();
    }
    this.#file = page.file;
    const digest = createHash('sha256').update(text).digest('base64').slice(0, 22);
    if (this.#earlier.has(digest))
      return { reason: 'repeated', message: 'an earlier file has the same event' };
    this.#current.add(digest);
    if (this.#earlier.size + this.#current.size > this.maxEvents)
      throw new ArchiveRefused('limit', `more than ${this.maxEvents} events of one execution`, {
        file: page.file,
      });
    return null;
  }
}

const sourceOf = ({ source, sourceId }: Page): string => `${source}/${sourceId}`;
