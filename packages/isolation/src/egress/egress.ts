import { setTimeout as delay } from 'node:timers/promises';
import type { EgressSettings, Isolation, IsolationSettings } from '../port';
import { findProgram } from '../probe';
import { resolvers } from './endpoints';
import { probeEgress } from './probe-egress';
import { egressTable } from './table';
import { deadTables, hasProcesses, ownTable, runNft } from './tables';

/** The network policy in force for operations. */
export interface Egress {
  /** One line for `description` of the isolation; null: no policy is in force. */
  readonly description: string | null;
  readonly notEnforced: readonly string[];
  /** Lets operations reach this TCP port of 127.0.0.1. @throws Error with the message of nft */
  admit(port: number): void;
  /** Removes the rules. The rules stay while processes of operations are left: these would otherwise be unrestricted. */
  close(): Promise<void>;
}

/** Attempts of `close`: processes that end with their operation take a moment. */
const CLOSE_TRIES = 10;
const CLOSE_WAIT_MS = 50;

const EVERYTHING =
  'the network: operations reach what the worker reaches, also its loopback services, link-local and metadata addresses';

export function openEgress(reason?: string): Egress {
  return {
    description: null,
    notEnforced: [reason ? `${EVERYTHING} (${reason})` : EVERYTHING],
    admit: () => undefined,
    close: () => Promise.resolve(),
  };
}

/**
 * Installs the policy where this machine allows it, and tests it with real connections.
 * @returns the policy, or `openEgress` with the reason
 */
export function holdEgress(isolation: Isolation, settings: IsolationSettings, asked: EgressSettings): Egress {
  const nft = findProgram('nft', `${settings.path}:/usr/sbin:/sbin`);
  const isRoot = process.getuid?.() === 0;
  if (asked.mode === 'open') {
    if (nft !== null && isRoot) sweep(nft);
    return openEgress();
  }
  if (!isRoot) return openEgress('the worker does not run as root: its operations have its uid');
  if (isolation.name === 'none') return openEgress('operations are not isolated');
  if (nft === null) return openEgress('there is no nft (package nftables)');
  const uids = settings.account ? { first: settings.account.uid, last: settings.account.uid } : settings.uids;
  const name = ownTable();
  const allow = [...asked.allow, ...(asked.mode === 'none' ? [] : resolvers())];
  const problem = runNft(nft, egressTable({ name, uids, mode: asked.mode, allow, deny: asked.deny }));
  if (problem !== null) return openEgress(`nft: ${problem}`);
  // Not before the own table exists: processes left by operations of a killed worker stay restricted without a gap.
  sweep(nft);
  const admit = (port: number): void => {
    const refusal = runNft(nft, `add element inet ${name} ctx { ${port} }`);
    if (refusal !== null) throw new Error(`nft: ${refusal}`);
  };
  const remove = (): void => void runNft(nft, `delete table inet ${name}`);
  const unproved = probeEgress(isolation, settings, {
    admit,
    dismiss: (port) => void runNft(nft, `delete element inet ${name} ctx { ${port} }`),
  });
  if (unproved !== null) {
    remove();
    return openEgress(unproved);
  }
  return {
    description: asked.mode === 'none' ? 'no network' : 'restricted network',
    notEnforced: asked.mode === 'none' ? [] : NOT_OF_RULES,
    admit,
    close: async () => {
      for (let tries = CLOSE_TRIES; hasProcesses(uids); tries--) {
        if (tries === 0) return;
        await delay(CLOSE_WAIT_MS);
      }
      remove();
    },
  };
}

const NOT_OF_RULES = ['abstract Unix sockets of this machine (they have no address that rules could name)'];

/** Removes tables of ended workers. A killed worker leaves its table: its uids stay restricted until the next start. */
function sweep(nft: string): void {
  for (const name of deadTables(nft)) runNft(nft, `delete table inet ${name}`);
}
