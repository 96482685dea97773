import fs from 'node:fs';
import { join } from 'node:path';
import { type SeededEdit, seededFaults } from './seeded-faults';

/**
 * Imported before all simulated modules. With SIM_FAULT=<name> it injects one fault of `seeded-faults.ts` into the production
 * code while it is loaded. The files on disk stay unchanged.
 */
const wanted = process.env.SIM_FAULT;
if (wanted !== undefined) {
  const fault = seededFaults.find(({ name }) => name === wanted);
  if (!fault) throw new Error(`no seeded fault ${wanted}`);
  const broken = new Map<string, string>();
  for (const edit of fault.also ? [fault, fault.also] : [fault]) {
    const path = join(__dirname, '../..', edit.file);
    broken.set(path, edited(broken.get(path) ?? fs.readFileSync(path, 'utf8'), edit));
  }
  const read = fs.readFileSync;
  fs.readFileSync = ((file: never, options: never) => {
    const text = typeof file === 'string' ? broken.get((file as string).split('?')[0]!) : undefined;
    if (text === undefined) return read(file, options);
    return options === undefined || options === null ? Buffer.from(text) : text;
  }) as typeof fs.readFileSync;
}

function edited(text: string, { file, find, replace }: SeededEdit): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${find}: found ${parts.length - 1} times in ${file}`);
  return parts.join(replace);
}
