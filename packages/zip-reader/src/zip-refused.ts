/** An archive, or one of its entries, is not read: it is damaged, hostile, or beyond a limit. The message is for users. */
export class ZipRefused extends Error {
  override readonly name = 'ZipRefused';
  /** Name of the entry; undefined where the archive as a whole is refused. */
  readonly entry: string | undefined;

  constructor(reason: string, entry?: string) {
    super(entry === undefined ? reason : `entry ${entry}: ${reason}`);
    this.entry = entry;
  }
}
