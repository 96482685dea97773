/** Certificates that are renewed while the process runs. */
import type { Log } from '@baton/kernel';
import { type Material, readMaterial, type TlsFiles } from './material';

/** The present content of some certificate files. */
export interface TlsSource {
  current(): Material;
  /** Registers a listener, called after each change; returns the function that removes it. */
  onChange(listener: (material: Material) => void): () => void;
  /** Reads the files now; returns whether something changed. Files that do not fit together leave the previous content. */
  refresh(): boolean;
  close(): void;
}

/**
 * Every ten seconds: renewals come days before the end, and reading three small files costs about 0.1 ms. Comparing the content
 * works everywhere: Kubernetes replaces a link of the folder, which file watchers do not see.
 */
const POLL_MS = 10_000;

const isSame = (a: Material, b: Material): boolean =>
  (['ca', 'cert', 'key'] as const).every((part) => {
    const [before, now] = [a[part], b[part]];
    return before === now || (before !== null && now !== null && before.equals(now));
  });

/** Creates a source; reads the files at once. @throws TlsFileError when the files are not usable at the start. */
export function createTlsSource(files: TlsFiles, o: { log: Log; pollMs?: number }): TlsSource {
  let material = readMaterial(files);
  let failed = '';
  const listeners = new Set<(material: Material) => void>();
  const refresh = (): boolean => {
    try {
      const next = readMaterial(files);
      failed = '';
      if (isSame(material, next)) return false;
      material = next;
    } catch (error) {
      // Certificate and key are two files, and only one may be replaced yet. The next poll finds both; a lasting fault is logged
      // once.
      const { message } = error as Error;
      if (failed !== message) o.log.warn({ reason: message }, 'renewed certificate cannot be used yet');
      failed = message;
      return false;
    }
    o.log.info({ files: Object.values(files) }, 'certificate renewed');
    for (const listener of [...listeners]) listener(material);
    return true;
  };
  const timer = setInterval(refresh, o.pollMs ?? POLL_MS).unref();
  return {
    current: () => material,
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    refresh,
    close() {
      clearInterval(timer);
      listeners.clear();
    },
  };
}
