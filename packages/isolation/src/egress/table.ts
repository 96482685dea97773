import type { Endpoint } from './endpoints';
import { LINK_LOCAL } from './link-local';

/**
 * The network rules of operations, as a table of nftables. The rules name only the uids of operations, no other uids.
 *
 * The owner of a service on this machine is known only when the service answers. So the rules note a connection that an
 * operation opens to an address of the machine (`asked`) together with its uid (`by`). The answer (SYN-ACK) passes only
 * from a socket of the same uid. A refused connection stays refused (`refused`) when the service repeats its answer.
 * The rules do not use connection tracking: it would be switched on for all traffic of this machine.
 *
 * An allowed packet of a worker's operation gets a mark before any table refuses packets. So several workers with the
 * same uids on one machine together allow the union of their rules.
 */
export interface EgressRules {
  name: string;
  uids: { first: number; last: number };
  /** `none`: only the endpoints of `allow`. */
  mode: 'restricted' | 'none';
  allow: readonly Endpoint[];
  deny: readonly Endpoint[];
}

/** Before address translation (-100), so that the rules see the addresses that programs name. */
const PRIORITY = { allow: -151, refuse: -150, unmark: -149 };
const MARK = 0x4000_0000;
const KEEP = 0xffff_ffff - MARK;

const REFUSE =
  'meta l4proto tcp counter reject with tcp reset; counter reject with icmpx type admin-prohibited';

/** Returns the text for `nft -f` that replaces the table of this name in one step. */
export function egressTable(rules: EgressRules): string {
  const { name, uids, allow } = rules;
  const mine = `meta skuid ${uids.first === uids.last ? uids.first : `${uids.first}-${uids.last}`}`;
  return `table inet ${name}
delete table inet ${name}
table inet ${name} {
  set ctx { type inet_service; }
  ${rules.mode === 'restricted' ? [4, 6].map((family) => setsOf(family as 4 | 6)).join('\n  ') : ''}
  chain allowed {
    type filter hook output priority ${PRIORITY.allow}; policy accept;
    ${mine} jump allowed_mine
  }
  chain allowed_mine {
    ${['ip daddr 127.0.0.1 tcp dport @ctx', ...allow.flatMap(matches)].map((match) => `${match} meta mark set meta mark | ${MARK}`).join('\n    ')}
  }
  chain refused {
    type filter hook output priority ${PRIORITY.refuse}; policy accept;
    ${rules.mode === 'restricted' ? 'tcp flags & (syn|ack) == (syn|ack) jump answers' : ''}
    ${mine} meta mark & ${MARK} == 0 jump operation
  }
  chain unmarked {
    type filter hook output priority ${PRIORITY.unmark}; policy accept;
    ${mine} meta mark & ${MARK} != 0 meta mark set meta mark & ${KEEP}
  }
  ${rules.mode === 'restricted' ? restricted(rules.deny) : `chain operation { ${REFUSE}; }`}
}
`;
}

function restricted(deny: readonly Endpoint[]): string {
  const networks = [
    ...deny.flatMap(matches),
    ...LINK_LOCAL[4].map((network) => `ip daddr ${network}`),
    ...LINK_LOCAL[6].map((network) => `ip6 daddr ${network}`),
  ];
  return `chain refuse { ${REFUSE}; }
  chain operation {
    ${networks.map((match) => `${match} goto refuse`).join('\n    ')}
    fib daddr type local goto machine
  }
  chain machine {
    meta l4proto != tcp goto refuse
    meta nfproto ipv4 goto machine4
    meta nfproto ipv6 goto machine6
  }
  chain answers {
    meta nfproto ipv4 ${back(4)} @asked4 goto answer4
    meta nfproto ipv6 ${back(6)} @asked6 goto answer6
  }
  ${[4, 6].map((family) => familyOf(family as 4 | 6)).join('\n  ')}`;
}

const ip = (family: 4 | 6): string => (family === 4 ? 'ip' : 'ip6');
const there = (family: 4 | 6): string => `${ip(family)} saddr . tcp sport . ${ip(family)} daddr . tcp dport`;
const back = (family: 4 | 6): string => `${ip(family)} daddr . tcp dport . ${ip(family)} saddr . tcp sport`;

/** Sets of connections, keyed by addresses and ports, client first. A full set refuses new connections. */
function setsOf(family: 4 | 6): string {
  const set = (name: string, key: string, life: string): string =>
    `set ${name}${family} { typeof ${key}; flags dynamic,timeout; timeout ${life}; size 65535; }`;
  return [
    set('asked', there(family), '2s'),
    set('by', `${there(family)} . meta skuid`, '2s'),
    // Longer than the kernel repeats its SYN-ACK.
    set('refused', there(family), '70s'),
  ].join('\n  ');
}

function familyOf(family: 4 | 6): string {
  const [tuple, owned] = [there(family), `${there(family)} . meta skuid`];
  return `chain machine${family} {
    ${tuple} @refused${family} goto refuse
    tcp flags & (fin|syn|rst|ack) != syn accept
    tcp option 34 exists goto refuse
    update @asked${family} { ${tuple} } update @by${family} { ${owned} } accept
    goto refuse
  }
  chain answer${family} {
    ${back(family)} . meta skuid @by${family} delete @asked${family} { ${back(family)} } accept
    update @refused${family} { ${back(family)} } counter reject with tcp reset
    drop
  }`;
}

function matches({ family, network, port }: Endpoint): string[] {
  const address = `${ip(family)} daddr ${network}`;
  return port === null ? [address] : [`${address} tcp dport ${port}`, `${address} udp dport ${port}`];
}
