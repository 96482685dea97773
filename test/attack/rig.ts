/** A new manager with an attacking tenant and a victim tenant. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@baton/client';
import { eventually } from '@baton/testkit';
import { type Fleet, type FleetOptions, startFleet } from '../harness/fleet';
import type { Account } from '../harness/processes';
import { adminClient, archiveOf, call, follow, upload } from '../harness/session';
import type { Login, Mode, Rig } from './row';

/** The system's account `nobody`, which runs the manager in mode "ordinary user". */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };
/** Resource limits of operations in these tests: low, so that an operation is stopped before it uses much. */
export const LIMITS = { processes: 200, diskBytes: 20_000_000 };
/** Number of workers. */
const WORKERS = 2;

const env = {
  BATON_WORKER_LIMIT_PROCESSES: String(LIMITS.processes),
  BATON_WORKER_LIMIT_DISK: String(LIMITS.diskBytes),
  // The tests serve imports from local addresses.
  BATON_ALLOW_PRIVATE_URLS: 'true',
};

function fleetOptions(mode: Mode, dist: string): FleetOptions {
  if (mode === 'services') return { mode, workers: WORKERS, env, dist };
  const standalone = { mode: 'standalone', workers: WORKERS, env, dist } as const;
  return mode === 'standalone' ? standalone : { ...standalone, account: NOBODY };
}

/** Starts the rig; `dist` is a copy of the bundles that every account can read. */
export async function startRig(mode: Mode, dist: string): Promise<Rig> {
  const fleet = await startFleet(fleetOptions(mode, dist));
  try {
    return await rigOf(fleet, mode, dist);
  } catch (error) {
    await fleet.stop();
    throw error;
  }
}

async function tenantWith(admin: Client, name: string): Promise<Login> {
  const login = { name, password: `${name}-password`, tenant: name };
  await call(admin, 'createTenant', { name });
  await call(admin, 'createUser', {}, { username: name, password: login.password, role: 'default' });
  await call(admin, 'addTenantUser', {}, { tenant_name: name, username: name, role: 'user' });
  return login;
}

async function rigOf(fleet: Fleet, mode: Mode, dist: string): Promise<Rig> {
  const root = adminClient(fleet);
  const user = await tenantWith(root, 'mallory');
  const victim = await tenantWith(root, 'alice');
  const secret = `of-alice-${process.pid}-${mode.length}`;
  const clientOf = ({ name, password, tenant }: Login) =>
    createClient({ baseUrl: fleet.baseUrl, username: name, password, tenant });
  await call(clientOf(victim), 'putSecret', { secret_key: 'theirs' }, { value: secret });
  const admin = clientOf({ name: 'admin', password: fleet.adminPassword, tenant: user.tenant });
  return {
    fleet,
    mode,
    dist,
    account: mode === 'ordinary user' ? NOBODY : undefined,
    workDir: join(fleet.dir, mode === 'services' ? 'work-1' : 'work'),
    user,
    victim,
    secret,
    clientOf,
    admin,
    ask: asker(fleet),
    operations: operationsOf(fleet, clientOf(user)),
    notEnforced: () => eventually(() => notEnforcedIn(join(fleet.dir, 'logs'))),
  };
}

/**
 * Returns the restrictions that workers report as not enforced: in their logs, or in the banner of the standalone. @throws Error
 * while there is no report
 */
function notEnforcedIn(logs: string): string[] {
  const text = readdirSync(logs)
    .map((name) => readFileSync(join(logs, name), 'utf8'))
    .join('\n');
  const said = [...text.matchAll(/"notEnforced":(\[[^\]]*\])/g)].flatMap(
    ([, list]) => JSON.parse(list!) as string[],
  );
  const shown = [...text.matchAll(/^ +not enforced: (.*)$/gm)].map(([, what]) => what!);
  if (said.length + shown.length === 0) throw new Error('no worker says what it does not enforce');
  return [...said, ...shown];
}

function asker({ baseUrl }: Fleet): Rig['ask'] {
  return async (path, as, init = {}) => {
    const basic = as && Buffer.from(`${as.name}:${as.password}`).toString('base64');
    const own: Record<string, string> = as ? { authorization: `Basic ${basic}`, tenant: as.tenant } : {};
    const answer = await fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { ...own, ...(init.headers as Record<string, string>) },
    });
    return { status: answer.status, text: await answer.text() };
  };
}

/** Returns the file of a script. A name that ends with .py is a Python script. */
const fileOf = (name: string): string => (name.endsWith('.py') ? name : `${name}.sh`);

const blueprintOf = (names: string[]): string => `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
${names
  .map(
    (name, i) => `  n${i}:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: {implementation: ${fileOf(name)}, max_retries: 0}
`,
  )
  .join('')}`;

function operationsOf(fleet: Fleet, client: Client): Rig['operations'] {
  let count = 0;
  return async (scripts, { startedBy = client } = {}) => {
    const id = `attack-${++count}`;
    const folder = join(fleet.dir, id);
    const names = Object.keys(scripts);
    mkdirSync(folder);
    writeFileSync(join(folder, 'blueprint.yaml'), blueprintOf(names));
    for (const name of names) writeFileSync(join(folder, fileOf(name)), scripts[name]!);
    await upload(client, id, archiveOf(folder));
    await call(client, 'createDeployment', { id }, { blueprint_id: id });
    const { status, messages } = await follow(startedBy, id, 'install');
    const printed = Object.fromEntries(names.map((name) => [name, printedBy(name, messages)]));
    return { status, printed };
  };
}

/**
 * Returns the lines that a script printed. Lines begin with @ and the name of their script, because all operations of an
 * execution log into one stream.
 */
const printedBy = (name: string, messages: string[]): string =>
  messages
    .flatMap((message) => message.split('\n'))
    .flatMap((line) =>
      line.includes(`@${name} `) ? [line.slice(line.indexOf(`@${name} `) + name.length + 2)] : [],
    )
    .join('\n');

/** First lines of a shell script: `say` prints a line with the script's name. */
export const saying = (name: string): string => `say() { echo "@${name} $*"; }\n`;
