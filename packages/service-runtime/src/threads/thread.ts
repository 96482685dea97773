/** Starts threads, from a bundle or from sources. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Worker, type WorkerOptions } from 'node:worker_threads';

/** Returns the compiled worker next to a bundle, or the source file when running from sources (tests). */
export function resolveWorkerFile(dir: string, name: string): string {
  const compiled = join(dir, `${name}.js`);
  return existsSync(compiled) ? compiled : join(dir, `${name}.ts`);
}

/** Starts a thread of `workerFile` (from `resolveWorkerFile`). */
export function startThread(workerFile: string, options: WorkerOptions): Worker {
  if (!workerFile.endsWith('.ts')) return new Worker(workerFile, options);
  // From sources: a line of plain JavaScript first loads the support for TypeScript in the thread.
  const code = `require(${JSON.stringify(require.resolve('tsx/cjs'))}); require(${JSON.stringify(workerFile)});`;
  return new Worker(code, { ...options, eval: true });
}
