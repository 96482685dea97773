import { type Connection, connectionOf, startByCron } from '../../hosts/on-host';
import type { Host } from '../../hosts/rig';
import {
  ended,
  type HostRun,
  installAgents,
  type JudgeLanes,
  judgeLanes,
  type Lane,
  type Lanes,
  removeAgents,
  runsOn,
  startLanes,
  startOne,
  startTimed,
  untilBusy,
} from '../agents/lanes';
import { ask } from '../ask';
import { BAD_NETWORK, type Rig } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

/** An agent is nonresponsive after 45 s of silence; the state is shown at most 15 s later. */
const SILENT_MS = 60_000;
/** Back-off of at most 30 s, and a stream. */
const BACK_MS = 45_000;
const DRAIN_MS = 120_000;
const AGENT = /baton-agent/;
const HOSTS = 3;
/** Takes 80 s: longer than the silence of row F18. */
const LONGER_THAN_SILENCE = { lines: 80, pause: 1 };
/** Where agents are installed. In row F19f it is a disk of its own, with room for the program and its package. */
const AGENTS_FOLDER = '/opt/baton-agent';
const AGENTS_DISK = 400_000_000;

export const agentRows: Row[] = [
  {
    id: 'F18',
    title:
      'agents are cut off for longer than they count as silent, then half-open in each direction, while operations run',
    pass: 'operations go on and end; each runs once, its result and its lines arrive once; silence is shown within 60 s, the stream is back within 45 s',
    limitS: 420,
    hosts: HOSTS,
    // The long operations leave places for others.
    run: (at) => underAgents(at, cutsAndHalves, { max_workers: 10 }),
  },
  {
    id: 'F18g',
    title:
      'both gateways are killed in turn and together, and executions and deployments, while agents run operations',
    pass: 'every agent has a stream again within 45 s; each operation runs once, its lines arrive once; every execution ends',
    limitS: 300,
    hosts: HOSTS,
    run: (at) => underAgents(at, killedServices),
  },
  {
    id: 'F18n',
    title:
      'the network of agents is slow (200 kbit/s), late by 300 ms each way, and a tenth of the data comes as late as if it had been sent twice',
    pass: 'nothing counts as lost; each operation runs once, its lines arrive once; every execution ends',
    limitS: 240,
    hosts: HOSTS,
    run: (at) => underAgents(at, slowNetwork, { network: BAD_NETWORK }),
  },
  {
    id: 'F19',
    title:
      'agents are killed with kill -9 and stopped (SIGSTOP), and a host is rebooted, while operations run',
    pass: 'only operations that a killed agent had under way run again, once each; the stopped agent loses nothing; every execution ends',
    limitS: 420,
    hosts: HOSTS,
    run: (at) => underAgents(at, deadAgents),
  },
  {
    id: 'F19f',
    title: 'the disk of an agent gets full while operations run, and has room again',
    pass: 'operations that run end, and their outcomes are not lost; operations that find no room fail and say so; nothing runs twice; afterwards operations begin again',
    limitS: 300,
    hosts: 1,
    run: async (at) => {
      for (const host of at.rig.hosts) await host.smallDisk(AGENTS_FOLDER, AGENTS_DISK);
      return await underAgents(at, fullDisk);
    },
  },
  {
    id: 'F19c',
    title:
      'an agent is revoked in the middle of operations, shows its old certificate again and again, and is installed anew',
    pass: 'its stream ends within 5 s and none is opened; operations that it ran and one that waits for it fail and name it; the new agent works',
    limitS: 300,
    hosts: 1,
    run: revokedAgent,
  },
];

interface Struck {
  facts: Outcome['facts'];
  violations: string[];
  judge?: JudgeLanes;
}

