import { randomUUID } from 'node:crypto';
import { tgzOf, zipOf } from '../../../services/catalog/src/testing/archives';
import { route } from '../../harness/session';
import { ask } from '../ask';
import { diagnose } from '../diagnosis';
import type { Rig } from '../rig';
import type { Outcome, Row, RowContext } from '../row';
import { pause, until } from '../until';

const DEPLOYMENTS = 3;
/** Time limit from the last repair: the lease of the dead process, a tick of the loop, and the updates one after another. */
const END_MS = 60_000;
const BLUEPRINT = 'plugged';

export const pluginsUpdateRows: Row[] = [
  {
    id: 'F1u',
    title: 'the services that carry a plugins update out are killed in the middle of it',
    pass: `it is successful within ${END_MS / 1000} s: each deployment was updated once, blueprint and nodes have the new version`,
    limitS: 150,
    run: pluginsUpdate,
  },
];

async function pluginsUpdate({ rig, random, isSuite }: RowContext): Promise<Outcome> {
  const outcome: Outcome = { violations: [], facts: {} };
  let major = await newestPlugin(rig);
  if (major === 0) await uploadPlugin(rig, ++major);
  const ids = await rig.deployments('plugged', DEPLOYMENTS, { blueprint: BLUEPRINT, inputs: {} });
  let kills = 0;
  let inTheMiddle = 0;
  const states: string[] = [];
  for (let round = 0; round < (isSuite ? 1 : 2); round++) {
    await uploadPlugin(rig, ++major);
    const before = await updatesOf(rig);
    const accepted = ask(rig.client, 'initiatePluginsUpdate', {
      params: { blueprint_id: BLUEPRINT },
      body: { all_to_latest: true },
      // The earlier attempt is still running.
      isDone: ['conflict_error'],
    });
    accepted.catch(() => undefined);
    for (const [victims, afterMs] of [
      [['deployments'], random.below(400)],
      [['deployments'], random.below(1_500)],
      [[random.pick(['catalog', 'executions', 'executions-2']), 'deployments'], random.below(1_500)],
    ] as const) {
      await pause(afterMs);
      await Promise.all(victims.map((name) => rig.kill(name)));
      kills++;
      if ((await updatesOf(rig)).some((one) => isOpen(one.state))) inTheMiddle++;
      await pause(random.below(500));
      await rig.heal();
      await accepted;
    }
    const updates = await until('G2: the end of the plugins update', END_MS, async () => {
      const all = await updatesOf(rig);
      return all.some((one) => isOpen(one.state)) ? null : all;
    }).catch(async (error: Error) => {
      outcome.violations.push(error.message);
      outcome.diagnosis = [...(await openUpdates(rig)), ...(await diagnose(rig))];
      return [];
    });
    const fresh = updates.filter((one) => !before.some(({ id }) => id === one.id));
    states.push(...fresh.map((one) => one.state));
    outcome.violations.push(...(await checkUpdate(rig, fresh, ids, `${major}.0`)));
  }
  if (inTheMiddle === 0) outcome.violations.push('floor: no update was under way when services were killed');
  outcome.facts = { kills, 'in the middle of work': inTheMiddle, updates: states.join(', ') };
  return outcome;
}

interface Update {
  id: string;
  state: string;
  execution_id: string | null;
  temp: string;
}

const isOpen = (state: string): boolean => ['updating', 'executing_workflow', 'finalizing'].includes(state);

async function updatesOf({ sql }: Rig): Promise<Update[]> {
  return await sql<Update>(
    `select id, state, execution_id, temp_blueprint_id as temp from deployments.plugins_updates where blueprint_id = $1`,
    [BLUEPRINT],
  );
}

async function openUpdates({ sql }: Rig): Promise<string[]> {
  const rows = await sql<{ text: string }>(
    `select concat_ws(' ', id, state, lease_owner, 'lease until', lease_until, deployments) as text
     from deployments.plugins_updates where state in ('updating', 'executing_workflow', 'finalizing')`,
  );
  return ['plugins updates under way:', ...rows.map((row) => `  ${row.text}`)];
}

