import { FatalError, RetryableError } from '../errors';
import type { Http, HttpAnswer, HttpOptions } from '../tools/http-options';
import type { FileStore, StoredFile } from './file-store';
import { LockedError } from './locked-error';

/** Largest file that is read; more than a manager keeps unless somebody has raised its limit. */
const MAX_BYTES = 256 * 1024 * 1024;
/** For one file. */
const TIMEOUT_MS = 120_000;
const TRIES = 3;

interface Listed extends Omit<StoredFile, 'holder'> {
  lock: { holder: string } | null;
}

/** Files of a node instance by the API of the manager (`/node-instances/{id}/files`). */
export function managerStore(manager: Http, instanceId: string): FileStore {
  const folder = `/node-instances/${encodeURIComponent(instanceId)}/files`;
  const at = (name: string): string => `${folder}/${encodeURIComponent(name)}`;
  const byLock = (lockId: string | null) => (lockId === null ? {} : { query: { lock_id: lockId } });
  const call = (method: string, address: string, name: string, options: HttpOptions = {}) =>
    ask(manager, { method, address, name, options });
  return {
    list: async () => {
      const { items } = await manager.get<{ items: Listed[] }>(folder);
      return items.map(({ name, size, sha256, lock }) => ({
        name,
        size,
        sha256,
        holder: lock?.holder ?? null,
      }));
    },
    read: async (name) => (await call('GET', at(name), name, { maxBytes: MAX_BYTES }))?.bytes ?? null,
    write: async (name, content, lockId) => {
      const headers = { 'content-type': 'application/octet-stream' };
      const written = await call('PUT', at(name), name, { body: content, headers, ...byLock(lockId) });
      if (written === null) throw new FatalError(`the node instance ${instanceId} does not exist any more`);
    },
    remove: async (name, lockId) => void (await call('DELETE', at(name), name, byLock(lockId))),
    lock: async (name, lockId, holder, seconds) => {
      const json = { lock_id: lockId, holder, seconds };
      const taken = await call('PUT', `${at(name)}/lock`, name, { json });
      if (taken === null) throw new FatalError(`the node instance ${instanceId} does not exist any more`);
    },
    unlock: async (name, lockId) => void (await call('DELETE', `${at(name)}/lock`, name, byLock(lockId))),
  };
}

interface Asked {
  method: string;
  address: string;
  name: string;
  options: HttpOptions;
}

const CONFLICT = 409;
const SHOWN_CHARACTERS = 300;

/**
 * Sends a request, which may be repeated; null: there is no such file.
 * @throws LockedError for a conflict, FatalError for another refusal, RetryableError when the manager cannot answer now
 */
async function ask(manager: Http, { method, address, name, options }: Asked): Promise<HttpAnswer | null> {
  for (let attempt = 1; ; attempt++) {
    const answer = await manager.request(method, address, { timeoutMs: TIMEOUT_MS, ...options });
    const { status } = answer;
    if (status >= 200 && status < 300) return answer;
    if (status === 404) return null;
    if (status === CONFLICT) throw new LockedError(name, messageOf(answer));
    const message = `the file ${name} of the node instance: the manager answered ${status}: ${messageOf(answer)}`;
    if (status < 500) throw new FatalError(message);
    if (attempt === TRIES) throw new RetryableError(message);
  }
}

function messageOf({ text }: HttpAnswer): string {
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text.slice(0, SHOWN_CHARACTERS);
  } catch {
    return text.slice(0, SHOWN_CHARACTERS);
  }
}
