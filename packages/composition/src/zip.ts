import { ZipFile } from 'yazl';

/** A zip of files in memory. */
export async function zipOf(entries: readonly { name: string; content: Uint8Array }[]): Promise<Uint8Array> {
  const zip = new ZipFile();
  for (const { name, content } of entries) zip.addBuffer(Buffer.from(content), name);
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
