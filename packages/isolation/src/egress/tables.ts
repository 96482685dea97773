import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

const NFT_MS = 10_000;
const PREFIX = 'baton_egress';

/** Runs commands by `nft -f`. Returns the error text of nft; null when it succeeded. */
export function runNft(nft: string, commands: string): string | null {
  const end = spawnSync(nft, ['-f', '-'], { input: commands, timeout: NFT_MS, encoding: 'utf8' });
  if (end.status === 0) return null;
  return (
    (end.error?.message ?? end.stderr).trim().split('\n', 1)[0] ||
    `nft ended with ${end.status ?? end.signal}`
  );
}

/** Name of this process's table (a process is one worker). No other process gets the same name before the next boot. */
export function ownTable(): string {
  return `${PREFIX}_${processNamespace()}_${process.pid}_${startOf(process.pid)}`;
}

/** Tables of ended workers of this pid namespace: killed workers, or workers that left operations behind. */
export function deadTables(nft: string): string[] {
  const end = spawnSync(nft, ['list', 'tables'], { timeout: NFT_MS, encoding: 'utf8' });
  return [...(end.stdout ?? '').matchAll(new RegExp(`^table inet (${PREFIX}_(\\d+)_(\\d+)_(\\d+))$`, 'gm'))]
    .filter(([, , space, pid, start]) => space === processNamespace() && startOf(Number(pid)) !== start)
    .map(([, name = '']) => name);
}

/** Whether any process of these uids is left. */
export function hasProcesses({ first, last }: { first: number; last: number }): boolean {
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/.test(name)) return false;
    const uid = uidOf(name);
    return uid >= first && uid <= last;
  });
}

/**
 * Uid of a process from its `status` file: the folder of a process that hides its memory belongs to root. Returns -1
 * for an ended process, also for a zombie.
 */
function uidOf(pid: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    if (/^State:\s+[ZX]/m.test(status)) return -1;
    return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1] ?? -1);
  } catch {
    return -1;
  }
}

function processNamespace(): string {
  return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
}

/** Start time of a process in ticks since the boot. Empty: there is no such process. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
