/**
 * Work for agents: on each host several operations run at once, over and over. Each writes its beginning and its end to a ledger on
 * its host, outside of the system, and says numbered lines. The judge compares ledgers, states and lines.
 */
import { randomUUID } from 'node:crypto';
import { call } from '../../harness/session';
import { byKey, deployOnHost, probing } from '../../hosts/on-host';
import type { Host } from '../../hosts/rig';
import { ask } from '../ask';
import type { Rig } from '../rig';
import { until } from '../until';

/** Operations at once on each host; an agent has five places. */
const APPS = 4;
/** Lines of one operation; with the pause between them it takes two seconds. */
const LINES = { lines: 20, pause: 0.1 };
const TERMINAL = new Set(['terminated', 'failed', 'cancelled']);

/** A run by the ledger of a host. */
export interface HostRun {
  execution: string;
  instance: string;
  pid: number;
  hasEnded: boolean;
}

export interface Lane {
  host: Host;
  deployment: string;
  /** Name of the agent. */
  agent: string;
  /** Executions in the order of their starts. */
  executions: string[];
  /** How many lines each operation of an execution says, by execution. */
  lines: Map<string, number>;
}

export interface Lanes {
  lanes: Lane[];
  /** Starts no more executions; resolves when all have ended. @throws Error when they do not within `limitMs` */
  finish(limitMs: number): Promise<void>;
}

/** Installs an agent on each host, by ssh. */
export async function installAgents({ client, hosts }: Rig, more: object = {}): Promise<Lane[]> {
  return await Promise.all(
    hosts.map(async (host) => {
      const deployment = `${host.name}-${randomUUID().slice(0, 8)}`;
      await host.must('chmod 1777 /srv; rm -f /srv/*');
      await deployOnHost(client, deployment, host, byKey(host, more), APPS);
      const id = await startOne({ client } as Rig, deployment, 'install');
      await ended({ client } as Rig, id, 60_000);
      const { status, error } = await call(client, 'getExecution', { executionId: id });
      if (status !== 'terminated') throw new Error(`floor: no agent on ${host.name}: ${error}`);
      const query = { deployment_id: deployment };
      const [agent] = (await call(client, 'listAgents', {}, undefined, query)).items;
      return { host, deployment, agent: agent.id, executions: [], lines: new Map() };
    }),
  );
}

/** Removes the agents and all that belongs to them. */
export async function removeAgents(rig: Rig, lanes: readonly Lane[]): Promise<void> {
  await Promise.all(
    lanes.map(async ({ deployment }) => {
      const id = await startOne(rig, deployment, 'uninstall', { parameters: { ignore_failure: true } });
      await ended(rig, id, 90_000);
    }),
  );
}

export async function startOne(
  { client }: Rig,
  deployment: string,
  workflow: string,
  more: object = {},
): Promise<string> {
  const body = { deployment_id: deployment, workflow_id: workflow, ...more };
  return (await ask(client, 'startExecution', { body, idempotencyKey: randomUUID() })).id;
}

/** Starts the operation of all things on a host. */
export async function startTimed(
  rig: Rig,
  { deployment, executions, lines }: Lane,
  kwargs: { lines: number; pause: number } = LINES,
): Promise<string> {
  const id = await startOne(rig, deployment, 'execute_operation', {
    ...probing('timed', kwargs),
    // Beside others that run.
    force: true,
  });
  executions.push(id);
  lines.set(id, kwargs.lines);
  return id;
}

/** Waits for the end of an execution; returns its status. */
export async function ended({ client }: Rig, executionId: string, limitMs: number): Promise<string> {
  return await until(`the end of ${executionId}`, limitMs, async () => {
    const { status } = await ask(client, 'getExecution', { params: { executionId } });
    return TERMINAL.has(status) ? status : null;
  });
}

/** Starts one execution after the other on each lane. */
export function startLanes(rig: Rig, lanes: Lane[], limitMs = 240_000): Lanes {
  let isStopping = false;
  const run = async (lane: Lane): Promise<void> => {
    while (!isStopping) await ended(rig, await startTimed(rig, lane), limitMs);
  };
  const running = Promise.all(lanes.map(run));
  running.catch(() => undefined);
  return {
    lanes,
    finish: async (finishMs) => {
      isStopping = true;
      await until('the ends of all executions', finishMs, () => allEnded(rig, lanes));
      await running;
    },
  };
}

async function allEnded({ client }: Rig, lanes: readonly Lane[]): Promise<boolean> {
  const ids = lanes.flatMap((lane) => lane.executions);
  const all = await Promise.all(
    ids.map((executionId) => ask(client, 'getExecution', { params: { executionId } })),
  );
  return all.every(({ status }) => TERMINAL.has(status));
}

