// npm run doors [-- --only packages|archive|images]: installs Baton as people without this repository do, works with it,
// upgrades and removes it, without a network.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { archiveDoors } from './archive';
import { imageDoors } from './images';
import { packageDoors } from './packages';
import { type Door, Shell } from './shell';

const kinds = { packages: packageDoors, archive: archiveDoors, images: imageDoors };
const { values } = parseArgs({ options: { only: { type: 'string' } } });
/** Against hangs: everything that a door started is ended then. */
const DOOR_MS = 300_000;

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-doors-'));
  const shell = new Shell(folder);
  const rows: { name: string; seconds: number; problem: string | null }[] = [];
  const openAll = async (doors: AsyncIterable<Door>): Promise<void> => {
    for await (const { name, pass } of doors) {
      const startedAt = performance.now();
      const problem = await limited(pass()).then(
        () => null,
        (error: Error) => error.message,
      );
      const row = { name, seconds: (performance.now() - startedAt) / 1000, problem };
      rows.push(row);
      console.log(
        `${problem === null ? 'passed' : 'FAILED'} ${row.seconds.toFixed(1).padStart(7)} s  ${name}`,
      );
      if (problem !== null) console.log(problem.replace(/^/gm, '        '));
    }
  };
  try {
    for (const [name, doorsOf] of Object.entries(kinds))
      if (values.only === undefined || values.only === name) await openAll(doorsOf(shell));
  } finally {
    await shell.end();
    rmSync(folder, { recursive: true, force: true });
  }
  const failed = rows.filter(({ problem }) => problem !== null).length;
  console.log(`${rows.length - failed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function limited<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${DOOR_MS / 1000} s`)), DOOR_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

void main().then(
  (code) => process.exit(code),
  (error) => {
    console.error(error);
    process.exit(70);
  },
);
