import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';

/** Writes a value so that a later reader finds the whole of it or that from before. @throws Error of the disk */
export function writeState(folder: string, name: string, value: unknown): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivate(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** Writes a private file as a whole. @throws Error of the disk */
export function writePrivate(path: string, text: string): void {
  const part = `${path}.${process.pid}.part`;
  writeFileSync(part, text, { mode: 0o600, flush: true });
  renameSync(part, path);
}

/** Returns the value; null when there is none, or it does not fit the schema. */
export function readState<T>(folder: string, name: string, schema: z.ZodType<T>): T | null {
  try {
    const read = schema.safeParse(JSON.parse(readFileSync(join(folder, name), 'utf8')));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
