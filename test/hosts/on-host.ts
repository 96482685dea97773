/** A deployment with one host and things on it (blueprints/on-host), and what tests ask of it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { archiveOf, call, type Followed, follow, upload } from '../harness/session';
import type { Host } from './rig';

/** Secret with the login key of the hosts. */
export const KEY_SECRET = 'host_key';

/** `agent_config` of a host that a worker logs into with its key. */
export const byKey = (host: Host, more: object = {}): object => ({
  user: host.user,
  key: { get_secret: KEY_SECRET },
  ...more,
});

/** Where an operation ran, by its own words. */
export interface Where {
  host: string;
  /** AGENT_NAME there. */
  agent: string;
  user: string;
  /** The host name that a Python operation saw. */
  python?: string;
}

/** Uploads the blueprint with this host and `agent_config`, and makes a deployment of it with `apps` things; both are called `id`. */
export async function deployOnHost(
  client: Client,
  id: string,
  host: Host,
  agentConfig: object,
  apps = 1,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-on-host-'));
  try {
    const copy = join(folder, 'blueprint');
    cpSync(join(__dirname, 'blueprints/on-host'), copy, { recursive: true });
    const main = join(copy, 'blueprint.yaml');
    const text = readFileSync(main, 'utf8')
      .replace('HOST_ADDRESS', JSON.stringify(host.address))
      .replace('AGENT_CONFIG', JSON.stringify(agentConfig))
      .replace('APP_COUNT', String(apps));
    writeFileSync(main, text);
    await upload(client, id, archiveOf(copy));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  await call(client, 'createDeployment', { id }, { blueprint_id: id });
}

export async function outputsOf(client: Client, id: string): Promise<{ app: Where; beside: Where }> {
  return (await call(client, 'getDeploymentOutputs', { id })).outputs;
}

export interface Instance {
  id: string;
  node_id: string;
  state: string;
  // biome-ignore lint/suspicious/noExplicitAny: whatever operations have written.
  runtime_properties: Record<string, any>;
}

/** The node instance of a node that has one. */
export async function instanceOf(client: Client, deployment: string, node: string): Promise<Instance> {
  const query = { deployment_id: deployment, node_id: node };
  return (await call(client, 'listNodeInstances', {}, undefined, query)).items[0];
}

/** Runs an operation of the interface `probe` of the node `app` and follows it to its end. */
export async function probe(
  client: Client,
  deployment: string,
  operation: string,
  kwargs: object = {},
): Promise<Followed> {
  return await follow(client, deployment, 'execute_operation', probing(operation, kwargs));
}

/** The request that runs an operation of the interface `probe` of the node `app`. */
export const probing = (operation: string, kwargs: object = {}): object => ({
  parameters: {
    operation: `probe.${operation}`,
    node_ids: ['app'],
    operation_kwargs: kwargs,
    allow_kwargs_override: true,
  },
});

/** Starts `probe.slow`, which runs until its file is there; returns the id of the execution. */
export async function startSlow(client: Client, deployment: string, file = 'slow'): Promise<string> {
  const body = { deployment_id: deployment, workflow_id: 'execute_operation', ...probing('slow', { file }) };
  return (await call(client, 'startExecution', {}, body)).id;
}

/** Beginnings and ends of `probe.slow`, by the host's own ledger. */
export async function ledgerOf(host: Host): Promise<{ begun: number; ended: number }> {
  const { stdout } = await host.exec('cat /srv/ledger 2>/dev/null');
  const count = (word: string): number => stdout.split('\n').filter((line) => line.startsWith(word)).length;
  return { begun: count('begin'), ended: count('end') };
}

/** The stream of an agent, as the API tells it; null: there is no such agent. */
export interface Connection {
  name: string;
  state: string;
  is_connected: boolean;
  since: string | null;
  last_seen: string | null;
  version: string | null;
  wanted_version: string | null;
  certificate: { serial: string; expires_at: string; revoked_at: string | null } | null;
  // biome-ignore lint/suspicious/noExplicitAny: AgentAbout, or nothing.
  about: any;
}

export async function connectionOf(client: Client, name: string): Promise<Connection> {
  return await call(client, 'getAgentConnection', { name });
}

/** Does what cron does each minute and after a start of the host: calls what the installation has written for it. */
export async function startByCron(host: Host): Promise<void> {
  await host.exec(
    'for file in /opt/baton-agent/*/keep-alive.sh; do setsid su guest -s /bin/sh -c "$file" >/dev/null 2>&1 </dev/null & done',
  );
}
