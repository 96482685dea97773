import fs from 'node:fs';
import { join } from 'node:path';
import { seededFaults } from './seeded-faults';

/**
 * Imported before anything that is simulated: with SIM_FAULT=<name> one fault of `seeded-faults.ts` is in the production
 * code as it is loaded. The file on disk stays as it is.
 */
const wanted = process.env.SIM_FAULT;
if (wanted !== undefined) {
  const fault = seededFaults.find(({ name }) => name === wanted);
  if (!fault) throw new Error(`no seeded fault ${wanted}`);
  const path = join(__dirname, '../..', fault.file);
  const text = fs.readFileSync(path, 'utf8');
  const parts = text.split(fault.find);
  if (parts.length !== 2) throw new Error(`${fault.name}: found ${parts.length - 1} times in ${fault.file}`);
  const broken = parts.join(fault.replace);
  const read = fs.readFileSync;
  const isIt = (file: unknown): boolean => typeof file === 'string' && file.split('?')[0] === path;
  fs.readFileSync = ((file: never, options: never) => {
    if (!isIt(file)) return read(file, options);
    return options === undefined || options === null ? Buffer.from(broken) : broken;
  }) as typeof fs.readFileSync;
}
