import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { seededFaults } from './seeded-faults';

/** Seeds played with each fault, at most: the first that breaks a promise is enough. */
const SEEDS = 600;
/** Processes at a time. */
const LANES = 2;

/**
 * How much the simulation notices: each seeded fault alone, in processes of its own. Prints which are caught and by what;
 * answers how many are not. `only`: those whose name has it.
 */
export async function measurePower(only?: string): Promise<number> {
  let missed = 0;
  const chosen = seededFaults.filter(({ name }) => !only || name.includes(only));
  const left = [...chosen];
  const lane = async (): Promise<void> => {
    for (let fault = left.shift(); fault; fault = left.shift()) {
      const { status, first } = await play(fault.name, fault.of ?? 'service');
      if (status === 0) missed++;
      console.log(
        `${status === 0 ? 'MISSED' : 'caught'}  ${fault.name}${first ? `\n        ${first.slice(0, 160)}` : ''}`,
      );
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  console.log(`${chosen.length - missed} of ${chosen.length} seeded faults caught`);
  return missed;
}

function play(fault: string, of: string): Promise<{ status: number; first: string }> {
  const args = [
    '--import',
    'tsx',
    join(__dirname, 'run.ts'),
    '--of',
    of,
    '--seeds',
    String(SEEDS),
    '--first',
  ];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, SIM_FAULT: fault },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return new Promise((resolve) => {
    child.once('exit', (code) => {
      const first = text.split('\n').find((line) => line.startsWith(`${of}, seed `)) ?? '';
      if (code !== 0 && first === '') throw new Error(`${fault}: the simulation did not run:\n${text}`);
      resolve({ status: code ?? 1, first });
    });
  });
}
