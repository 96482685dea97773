import type { OperationContext } from '../context';

/** A file of a node instance, or a name that is locked and has no file yet. */
export interface StoredFile {
  name: string;
  /** Bytes; null: no file yet. */
  size: number | null;
  /** Of the content, hex. */
  sha256: string | null;
  /** Who has the lock, and for what; null: nobody. */
  holder: string | null;
}

/** Where the files of one node instance are: a manager, or the memory of a test. Errors are those of the SDK. */
export interface FileStore {
  list(): Promise<StoredFile[]>;
  /** null: there is no such file. */
  read(name: string): Promise<Uint8Array | null>;
  /** @throws LockedError when another id has the lock, or the given one has it no longer */
  write(name: string, content: Uint8Array, lockId: string | null): Promise<void>;
  /** Does nothing when there is no such file. @throws LockedError */
  remove(name: string, lockId: string | null): Promise<void>;
  /** Takes or renews a lock for `seconds`. @throws LockedError when another id has it */
  lock(name: string, lockId: string, holder: string, seconds: number): Promise<void>;
  /** A lock that is not held is fine; null: whoever has it. */
  unlock(name: string, lockId: string | null): Promise<void>;
}

/** A registered symbol: the test kit puts its store there, and may be another copy of this package. */
const STORE: unique symbol = Symbol.for('baton.file-store') as never;

/** The store that a context brings along; null: it brings none. */
export const storeOf = (ctx: OperationContext): FileStore | null =>
  (ctx as { [STORE]?: FileStore })[STORE] ?? null;

/** Makes a context bring a store. */
export const withStore = <C extends OperationContext>(ctx: C, store: FileStore): C =>
  Object.assign(ctx, { [STORE]: store });
