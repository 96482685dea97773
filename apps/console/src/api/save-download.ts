/** Saves an answer of the manager as a file in the browser. A plain link cannot be used: it could not name the tenant. */
import type { Download } from '@baton/client';

/** The object URL is released after this time. By then the browser's download holds the file. */
const ADDRESS_MS = 10_000;

export async function saveDownload({ body, filename }: Download, otherwise: string): Promise<void> {
  // Browsers keep large blobs on disk.
  saveBlob(await new Response(body).blob(), filename ?? otherwise);
}

export function saveBlob(file: Blob, name: string): void {
  const url = URL.createObjectURL(file);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), ADDRESS_MS);
}
