import { randomUUID } from 'node:crypto';
import { diagnose } from '../diagnosis';
import { judge } from '../judge';
import { startOnce, toAsk } from '../load';
import { ENGINES, type Rig, WORKERS } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

/** Chains of deployments, each of which waits for the next one: more levels than there are slots. */
const CHAINS = 2;
const LEVELS = 5;

export const nestedRows: Row[] = [
  {
    id: 'F24',
    title: '10 nested levels on 3 places; the worker of one is killed',
    pass: 'who waits holds no place: all levels end, each after the one inside it',
    limitS: 150,
    slots: 1,
    run: (at) => nested(at, killWorker),
  },
  {
    id: 'F24e',
    title:
      'both engines are killed again and again while operations wait for the executions they have started',
    pass: 'nobody polls for them and no wake-up is lost for long: all levels end, each execution exactly once',
    limitS: 150,
    slots: 1,
    run: (at) => nested(at, killEngines),
  },
  {
    id: 'F24u',
    title: 'both engines are killed again and again while an uninstall waits for those of the services below',
    pass: 'each is uninstalled exactly once, after those below it; the one above ends when all have ended',
    limitS: 150,
    run: uninstallFamily,
  },
];

/** Services below the environment; below each of them is one more. */
const SERVICES = 4;

async function uninstallFamily(at: RowContext): Promise<Outcome> {
  const { rig } = at;
  const outcome: Outcome = { violations: [], facts: {} };
  const chains = await makeFamily(rig);
  const all = [...new Set(chains.flat())];
  const asked = all.map((deployment) => toAsk(deployment));
  await Promise.all(asked.map((install) => startOnce(rig, install, new Map())));
  const ended = (levels: readonly Level[]) =>
    levels.length === all.length && levels.every(({ phase }) => phase === 'ended');
  await until('all are installed', 60_000, async () => ended(await levelsOf(rig, all)));
  const [env] = all;
  const uninstall = { ...toAsk(env!, 'uninstall'), more: { parameters: { recursive: true } } };
  await startOnce(rig, uninstall, new Map());
  await until('floor: the environment waits for its services', 30_000, async () =>
    (await levelsOf(rig, [env!], 'uninstall')).some(({ phase }) => phase === 'awaiting'),
  );
  await killEngines(at);
  await until('G2: all are uninstalled', 90_000, async () =>
    ended(await levelsOf(rig, all, 'uninstall')),
  ).catch(async (error: Error) => {
    outcome.violations.push(error.message);
    outcome.diagnosis = await diagnose(rig);
  });
  outcome.violations.push(...checkOrder(chains, await levelsOf(rig, all, 'uninstall')));
  const left = await rig.sql<{ id: string }>(
    `select i.id from deployments.node_instances i join deployments.deployments d on d.key = i.deployment_key
     where d.id = any($1) and i.state <> 'deleted'`,
    [all],
  );
  if (left.length > 0) outcome.violations.push(`F24u: ${left.length} node instances are left`);
  // The uninstalls of the services were not requested by a client: their effects are checked above.
  const verdict = await judge(rig, [asked[0]!, uninstall], { victims: [] });
  outcome.violations.push(...verdict.violations);
  outcome.facts = {
    executions: all.length * 2,
    operations: rig.ledger.runs().length,
    repeated: verdict.repeats,
  };
  return outcome;
}

/** Creates the environment and, for each of its services, the service and the one below it. */
async function makeFamily(rig: Rig): Promise<string[][]> {
  const name = randomUUID().slice(0, 8);
  const below = async (prefix: string, parent: string, count: number): Promise<string[]> =>
    await rig.deployments(prefix, count, { labels: [{ 'csys-obj-parent': parent }] });
  const [env] = await rig.deployments(`env-${name}`, 1);
  const services = await below(`service-${name}`, env!, SERVICES);
  const inner = await Promise.all(services.map((service) => below(`inner-${service}`, service, 1)));
  return services.map((service, i) => [env!, service, ...inner[i]!]);
}

