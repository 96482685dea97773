// A blueprint of ten thousand plain nodes: uploaded, deployed, installed, updated, uninstalled. Meanwhile another client sends
// small requests.
import { setTimeout as pause } from 'node:timers/promises';
import type { Mode } from '../../test/harness/fleet';
import { call, upload } from '../../test/harness/session';
import { archive } from '../harness/blueprints';
import { type Manager, startManager } from '../harness/manager';
import { forgetPeakRss, peakRssMb } from '../harness/processes';
import type { Plan } from '../harness/report';
import { rounded } from '../harness/statistics';

const NODES = { quick: 2_000, full: 10_000 };
/** Limits: seconds of each step, and memory of the largest process. */
const BARS = { upload: 20, create: 30, install: 120, memoryMb: 1_000 };
const LIMIT_MS = 300_000;
const ID = 'large';

const UPDATED = 'large-updated';
/** Number of nodes that the update adds. */
const ADDED = 10;

/** Returns the blueprint. `size` is the only property that the update changes. */
const text = (nodes: number, size = 1): string =>
  [
    'tosca_definitions_version: cloudify_dsl_1_4',
    'imports: [cloudify/types/types.yaml]',
    'node_types:',
    '  sized: {derived_from: cloudify.nodes.Root, properties: {size: {default: 1}}}',
    'node_templates:',
    `  sized: {type: sized, properties: {size: ${size}}}`,
    ...Array.from({ length: nodes - 1 }, (_, i) => `  node_${i}: {type: cloudify.nodes.Root}`),
  ].join('\n');

interface Step {
  seconds: number;
  /** Peak memory of a process meanwhile. */
  peakMb: number;
  /** The longest duration of another client's small request meanwhile. */
  slowestOtherMs: number;
}

export async function large(plan: Plan): Promise<object> {
  const nodes = NODES[plan.isQuick ? 'quick' : 'full'];
  const results: Record<string, object> = {};
  for (const mode of plan.modes) results[mode] = await inMode(plan, mode, nodes);
  return { nodes, bars: BARS, ...results };
}

async function inMode(plan: Plan, mode: Mode, nodes: number): Promise<Record<string, Step>> {
  const manager = await startManager({ mode, workers: 1 });
  const { client } = manager;
  try {
    const steps: Record<string, Step> = {};
    const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      steps[name] = await measured(manager, work);
      const { seconds, peakMb, slowestOtherMs } = steps[name];
      plan.say(
        `  ${mode}, ${nodes} nodes: ${name} ${seconds} s, ${peakMb} MB, others at most ${slowestOtherMs} ms`,
      );
    };
    await step('upload', () => upload(client, ID, archive({ name: ID, yaml: text(nodes), operations: 0 })));
    await step('create', () => call(client, 'createDeployment', { id: ID }, { blueprint_id: ID }));
    await step('install', () => execute(manager, 'install'));
    const changed = archive({ name: UPDATED, yaml: text(nodes + ADDED, 2), operations: 0 });
    await upload(client, UPDATED, changed);
    await step('update', () => update(manager, nodes + ADDED));
    await step('uninstall', () => execute(manager, 'uninstall'));
    return steps;
  } finally {
    await manager.stop();
  }
}

async function execute(manager: Manager, workflow: string): Promise<void> {
  const asked = { deployment_id: ID, workflow_id: workflow };
  const { id } = await call(manager.client, 'startExecution', {}, asked);
  await ended(manager, id, workflow);
}

/** Updates to the blueprint with one changed property and ten more nodes. Afterwards checks that no node is missing or outdated. */
async function update(manager: Manager, nodes: number): Promise<void> {
  const { client } = manager;
  const asked = { blueprint_id: UPDATED };
  const made = await call(client, 'initiateDeploymentUpdate', { deployment_id: ID }, asked);
  await ended(manager, made.execution_id, 'update');
  const listed = await call(client, 'listNodes', {}, undefined, {
    deployment_id: ID,
    _size: 1,
    _include: 'id',
  });
  if (listed.metadata.pagination.total !== nodes)
    throw new Error(`after the update there are ${listed.metadata.pagination.total} nodes, not ${nodes}`);
}

async function ended({ client }: Manager, id: string, workflow: string): Promise<void> {
  const end = performance.now() + LIMIT_MS;
  for (;;) {
    const { status, error } = await call(client, 'getExecution', { executionId: id });
    if (status === 'terminated') return;
    if (['failed', 'cancelled'].includes(status)) throw new Error(`${workflow} is ${status}: ${error}`);
    if (performance.now() > end) throw new Error(`${workflow} has not ended in ${LIMIT_MS / 1000} s`);
    await pause(200);
  }
}

async function measured(manager: Manager, work: () => Promise<unknown>): Promise<Step> {
  const pids = manager.pids();
  for (const pid of pids.values()) forgetPeakRss(pid);
  let slowestOtherMs = 0;
  let isOver = false;
  const other = (async () => {
    while (!isOver) {
      const since = performance.now();
      await call(manager.client, 'listBlueprints', {}, undefined, { _include: 'id' });
      slowestOtherMs = Math.max(slowestOtherMs, performance.now() - since);
      await pause(20);
    }
  })();
  const begin = performance.now();
  await work().finally(() => {
    isOver = true;
  });
  const seconds = rounded((performance.now() - begin) / 1000);
  await other;
  const peakMb = Math.max(...[...pids.values()].map(peakRssMb));
  return { seconds, peakMb, slowestOtherMs: Math.round(slowestOtherMs) };
}
