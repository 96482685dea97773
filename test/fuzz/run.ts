// node --import tsx test/fuzz/run.ts [--seconds N] [--seed N] [--only PATTERN] [--odd] [--busy] [--mode services] [--kill] [--logs FOLDER]
// Sends random requests to a manager, sensible and invalid. Beside them run operations and workflow code that behave oddly
// (--odd: only those; test/fuzz/odd), and clients that start, cancel and resume workflows on a few deployments (--busy: only
// those, six instead of one).
// No answer may be a 5xx, lack an error code, or take longer than 3 s. Odd executions must end by themselves and tell the reason.
// Objects with a 2xx answer must exist at the end. Then every started execution must end, the doctor must find nothing, a
// snapshot must restore all data, and no log may contain a secret of an operation.
// With --kill, processes of the manager (--mode services) are killed and restarted meanwhile; then requests to a dead process
// must get 502, 503 or 504. Prints the seed; exits with 1 when something was found. --logs keeps the manager's logs. Needs the
// bundles of `npm run build`.
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { letTimePass } from '@baton/testkit/let-time-pass';
import { ensureTestServices } from '../../tools/test-services.mjs';
import { type Answer, startWorld, type World } from '../contract/world';
import { copyOfDist } from '../harness/dist-copy';
import { type Random, seededRandom } from '../sim/random';
import { type BusyWork, busyWork } from './busy';
import { findings, tell } from './findings';
import { killAtRandom, type Ledger, ledgerOf } from './kills';
import { type OddOperations, oddEnv, oddOperations } from './odd-operations';
import { type Request, requestOf } from './values';

const { values: options } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    only: { type: 'string', default: '' },
    odd: { type: 'boolean', default: false },
    busy: { type: 'boolean', default: false },
    mode: { type: 'string', default: 'standalone' },
    kill: { type: 'boolean', default: false },
    logs: { type: 'string', default: '' },
  },
});
const LANES = 4;
const ODD_LANES = 2;
const BUSY_LANES = { beside: 1, alone: 6 };
const LEDGER_PAUSE_MS = 100;
const SLOW_MS = 3_000;
const SLOW_FOR_MANY_MS = 20_000;
const LEASE_LOST = 'lease could not be renewed; operation killed';
/** These requests take as long as they have executions to handle. */
const BULK = /\/bulk$/;
/** Allowed statuses while a process is down. */
const DOWN: ReadonlySet<number> = new Set([502, 503, 504]);
const REST_MS = 60_000;
/** Routes that would close the manager to later requests, replace its data, or never end. */
const LEFT_OUT = /^\/(maintenance|license|managers|ldap|config|permissions)|\/restore$|\/stream$/;
/** Deletes executions that other checks count; requested only with --only. */
const SELDOM = 'DELETE /executions';
/** Routes that start executions, preferred because most random starts are refused. */
const FAVOURED = /^\/(executions|deployments\/:id|deployment-updates|deployment-groups|execution-groups)/;

const routes = (allRoutes as readonly RouteContract[]).filter(
  ({ method, path }) =>
    !LEFT_OUT.test(path) &&
    !(options.only === '' && `${method} ${path}` === SELDOM) &&
    `${method} ${path}`.includes(options.only),
);
const favoured = routes.filter(({ method, path }) => method !== 'GET' && FAVOURED.test(path));

function judge(route: string, asked: Request, { status, body }: Answer, ms: number): void {
  const { method, version, path } = asked;
  const short = (value: unknown): string => JSON.stringify(value)?.slice(0, 600) ?? '';
  const text = `${method} ${version} ${path.slice(0, 300)} ${short(asked.body)}: ${status} ${short(body)} after ${ms.toFixed(0)} ms`;
  if (options.kill && DOWN.has(status) && typeof body?.error_code === 'string') return;
  if (status >= 500) tell('server error', route, text);
  else if (status >= 400 && typeof body?.error_code !== 'string') tell('no error code', route, text);
  if (ms > (options.kill || BULK.test(route) ? SLOW_FOR_MANY_MS : SLOW_MS)) tell('slow', route, text);
}

async function send(world: World, asked: Request): Promise<Answer> {
  const { version, method, ...sent } = asked;
  return await world.send(version, method, sent);
}