/** Kills a worker. Returns the process ids whose runs may be repeated. */
async function killWorker({ rig, random }: RowContext): Promise<number[]> {
  const pid = await rig.kill(random.pick(WORKERS));
  await pause(1_000);
  await rig.heal();
  return [pid];
}

async function killEngines({ rig, random, isSuite }: RowContext): Promise<number[]> {
  for (let kills = isSuite ? 2 : 4; kills > 0; kills--) {
    await Promise.all(ENGINES.map((name) => rig.kill(name)));
    await pause(random.below(1_000));
    await rig.heal();
    await pause(random.below(1_500));
  }
  return [];
}

async function nested(at: RowContext, strike: (at: RowContext) => Promise<number[]>): Promise<Outcome> {
  const { rig } = at;
  const outcome: Outcome = { violations: [], facts: {} };
  const chains = await Promise.all(Array.from({ length: CHAINS }, () => makeChain(rig)));
  const roots = chains.map(([deployment]) => toAsk(deployment!));
  await Promise.all(roots.map((root) => startOnce(rig, root, new Map())));
  const all = chains.flat();
  await until('floor: more levels under way than there are places', 60_000, async () => {
    const open = (await levelsOf(rig, all)).filter((level) => level.phase !== 'ended');
    return open.length > WORKERS.length;
  });
  const victims = await strike(at);
  await until('G2: all levels ended', 75_000, async () => {
    const levels = await levelsOf(rig, all);
    return levels.length === all.length && levels.every((level) => level.phase === 'ended');
  }).catch(async (error: Error) => {
    outcome.violations.push(error.message);
    outcome.diagnosis = await diagnose(rig);
  });
  outcome.violations.push(...checkOrder(chains, await levelsOf(rig, all)));
  const verdict = await judge(rig, roots, { victims });
  outcome.violations.push(...verdict.violations);
  outcome.facts = {
    levels: all.length,
    places: WORKERS.length,
    executions: all.length,
    operations: rig.ledger.runs().length,
    repeated: verdict.repeats,
  };
  return outcome;
}

/** Returns deployments from the outermost to the innermost; each starts the next one. */
async function makeChain(rig: Rig): Promise<string[]> {
  const chain: string[] = [];
  let inner = '';
  for (let level = LEVELS; level > 0; level--) {
    const [made] = await rig.deployments(`level-${level}-${randomUUID().slice(0, 8)}`, 1, {
      blueprint: 'nested',
      inputs: { api: rig.fleet.baseUrl, child: inner },
    });
    inner = made!;
    chain.unshift(inner);
  }
  return chain;
}

interface Level {
  deployment: string;
  phase: string;
  status: string;
  ended: number | null;
}

async function levelsOf(rig: Rig, deployments: readonly string[], workflow = 'install'): Promise<Level[]> {
  return await rig.sql<Level>(
    `select deployment_id as deployment, phase, status, (extract(epoch from ended_at) * 1000)::float8 as ended
     from executions.executions where deployment_id = any($1) and workflow_id = $2`,
    [deployments, workflow],
  );
}

/** Checks that each level has one execution, which succeeded, and which did not end before the one inside it. */
function checkOrder(chains: readonly string[][], levels: readonly Level[]): string[] {
  const violations: string[] = [];
  for (const chain of chains) {
    for (const [i, deployment] of chain.entries()) {
      const own = levels.filter((level) => level.deployment === deployment);
      if (own.length !== 1 || own[0]!.status !== 'terminated')
        violations.push(
          `F24: ${deployment} has the executions [${own.map((level) => level.status).join(', ')}]`,
        );
      const inner = levels.find((level) => level.deployment === chain[i + 1]);
      if (inner && (own[0]?.ended ?? 0) < (inner.ended ?? Number.POSITIVE_INFINITY))
        violations.push(`F24: ${deployment} ended before ${inner.deployment}, which is inside it`);
    }
  }
  return violations;
}
