import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

/** A program of this repository with the commands of terraform, for machines without it. */
export const standIn = join(__dirname, 'stand-in.cjs');

const found = spawnSync('terraform', ['version', '-json'], { encoding: 'utf8' });
/** The real program; null: this machine has none. */
export const real: string | null = found.status === 0 ? 'terraform' : null;

/** The programs that a test runs with. */
export const binaries: [string, string][] = [
  ['the stand-in', standIn],
  ...(real === null ? [] : [['the real terraform', real] as [string, string]]),
];
