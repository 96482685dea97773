import { mustRun } from './commands';

/** The network of a run: a bridge that is this machine's interface to its hosts. It leads nowhere else. */
export interface Network {
  /** Address of this machine in it. */
  address: string;
  /** Makes the cable and the namespace of host `i`, counted from 1. */
  plug(i: number): Plug;
}

/** The connection of one host. */
export interface Plug {
  namespace: string;
  address: string;
  /** Pulls the cable: connections on both sides stay open, and learn nothing. */
  down(): void;
  /** Drops what arrives, what leaves, or both, while the cable stays. */
  drop(direction: Direction): void;
  /** Refuses connections of the host to this port of this machine. */
  refusePort(port: number): void;
  /** Limits both directions to `kbit` thousand bits a second. */
  rate(kbit: number): void;
  /** Undoes all of these. */
  heal(): void;
}

export type Direction = 'in' | 'out' | 'both';

/** Makes the network 10.213.`number`.0/24. */
export function makeNetwork(number: number): Network {
  const bridge = `bh${number}`;
  const addressOf = (last: number): string => `10.213.${number}.${last}`;
  mustRun('ip', 'link', 'add', bridge, 'type', 'bridge');
  mustRun('ip', 'address', 'add', `${addressOf(1)}/24`, 'dev', bridge);
  mustRun('ip', 'link', 'set', bridge, 'up');
  return {
    address: addressOf(1),
    plug: (i) => plugOf(`${bridge}-${i}`, bridge, addressOf(1 + i)),
  };
}

/** `name`: of the namespace, and of this machine's end of the cable. */
function plugOf(name: string, bridge: string, address: string): Plug {
  mustRun('ip', 'netns', 'add', name);
  mustRun('ip', 'link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  mustRun('ip', 'link', 'set', name, 'master', bridge, 'up');
  const inside = (...args: string[]): void => void mustRun('ip', '-n', name, ...args);
  inside('address', 'add', `${address}/24`, 'dev', 'eth0');
  inside('link', 'set', 'lo', 'up');
  inside('link', 'set', 'eth0', 'up');
  const nft = (rules: string): void => void mustRun('ip', 'netns', 'exec', name, 'nft', rules);
  const own = 'add table inet rig; flush table inet rig;';
  const shape = (kbit: number, ...place: string[]): void => {
    // The bucket holds what the limit lets through in a twentieth of a second, and one packet at least.
    const burst = Math.max(2_000, Math.round((kbit * 1000) / 8 / 20));
    const limit = ['rate', `${kbit}kbit`, 'burst', `${burst}`, 'latency', '400ms'];
    mustRun('tc', ...place.slice(0, -1), 'qdisc', 'replace', 'dev', place.at(-1)!, 'root', 'tbf', ...limit);
  };
  let isShaped = false;
  return {
    namespace: name,
    address,
    down: () => void mustRun('ip', 'link', 'set', name, 'down'),
    drop: (direction) => {
      const chain = (hook: string) =>
        `add chain inet rig ${hook} { type filter hook ${hook} priority 0; }; add rule inet rig ${hook} iifname != lo drop;`;
      const rule = (hook: string) =>
        hook === 'output' ? chain(hook).replace('iifname', 'oifname') : chain(hook);
      const hooks = { in: ['input'], out: ['output'], both: ['input', 'output'] }[direction];
      nft(`${own} ${hooks.map(rule).join(' ')}`);
    },
    refusePort: (port) =>
      nft(
        `${own} add chain inet rig output { type filter hook output priority 0; };` +
          ` add rule inet rig output tcp dport ${port} reject with tcp reset;`,
      ),
    rate: (kbit) => {
      isShaped = true;
      shape(kbit, name);
      shape(kbit, '-n', name, 'eth0');
    },
    heal: () => {
      mustRun('ip', 'link', 'set', name, 'up');
      nft('add table inet rig; delete table inet rig;');
      if (!isShaped) return;
      isShaped = false;
      mustRun('tc', 'qdisc', 'delete', 'dev', name, 'root');
      mustRun('tc', '-n', name, 'qdisc', 'delete', 'dev', 'eth0', 'root');
    },
  };
}