/** Checks that all deployments were migrated, each by one update, and that no intermediate data are left. */
async function checkUpdate(rig: Rig, updates: Update[], ids: string[], version: string): Promise<string[]> {
  const violations: string[] = [];
  const successful = updates.filter((one) => one.state === 'successful');
  if (successful.length !== 1 || updates.some((one) => one.state === 'failed'))
    violations.push(`G2: plugins updates ended as [${updates.map((one) => one.state).join(', ')}]`);
  const plugins = await rig.sql<{ deployment: string; blueprint: string; version: string }>(
    `select distinct d.id as deployment, d.blueprint_id as blueprint, p ->> 'package_version' as version
     from deployments.deployments d join deployments.nodes n on n.deployment_key = d.key
       join deployments.documents doc on doc.digest = n.definition cross join lateral json_array_elements(doc.body -> 'plugins') p
     where d.id = any($1)`,
    [ids],
  );
  for (const one of plugins)
    if (one.version !== version || one.blueprint !== BLUEPRINT)
      violations.push(
        `G1: ${one.deployment} of ${one.blueprint} has version ${one.version}, must be ${version}`,
      );
  for (const { temp, execution_id: execution } of successful) {
    const copies = await rig.sql(`select 1 from catalog.blueprints where id = $1`, [temp]);
    if (copies.length > 0) violations.push(`G1: the copy ${temp} is left behind`);
    const made = await rig.sql<{ deployment: string; state: string }>(
      `select d.id as deployment, u.state from deployments.deployment_updates u
         join deployments.deployments d on d.key = u.deployment_key where u.new_blueprint_id = $1`,
      [temp],
    );
    const wanted = ids.map((id) => `${id} successful`).sort();
    const found = made.map((one) => `${one.deployment} ${one.state}`).sort();
    if (found.join() !== wanted.join())
      violations.push(`G4: updates of deployments are [${found.join(', ')}]`);
    const [end] = await rig.sql<{ status: string; phase: string }>(
      `select status, phase from executions.executions where id = $1`,
      [execution],
    );
    if (end?.status !== 'terminated' || end.phase !== 'ended')
      violations.push(`G2: its execution ${execution} is ${end?.status}, ${end?.phase}`);
  }
  return violations;
}

const PACKAGE = 'fault-plugin';

async function newestPlugin({ sql }: Rig): Promise<number> {
  const [row] = await sql<{ major: number | null }>(
    `select max(split_part(package_version, '.', 1)::int) as major from catalog.plugins where package_name = $1`,
    [PACKAGE],
  );
  return row?.major ?? 0;
}

async function uploadPlugin({ client }: Rig, major: number): Promise<void> {
  const version = `${major}.0`;
  const wheel = `fault_plugin-${version}-py311-none-linux_x86_64`;
  const wagon = await tgzOf([
    {
      name: `${PACKAGE}/package.json`,
      content: JSON.stringify({
        package_name: PACKAGE,
        package_version: version,
        archive_name: `${wheel}.wgn`,
        package_source: `${PACKAGE}==${version}`,
        wheels: [`${wheel}.whl`],
        supported_platform: 'any',
        supported_python_versions: ['py311'],
      }),
    },
    { name: `${PACKAGE}/wheels/${wheel}.whl`, content: randomUUID() },
  ]);
  const yaml = `plugins:
  book:
    executor: central_deployment_agent
    package_name: ${PACKAGE}
    package_version: "${version}"
    install: false
node_types:
  fault.nodes.Plugged:
    derived_from: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: book.ledger.op
`;
  const content = zipOf([
    { name: 'plugin.wgn', content: wagon },
    { name: 'plugin.yaml', content: yaml },
  ]);
  await client.upload(route('uploadPlugin'), { content } as never);
}
