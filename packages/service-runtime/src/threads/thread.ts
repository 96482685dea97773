/** Threads of a bundle, or of the sources while running from these. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** The compiled worker beside a bundle, or the source while running from sources (tests). */
export function resolveWorkerFile(dir: string, name: string): string {
  const compiled = join(dir, `${name}.js`);
  return existsSync(compiled) ? compiled : join(dir, `${name}.ts`);
}

/** A thread of `workerFile` (of `resolveWorkerFile`). */
export function startThread(workerFile: string, options: WorkerOptions): Worker {
  if (!workerFile.endsWith('.ts')) return new Worker(workerFile, options);
  // From sources: a line of plain JavaScript that teaches the thread to read TypeScript first.
  const code = `require(${JSON.stringify(require.resolve('tsx/cjs'))}); require(${JSON.stringify(workerFile)});`;
  return new Worker(code, { ...options, eval: true });
}
