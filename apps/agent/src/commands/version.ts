import { productVersion } from '@baton/service-runtime';
import { exitCodes } from '../exit-codes';

export function showVersion(): number {
  process.stdout.write(`${productVersion}\n`);
  return exitCodes.ok;
}
