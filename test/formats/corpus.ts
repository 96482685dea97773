// The golden corpus: small real samples of all stored or sent formats, by kind and number
// (docs/adr/0027-formats-carry-numbers.md).
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { engineKinds } from './engine-kinds';
import type { Kind, Sample } from './kind';
import { messageKinds } from './message-kinds';
import { otherKinds } from './other-kinds';
import { planKinds } from './plan-kinds';

export const kinds: readonly Kind[] = [...engineKinds, ...planKinds, ...messageKinds, ...otherKinds];

const corpusFolder = join(__dirname, 'corpus');
const fileOf = ({ name }: Kind, number: number) => join(corpusFolder, name, `${number}.json`);

/** Returns the recorded samples of a number, oldest first; empty: none was recorded. */
export function samplesOf(kind: Kind, number: number): Sample[] {
  const file = fileOf(kind, number);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Sample[]) : [];
}

/** Returns the numbers that have samples. */
export function recordedNumbers({ name }: Kind): number[] {
  const folder = join(corpusFolder, name);
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((file) => Number(file.replace('.json', '')));
}

/** Appends a sample of the current writer to the recorded ones, which never change. */
export async function record(kind: Kind): Promise<void> {
  const { written } = kind.format;
  const stored = await kind.write();
  const samples = [...samplesOf(kind, written), { stored, meaning: await kind.read(stored) }];
  const file = fileOf(kind, written);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify(samples, null, 1)}\n`);
}
