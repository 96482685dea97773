import { t } from './text';

const KB = 1024;
const MB = KB * KB;

/** `812 bytes`, `12 KB`, `3.4 MB`. */
export function bytesText(n: number): string {
  if (n < KB) return t.source.bytes(n);
  if (n < MB) return t.source.kilobytes(Math.round(n / KB));
  return t.source.megabytes(Math.round((n / MB) * 10) / 10);
}
