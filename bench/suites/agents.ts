// Agents: what 500 of them cost when nothing happens, operations on them against the same operations on a worker, how soon they are
// back after a restart of the gateway, and how long an installation by ssh takes. Bars: reference/agents.md 2, "Numbers".
import { readFileSync } from 'node:fs';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { call } from '../../test/harness/session';
import { byKey, deployOnHost } from '../../test/hosts/on-host';
import { type AgentsWorld, runRequest, type Speaking, startAgentsWorld } from '../agents/world';
import { allEnded, runAll, start } from '../harness/executions';
import { inParallel, type Manager } from '../harness/manager';
import { cpuBetween, proportionalMb, usageOf } from '../harness/processes';
import { columns, type Plan } from '../harness/report';
import { median, quantile, ratios, rounded, spread } from '../harness/statistics';

/** Bars of the project for two cores. */
const BARS = {
  gatewayKibPerAgent: 150,
  idleCpuPercentOfCore: 2,
  overLocalMs: 15,
  operationsPerSecond: 200,
  backAfterS: 30,
  handshakesPerSecond: 50,
  installS: 8,
  installInParallelS: 120,
};
const FIFTY = 50;
/** Memory that a host with an agent and its share of an installation takes. */
const HOST_BYTES = 250e6;

/**
 * 500 agents: one on a host that is installed alone, fifty on hosts that are installed at once, the others only speak. With less
 * memory there are fewer hosts, 20 at least; `--quick`: 3 of 50.
 */
function sizesOf(isQuick: boolean): { real: number; speaking: number } {
  if (isQuick) return { real: 3, speaking: 47 };
  const real = Math.max(20, Math.min(FIFTY + 1, Math.floor(freemem() / 2 / HOST_BYTES)));
  return { real, speaking: 500 - real };
}

export async function agents(plan: Plan): Promise<object> {
  const size = sizesOf(plan.isQuick);
  const world = await startAgentsWorld(size.real);
  try {
    const before = gatewayMb(world.manager);
    const installs = await measureInstalls(plan, world);
    const latency = await measureLatency(plan, world);
    const fifty = await world.speaking('fifty', Math.min(FIFTY, size.speaking));
    const rate = await measureRate(plan, world);
    const others = await world.speaking('others', Math.max(1, size.speaking - FIFTY));
    const speaking = [fifty, others];
    const idle = await measureIdle(plan, world, size.real + size.speaking, before);
    const reconnect = await measureReconnect(plan, world, speaking);
    const idleCost = await measureIdleCost(plan, world, idle);
    return { bars: BARS, sizes: size, installs, latency, rate, idle, reconnect, idleCost };
  } finally {
    await world.stop();
  }
}

const gatewayPid = (manager: Manager): number => manager.pids().get('gateway')!;
const gatewayMb = (manager: Manager): number => proportionalMb(gatewayPid(manager));

/** The first host alone, then all others at once. An installation is the whole workflow, with the scripts of one node. */
async function measureInstalls(plan: Plan, { manager, hosts }: AgentsWorld): Promise<object> {
  const install = async (index: number): Promise<number> => {
    const host = hosts[index]!;
    await host.must('chmod 1777 /srv');
    await deployOnHost(manager.client, host.name, host, byKey(host));
    const begin = performance.now();
    await allEnded(manager, [await start(manager, host.name)], 300_000);
    return (performance.now() - begin) / 1000;
  };
  const first = await install(0);
  const begin = performance.now();
  const times: number[] = [];
  await inParallel(hosts.length - 1, hosts.length, async (i) => void times.push(await install(i + 1)));
  const allS = (performance.now() - begin) / 1000;
  plan.say(
    columns(
      'agents, install by ssh',
      `first ${rounded(first)} s`,
      `${hosts.length - 1} at once${hosts.length - 1 < FIFTY ? ` (the bar is for ${FIFTY})` : ''}`,
      `${rounded(allS)} s`,
      `  worst ${rounded(Math.max(...times))} s`,
    ),
  );
  return {
    firstS: rounded(first),
    inParallel: { hosts: hosts.length - 1, allS: rounded(allS), worstS: rounded(Math.max(...times)) },
  };
}

