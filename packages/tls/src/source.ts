/** Certificates that are renewed while the process runs. */
import type { Log } from '@baton/kernel';
import { type Material, readMaterial, type TlsFiles } from './material';

/** The present content of some certificate files. */
export interface TlsSource {
  current(): Material;
  /** Called after each change; the answer takes the listener off. */
  onChange(listener: (material: Material) => void): () => void;
  /** Reads now; answers whether something changed. Files that do not fit together leave what was. */
  refresh(): boolean;
  close(): void;
}

/**
 * Every ten seconds: renewals are days ahead of the end, and three small files cost some 0.1 ms. Looking at the content is
 * what works everywhere: Kubernetes swaps a link of the folder, which watchers of the file do not see.
 */
const POLL_MS = 10_000;

const isSame = (a: Material, b: Material): boolean =>
  (['ca', 'cert', 'key'] as const).every((part) => {
    const [before, now] = [a[part], b[part]];
    return before === now || (before !== null && now !== null && before.equals(now));
  });

/** Reads at once. @throws TlsFileError when the files are not usable at the start. */
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
      // Half replaced: certificate and key are two files. The next look finds both; a fault that stays is told once.
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
