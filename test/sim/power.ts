import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { seededFaults } from './seeded-faults';

/** Maximum of seeds played with each fault: the first broken promise is enough. */
const SEEDS = 600;
/** Number of parallel processes. */
const LANES = 2;

/**
 * Measures the power of the simulation: plays each seeded fault alone, in its own processes. Prints which faults are detected,
 * and by which check. Returns the number of undetected faults. `only`: plays faults whose names contain this text.
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
