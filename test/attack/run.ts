// npm run attack: plays rows of the issue's table against fresh managers, as an outsider or a user of a tenant would.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '@baton/client';
import { type Fleet, type Mode, startFleet } from '../harness/fleet';
import { adminClient, archiveOf, call, succeed, upload } from '../harness/session';
import type { Login, Rig, Row } from './row';

const { values } = parseArgs({ options: { mode: { type: 'string' }, rows: { type: 'string' } } });
const results: { row: Row; mode: Mode; isHeld: boolean; happened: string }[] = [];

function rowsOf(mode: Mode): Row[] {
  const folder = join(__dirname, 'rows');
  const wanted = values.rows?.split(',').map(Number);
  return readdirSync(folder)
    .sort()
    .map((name) => (require(join(folder, name)) as { row: Row }).row)
    .filter((row) => row.modes.includes(mode) && (!wanted || wanted.includes(row.number)));
}

async function rigOf(fleet: Fleet, mode: Mode): Promise<Rig> {
  const admin = adminClient(fleet);
  const user = { name: 'mallory', password: 'mallory-password', tenant: 'mallory' };
  await call(admin, 'createTenant', { name: user.tenant });
  await call(admin, 'createUser', {}, { username: user.name, password: user.password, role: 'default' });
  await call(admin, 'addTenantUser', {}, { tenant_name: user.tenant, username: user.name, role: 'user' });
  const client = createClient({
    baseUrl: fleet.baseUrl,
    username: user.name,
    password: user.password,
    tenant: user.tenant,
  });
  let count = 0;
  return {
    fleet,
    mode,
    user,
    ask: async (path, as?: Login, init = {}) => {
      const headers: Record<string, string> = as
        ? {
            authorization: `Basic ${Buffer.from(`${as.name}:${as.password}`).toString('base64')}`,
            tenant: as.tenant,
          }
        : {};
      const answer = await fetch(`${fleet.baseUrl}${path}`, {
        ...init,
        headers: { ...headers, ...init.headers },
      });
      return { status: answer.status, text: await answer.text() };
    },
    operation: async (script) => {
      const id = `attack-${++count}`;
      const folder = join(fleet.dir, id);
      mkdirSync(folder);
      writeFileSync(join(folder, 'attack.sh'), `#!/bin/sh\n${script}`);
      writeFileSync(join(folder, 'blueprint.yaml'), BLUEPRINT);
      await upload(client, id, archiveOf(folder));
      await call(client, 'createDeployment', { id }, { blueprint_id: id });
      return (await succeed(client, id, 'install')).messages.join('\n');
    },
  };
}

const BLUEPRINT = `tosca_definitions_version: cloudify_dsl_1_4
imports: [cloudify/types/types.yaml]
node_templates:
  attacker:
    type: cloudify.nodes.Root
    interfaces:
      cloudify.interfaces.lifecycle:
        create: attack.sh
`;

async function attack(mode: Mode): Promise<void> {
  const rows = rowsOf(mode);
  if (rows.length === 0) return;
  const fleet = await startFleet({ mode, workers: 1 });
  try {
    const rig = await rigOf(fleet, mode);
    for (const row of rows) {
      const outcome = await row
        .run(rig)
        .catch((error: Error) => ({ isHeld: false, happened: `could not be played: ${error.message}` }));
      results.push({ row, mode, ...outcome });
    }
  } finally {
    await fleet.stop();
  }
}

async function main(): Promise<void> {
  execFileSync('tar', ['--version'], { stdio: 'ignore' });
  for (const mode of ['standalone', 'services'] as const)
    if (!values.mode || values.mode === mode) await attack(mode);
  for (const { row, mode, isHeld, happened } of results)
    console.log(
      `${isHeld ? 'held  ' : 'FAILED'} ${String(row.number).padStart(2)} ${mode.padEnd(10)} ${row.title}: ${happened}`,
    );
  const failed = results.filter(({ isHeld }) => !isHeld).length;
  console.log(`${results.length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}

void main();
