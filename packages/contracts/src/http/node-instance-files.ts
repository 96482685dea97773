/** Files of node instances (docs/adr/0044-files-of-an-instance.md): ours, the original has none. */
import { z } from 'zod';
import { defineRoutes } from '../route';

/** Becomes a part of addresses and names of files: one name, no path. */
const fileName = z
  .string()
  .regex(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/, 'a name of at most 128 letters, digits, _, - and dots');

const lock = z.object({
  holder: z.string().describe('Who has the lock, and for what'),
  taken_at: z.string(),
  expires_at: z.string().describe('The lock is free after this time unless it is renewed'),
});

const nodeInstanceFile = z
  .object({
    name: z.string(),
    size: z.number().int().nullable().describe('Bytes; null: the name is locked, and there is no file yet'),
    sha256: z.string().nullable(),
    updated_at: z.string().nullable(),
    lock: lock.nullable(),
  })
  .meta({ id: 'NodeInstanceFile' });

const params = z.object({ id: z.string(), name: fileName });
const lockId = z.string().min(1).max(128);
const byHolder = z.object({ lock_id: lockId.optional() });

const own = {
  owner: 'deployments',
  tenant: 'required',
  versions: ['v3.1'],
  spec: 'adr 0044',
  isAllowedToExecution: true,
} as const;
const path = '/node-instances/:id/files/:name';
/** Files may hold secrets, such as those of a state of Terraform: those who only look at deployments may not read them. */
const permission = 'node_instance_update';

export const nodeInstanceFilesRoutes = defineRoutes([
  {
    id: 'listNodeInstanceFiles',
    method: 'GET',
    path: '/node-instances/:id/files',
    ...own,
    permission: 'node_instance_get',
    summary: 'Lists the files of a node instance, with their locks',
    params: params.pick({ id: true }),
    status: 200,
    response: z.object({ items: z.array(nodeInstanceFile) }),
  },
  {
    id: 'getNodeInstanceFile',
    method: 'GET',
    path,
    ...own,
    permission,
    summary: 'Reads a file of a node instance',
    params,
    responseKind: 'stream',
    status: 200,
  },
  {
    id: 'putNodeInstanceFile',
    method: 'PUT',
    path,
    ...own,
    permission,
    summary:
      'Writes a file of a node instance: the body. A locked file is written with the id of its lock only',
    params,
    query: byHolder,
    rawBody: 'archive',
    status: 200,
    response: nodeInstanceFile,
  },
  {
    id: 'deleteNodeInstanceFile',
    method: 'DELETE',
    path,
    ...own,
    permission,
    summary: 'Removes a file of a node instance. A locked file is removed with the id of its lock only',
    params,
    query: byHolder,
    status: 204,
  },
  {
    id: 'lockNodeInstanceFile',
    method: 'PUT',
    path: `${path}/lock`,
    ...own,
    permission,
    summary: 'Takes or renews the lock of a file; a conflict when another id has it',
    params,
    body: z.object({
      lock_id: lockId.describe('Chosen by the caller; who knows it has the lock'),
      holder: z.string().max(500).default('').describe('Shown to people'),
      seconds: z
        .number()
        .int()
        .min(1)
        .max(3600)
        .default(60)
        .describe('Time until the lock is free by itself'),
    }),
    status: 200,
    response: nodeInstanceFile,
  },
  {
    id: 'unlockNodeInstanceFile',
    method: 'DELETE',
    path: `${path}/lock`,
    ...own,
    permission,
    summary: 'Gives a lock back. Without an id the lock is broken, whoever has it',
    params,
    query: byHolder,
    status: 204,
  },
]);
