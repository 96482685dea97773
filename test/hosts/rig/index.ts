import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeDisk, makeLoginKey } from './disk';
import { type Host, startHost } from './host';
import { makeNetwork } from './network';
import { openRunRecord } from './run-record';

export { connectProxy } from './connect-proxy';
export type { Host } from './host';
export { type Relay, relay } from './relay';

export interface Hosts {
  hosts: Host[];
  /** Address of this machine that the hosts reach; they know it as `manager` too. */
  managerAddress: string;
  /** Ends all hosts and removes everything of them. */
  stop(): Promise<void>;
}

export interface HostsOptions {
  /** False: the login has no sudo. */
  hasSudo?: boolean;
  /** Programs of this machine that the hosts do not have. Default: node. */
  hidden?: readonly string[];
}

/**
 * Starts `count` hosts on this machine, which takes about a second. Each has an address, file systems, processes and a name of its own
 * and a real sshd. They reach this machine and each other, nothing else. Needs root, and of Debian: openssh-server, openssh-client,
 * iproute2, nftables, procps. When this process ends in any way, a guard process removes them.
 * @throws Error with what a program said when a host cannot be made
 */
export async function startHosts(
  count: number,
  { hasSudo = true, hidden = ['node'] }: HostsOptions = {},
): Promise<Hosts> {
  if (process.geteuid?.() !== 0) throw new Error('only root can make hosts: they are namespaces with mounts');
  const record = openRunRecord();
  const started: (Host & { stop(): Promise<void> })[] = [];
  const stop = async (): Promise<void> => {
    await Promise.allSettled(started.map((host) => host.stop()));
    await record.close();
  };
  try {
    const network = makeNetwork(record.number);
    const key = makeLoginKey(record.folder);
    const starting = Array.from({ length: count }, async (_, index) => {
      const name = `host-${index + 1}`;
      const folder = join(record.folder, name);
      mkdirSync(folder);
      makeDisk(folder, { name, managerAddress: network.address, hasSudo, key });
      const plug = network.plug(index + 1);
      const host = await startHost({ name, folder, plug, key, hidden });
      started.push(host);
      return host;
    });
    const results = await Promise.allSettled(starting);
    const failed = results.find((result) => result.status === 'rejected');
    if (failed) throw failed.reason;
    const hosts = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    return { hosts, managerAddress: network.address, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