/** Agents on all hosts work, the fault strikes, everything heals, every execution ends, the judge checks. */
async function underAgents(
  at: RowContext,
  strike: (at: RowContext, lanes: Lanes) => Promise<Struck>,
  agentConfig: object = {},
): Promise<Outcome> {
  const { rig } = at;
  const agents = await installAgents(rig, agentConfig);
  const lanes = startLanes(rig, agents);
  const violations: string[] = [];
  let struck: Struck = { facts: {}, violations: [] };
  try {
    await untilBusy(agents);
    struck = await strike(at, lanes);
  } catch (error) {
    violations.push((error as Error).message);
  }
  for (const { host } of agents) host.heal();
  rig.badNetwork?.heal();
  await rig.heal().catch((error: Error) => violations.push(`not healed: ${error.message}`));
  await lanes.finish(DRAIN_MS).catch((error: Error) => violations.push(`G2: ${error.message}`));
  const verdict = await judgeLanes(rig, agents, struck.judge);
  violations.push(...struck.violations, ...verdict.violations);
  await removeAgents(rig, agents).catch((error: Error) => violations.push(`not removed: ${error.message}`));
  for (const { host } of agents) violations.push(...(await leftovers(host)));
  const { executions, operations, repeats } = verdict;
  return { violations, facts: { ...struck.facts, executions, operations, repeated: repeats } };
}

