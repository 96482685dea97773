// Memory of imports: the archive is streamed, so no process may need more memory for four times the data (ADR 0048). The archive is
// written piece by piece in the layout of Cloudify 7.1; no original made it.
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { importRoutes } from '@baton/contracts/http/imports';
import { ZipFile } from 'yazl';
import type { Mode } from '../../test/harness/fleet';
import { call } from '../../test/harness/session';
import { type Manager, startManager } from '../harness/manager';
import { memoryGrowth } from '../harness/memory-growth';
import { forgetPeakRss, peakRssMb } from '../harness/processes';
import type { Plan } from '../harness/report';
import { rounded } from '../harness/statistics';

/** Deployments, with one node, ten instances of 2 KiB, one execution and 50 events of 1 KiB each: some 75 KiB. */
const DEPLOYMENTS = { quick: [300, 1_200], full: [3_500, 14_000] };
const INSTANCES = 10;
const EVENTS = 50;
const PAGE = 500;
/** Limits of the project: memory of a process, and its growth with the larger archive. */
const BARS = { memoryMb: 256, growth: 1.2 };
const LIMIT_MS = 1_800_000;
const POLL_MS = 200;
const FILLER = 'x'.repeat(1_000);
const AT = '2026-01-01T00:00:00.000Z';

type Step = 'check' | 'apply';
const STEPS: Step[] = ['check', 'apply'];
interface Run {
  deployments: number;
  /** MB of the pages before compression, and of the archive. */
  unpackedMb: number;
  archiveMb: number;
  seconds: Record<Step, number>;
  peakMb: Record<Step, Record<string, number>>;
}

export async function imports(plan: Plan): Promise<object> {
  const results: Record<string, object> = {};
  for (const mode of plan.modes) {
    const runs: Run[] = [];
    for (const deployments of DEPLOYMENTS[plan.isQuick ? 'quick' : 'full'])
      runs.push(await ofSize(plan, mode, deployments));
    results[mode] = report(plan, mode, runs);
  }
  return results;
}