async function oneRequest(world: World, random: Random): Promise<number | null> {
  const isFavoured = favoured.length > 0 && random.chance(0.3);
  const route = random.pick(isFavoured ? favoured : routes);
  if (route.method === 'DELETE' && random.chance(0.8)) return null;
  const asked = requestOf(random, route);
  const name = `${route.method} ${route.path}`;
  const startedMs = performance.now();
  try {
    const answer = await send(world, asked);
    judge(name, asked, answer, performance.now() - startedMs);
    const [, resource = ''] = route.path.split('/');
    if (answer.status < 300 && typeof answer.body?.id === 'string')
      world.values[`last_${resource.replaceAll('-', '_')}`] = answer.body.id;
    return answer.status;
  } catch (error) {
    // The gateway itself is down.
    if (options.kill) return null;
    tell(
      'no answer',
      name,
      `${name} ${JSON.stringify(asked).slice(0, 600)}: ${error} ${(error as Error).cause}`,
    );
    return null;
  }
}

/** Creates objects again that requests may have deleted. */
async function refill(world: World): Promise<void> {
  const put = (path: string, more: object) => world.send('v3.1', 'PUT', { path, ...more });
  await put('/blueprints/b1', { archive: 'blueprint' });
  await put('/blueprints/rich', { archive: 'faulty' });
  for (const id of ['d1', 'd2']) await put(`/deployments/${id}`, { body: { blueprint_id: 'b1' } });
  for (const id of ['rich1', 'rich2']) await put(`/deployments/${id}`, { body: { blueprint_id: 'rich' } });
}

interface Execution {
  id: string;
  status: string;
  workflow_id: string;
  deployment_id: string;
}

async function executionsOf(world: World): Promise<Execution[]> {
  const path = '/executions?_include_system_workflows=true&_all_tenants=true&_size=10000';
  return (await world.send('v3.1', 'GET', { path })).body.items;
}

const isOpen = ({ status }: Execution): boolean =>
  !['terminated', 'failed', 'cancelled', 'scheduled'].includes(status);

/** Cancels running executions in random modes, and waits until all have ended. */
async function comeToRest(world: World, random: Random): Promise<void> {
  for (const { id } of (await executionsOf(world)).filter(isOpen)) {
    const action = random.pick(['cancel', 'force-cancel', 'kill']);
    await world.send('v3.1', 'POST', { path: `/executions/${id}`, body: { action } });
  }
  let all = await executionsOf(world);
  for (
    const until = Date.now() + REST_MS;
    Date.now() < until && all.some(isOpen);
    all = await executionsOf(world)
  )
    await letTimePass(500, 'between two looks');
  for (const execution of all.filter(isOpen)) {
    const why = await world.send('v3.1', 'GET', { path: `/executions/${execution.id}/why` });
    tell('never ends', execution.workflow_id, JSON.stringify([execution, why.body]));
  }
  const ends = new Map<string, number>();
  for (const { workflow_id, status } of all) {
    const end = `${workflow_id} ${status}`;
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  console.log(`${all.length} executions: ${countsOf(ends)}`);
  let doctor = await world.send('v3.1', 'GET', { path: '/doctor' });
  // Data left by a killed process are repaired by others after some time.
  for (
    const until = Date.now() + REST_MS;
    doctor.body.items.length > 0 && Date.now() < until;
    await letTimePass(2_000, 'between two looks')
  )
    doctor = await world.send('v3.1', 'GET', { path: '/doctor' });
  for (const item of doctor.body.items) tell('doctor', String(item.check), JSON.stringify(item));
}

/** Resources that are counted before a snapshot and after its restore. */
const COUNTED = [
  ...['blueprints', 'deployments', 'nodes', 'node-instances', 'deployment-updates', 'deployment-groups'],
  ...[
    'deployment-modifications',
    'executions',
    'execution-groups',
    'execution-schedules',
    'plugins',
    'secrets',
  ],
  ...[
    'sites',
    'filters/deployments',
    'filters/blueprints',
    'tenants',
    'users',
    'user-groups',
    'labels/deployments',
  ],
  ...['deployments/inter-deployment-dependencies', 'secrets-providers', 'plugins-updates', 'log-bundles'],
];

async function totalsOf(world: World): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const path of COUNTED) {
    const { body } = await world.send('v3.1', 'GET', { path: `/${path}?_size=1` });
    totals[path] = body.metadata?.pagination?.total;
  }
  return totals;
}

