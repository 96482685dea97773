import { createHash } from 'node:crypto';
import type { FileStore } from '../files/file-store';
import { LockedError } from '../files/locked-error';

/** Files of a node instance in memory. A lock is there until it is given back: a test decides about time. */
export class MemoryFiles implements FileStore {
  readonly contents = new Map<string, Uint8Array>();
  readonly locks = new Map<string, { id: string; holder: string }>();

  async list() {
    const names = [...new Set([...this.contents.keys(), ...this.locks.keys()])].sort();
    return names.map((name) => {
      const content = this.contents.get(name);
      return {
        name,
        size: content?.length ?? null,
        sha256: content === undefined ? null : createHash('sha256').update(content).digest('hex'),
        holder: this.locks.get(name)?.holder ?? null,
      };
    });
  }

  async read(name: string): Promise<Uint8Array | null> {
    const content = this.contents.get(name);
    return content === undefined ? null : new Uint8Array(content);
  }

  async write(name: string, content: Uint8Array, lockId: string | null): Promise<void> {
    this.#require(name, lockId);
    this.contents.set(name, new Uint8Array(content));
  }

  async remove(name: string, lockId: string | null): Promise<void> {
    this.#require(name, lockId);
    this.contents.delete(name);
  }

  async lock(name: string, lockId: string, holder: string): Promise<void> {
    const present = this.locks.get(name);
    if (present !== undefined && present.id !== lockId) throw locked(name, present.holder);
    this.locks.set(name, { id: lockId, holder });
  }

  async unlock(name: string, lockId: string | null): Promise<void> {
    const present = this.locks.get(name);
    if (present !== undefined && lockId !== null && present.id !== lockId) throw locked(name, present.holder);
    this.locks.delete(name);
  }

  #require(name: string, lockId: string | null): void {
    const present = this.locks.get(name);
    if (present === undefined && lockId !== null)
      throw new LockedError(name, `the lock of ${name} is over: take it again before writing`);
    if (present !== undefined && present.id !== lockId) throw locked(name, present.holder);
  }
}

const locked = (name: string, holder: string): LockedError =>
  new LockedError(name, `${name} is locked by ${holder}`);
