import { afterDelay, newId } from '@baton/kernel';
import type { FileStore, StoredFile } from './file-store';
import { LockedError } from './locked-error';

/** A lock that this operation has. */
export interface HeldLock {
  /** Name of the file. */
  readonly name: string;
  /** Aborted when the lock is lost: nobody may write the file with it any more. */
  readonly signal: AbortSignal;
  write(content: string | Uint8Array): Promise<void>;
  remove(): Promise<void>;
  /** Gives the lock back. A lock whose operation dies is free a minute later. */
  release(): Promise<void>;
}

/**
 * Files of the node instance at the manager: for what a later operation at another worker needs, and what is too large or too private
 * for runtime properties. They are there until they are removed, or the instance is gone. A name has letters, digits, `_`, `-`, dots.
 */
export interface InstanceFiles {
  list(): Promise<StoredFile[]>;
  /** null: there is no such file. */
  read(name: string): Promise<Uint8Array | null>;
  /** Replaces the whole file. @throws LockedError when somebody has its lock; FatalError when it is too large */
  write(name: string, content: string | Uint8Array): Promise<void>;
  /** Does nothing when there is no such file. @throws LockedError */
  remove(name: string): Promise<void>;
  /**
   * Takes the lock of a file, which need not exist, and renews it until it is released. `holder`: for people.
   * @throws LockedError when somebody else has it
   */
  lock(name: string, holder: string): Promise<HeldLock>;
  /** Breaks the lock of a file, whoever has it. Only on the order of a person. */
  breakLock(name: string): Promise<void>;
}

/** Time after which a lock that is not renewed is free. */
const LOCK_S = 60;
const RENEW_MS = 20_000;

const bytesOf = (content: string | Uint8Array): Uint8Array =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content;

/** The files of an instance that are in `store`. `signal`: of the operation; after it no lock is renewed. */
export function instanceFiles(open: () => FileStore, signal: AbortSignal): InstanceFiles {
  return {
    list: () => open().list(),
    read: (name) => open().read(name),
    write: (name, content) => open().write(name, bytesOf(content), null),
    remove: (name) => open().remove(name, null),
    lock: (name, holder) => hold(open(), name, holder, signal),
    breakLock: (name) => open().unlock(name, null),
  };
}

async function hold(store: FileStore, name: string, holder: string, signal: AbortSignal): Promise<HeldLock> {
  const id = newId();
  const lost = new AbortController();
  await store.lock(name, id, holder, LOCK_S);
  let cancel = (): void => undefined;
  const renewLater = (): void => {
    cancel = afterDelay(RENEW_MS, () => void renew());
  };
  const renew = async (): Promise<void> => {
    try {
      await store.lock(name, id, holder, LOCK_S);
    } catch (error) {
      // Any other failure may pass before the lock is over; if it does not, the next write is refused.
      if (error instanceof LockedError) return lost.abort(error);
    }
    if (!signal.aborted) renewLater();
  };
  renewLater();
  const stop = (): void => cancel();
  return {
    name,
    signal: lost.signal,
    write: (content) => store.write(name, bytesOf(content), id),
    remove: () => store.remove(name, id),
    release: async () => {
      stop();
      await store.unlock(name, id).catch((error: unknown) => {
        // Somebody else has it already: there is nothing to give back.
        if (!(error instanceof LockedError)) throw error;
      });
    },
  };
}
