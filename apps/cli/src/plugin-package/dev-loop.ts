/** Builds a plugin again after each change of its files, and hands each build on. */
import { existsSync, type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import { ENTRY, readAuthorFolder, underDevelopment } from './author-folder';
import { packagePlugin } from './build-plugin';

export interface DevBuild {
  name: string;
  version: string;
  archive: Buffer;
  /** Whether what blueprints see has changed since the last build. */
  isSchemaChanged: boolean;
  buildMs: number;
}

export interface DevLoop {
  /** Builds as soon as no other build runs; several requests become one build. */
  request(): void;
  /** Ends the watching. Resolves when no build runs any more. */
  close(): Promise<void>;
}

/** Editors write a file in several steps. */
const SETTLE_MS = 40;
const WATCHED = [join(ENTRY, '..'), 'files'];

/**
 * Watches the sources of the plugin, its own files and its package.json. `take` gets each build, `refuse` the error of a build that
 * failed; the loop goes on in both cases.
 */
export function startDevLoop(
  folder: string,
  inspectPort: number | null,
  { take, refuse }: { take: (build: DevBuild) => Promise<void>; refuse: (error: Error) => void },
): DevLoop {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  let lastYaml: string | null = null;
  const build = async (): Promise<void> => {
    const startedMs = performance.now();
    const author = underDevelopment(readAuthorFolder(folder), inspectPort);
    const { archive, yaml } = await packagePlugin(author, null);
    const isSchemaChanged = lastYaml !== null && lastYaml !== yaml;
    lastYaml = yaml;
    const buildMs = Math.round(performance.now() - startedMs);
    await take({ name: author.name, version: author.version, archive, isSchemaChanged, buildMs });
  };
  const request = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      running = running.then(() => (isClosed ? undefined : build().catch(refuse)));
    }, SETTLE_MS);
  };
  const watchers = watchersOf(folder, request);
  return {
    request,
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      await running;
    },
  };
}

function watchersOf(folder: string, request: () => void): FSWatcher[] {
  const manifest = watch(folder, (_, name) => {
    if (name === 'package.json') request();
  });
  const folders = WATCHED.map((name) => join(folder, name)).filter(existsSync);
  return [manifest, ...folders.map((path) => watch(path, { recursive: true }, request))];
}