/** Measures one size with its own manager: memory left from the previous size would count otherwise. */
async function ofSize(plan: Plan, mode: Mode, deployments: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-import-'));
  const path = join(folder, 'archive.zip');
  try {
    const bytes = await writeArchive(path, deployments);
    const manager = await startManager({ mode, workers: 1, env: { BATON_BLOBS: join(folder, 'blobs') } });
    try {
      let checked = { id: '', report_digest: '' };
      const check = await measured(manager, async () => {
        const made = await manager.client.upload(importRoutes[1], { content: createReadStream(path) });
        checked = await ended(manager, made.id, 'checked');
      });
      const apply = await measured(manager, async () => {
        await call(
          manager.client,
          'applyImport',
          { import_id: checked.id },
          { report_digest: checked.report_digest },
        );
        await ended(manager, checked.id, 'applied');
      });
      plan.say(
        `  ${mode}, ${deployments} deployments: checked in ${check.seconds} s, applied in ${apply.seconds} s`,
      );
      return {
        deployments,
        unpackedMb: rounded(bytes / 1e6),
        archiveMb: rounded(statSync(path).size / 1e6),
        seconds: { check: check.seconds, apply: apply.seconds },
        peakMb: { check: check.peakMb, apply: apply.peakMb },
      };
    } finally {
      await manager.stop();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measured(
  manager: Manager,
  work: () => Promise<void>,
): Promise<{ seconds: number; peakMb: Record<string, number> }> {
  const pids = manager.pids();
  for (const pid of pids.values()) forgetPeakRss(pid);
  const begin = performance.now();
  await work();
  const seconds = rounded((performance.now() - begin) / 1000);
  return { seconds, peakMb: Object.fromEntries([...pids].map(([name, pid]) => [name, peakRssMb(pid)])) };
}

async function ended(
  manager: Manager,
  id: string,
  state: string,
): Promise<{ id: string; report_digest: string }> {
  for (const until = performance.now() + LIMIT_MS; performance.now() < until; await pause(POLL_MS)) {
    const found = await call(manager.client, 'getImport', { import_id: id });
    if (found.state === state && found.verdict !== 'losses') return found;
    if (found.state === 'failed' || found.state === 'refused' || found.verdict === 'losses')
      throw new Error(`${found.state}: ${found.error} ${JSON.stringify(found.counts)}`);
  }
  throw new Error(`import ${id} did not become ${state} within ${LIMIT_MS / 1000} s`);
}

type Item = Record<string, unknown>;

/** @returns bytes of the pages before compression */
async function writeArchive(path: string, deployments: number): Promise<number> {
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream as Readable, createWriteStream(path));
  let bytes = 0;
  let number = 0;
  const add = async (folder: string, page: object): Promise<void> => {
    const text = Buffer.from(JSON.stringify(page));
    bytes += text.length;
    const content = Readable.from([text]);
    zip.addReadStream(content, `${folder}/${String(++number).padStart(8, '0')}.json`);
    // One page at a time: the archive may be larger than memory.
    await new Promise((resolve) => content.once('end', resolve));
  };
  const ids = Array.from({ length: deployments }, (_, i) => `d${i}`);
  await add('mgmt', { type: 'tenants', items: [{ name: 'default_tenant' }] });
  const tenant = 'tenants/default_tenant';
  for (const some of pagesOf(ids)) await add(tenant, { type: 'deployments', items: some.map(deployment) });
  for (const id of ids) await add(tenant, { type: 'nodes', source_id: id, items: [node] });
  for (const id of ids)
    await add(tenant, {
      type: 'node_instances',
      source_id: id,
      items: numbers(INSTANCES).map((i) => instance(id, i)),
    });
  for (const some of pagesOf(ids)) await add(tenant, { type: 'executions', items: some.map(execution) });
  for (const [i] of ids.entries())
    await add(tenant, {
      type: 'events',
      source: 'executions',
      source_id: executionId(i),
      items: numbers(EVENTS).map(event),
    });
  zip.addBuffer(Buffer.from(JSON.stringify({ snapshot_version: '7.1.0' })), 'metadata.json');
  zip.end();
  await written;
  return bytes;
}

const numbers = (length: number): number[] => Array.from({ length }, (_, i) => i);
const pagesOf = (ids: readonly string[]): string[][] =>
  numbers(Math.ceil(ids.length / PAGE)).map((i) => ids.slice(i * PAGE, (i + 1) * PAGE));
const executionId = (i: number): string => `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`;
const owned = { visibility: 'tenant', created_by: 'admin', created_at: AT };

const deployment = (id: string): Item => ({
  id,
  ...owned,
  blueprint_id: 'b',
  inputs: {},
  outputs: {},
  capabilities: {},
  groups: {},
  scaling_groups: {},
  policy_types: {},
  policy_triggers: {},
  workflows: [],
  labels: [],
  installation_status: 'active',
});
const node: Item = {
  id: 'n',
  ...owned,
  type: 'cloudify.nodes.Root',
  type_hierarchy: ['cloudify.nodes.Root'],
  number_of_instances: INSTANCES,
  planned_number_of_instances: INSTANCES,
  deploy_number_of_instances: INSTANCES,
  plugins: [],
  properties: {},
  relationships: [],
  operations: {},
};
const instance = (id: string, i: number): Item => ({
  id: `n_${id}_${i}`,
  node_id: 'n',
  ...owned,
  index: i + 1,
  state: 'started',
  relationships: [],
  runtime_properties: { one: FILLER, two: FILLER },
  system_properties: {},
  scaling_groups: [],
});
const execution = (id: string): Item => ({
  id: executionId(Number(id.slice(1))),
  ...owned,
  deployment_id: id,
  workflow_id: 'install',
  status: 'terminated',
  parameters: {},
  started_at: AT,
  ended_at: AT,
});
const event = (i: number): Item => ({
  timestamp: `2026-01-01T00:00:${String(i).padStart(2, '0')}.000Z`,
  reported_timestamp: `2026-01-01T00:00:${String(i).padStart(2, '0')}.000Z`,
  type: 'cloudify_event',
  event_type: 'task_started',
  message: FILLER,
});

function report(plan: Plan, mode: Mode, runs: Run[]): object {
  return { bars: BARS, ...memoryGrowth(plan, `import, ${mode}`, STEPS, runs), runs };
}
