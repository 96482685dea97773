import type { Endpoint } from './endpoints';

/**
 * The rules of operations' network, as a table of nftables that names the uids of operations and nobody else's.
 *
 * Whose service answers on this machine is known only when it answers: a connection that an operation opens to an address
 * of the machine is noted (`asked`) with its uid (`by`), and the answer (SYN-ACK) passes only from a socket of that uid. What
 * was refused stays refused (`refused`), should the service send its answer again. Connection tracking is not used: it
 * would be switched on for everything that this machine sends.
 *
 * What one worker allows its operations is a mark of the packet, set before any table refuses something: workers with the
 * same uids on one machine allow together what each of them allows.
 */
export interface EgressRules {
  name: string;
  uids: { first: number; last: number };
  /** `none`: nothing but what is allowed. */
  mode: 'restricted' | 'none';
  allow: readonly Endpoint[];
  deny: readonly Endpoint[];
}

/** Before translation of addresses (-100), so that what programs name is what is looked at. */
const PRIORITY = { allow: -151, refuse: -150, unmark: -149 };
const MARK = 0x4000_0000;
const KEEP = 0xffff_ffff - MARK;

/** Link-local, and addresses of clouds' metadata services outside of it. */
const LINK_LOCAL = {
  4: ['169.254.0.0/16', '224.0.0.0/24', '100.100.100.200', '168.63.129.16', '192.0.0.192'],
  6: ['fe80::/10', 'ff02::/16', 'fd00:ec2::254', 'fd20:ce::254', 'fd00:42::42'],
} as const;

const REFUSE =
  'meta l4proto tcp counter reject with tcp reset; counter reject with icmpx type admin-prohibited';

/** Text for `nft -f`: replaces the table of that name as one step. */
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

/** Connections between addresses and ports, client first. Full sets refuse. */
function setsOf(family: 4 | 6): string {
  const set = (name: string, key: string, life: string): string =>
    `set ${name}${family} { typeof ${key}; flags dynamic,timeout; timeout ${life}; size 65535; }`;
  return [
    set('asked', there(family), '2s'),
    set('by', `${there(family)} . meta skuid`, '2s'),
    // Longer than a kernel repeats its answer.
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
