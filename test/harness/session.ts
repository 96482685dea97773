import { execFileSync } from 'node:child_process';
import { basename, dirname } from 'node:path';
import { type Client, createClient } from '@baton/client';
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import type { Fleet } from './fleet';

// biome-ignore lint/suspicious/noExplicitAny: answers of all routes; the tests say what they expect.
type Answer = any;

export function adminClient(fleet: Pick<Fleet, 'baseUrl' | 'adminPassword'>): Client {
  return createClient({
    baseUrl: fleet.baseUrl,
    username: 'admin',
    password: fleet.adminPassword,
    tenant: 'default_tenant',
  });
}

export function route(id: string): RouteContract {
  const found = allRoutes.find((one) => one.id === id);
  if (!found) throw new Error(`no route ${id}`);
  return found;
}

/** Calls a route by its id. */
export async function call(
  client: Client,
  id: string,
  params: Record<string, string>,
  body?: object,
  query?: object,
): Promise<Answer> {
  return await client.call(route(id), { params, body, query } as never);
}

/** Returns a tar.gz of a folder, with the folder as its only top-level entry. */
export function archiveOf(folder: string): Buffer {
  return execFileSync('tar', ['czf', '-', '-C', dirname(folder), basename(folder)], {
    maxBuffer: 64 * 1024 * 1024,
  });
}

export async function upload(client: Client, id: string, archive: Uint8Array): Promise<Answer> {
  return await client.upload(route('uploadBlueprint'), {
    params: { blueprint_id: id },
    content: archive,
  } as never);
}

export interface Followed {
  id: string;
  status: string;
  error: string | null;
  messages: string[];
  /** Ids of the events in the order of the stream. */
  ids: string[];
}

/** Starts a workflow and reads its event stream to the end. */
export async function follow(
  client: Client,
  deploymentId: string,
  workflowId: string,
  more: object = {},
): Promise<Followed> {
  const { id } = await call(
    client,
    'startExecution',
    {},
    { deployment_id: deploymentId, workflow_id: workflowId, ...more },
  );
  return await followExecution(client, id);
}

/** Runs a workflow and waits until it succeeds. @throws Error with its last messages when it does not succeed. */
export async function succeed(
  client: Client,
  deploymentId: string,
  workflowId: string,
  parameters: object = {},
): Promise<Followed> {
  const done = await follow(client, deploymentId, workflowId, { parameters });
  if (done.status !== 'terminated')
    throw new Error(
      `${workflowId} of ${deploymentId} ${done.status}: ${done.messages.slice(-20).join('\n')}`,
    );
  return done;
}

export async function followExecution(client: Client, id: string): Promise<Followed> {
  const followed: Followed = { id, status: '', error: null, messages: [], ids: [] };
  for await (const event of client.events(route('streamEvents'), { execution_id: id })) {
    if (event.event === 'end') return { ...followed, status: event.data.status, error: event.data.error };
    followed.ids.push(event.id!);
    followed.messages.push(event.data.message);
  }
  return followed;
}