/** The same script on the agent of the first host, and on a worker, in turn. */
async function measureLatency(plan: Plan, { manager, hosts }: AgentsWorld): Promise<object> {
  const host = hosts[0]!;
  await deployOnHost(manager.client, 'local', host, { install_method: 'none' });
  const once = async (deployment: string): Promise<number> => {
    const request = {
      workflow_id: 'execute_operation',
      parameters: { operation: 'probe.noop', node_ids: ['app'] },
    };
    return (await runAll(manager, [deployment], request)).seconds * 1000;
  };
  for (let i = 0; i < 3; i++) for (const id of [host.name, 'local']) await once(id);
  const remote: number[] = [];
  const local: number[] = [];
  const count = plan.isQuick ? 15 : 20 * plan.rounds;
  for (let i = 0; i < count; i++) {
    remote.push(await once(host.name));
    local.push(await once('local'));
  }
  const over = median(remote.map((ms, i) => ms - local[i]!));
  plan.say(
    columns(
      'agents, script `:`',
      `  agent ${rounded(median(remote))} ms`,
      `  worker ${rounded(median(local))} ms`,
      `  over ${rounded(over)} ms`,
    ),
  );
  return {
    runs: count,
    agentMs: { p50: rounded(median(remote)), p95: rounded(quantile(remote, 0.95)) },
    workerMs: { p50: rounded(median(local)), p95: rounded(quantile(local, 0.95)) },
    overMs: rounded(over),
    ratio: ratios(remote, local, 'least'),
  };
}

/** One operation on each of fifty agents, in turn with as many on the workers. */
async function measureRate(plan: Plan, { manager }: AgentsWorld): Promise<object> {
  const perExecution = (
    await call(manager.client, 'listNodeInstances', {}, undefined, { deployment_id: 'fifty', node_id: 'app' })
  ).metadata.pagination.total as number;
  const rateOf = async (operation: string): Promise<number> => {
    const { seconds } = await runAll(manager, ['fifty'], runRequest(operation), 120_000);
    return perExecution / seconds;
  };
  await rateOf('bench.run');
  await rateOf('bench.told');
  const onAgents: number[] = [];
  const onWorkers: number[] = [];
  for (let i = 0; i < (plan.isQuick ? 3 : 2 * plan.rounds); i++) {
    onAgents.push(await rateOf('bench.run'));
    onWorkers.push(await rateOf('bench.told'));
  }
  const ratio = ratios(onAgents, onWorkers, 'most');
  plan.say(
    columns(
      `agents, ${perExecution} agents`,
      `${rounded(median(onAgents), 0)} op/s`,
      `  workers ${rounded(median(onWorkers), 0)}`,
      `  ratio ${ratio.median}`,
    ),
  );
  return {
    agents: perExecution,
    onAgents: spread(onAgents, 'most'),
    onWorkers: spread(onWorkers, 'most'),
    ratio,
  };
}

/** Long enough that code that runs often is compiled, and that agents that have gone are given up. */
const SETTLE_MS = { quick: 5_000, full: 90_000 };
const WATCH_MS = { quick: 10_000, full: 120_000 };

/** CPU of the services while nothing happens, in percent of a core by name. */
async function idleCpu(plan: Plan, { manager }: AgentsWorld): Promise<Record<string, number>> {
  const size = plan.isQuick ? 'quick' : 'full';
  await pause(SETTLE_MS[size]);
  const before = usageOf(manager.pids(), null);
  const begin = performance.now();
  await pause(WATCH_MS[size]);
  const seconds = (performance.now() - begin) / 1000;
  const spent = cpuBetween(before, usageOf(manager.pids(), null));
  return Object.fromEntries(
    Object.entries(spent).map(([name, cpu]) => [name, rounded((cpu / seconds) * 100)]),
  );
}

interface Idle {
  agents: number;
  cpuPercent: Record<string, number>;
  gatewayKibPerAgent: number;
  agent: { rssMb: number; processes: number };
}

async function measureIdle(plan: Plan, world: AgentsWorld, count: number, beforeMb: number): Promise<Idle> {
  const cpuPercent = await idleCpu(plan, world);
  const kib = ((gatewayMb(world.manager) - beforeMb) * 1e6) / 1024 / count;
  const agent = await memoryOfAgents(world.hosts);
  plan.say(
    columns(`agents, ${count} idle`, `gateway ${rounded(kib, 0)} KiB each`, `  agent ${agent.rssMb} MB`),
  );
  return { agents: count, cpuPercent, gatewayKibPerAgent: rounded(kib, 0), agent };
}

/** Processes that agents keep busy. What the others take in both measurements shows how fast the machine was in each. */
const SERVING = ['gateway', 'deployments', 'executions'];

