import { randomBytes, randomInt } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { isoInstant, systemClock } from '@baton/kernel';
import { livenessOf, ownIdentity, type ProcessIdentity } from './process-identity';
import { StartRefused } from './refusal';

/**
 * A home belongs to one manager at a time. Who wants it lays a claim of its own name into `owner/` and then looks at the
 * others' claims: of two at the same moment, the one that looks later sees the other, so never do both go on. A claim
 * whose process is gone is removed by whoever sees it; names are never used twice, so none of a living one can be hit.
 */
export interface HomeOwner {
  /** From now on a second start says where the first one answers. */
  serves(url: string): void;
  release(): void;
}

interface Claim extends ProcessIdentity {
  since: string;
  url: string | null;
  /** Has the home; otherwise it still looks whether it may. */
  isHeld: boolean;
}

const BEAT_MS = 2_000;
/** A claim from elsewhere (another container on the same volume) that was not renewed for so long is nobody's. */
const SILENT_MS = 3 * BEAT_MS;
const LOOK_MS = 250;
/** Two that start at the same moment step back and try again after pauses of different length. */
const TRIES = 40;

/** @throws StartRefused naming the process that has `dir`; nothing in it was changed then. */
export async function ownHome(dir: string): Promise<HomeOwner> {
  const folder = join(dir, 'owner');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const identity = ownIdentity();
  let claim: Claim = { ...identity, since: isoInstant(systemClock.now()), url: null, isHeld: false };
  const file = join(folder, `${identity.pid}-${randomBytes(6).toString('hex')}.json`);
  for (let tries = 1; ; tries++) {
    write(file, claim);
    const other = await livingOther(folder, file).catch((error) => {
      rmSync(file, { force: true });
      throw error;
    });
    if (!other) break;
    rmSync(file, { force: true });
    if (other.isHeld || tries === TRIES) throw refusal(dir, folder, other);
    await pause(randomInt(10, 60));
  }
  const change = (to: Partial<Claim>): void => {
    claim = { ...claim, ...to };
    write(file, claim);
  };
  change({ isHeld: true });
  const beating = setInterval(() => beat(file), BEAT_MS).unref();
  return {
    serves: (url) => change({ url }),
    release: () => {
      clearInterval(beating);
      rmSync(file, { force: true });
    },
  };
}

function refusal(dir: string, folder: string, { pid, since, url }: Claim): StartRefused {
  const where = url ?? 'it is still starting';
  return new StartRefused(
    `A manager already runs on ${dir}: process ${pid} since ${since}, ${where}. ` +
      `Stop it, or set BATON_HOME to another folder. (Where no such process is, remove ${folder}.)`,
    1,
  );
}

async function livingOther(folder: string, own: string): Promise<Claim | null> {
  for (const name of readdirSync(folder).sort()) {
    const file = join(folder, name);
    if (file === own) continue;
    const claim = read(file);
    if (claim && (await isLiving(claim, file))) return claim;
    // Half written before a crash, withdrawn meanwhile, or of a process that is gone.
    if (claim || isOld(file)) rmSync(file, { force: true });
  }
  return null;
}

async function isLiving(claim: ProcessIdentity, file: string): Promise<boolean> {
  const liveness = livenessOf(claim);
  if (liveness !== 'unknown') return liveness === 'alive';
  const seen = changedAt(file);
  const until = systemClock.monotonic() + SILENT_MS;
  while (systemClock.monotonic() < until) {
    await pause(LOOK_MS);
    if (changedAt(file) !== seen) return changedAt(file) !== null;
  }
  return false;
}

/** Complete when it is seen: written beside, then renamed. */
function write(file: string, claim: Claim): void {
  const beside = `${file}.new`;
  const fd = openSync(beside, 'w', 0o600);
  try {
    writeSync(fd, `${JSON.stringify(claim)}\n`);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, file);
}

function read(file: string): Claim | null {
  if (!file.endsWith('.json')) return null;
  try {
    const claim = JSON.parse(readFileSync(file, 'utf8')) as Claim;
    return Number.isInteger(claim.pid) ? claim : null;
  } catch {
    return null;
  }
}

const isOld = (file: string): boolean => (changedAt(file) ?? 0) < Number(systemClock.now()) - 60_000;

function changedAt(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? null;
}

function beat(file: string): void {
  const now = new Date(Number(systemClock.now()));
  try {
    utimesSync(file, now, now);
  } catch {
    // The home was removed under us, or its disk is away: nothing that a claim could mend.
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
