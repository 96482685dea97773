/** A manager with one object of every kind, for the contract tests of the specification. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { allRoutes } from '@baton/contracts/http/all';
import { eventually } from '@baton/testkit';
import { type Fleet, type FleetOptions, startFleet } from '../harness/fleet';
import { archiveOf } from '../harness/session';
import type { Sent } from './spec-case';

export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of all routes; the cases say what they expect.
  body: any;
  bytes: number;
}

export interface World {
  fleet: Fleet;
  send(version: string, method: string, sent: Sent): Promise<Answer>;
  /** Values of `$name`. */
  values: Record<string, string>;
  /** Returns log lines with errors. */
  faults(): string[];
  stop(): Promise<void>;
}

const VIEWER = { username: 'viewer1', password: 'viewer-password' };
const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
description: one node
node_templates:
  n1: {type: cloudify.nodes.Root}
outputs:
  o: {value: 1}
capabilities:
  c: {value: 2}
`;
const SLOW_BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  slow:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create:
          implementation: |
            #!/bin/bash
            sleep 600
`;
/** A blueprint of two nodes that can be scaled together; one start in five fails. */
const FAULTY_BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
inputs:
  x: {default: 1}
node_templates:
  host: {type: cloudify.nodes.Root}
  app:
    type: cloudify.nodes.Root
    relationships: [{type: cloudify.relationships.depends_on, target: host}]
    interfaces:
      cloudify.interfaces.lifecycle:
        start:
          implementation: |
            #!/bin/bash
            test $((RANDOM % 5)) != 0
          max_retries: 1
          retry_interval: 0.0333
groups:
  pair:
    members: [host, app]
policies:
  scaled:
    type: cloudify.policies.scaling
    targets: [pair]
`;
const LICENSE = `license:
  customer_id: c1
  expiration_date: 12/31/2099
  license_edition: Premium
  trial: false
  cloudify_version: null
  capabilities: null
`;

/** Returns a tar.gz with one top folder. */
export function tgz(files: Record<string, string>, top = 'top'): Buffer {
  const dir = mkdtempSync(join(tmpdir(), 'baton-contract-'));
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, top, name)), { recursive: true });
      writeFileSync(join(dir, top, name), content);
    }
    return archiveOf(join(dir, top));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns a wagon; each call uses another package name. */
export function wagon(name: string, version = '1.0'): Buffer {
  const about = {
    package_name: name,
    package_version: version,
    package_source: name,
    archive_name: `${name.replaceAll('-', '_')}-${version}-py3-none-any.wgn`,
    supported_platform: 'any',
    supported_python_versions: ['py3'],
    wheels: [`${name}-${version}-py3-none-any.whl`],
    excluded_wheels: [],
    build_server_os_properties: {
      distribution: 'centos',
      distribution_version: '7',
      distribution_release: 'core',
    },
  };
  return tgz({ 'package.json': JSON.stringify(about), [`wheels/${name}.whl`]: 'x' }, name);
}

function contentOf(kind: Exclude<Sent['archive'], Buffer | undefined>): Buffer {
  switch (kind) {
    case 'slow':
      return tgz({ 'blueprint.yaml': SLOW_BLUEPRINT });
    case 'faulty':
      return tgz({ 'blueprint.yaml': FAULTY_BLUEPRINT });
    case 'blueprint':
      return tgz({ 'blueprint.yaml': BLUEPRINT });
    case 'broken':
      return tgz({ 'blueprint.yaml': 'node_templates: {n: {type: no.such.type}}' });
    case 'plugin':
      return wagon(`plugin-${randomUUID().slice(0, 8)}`);
    case 'license':
      return Buffer.from(LICENSE);
    case 'nothing':
      return Buffer.from('nothing: here\n');
  }
}

function sender(fleet: Fleet, values: Record<string, string>): World['send'] {
  const filled = (text: string): string =>
    text.replace(/\$([a-zA-Z]\w*)/g, (whole, name: string) => values[name] ?? whole);
  const basic = (user: string, password: string) =>
    `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  return async (version, method, sent) => {
    const headers: Record<string, string> = {};
    if (version === 'v3.1') headers.tenant = 'default_tenant';
    if (sent.as === 'viewer') headers.authorization = basic(VIEWER.username, VIEWER.password);
    else if (sent.as !== 'nobody') headers.authorization = basic('admin', fleet.adminPassword);
    let body: Buffer | undefined;
    if (sent.archive) {
      body = typeof sent.archive === 'string' ? contentOf(sent.archive) : sent.archive;
      headers['content-type'] = 'application/octet-stream';
    } else if (sent.body !== undefined) {
      body = Buffer.from(filled(JSON.stringify(sent.body)));
      headers['content-type'] = 'application/json';
    }
    const response = await fetch(`${fleet.baseUrl}/api/${version}${filled(sent.path)}`, {
      method,
      headers,
      body: body ? new Uint8Array(body) : undefined,
    });
    const raw = Buffer.from(await response.arrayBuffer());
    const isJson = response.headers.get('content-type')?.includes('json') === true && raw.length > 0;
    return {
      status: response.status,
      bytes: raw.length,
      body: isJson ? JSON.parse(raw.toString()) : raw.toString(),
    };
  };
}