/** Runs by the ledger of the host. */
export async function runsOn(host: Host): Promise<HostRun[]> {
  const { stdout } = await host.exec('cat /srv/ledger 2>/dev/null');
  const runs = new Map<string, HostRun>();
  for (const line of stdout.split('\n')) {
    const [phase, execution, instance, pid] = line.split(' ');
    if (!pid) continue;
    const key = `${execution} ${instance} ${pid}`;
    if (phase === 'start')
      runs.set(key, { execution: execution!, instance: instance!, pid: Number(pid), hasEnded: false });
    else if (runs.has(key)) runs.get(key)!.hasEnded = true;
  }
  return [...runs.values()];
}

/** Waits until operations run on each of these hosts. */
export async function untilBusy(lanes: readonly Lane[]): Promise<void> {
  await until('floor: operations under way on each host', 60_000, async () => {
    const all = await Promise.all(lanes.map(({ host }) => runsOn(host)));
    return all.every((runs) => runs.some((run) => !run.hasEnded) && runs.some((run) => run.hasEnded));
  });
}

export interface JudgeLanes {
  /** Runs that may be repeated: those that a dead agent had under way. */
  mayRepeat?: (run: HostRun) => boolean;
  /** Allowed ends of executions. Default: terminated. */
  allowed?: readonly string[];
  /** What the error of a failed execution must say. */
  mayFailWith?: RegExp;
}

export interface LanesVerdict {
  violations: string[];
  executions: number;
  operations: number;
  repeats: number;
}

/** Checks that every execution ended as it should, ran each operation once, and that its lines are there once and in order. */
export async function judgeLanes(
  rig: Rig,
  lanes: readonly Lane[],
  o: JudgeLanes = {},
): Promise<LanesVerdict> {
  const verdict: LanesVerdict = { violations: [], executions: 0, operations: 0, repeats: 0 };
  for (const lane of lanes) {
    const runs = await runsOn(lane.host);
    for (const id of lane.executions) {
      verdict.executions++;
      const { status, error } = await ask(rig.client, 'getExecution', { params: { executionId: id } });
      if (!(o.allowed ?? ['terminated']).includes(status))
        verdict.violations.push(`G2: ${id} ended as ${status}: ${error}`);
      if (status === 'failed' && o.mayFailWith && !o.mayFailWith.test(String(error)))
        verdict.violations.push(`G2: ${id} failed for another reason: ${error}`);
      const own = runs.filter((run) => run.execution === id);
      verdict.operations += own.length;
      judgeRuns(verdict, id, status, own, o.mayRepeat ?? (() => false));
      if (status === 'terminated')
        verdict.violations.push(...(await lineFaults(rig, id, own, lane.lines.get(id)!)));
    }
  }
  return verdict;
}

function judgeRuns(
  verdict: LanesVerdict,
  id: string,
  status: string,
  runs: readonly HostRun[],
  mayRepeat: (run: HostRun) => boolean,
): void {
  const instances = new Set(runs.map((run) => run.instance));
  if (status === 'terminated' && instances.size !== APPS)
    verdict.violations.push(`G4: ${id} succeeded, but ${instances.size} of ${APPS} operations have run`);
  for (const instance of instances) {
    const of = runs.filter((run) => run.instance === instance);
    const repeated = of.length - 1;
    verdict.repeats += repeated;
    if (repeated > of.filter(mayRepeat).length)
      verdict.violations.push(`G4: ${instance} ran ${of.length} times in ${id}`);
    if (status === 'terminated' && of.filter((run) => run.hasEnded).length === 0)
      verdict.violations.push(`G4: ${instance} succeeded in ${id} without an end in the ledger`);
  }
}

/** The lines of an operation that ran once are there once each, in order. Those of repeated operations are not compared. */
async function lineFaults(
  { client }: Rig,
  id: string,
  runs: readonly HostRun[],
  count: number,
): Promise<string[]> {
  const query = { execution_id: id, _size: 1000 };
  const { items } = await ask(client, 'listEvents', { query });
  const once = new Set(runs.map((run) => run.instance));
  for (const { instance } of runs)
    if (runs.filter((run) => run.instance === instance).length > 1) once.delete(instance);
  return [...once].flatMap((instance) => {
    const said = (items as { node_instance_id: string; message: string }[])
      .filter((event) => event.node_instance_id === instance && /^<out> line \d+$/.test(event.message))
      .map(({ message }) => Number(message.slice(11)));
    const wanted = Array.from({ length: count }, (_, i) => i + 1);
    return said.join() === wanted.join() ? [] : [`G7: lines of ${instance} in ${id}: ${said.join(',')}`];
  });
}
