import { FatalError } from '../errors';
import type { Http } from '../tools/http-options';
import type { FileStore, StoredFile } from './file-store';
import { LockedError } from './locked-error';

/** Largest file that is read; more than a manager keeps unless somebody has raised its limit. */
const MAX_BYTES = 256 * 1024 * 1024;
/** For one file. */
const TIMEOUT_MS = 120_000;

interface Listed extends Omit<StoredFile, 'holder'> {
  lock: { holder: string } | null;
}

/** Files of a node instance by the API of the manager (`/node-instances/{id}/files`). */
export function managerStore(manager: Http, instanceId: string): FileStore {
  const folder = `/node-instances/${encodeURIComponent(instanceId)}/files`;
  const at = (name: string): string => `${folder}/${encodeURIComponent(name)}`;
  const byLock = (lockId: string | null) => (lockId === null ? {} : { query: { lock_id: lockId } });
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
    read: (name) => contentOf(manager, at(name), name),
    write: async (name, content, lockId) => {
      const headers = { 'content-type': 'application/octet-stream' };
      const options = { body: content, headers, timeoutMs: TIMEOUT_MS, ...byLock(lockId) };
      await conflictsAs(name, (watch) => manager.put(at(name), { ...options, fetch: watch }));
    },
    remove: async (name, lockId) => {
      await conflictsAs(name, (watch) =>
        manager.delete(at(name), { missingOk: true, fetch: watch, ...byLock(lockId) }),
      );
    },
    lock: async (name, lockId, holder, seconds) => {
      const json = { lock_id: lockId, holder, seconds };
      await conflictsAs(name, (watch) => manager.put(`${at(name)}/lock`, { json, fetch: watch }));
    },
    unlock: async (name, lockId) => {
      await conflictsAs(name, (watch) =>
        manager.delete(`${at(name)}/lock`, { missingOk: true, fetch: watch, ...byLock(lockId) }),
      );
    },
  };
}

const CONFLICT = 409;

/** Runs a request; its conflict is an error of its own kind. `watch`: the fetch that the request must use. */
async function conflictsAs(name: string, call: (watch: typeof fetch) => Promise<unknown>): Promise<void> {
  let reason: string | null = null;
  const watch: typeof fetch = async (...request) => {
    const response = await fetch(...request);
    if (response.status === CONFLICT) reason = await messageOf(response.clone());
    return response;
  };
  try {
    await call(watch);
  } catch (cause) {
    if (reason === null) throw cause;
    throw new LockedError(name, reason, { cause });
  }
}

async function messageOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = JSON.parse(text) as { message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    return text;
  }
}

/** `http` answers texts; the bytes are taken from the response on its way. */
async function contentOf(manager: Http, address: string, name: string): Promise<Uint8Array | null> {
  let content: Uint8Array | null = null;
  await manager.get(address, {
    missingOk: true,
    timeoutMs: TIMEOUT_MS,
    fetch: async (...request) => {
      const response = await fetch(...request);
      if (!response.ok) return response;
      content = await bytesWithin(response, name);
      return new Response(null, { status: 204 });
    },
  });
  return content;
}

async function bytesWithin(response: Response, name: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    if (bytes > MAX_BYTES) throw new FatalError(`the file ${name} has more than ${MAX_BYTES} bytes`);
    pieces.push(piece);
  }
  return new Uint8Array(Buffer.concat(pieces));
}
