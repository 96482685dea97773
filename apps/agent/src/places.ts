import { join } from 'node:path';

/** Where things lie below the folder of an agent. */
export interface Places {
  dir: string;
  config: string;
  tls: string;
  key: string;
  certificate: string;
  authorities: string;
  journal: string;
  log: string;
  /** Facts that outlive the process: settings, the last upgrade. */
  state: string;
  /** Runs, caches, plugins. */
  work: string;
  /** Unpacked assets, by version. */
  lib: string;
  /** Programs, by version, and the link to the one that runs. */
  versions: string;
  current: string;
  socket: string;
  lock: string;
  /** With this file the agent does not come back: root removes it (the unit of the install script). */
  leave: string;
}

export const placesOf = (dir: string): Places => ({
  dir,
  config: join(dir, 'agent.json'),
  tls: join(dir, 'tls'),
  key: join(dir, 'tls', 'agent.key'),
  certificate: join(dir, 'tls', 'agent.pem'),
  authorities: join(dir, 'tls', 'authorities.pem'),
  journal: join(dir, 'journal'),
  log: join(dir, 'log'),
  state: join(dir, 'state'),
  work: join(dir, 'work'),
  lib: join(dir, 'lib'),
  versions: join(dir, 'versions'),
  current: join(dir, 'current'),
  socket: join(dir, 'state', 'agent.sock'),
  lock: join(dir, 'state', 'lock'),
  leave: join(dir, 'leave'),
});
