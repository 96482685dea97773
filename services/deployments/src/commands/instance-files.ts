import type { BlobStore } from '@baton/blob-store';
import { type Principal, quotaReached, type TenantLimits } from '@baton/contracts';
import { AppError, isAppError, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { saltedSize, withSalt } from '../adapters/salted-content';
import { requireOwnInstance } from '../queries/instance-files';
import {
  countLocks,
  type FileKey,
  findLock,
  type InstanceFile,
  listFiles,
  lockUsage,
  noteLooseBlob,
  removeFile,
  removeLock,
  takeLooseBlobs,
  usageOf,
  writeFile,
  writeLock,
} from '../store/instance-files.sql';
import { lockInstance } from '../store/node-instances.sql';
import type { DB } from '../store/tables.gen';

/** Most names of one instance that have a file or a lock. */
const MAX_FILES = 32;

export interface FileDeps {
  db: Db<DB>;
  blobs: BlobStore;
  /** Most bytes of one file. */
  fileMaxBytes: number;
  limits: { of(tenant: string): Pick<TenantLimits, 'storageBytes'> };
}

/**
 * Writes a file. The content is stored first: after a crash in between the old file is there, and the sweep removes the new content.
 * @throws AppError not_found_error; conflict_error when the file is locked by another id, or the lock of this id is over;
 * payload_too_large_error; too_many_requests_error at the quota of the tenant
 */
export async function putFile(
  deps: FileDeps,
  principal: Principal,
  { instanceId, name, lockId }: { instanceId: string; name: string; lockId?: string },
  content: AsyncIterable<Buffer | string>,
): Promise<InstanceFile> {
  const { db, blobs, fileMaxBytes: maxBytes, limits } = deps;
  const key = { tenant: principal.tenant, instanceId, name };
  await requireOwnInstance(db.query, principal, instanceId);
  const { salted, measured } = withSalt(content);
  const { digest } = await blobs.put(salted, { maxBytes: saltedSize(maxBytes) }).catch((error: unknown) => {
    throw isAppError(error, 'payload_too_large_error') ? tooLarge(maxBytes) : error;
  });
  await noteLooseBlob(db.query, digest);
  await db.tx(async (tx) => {
    await requireInstance(tx, key);
    await requireLock(tx, key, lockId);
    await writeFile(tx, key, { ...measured(), digest });
    await lockUsage(tx, key.tenant);
    const { files, bytes, tenantBytes } = await usageOf(tx, key);
    if (files > MAX_FILES) throw tooMany(instanceId);
    if (bytes > MAX_FILES * maxBytes) throw tooLarge(maxBytes);
    const limit = limits.of(key.tenant).storageBytes;
    if (limit !== null && tenantBytes > limit) throw noRoom(key.tenant, limit, tenantBytes);
  });
  return await shown(deps, key);
}

/** Removes a file. @throws AppError not_found_error, conflict_error */
export async function deleteFile(
  { db }: Pick<FileDeps, 'db'>,
  principal: Principal,
  { instanceId, name, lockId }: { instanceId: string; name: string; lockId?: string },
): Promise<void> {
  await changeFile(db, principal, { instanceId, name }, async (tx, key) => {
    await requireLock(tx, key, lockId);
    if (!(await removeFile(tx, key))) throw notFound('NodeInstanceFile', name);
  });
}

/** Takes or renews a lock. @throws AppError not_found_error; conflict_error when another id has it */
export async function lockFile(
  deps: Pick<FileDeps, 'db'>,
  principal: Principal,
  { instanceId, name }: { instanceId: string; name: string },
  wanted: { lockId: string; holder: string; seconds: number },
): Promise<InstanceFile> {
  const changed = await changeFile(deps.db, principal, { instanceId, name }, async (tx, key) => {
    const present = await findLock(tx, key);
    if (present !== null && present.lock_id !== wanted.lockId) throw locked(key, present);
    if (present === null && (await countLocks(tx, key)) >= MAX_FILES) throw tooMany(instanceId);
    await writeLock(tx, key, wanted);
  });
  return await shown(deps, changed);
}

/** Gives a lock back; one that is not there is fine. Without an id it is broken. @throws AppError not_found_error, conflict_error */
export async function unlockFile(
  { db }: Pick<FileDeps, 'db'>,
  principal: Principal,
  { instanceId, name, lockId }: { instanceId: string; name: string; lockId?: string },
): Promise<void> {
  await changeFile(db, principal, { instanceId, name }, async (tx, key) => {
    const present = await findLock(tx, key);
    if (present === null) return;
    if (lockId !== undefined && lockId !== present.lock_id) throw locked(key, present);
    await removeLock(tx, key);
  });
}

/** Changes a file or its lock, of an instance that belongs to the tenant of the caller. Returns what has been changed. */
async function changeFile(
  db: FileDeps['db'],
  principal: Principal,
  file: { instanceId: string; name: string },
  change: (tx: Tx<DB>, key: FileKey) => Promise<void>,
): Promise<FileKey> {
  const key = { tenant: principal.tenant, ...file };
  await requireOwnInstance(db.query, principal, file.instanceId);
  await db.tx(async (tx) => {
    await requireInstance(tx, key);
    await change(tx, key);
  });
  return key;
}

/** Writers of the files of one instance wait for each other. */
async function requireInstance(tx: Tx<DB>, { tenant, instanceId }: FileKey): Promise<void> {
  if ((await lockInstance(tx, tenant, instanceId)) === null) throw notFound('NodeInstance', instanceId);
}

/**
 * A write without an id needs a name that nobody has locked; a write with an id needs its lock: whoever has lost a lock must not
 * overwrite what the next one writes.
 */
async function requireLock(tx: Tx<DB>, key: FileKey, lockId: string | undefined): Promise<void> {
  const present = await findLock(tx, key);
  if (present === null) {
    if (lockId === undefined) return;
    throw new AppError(
      'conflict_error',
      `The lock of \`${key.name}\` is over: take it again before writing`,
      {
        field: 'lock_id',
      },
    );
  }
  if (present.lock_id !== lockId) throw locked(key, present);
}

async function shown({ db }: Pick<FileDeps, 'db'>, key: FileKey): Promise<InstanceFile> {
  const [file] = await listFiles(db.query, key.tenant, key.instanceId, key.name);
  if (file === undefined) throw notFound('NodeInstanceFile', key.name);
  return file;
}

function locked(
  { name }: FileKey,
  { holder, expires_at: until }: { holder: string; expires_at: string },
): AppError {
  const who = holder === '' ? 'somebody' : holder;
  return new AppError('conflict_error', `\`${name}\` is locked by ${who} until ${until} or longer`, {
    field: 'lock_id',
    holder,
    expires_at: until,
  });
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large_error', `A file of a node instance has at most ${maxBytes} bytes`, {
    maxBytes,
  });

const tooMany = (instanceId: string): AppError =>
  new AppError(
    'conflict_error',
    `Node instance \`${instanceId}\` has ${MAX_FILES} files already; remove some`,
    {
      expected: `at most ${MAX_FILES} files`,
    },
  );

const noRoom = (tenant: string, limit: number, usage: number): AppError =>
  quotaReached({
    quota: 'max_storage_bytes',
    tenant,
    limit,
    usage,
    what: 'bytes of files of node instances',
    remedy: 'remove some',
  });

const BATCH = 100;

/** Deletes blobs that no file uses any more. A crash before the deletion leaves a blob that costs space, nothing else. */
export async function sweepFiles(
  { db, blobs }: Pick<FileDeps, 'db' | 'blobs'>,
  graceMs: number,
): Promise<{ again: boolean }> {
  const { taken, unused } = await db.tx((tx) => takeLooseBlobs(tx, graceMs, BATCH));
  for (const digest of unused) await blobs.delete(digest);
  return { again: taken === BATCH };
}
