import { ownerOf } from '../domain/owners';
import type { ImportDeps, ImportVoice } from './import-deps';

/** Most bytes of records in one call; a larger record is sent alone. */
const BATCH_BYTES = 512 * 1024;
/** A larger record does not fit a message between services. */
export const MAX_RECORD_BYTES = 48 * 1024 * 1024;

/** Gives lines of records to the services that own their types, in batches; records of one type and tenant should come together. */
export class Stager {
  #lines: Buffer[] = [];
  #bytes = 0;
  #open: { type: string; tenant: string } | null = null;
  readonly #batches = new Map<string, number>();

  constructor(
    private readonly imports: ImportDeps['imports'],
    private readonly runId: string,
    private readonly voice: ImportVoice,
  ) {}

  async add(type: string, tenant: string, line: string): Promise<void> {
    const bytes = Buffer.from(line);
    if (this.#open && (this.#open.type !== type || this.#open.tenant !== tenant)) await this.flush();
    if (this.#lines.length > 0 && this.#bytes + bytes.length > BATCH_BYTES) await this.flush();
    this.#open = { type, tenant };
    this.#lines.push(bytes);
    this.#bytes += bytes.length + 1;
  }

  async flush(): Promise<void> {
    if (!this.#open || this.#lines.length === 0) return;
    const { type, tenant } = this.#open;
    const key = JSON.stringify([type, tenant]);
    const batch = this.#batches.get(key) ?? 0;
    this.#batches.set(key, batch + 1);
    const newline = Buffer.from('\n');
    const records = Buffer.concat(this.#lines.flatMap((line, i) => (i === 0 ? [line] : [newline, line])));
    this.#lines = [];
    this.#bytes = 0;
    this.voice.signal.throwIfAborted();
    await this.imports[ownerOf(type)].stageRecords(
      { importId: this.runId, type, tenant, batch, records },
      { signal: this.voice.signal },
    );
  }
}
