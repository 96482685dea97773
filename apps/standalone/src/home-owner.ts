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
 * Ownership of a home: one manager at a time. A process that wants the home writes a claim with a unique name into `owner/` and
 * then reads the claims of others. Of two at the same moment, the one that reads later sees the other, so never do both go on. Any
 * process that sees the claim of a dead process removes it. Names are never used twice, so the claim of a living process cannot be
 * removed by mistake.
 */
export interface HomeOwner {
  /** Sets the address of the manager, which a second start then prints. */
  serves(url: string): void;
  release(): void;
}

interface Claim extends ProcessIdentity {
  since: string;
  url: string | null;
  /** True: the process owns the home. False: it still checks whether it may. */
  isHeld: boolean;
}

const BEAT_MS = 2_000;
/** A claim from elsewhere (another container on the same volume) that was not renewed for this long has no owner. */
const SILENT_MS = 3 * BEAT_MS;
const LOOK_MS = 250;
/** Two processes that start at the same moment withdraw and try again after random pauses. */
const TRIES = 40;

/** @throws StartRefused naming the process that owns `dir`; nothing in `dir` was changed then. */
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
    // Half written before a crash, withdrawn meanwhile, or of a dead process.
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

/** Writes a claim atomically: to another file, which is then renamed. */
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
    // The home was removed meanwhile, or its disk is away: a claim could not help.
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
