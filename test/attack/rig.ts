/** A fresh manager with a tenant that attacks and one that is attacked. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '@baton/client';
import { eventually } from '@baton/testkit';
import { type Fleet, type FleetOptions, startFleet } from '../harness/fleet';
import type { Account } from '../harness/processes';
import { adminClient, archiveOf, call, follow, upload } from '../harness/session';
import type { Login, Mode, Rig } from './row';

/** The system's own nobody; a manager of an ordinary user runs as it. */
const NOBODY: Account = { uid: 65_534, gid: 65_534 };
/** What an operation may use here, so that little is used up before it is stopped. */
export const LIMITS = { processes: 200, diskBytes: 20_000_000 };
/** Places for operations on both workers together. */
const WORKERS = 2;

const env = {
  BATON_WORKER_LIMIT_PROCESSES: String(LIMITS.processes),
  BATON_WORKER_LIMIT_DISK: String(LIMITS.diskBytes),
  // Imports come from servers of the tests.
  BATON_ALLOW_PRIVATE_URLS: 'true',
};

function fleetOptions(mode: Mode, dist: string): FleetOptions {
  if (mode === 'services') return { mode, workers: WORKERS, env, dist };
  const standalone = { mode: 'standalone', workers: WORKERS, env, dist } as const;
  return mode === 'standalone' ? standalone : { ...standalone, account: NOBODY };
}

/** Starts it; `dist` is a copy of the bundles that every account reads. */
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

/** Every worker's word: in its log, or in the banner of the standalone. @throws Error while there is none */
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

/** A name that ends with .py is a Python script. */
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

/** Lines begin with @ and the name of their script: logs of all operations of an execution are one stream. */
const printedBy = (name: string, messages: string[]): string =>
  messages
    .flatMap((message) => message.split('\n'))
    .flatMap((line) =>
      line.includes(`@${name} `) ? [line.slice(line.indexOf(`@${name} `) + name.length + 2)] : [],
    )
    .join('\n');

/** Begin of a shell script: `say` prints a line of its own. */
export const saying = (name: string): string => `say() { echo "@${name} $*"; }\n`;
