import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Folder of the callback of Ansible: beside the code of the package, or in the sources of the plugin. */
export function callbackFolder(): string {
  const places = [join(__dirname, 'files/callback'), join(__dirname, '../../files/callback')];
  const found = places.find((place) => existsSync(join(place, 'baton_events.py')));
  if (found === undefined) throw new Error(`baton_events.py is in none of ${places.join(', ')}`);
  return found;
}
