/** The programs of agents that this gateway serves: a folder with index.json and the files that it names. */
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, normalize, sep } from 'node:path';
import type { Clock, Log } from '@baton/kernel';
import { z } from 'zod';

const entry = z.object({
  platform: z.string().regex(/^[a-z0-9][a-z0-9-]{0,40}$/),
  version: z.string().min(1).max(100),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().int().positive(),
  file: z.string().min(1).max(400),
});
type Entry = z.infer<typeof entry>;

export interface ServedPackage extends Entry {
  path: string;
  modifiedAt: string;
}

export interface AgentPackages {
  /** In the order of index.json; read again when the file has changed. */
  list(): readonly ServedPackage[];
  open(served: ServedPackage, range?: { start: number; end: number }): NodeJS.ReadableStream;
}

const INDEX = 'index.json';
const LOOK_MS = 5_000;

/** Returns dist/agent, seen from a bundle (dist/services/gateway, dist/apps/standalone) or from the sources. */
function usualFolder(): string {
  const besideBundles = join(__dirname, '../../agent');
  return existsSync(join(besideBundles, INDEX)) ? besideBundles : join(__dirname, '../../../../dist/agent');
}

/** `folder`: absent: beside the bundles. A folder without an index holds no package; what cannot be used is logged once. */
export function createAgentPackages(
  folder: string | undefined,
  { clock, log }: { clock: Clock; log: Log },
): AgentPackages {
  let known: readonly ServedPackage[] = [];
  let lookedMs = Number.NEGATIVE_INFINITY;
  let stamp = '';
  const look = (): void => {
    const dir = folder ?? usualFolder();
    const at = statOf(join(dir, INDEX));
    if (at === stamp) return;
    stamp = at;
    known = [];
    if (at === '') return;
    try {
      known = read(dir, log);
    } catch (error) {
      log.warn({ folder: dir, reason: (error as Error).message }, 'packages of agents cannot be used');
    }
  };
  return {
    list() {
      const nowMs = clock.monotonic();
      if (nowMs - lookedMs >= LOOK_MS) {
        lookedMs = nowMs;
        look();
      }
      return known;
    },
    open: ({ path }, range) => createReadStream(path, range),
  };
}

/** Changes whenever the file does; empty: there is none. */
function statOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found ? `${found.mtimeMs} ${found.size} ${found.ino}` : '';
}

/** @throws Error when index.json cannot be read or is no index */
function read(dir: string, log: Log): ServedPackage[] {
  const entries = z
    .array(entry)
    .max(100)
    .parse(JSON.parse(readFileSync(join(dir, INDEX), 'utf8')));
  return entries.flatMap((one) => {
    const path = join(dir, one.file);
    const found = isInside(one.file) ? statSync(path, { throwIfNoEntry: false }) : undefined;
    if (found?.isFile() && found.size === one.size)
      return [{ ...one, path, modifiedAt: found.mtime.toISOString() }];
    log.warn({ folder: dir, file: one.file }, 'package of agents is missing, or has another size');
    return [];
  });
}

const isInside = (file: string): boolean => !isAbsolute(file) && !normalize(file).split(sep).includes('..');
