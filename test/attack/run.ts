// npm run attack: plays earlier successful attacks against new managers, as an outsider, a user of a tenant and a neighbour.
// Beside each attack an honest call must succeed. --mode standalone | "ordinary user" | services, --rows 1,9,S17.
import { accessSync, constants, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTestServices } from '../../tools/test-services.mjs';
import { copyOfDist } from '../harness/dist-copy';
import { startRig } from './rig';
import { type Mode, modes, type Outcome, type Row } from './row';

const { values } = parseArgs({ options: { mode: { type: 'string' }, rows: { type: 'string' } } });
const results: { row: Row; mode: Mode; outcome: Outcome; seconds: number }[] = [];

function rowsOf(mode: Mode): Row[] {
  const folder = join(__dirname, 'rows');
  const wanted = values.rows?.split(',');
  const isWanted = ({ name }: Row): boolean =>
    !wanted || wanted.includes(name) || wanted.includes(name.split(' ')[0]!);
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const { row, rows } = require(join(folder, name)) as { row?: Row; rows?: Row[] };
      return rows ?? [row!];
    })
    .filter((row) => row.modes.includes(mode) && isWanted(row));
}

async function attack(mode: Mode, dist: string): Promise<void> {
  const rows = rowsOf(mode);
  if (rows.length === 0) return;
  const rig = await startRig(mode, dist);
  try {
    for (const row of rows) {
      const from = performance.now();
      const outcome: Outcome = await row
        .run(rig)
        .catch((error: Error) => ({ isHeld: false, happened: `could not be played: ${error.message}` }));
      results.push({ row, mode, outcome, seconds: (performance.now() - from) / 1000 });
      print(results.at(-1)!);
    }
  } finally {
    await rig.fleet.stop();
  }
}

function print({ row, mode, outcome, seconds }: (typeof results)[number]): void {
  const mark = outcome.isHeld ? 'held  ' : outcome.isAdmitted ? 'open  ' : 'FAILED';
  const where = `${row.name.padEnd(16)} ${mode.padEnd(13)}`;
  console.log(`${mark} ${where} ${seconds.toFixed(1).padStart(5)} s  ${row.title}: ${outcome.happened}`);
}

/** Returns the reason why this mode cannot be attacked here; null when it can. */
function obstacleOf(mode: Mode): string | null {
  if (mode !== 'ordinary user') return null;
  if (process.getuid?.() !== 0)
    return 'only root starts a manager as somebody else (and yours is one of an ordinary user)';
  try {
    // Every account must be able to reach the dependencies that the bundles load.
    for (let folder = join(__dirname, '../../node_modules'); folder !== '/'; folder = join(folder, '..'))
      if (!isPassable(folder)) return `${folder} is closed to others`;
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function isPassable(folder: string): boolean {
  accessSync(folder, constants.X_OK);
  const { statSync } = require('node:fs') as typeof import('node:fs');
  return (statSync(folder).mode & 0o005) === 0o005;
}

async function main(): Promise<number> {
  const services = await ensureTestServices();
  Object.assign(process.env, services.env);
  const dist = copyOfDist();
  try {
    for (const mode of modes) {
      if (values.mode !== undefined && values.mode !== mode) continue;
      const obstacle = obstacleOf(mode);
      if (obstacle === null) await attack(mode, dist);
      else console.log(`left out: ${mode}: ${obstacle}`);
    }
  } finally {
    rmSync(dist, { recursive: true, force: true });
    await services.stop();
  }
  const failed = results.filter(({ outcome }) => !outcome.isHeld && !outcome.isAdmitted).length;
  const open = results.filter(({ outcome }) => outcome.isAdmitted).length;
  if (open > 0) console.log(`${open} open, as the worker or docs/SECURITY.md says beforehand`);
  console.log(`${results.length - failed - open} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