async function leftovers(host: Host): Promise<string[]> {
  const left = (await host.processes()).filter(({ command }) => AGENT.test(command));
  return left.map(({ command }) => `S16: ${host.name} still runs ${command}`);
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** Waits for a state of an agent; returns the milliseconds. */
async function untilState(
  { client }: Rig,
  { agent }: Lane,
  isSo: (one: Connection) => boolean,
  limitMs: number,
): Promise<number> {
  const since = performance.now();
  await until(`the state of ${agent}`, limitMs, async () =>
    isSo(await ask(client, 'getAgentConnection', { params: { name: agent } })),
  );
  return performance.now() - since;
}

/**
 * Waits until the manager has heard all agents from now on, by a new stream or by a sign of life in an old one; returns the slowest
 * time in ms. Only the first is soon: signs of life are written each ten seconds or later.
 */
async function untilBack(rig: Rig, lanes: readonly Lane[], limitMs = BACK_MS + 15_000): Promise<number> {
  const now = Date.now();
  const isAfter = (instant: string | null): boolean => instant !== null && Date.parse(instant) >= now;
  const times = await Promise.all(
    lanes.map((lane) =>
      untilState(
        rig,
        lane,
        (one) => one.is_connected && (isAfter(one.since) || isAfter(one.last_seen)),
        limitMs,
      ),
    ),
  );
  return Math.max(...times);
}

const tooLate = (what: string, ms: number, limitMs: number): string[] =>
  ms > limitMs ? [`F18: ${what} after ${seconds(ms)}, allowed ${seconds(limitMs)}`] : [];

async function cutsAndHalves({ rig }: RowContext, { lanes }: Lanes): Promise<Struck> {
  const long = await Promise.all(lanes.map((lane) => startTimed(rig, lane, LONGER_THAN_SILENCE)));
  const longRuns = async (): Promise<HostRun[]> => (await running(lanes)).filter(isLong);
  const isLong = (run: HostRun): boolean => long.includes(run.execution);
  await until('floor: long and short operations on each host', 60_000, async () => {
    const runs = await Promise.all(lanes.map((lane) => running([lane])));
    return runs.every((of) => of.some(isLong) && of.some((run) => !isLong(run)));
  });
  const [cut, ...halves] = lanes as [Lane, ...Lane[]];
  cut.host.cut();
  for (const [i, { host }] of halves.entries()) host.halfOpen(i === 0 ? 'in' : 'out');
  const atCut = await endedOn(lanes);
  const shown = await Promise.all(
    lanes.map((lane) => untilState(rig, lane, (one) => one.state === 'nonresponsive', SILENT_MS + 20_000)),
  );
  const underWay = await longRuns();
  const endedMeanwhile = (await endedOn(lanes)) - atCut;
  for (const { host } of lanes) host.heal();
  const back = await untilBack(rig, lanes);
  await untilBusy(lanes);
  return {
    facts: {
      'shown after': seconds(Math.max(...shown)),
      'back after': seconds(back),
      'under way all the time': underWay.length,
      'ended meanwhile': endedMeanwhile,
    },
    violations: [
      ...(underWay.length === 0 ? ['floor: no operation was under way all the time'] : []),
      ...(endedMeanwhile === 0 ? ['floor: no operation ended without a stream'] : []),
      ...tooLate('silence was shown', Math.max(...shown), SILENT_MS),
      ...tooLate('the streams were back', back, BACK_MS),
    ],
  };
}

async function killedServices({ rig }: RowContext, { lanes }: Lanes): Promise<Struck> {
  const rounds = [
    ['gateway'],
    ['gateway-2'],
    ['gateway', 'gateway-2'],
    ['executions'],
    ['deployments'],
    ['gateway', 'deployments'],
  ];
  let slowest = 0;
  for (const names of rounds) {
    await Promise.all(names.map((name) => rig.kill(name)));
    await pause(2_000);
    await rig.heal();
    slowest = Math.max(slowest, await untilBack(rig, lanes));
    await pause(3_000);
  }
  return {
    facts: { kills: rounds.flat().length, 'back after': seconds(slowest) },
    violations: tooLate('the streams were back', slowest, BACK_MS),
  };
}

async function slowNetwork({ rig }: RowContext, { lanes }: Lanes): Promise<Struck> {
  const streams = await Promise.all(lanes.map(({ agent }) => connectionOf(rig.client, agent)));
  for (const { host } of lanes) host.rate(200);
  rig.badNetwork!.delay(300, 50);
  rig.badNetwork!.lose(0.1);
  const endedBefore = await endedOn(lanes);
  await pause(60_000);
  const during = (await endedOn(lanes)) - endedBefore;
  const after = await Promise.all(lanes.map(({ agent }) => connectionOf(rig.client, agent)));
  const lost = after.filter(({ since, is_connected }, i) => !is_connected || since !== streams[i]!.since);
  return {
    facts: { 'streams lost': lost.length, 'operations meanwhile': during },
    violations: [
      ...(during === 0 ? ['floor: no operation ended on the slow network'] : []),
      ...lost.map(({ name }) => `F18n: the stream of ${name} was lost on a slow network`),
    ],
  };
}

async function allRuns(lanes: readonly Lane[]): Promise<HostRun[]> {
  return (await Promise.all(lanes.map(({ host }) => runsOn(host)))).flat();
}

/** Operations that run on these hosts. */
const running = async (lanes: readonly Lane[]): Promise<HostRun[]> =>
  (await allRuns(lanes)).filter((run) => !run.hasEnded);

/** Returns the number of operations that have ended on these hosts. */
const endedOn = async (lanes: readonly Lane[]): Promise<number> =>
  (await allRuns(lanes)).filter((run) => run.hasEnded).length;

const keyOf = ({ execution, instance, pid }: HostRun): string => `${execution} ${instance} ${pid}`;

async function deadAgents({ rig }: RowContext, { lanes }: Lanes): Promise<Struck> {
  const [killed, rebooted, stopped] = lanes as [Lane, Lane, Lane];
  const lost = new Set<string>();
  const noteLost = async ({ host }: Lane): Promise<void> => {
    for (const run of await runsOn(host)) if (!run.hasEnded) lost.add(keyOf(run));
  };
  await noteLost(killed);
  const count = await killed.host.signal('SIGKILL', AGENT);
  await noteLost(killed);
  await noteLost(rebooted);
  await rebooted.host.reboot();
  await noteLost(rebooted);
  // Nothing starts programs there after a reboot: the test does what cron does.
  await startByCron(rebooted.host);
  await startByCron(killed.host);
  await stopped.host.signal('SIGSTOP', AGENT);
  await pause(20_000);
  await stopped.host.signal('SIGCONT', AGENT);
  const back = await untilBack(rig, lanes);
  await untilBusy(lanes);
  return {
    facts: { 'processes killed': count, lost: lost.size, 'back after': seconds(back) },
    violations: [
      ...(lost.size === 0 ? ['floor: nothing was under way'] : []),
      ...tooLate('the streams were back', back, BACK_MS),
    ],
    judge: { mayRepeat: (run) => lost.has(keyOf(run)) || !run.hasEnded },
  };
}

async function fullDisk({ rig }: RowContext, { lanes }: Lanes): Promise<Struck> {
  const [lane] = lanes as [Lane];
  const { host } = lane;
  const filler = `${AGENTS_FOLDER}/filler`;
  // These run for 10 s: long enough to be under way on the full disk. The ledger lies on another disk and goes on.
  const long = await startTimed(rig, lane, { lines: 20, pause: 0.5 });
  const underWay = (runs: HostRun[]): HostRun[] =>
    runs.filter((run) => run.execution === long && !run.hasEnded);
  await until(
    'floor: long operations under way',
    60_000,
    async () => underWay(await runsOn(host)).length > 0,
  );
  const filled = await host.exec(`cat /dev/zero >${filler}`);
  const atFull = await runsOn(host);
  await until('running operations to end on the full disk', 60_000, async () => {
    const ends = (await runsOn(host)).filter((run) => run.hasEnded).map(keyOf);
    return underWay(atFull).every((run) => ends.includes(keyOf(run)));
  });
  const during = await runsOn(host);
  await host.must(`rm -f ${filler}`);
  await until('operations that begin again', 60_000, async () => (await runsOn(host)).length > during.length);
  return {
    facts: {
      'under way': underWay(atFull).length,
      'begun meanwhile': during.length - atFull.length,
      'back after': seconds(await untilBack(rig, lanes)),
    },
    violations: [
      ...(/No space left/.test(filled.stderr) ? [] : ['floor: the disk was not full']),
      ...(underWay(atFull).length === 0 ? ['floor: nothing was under way'] : []),
    ],
    judge: { allowed: ['terminated', 'failed'], mayFailWith: /ENOSPC|no space left|room on the disk/ },
  };
}

async function revokedAgent({ rig }: RowContext): Promise<Outcome> {
  const { client } = rig;
  const violations: string[] = [];
  const [lane] = (await installAgents(rig)) as [Lane];
  const first = await startTimed(rig, lane, { lines: 100, pause: 0.1 });
  await until('operations under way', 30_000, async () => (await runsOn(lane.host)).length > 0);
  const since = performance.now();
  await ask(client, 'revokeAgent', { params: { name: lane.agent } });
  await untilState(rig, lane, (one) => !one.is_connected, 20_000);
  const cutMs = performance.now() - since;
  if (cutMs > 5_000)
    violations.push(`S6: the stream of the revoked agent ended after ${seconds(cutMs)}, allowed 5 s`);
  const waiting = await startTimed(rig, lane);
  // Nobody can report what it had under way: both wait for an agent, which does not come.
  for (const id of [first, waiting]) {
    const status = await ended(rig, id, 120_000);
    const { error } = await ask(client, 'getExecution', { params: { executionId: id } });
    if (status !== 'failed') violations.push(`S6: an operation of a revoked agent ended as ${status}`);
    if (!String(error).includes(lane.agent))
      violations.push(`the failure does not name ${lane.agent}: ${error}`);
  }
  const connection = await ask(client, 'getAgentConnection', { params: { name: lane.agent } });
  if (connection.is_connected) violations.push('S6: the revoked agent has a stream again');
  lane.executions.splice(lane.executions.indexOf(waiting), 1);
  const renewed = await startOne(rig, lane.deployment, 'install_new_agents', {
    parameters: { validate: false },
  });
  if ((await ended(rig, renewed, 120_000)) !== 'terminated')
    violations.push('no new agent could be installed');
  const last = await startTimed(rig, lane);
  if ((await ended(rig, last, 120_000)) !== 'terminated') violations.push('the new agent does not work');
  const verdict = await judgeLanes(rig, [lane], {
    allowed: ['terminated', 'failed'],
    mayRepeat: (run) => run.execution === first,
  });
  violations.push(...verdict.violations);
  await removeAgents(rig, [lane]);
  return {
    violations,
    facts: { 'cut after': seconds(cutMs), executions: verdict.executions, operations: verdict.operations },
  };
}