/** Ends all agents: the same manager without them, at the speed that the machine had with them, is the baseline. */
async function measureIdleCost(
  plan: Plan,
  world: AgentsWorld,
  { agents: count, cpuPercent: withAgents }: Idle,
): Promise<object> {
  await world.silence();
  const without = await idleCpu(plan, world);
  const sumOf = (cpu: Record<string, number>, isWanted: (name: string) => boolean): number =>
    Object.entries(cpu).reduce((sum, [name, percent]) => sum + (isWanted(name) ? percent : 0), 0);
  const serves = (name: string): boolean => SERVING.includes(name);
  const others = (name: string): boolean => !serves(name);
  const speed = sumOf(withAgents, others) / sumOf(without, others);
  const costOf = (isWanted: (name: string) => boolean): number =>
    rounded(sumOf(withAgents, isWanted) - sumOf(without, isWanted) * speed);
  const cost = Object.fromEntries(SERVING.map((name) => [name, costOf((one) => one === name)]));
  const total = costOf(serves);
  plan.say(
    columns(
      `agents, ${count} idle`,
      `cost ${total} %`,
      ...Object.entries(cost).map(([name, percent]) => `  ${name} ${percent}`),
      `  speed ${rounded(speed, 2)}`,
    ),
  );
  return { without, speed: rounded(speed, 2), cost, total };
}

/** Memory and CPU of the real agents: the medians. */
async function memoryOfAgents(hosts: AgentsWorld['hosts']): Promise<{ rssMb: number; processes: number }> {
  const sizes = await Promise.all(
    hosts.map(async (host) => {
      const lines = (await host.must("ps -eww -o rss=,args= | grep '[b]aton-agent' || true"))
        .split('\n')
        .filter(Boolean);
      return { kib: Math.max(0, ...lines.map((line) => Number.parseInt(line, 10))), processes: lines.length };
    }),
  );
  return {
    rssMb: rounded((median(sizes.map(({ kib }) => kib)) * 1024) / 1e6, 1),
    processes: median(sizes.map((one) => one.processes)),
  };
}

const lastLines = ({ fleet }: Manager, name: string): string =>
  readFileSync(join(fleet.dir, 'logs', `${name}.log`), 'utf8')
    .split('\n')
    .slice(-LOG_LINES)
    .join('\n');
const LOG_LINES = 30;

/** Kills the gateway and starts it again: how long until every agent has a stream, and the most welcomes in one second. */
async function measureReconnect(
  plan: Plan,
  { manager }: AgentsWorld,
  speaking: readonly Speaking[],
): Promise<object> {
  const total = async (): Promise<{ open: number; welcomes: number }> => {
    const all = await Promise.all(speaking.map((one) => one.count()));
    return {
      open: all.reduce((sum, one) => sum + one.open, 0),
      welcomes: all.reduce((sum, one) => sum + one.welcomes, 0),
    };
  };
  const results: { seconds: number; mostPerSecond: number }[] = [];
  const rounds = plan.isQuick ? 1 : 3;
  const wanted = (await total()).open;
  const gateway = manager.fleet.processes.get('gateway')!;
  for (let i = 0; i < rounds; i++) {
    const before = (await total()).welcomes;
    gateway.signal('SIGKILL');
    await gateway.ended();
    await pause(2_000);
    gateway.start();
    const begin = performance.now();
    let mostPerSecond = 0;
    for (let last = before, lastAt = begin; ; ) {
      await pause(1_000);
      const { open, welcomes } = await total();
      // Counting takes a while itself on busy cores.
      const now = performance.now();
      mostPerSecond = Math.max(mostPerSecond, Math.round(((welcomes - last) / (now - lastAt)) * 1000));
      [last, lastAt] = [welcomes, now];
      if (open >= wanted) break;
      if (performance.now() - begin > 120_000)
        throw new Error(
          `${open} of ${wanted} agents were back after 120 s\n${lastLines(manager, 'gateway')}`,
        );
    }
    results.push({ seconds: (performance.now() - begin) / 1000, mostPerSecond });
  }
  const back = spread(
    results.map(({ seconds }) => seconds),
    'least',
  );
  plan.say(
    columns(
      `agents, ${wanted} back`,
      `${back.median} s`,
      `  worst ${back.worst}`,
      `${Math.max(...results.map((one) => one.mostPerSecond))}/s`,
    ),
  );
  return {
    agents: wanted,
    backAfterS: back,
    mostPerSecond: Math.max(...results.map((one) => one.mostPerSecond)),
  };
}
