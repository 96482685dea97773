/** A manager that hosts of the rig reach. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@baton/client';
import { eventually } from '@baton/testkit/eventually';
import { type Fleet, type FleetOptions, startFleet } from '../harness/fleet';
import { adminClient, call } from '../harness/session';
import type { Place } from './client/identity';
import { KEY_SECRET } from './on-host';
import { type Hosts, startHosts } from './rig';

export interface World extends Hosts {
  fleet: Fleet;
  client: Client;
  /** The agents' listener, as the hosts reach it. */
  place: Place;
  /** Log of a process of the manager. */
  log(process?: string): string;
}

/**
 * Starts hosts and a manager at their network's address, with the secret that holds their login key. Needs dist/, and dist/agent/ of
 * `npm run build:agent`.
 */
export async function startWorld(
  count: number,
  options: Partial<FleetOptions> = {},
  rig: Parameters<typeof startHosts>[1] = {},
): Promise<World> {
  const hosts = await startHosts(count, rig);
  try {
    const fleet = await startFleet({
      mode: 'standalone',
      listen: hosts.managerAddress,
      ...options,
      env: { BATON_TASK_RETRY_INTERVAL: '1', BATON_TASK_RETRIES: '2', ...options.env },
    });
    const client = adminClient(fleet);
    await call(client, 'putSecret', { secret_key: KEY_SECRET }, { value: hosts.hosts[0]!.key });
    // A gateway tells of its packages within a second or two; before that nothing can be installed.
    await eventually(() => call(client, 'upgradeAgents', {}, {}), { deadlineMs: 60_000 });
    const { port } = new URL(fleet.baseUrl);
    // Any process may be standing: what stops a world is both of them.
    const stop = async (): Promise<void> => {
      await fleet.stop();
      await hosts.stop();
    };
    return {
      ...hosts,
      fleet,
      client,
      place: { host: hosts.managerAddress, port: Number(port) },
      log: (process = 'standalone') => readFileSync(join(fleet.dir, 'logs', `${process}.log`), 'utf8'),
      stop,
    };
  } catch (error) {
    await hosts.stop();
    throw error;
  }
}