/** Whether the manager has this route; parts under construction are left out of the world. */
const has = (id: string): boolean => allRoutes.some((route) => route.id === id);

async function untilEnded(send: World['send'], id: string): Promise<void> {
  const isEnded = async (): Promise<void> => {
    const { body } = await send('v3.1', 'GET', { path: `/executions/${id}` });
    if (!['terminated', 'failed', 'cancelled'].includes(body.status))
      throw new Error(`execution ${id} did not end`);
  };
  await eventually(isEnded, { deadlineMs: 60_000, everyMs: 50 });
}

/** Fills the manager. @throws Error that names the failed call */
async function fill(send: World['send'], values: Record<string, string>): Promise<void> {
  const must = async (method: string, sent: Sent): Promise<Answer['body']> => {
    const answer = await send('v3.1', method, sent);
    if (answer.status >= 300)
      throw new Error(`${method} ${sent.path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await must('PUT', { path: '/users', body: { ...VIEWER, role: 'default' } });
  await must('PUT', {
    path: '/tenants/users',
    body: { tenant_name: 'default_tenant', username: VIEWER.username, role: 'viewer' },
  });
  await must('PUT', { path: '/blueprints/b1', archive: 'blueprint' });
  for (const id of ['d1', 'd2'])
    await must('PUT', { path: `/deployments/${id}`, body: { blueprint_id: 'b1' } });
  const install = await must('POST', {
    path: '/executions',
    body: { deployment_id: 'd1', workflow_id: 'install' },
  });
  values.execution = install.id;
  await untilEnded(send, install.id);
  values.graph = (await must('GET', { path: `/tasks_graphs?execution_id=${install.id}` })).items[0].id;
  values.instance = (await must('GET', { path: '/node-instances?deployment_id=d1' })).items[0].id;
  values.instance2 = (await must('GET', { path: '/node-instances?deployment_id=d2' })).items[0].id;
  for (const name of ['plugin', 'pluginGone1', 'pluginGone2'])
    values[name] = (await must('POST', { path: '/plugins', archive: 'plugin' })).id;
  values.newId1 = randomUUID();
  values.newId2 = randomUUID();
  values.hostname = (await must('GET', { path: '/managers' })).items[0].hostname;
  await must('PUT', { path: '/secrets/s1', body: { value: 'v' } });
  await must('PUT', { path: '/sites/site1', body: {} });
  const rules = [{ key: 'tier', values: ['db'], operator: 'any_of', type: 'label' }];
  for (const kind of ['deployments', 'blueprints'])
    await must('PUT', { path: `/filters/${kind}/f1`, body: { filter_rules: rules } });
  // Executions that run until they are cancelled.
  await must('PUT', { path: '/blueprints/slow', archive: 'slow' });
  for (const name of ['running1', 'running2']) {
    await must('PUT', { path: `/deployments/${name}`, body: { blueprint_id: 'slow' } });
    values[name] = (
      await must('POST', { path: '/executions', body: { deployment_id: name, workflow_id: 'install' } })
    ).id;
  }
  await fillLater(must, values);
}

/** Creates resources of parts that may not exist yet. */
async function fillLater(
  must: (method: string, sent: Sent) => Promise<Answer['body']>,
  values: Record<string, string>,
): Promise<void> {
  if (has('createTasksGraph')) {
    const graph = await must('POST', {
      path: '/tasks_graphs/tasks_graphs',
      body: { name: 'g', execution_id: values.execution, operations: [] },
    });
    values.clientGraph = graph.id;
  }
  const preview = await must('PUT', {
    path: '/deployment-updates/d2/update/initiate',
    body: { blueprint_id: 'b1', inputs: {} },
  });
  values.update = preview.id;
  if (has('initiatePluginsUpdate')) {
    const update = await must('POST', { path: '/plugins-updates/b1/update/initiate', body: { force: true } });
    values.pluginsUpdate = update.id;
  }
  if (has('createSnapshot')) {
    for (const name of ['snapshot', 'snapshotGone1', 'snapshotGone2']) {
      values[name] = name.toLowerCase();
      await must('PUT', { path: `/snapshots/${values[name]}`, body: { queue: true } });
      await eventually(
        async () => {
          const snapshot = await must('GET', { path: `/snapshots/${values[name]}` });
          return snapshot.status === 'created';
        },
        { deadlineMs: 60_000 },
      );
    }
  }
}

export async function startWorld(options: Partial<FleetOptions> = {}): Promise<World> {
  const env = { BATON_VALIDATE_RESPONSES: 'true', ...options.env };
  const fleet = await startFleet({ mode: 'standalone', ...options, env });
  const values: Record<string, string> = {};
  const send = sender(fleet, values);
  try {
    await fill(send, values);
  } catch (error) {
    await fleet.stop();
    throw error;
  }
  const faults = () => {
    const folder = join(fleet.dir, 'logs');
    const lines = readdirSync(folder).flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'));
    return lines.filter((line) => line.startsWith('{"level":"error"'));
  };
  return { fleet, send, values, faults, stop: () => fleet.stop() };
}