/** Creates a snapshot of all data and restores it. */
async function restoreAll(world: World): Promise<void> {
  const ended = async (method: string, path: string, body: object): Promise<boolean> => {
    const { status, body: made } = await world.send('v3.1', method, { path, body });
    for (
      const until = Date.now() + REST_MS;
      status < 300 && Date.now() < until;
      await letTimePass(200, 'between two looks')
    ) {
      const { body: execution } = await world.send('v3.1', 'GET', { path: `/executions/${made.id}` });
      if (execution.status === 'terminated') return true;
      if (execution.status === 'failed') break;
    }
    tell('snapshot', path, `${method} ${path}: ${status} ${JSON.stringify(made).slice(0, 600)}`);
    return false;
  };
  if (!(await ended('PUT', '/snapshots/all', {}))) return;
  const before = await totalsOf(world);
  await world.send('v3.1', 'PUT', { path: '/sites/made-afterwards', body: {} });
  if (!(await ended('POST', '/snapshots/all/restore', { force: true }))) return;
  const after = await totalsOf(world);
  for (const path of COUNTED)
    if (before[path] !== after[path]) tell('lost by a restore', path, `${before[path]} -> ${after[path]}`);
}

const countsOf = (counts: ReadonlyMap<unknown, number>): string =>
  [...counts]
    .map(([name, times]) => `${name} ${times}`)
    .sort()
    .join(', ');

/** Runs all kinds of clients in parallel until the time is over. */
async function play(
  world: World,
  random: Random,
): Promise<{ odd: OddOperations; busy: BusyWork; ledger: Ledger }> {
  const until = Date.now() + Number(options.seconds) * 1000;
  const statuses = new Map<number, number>();
  const odd = await oddOperations(world, random, options.kill);
  const busy = await busyWork(world, random, options.kill);
  const ledger = await ledgerOf(world, random);
  const lane = async (): Promise<void> => {
    for (let n = 0; Date.now() < until; n++) {
      if (n % 300 === 0) await refill(world).catch(passedOver);
      const status = await oneRequest(world, random);
      if (status !== null) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const oddLane = async (): Promise<void> => {
    while (Date.now() < until) await odd.one().catch(passedOver);
  };
  const busyLane = async (): Promise<void> => {
    while (Date.now() < until) await busy.one().catch(passedOver);
  };
  const ledgerLane = async (): Promise<void> => {
    for (; Date.now() < until; await letTimePass(LEDGER_PAUSE_MS, 'the pace of the ledger'))
      await ledger.one();
  };
  const lanes = [
    ...Array.from({ length: options.odd || options.busy ? 0 : LANES }, lane),
    ...Array.from({ length: options.busy ? 0 : ODD_LANES }, oddLane),
    ...Array.from(
      { length: options.busy ? BUSY_LANES.alone : options.odd ? 0 : BUSY_LANES.beside },
      busyLane,
    ),
    ledgerLane(),
  ];
  if (options.kill) lanes.push(killAtRandom(world, random, until));
  await Promise.all(lanes);
  console.log(`requests by status: ${countsOf(statuses)}`);
  odd.tellCounts();
  return { odd, busy, ledger };
}

/** Ignores errors while the gateway may be down. */
function passedOver(error: unknown): void {
  if (!options.kill) throw error;
}

async function main(): Promise<void> {
  console.log(`seed ${options.seed}`);
  const random = seededRandom(Number(options.seed));
  const isFleet = options.mode === 'services' || options.kill;
  const dist = copyOfDist();
  const world = await startWorld({
    dist,
    env: oddEnv,
    ...(isFleet && { mode: 'services', workers: 3, replicas: { executions: 2 } }),
  });
  try {
    const { odd, busy, ledger } = await play(world, random);
    await busy.judge();
    await comeToRest(world, random);
    await ledger.judge();
    await restoreAll(world);
    odd.judgeSecrecy();
    if (options.logs !== '') cpSync(join(world.fleet.dir, 'logs'), options.logs, { recursive: true });
    // A process that is down for a moment is reported by its callers.
    for (const line of options.kill ? [] : world.faults()) {
      const { err, message } = JSON.parse(line);
      // Belongs to an execution that was cancelled by force: no lease is renewed while a restore locks the tables.
      if (message !== LEASE_LOST) tell('fault', String(err?.message ?? message), line);
    }
  } finally {
    await world.stop();
    rmSync(dist, { recursive: true });
  }
  const found = findings();
  for (const [what, times] of found) console.log(`${times} times ${what}`);
  console.log(found.size === 0 ? 'nothing found' : `${found.size} found, seed ${options.seed}`);
}

async function withServices(): Promise<number> {
  const services = await ensureTestServices();
  Object.assign(process.env, services.env);
  await main().finally(() => services.stop());
  return findings().size === 0 ? 0 : 1;
}

withServices().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
