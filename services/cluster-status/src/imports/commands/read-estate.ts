import {
  type Archive,
  type ArchiveRecord,
  detect,
  exactJson,
  type Note,
  type Place,
  placeText,
  readSecurityConfiguration,
  type Skipped,
} from '@baton/cloudify-archive';
import type { ImportOptions } from '@baton/contracts';
import { Choice, type Closure, idOf, type LeftOut } from '../domain/choice';
import { Findings } from '../domain/findings';
import { mappedItem } from '../domain/mapped-item';
import { isLoss, type ReportCounts } from '../domain/report-counts';
import type { ImportDeps, ImportVoice } from './import-deps';
import type { ArchiveKeys } from './import-keys';
import { type OpenedRecords, openRecords } from './open-records';
import { readHeader } from './read-bundle';
import type { ReportBook } from './report-book';
import { MAX_RECORD_BYTES, Stager } from './stager';
import { storeBlob } from './store-blob';

/** Records between two looks whether the work should go on, and two words about where it is. */
const SAY_EVERY = 1_000;

export interface EstateRequest {
  runId: string;
  /** User that owns everything where the archive's users are ignored, and the objects of users who are not here where they are mapped. */
  createdBy: string;
  options: ImportOptions;
  keys: ArchiveKeys;
  closure: Closure | null;
  /** Folder for temporary files. */
  folder: string;
}

export interface ReadEstate {
  /** Tenants here that got records, or are made. */
  tenants: string[];
  deploymentsWithAgents: number;
  collisions: number;
  /** Values that Baton does not hold as the archive has them. */
  alteredValues: number;
}

/** Notes of the reader about a value that changes on its way. */
const ALTERED: ReadonlySet<Note['code']> = new Set(['big-integer', 'not-a-number', 'lossy-source']);

/** Reads the archive once, stages the chosen records with their bytes, and writes what is found on the way into the report. */
export class EstateReader {
  readonly #choice: Choice;
  readonly #findings: Findings;
  readonly #stager: Stager;
  readonly #leftOut = new Map<
    string,
    { code: LeftOut; type: string; tenant: string | null; count: number }
  >();
  readonly #tenants = new Set<string>();
  /** Owners in the archive: whether such a user is here. */
  readonly #owners = new Map<string, boolean>();
  /** Numbers of objects whose owner is not here. */
  readonly #orphans = new Map<string, number>();
  #salt: string | null = null;
  #altered = 0;
  #read = 0;

  constructor(
    private readonly deps: ImportDeps,
    private readonly archive: Archive,
    private readonly request: EstateRequest,
    private readonly to: { book: ReportBook; counts: ReportCounts; voice: ImportVoice },
  ) {
    const { options, closure, runId } = request;
    this.#choice = new Choice(options, closure);
    const targets = Object.values(options.tenants ?? {}).filter((name) => name !== null);
    this.#findings = new Findings(
      new Set(targets).size < targets.length,
      options.users !== 'ignore' && closure === null,
    );
    this.#stager = new Stager(deps.imports, runId, to.voice);
  }

  /** @throws ArchiveRefused */
  async read(): Promise<ReadEstate> {
    this.#salt =
      this.request.keys.hash_salt ?? (await readSecurityConfiguration(this.archive))?.hashSalt ?? null;
    const skipped: Skipped[] = [];
    const stream = await openRecords(this.archive, this.request, (one) => void skipped.push(one));
    for await (const record of stream) {
      if (++this.#read % SAY_EVERY === 0)
        await this.to.voice.say(`Reading ${record.type}, ${this.#read} records so far`);
      for (const one of skipped.splice(0)) await this.#tellSkipped(one);
      await this.#take(record);
    }
    for (const one of skipped.splice(0)) await this.#tellSkipped(one);
    await this.#stager.flush();
    await this.#tellTotals(stream);
    this.to.counts.addTally(stream.tally);
    const { lines, deploymentsWithAgents } = this.#findings.end();
    for (const line of lines) await this.to.book.add(line);
    return {
      tenants: [...this.#tenants].sort(),
      deploymentsWithAgents,
      collisions: this.#findings.collisions,
      alteredValues: this.#altered,
    };
  }

  async #take(record: ArchiveRecord): Promise<void> {
    const { type, tenant: from, place } = record;
    const code = this.#choice.leftOut(record);
    if (code) return this.#leaveOut(record, code);
    const tenant = from === null ? '' : this.#choice.tenantOf(from)!;
    if (type === 'tenants') this.#tenants.add(this.#choice.tenantOf(record.item.name)!);
    else if (tenant !== '') this.#tenants.add(tenant);
    for (const line of this.#findings.see(record, tenant, placeText(place))) await this.to.book.add(line);
    await this.#tellNotes(record, tenant);
    const { folder } = this.request;
    const owner = await this.#ownerOf(record);
    const item = mappedItem(record, { choice: this.#choice, owner, passwordSalt: this.#salt });
    const blob = await storeBlob(this.deps, this.archive, record, folder);
    const member = type === 'deployments' ? 'workdir' : 'archive';
    const full = blob ? { ...item, [member]: blob } : item;
    const line = `{"item":${exactJson(full as never)},"place":${JSON.stringify(placeText(place))}}`;
    if (Buffer.byteLength(line) > MAX_RECORD_BYTES) {
      await this.#lose(record, tenant, 'too_large', `It is larger than ${MAX_RECORD_BYTES} bytes`);
      return;
    }
    this.to.counts.staged(type);
    await this.#stager.add(type, tenant, line);
  }

  /** Who owns the object here; null: its owner in the archive. */
  async #ownerOf({ item }: ArchiveRecord): Promise<string | null> {
    const { createdBy, options } = this.request;
    if (options.users !== 'map') return options.users === 'ignore' ? createdBy : null;
    const name = 'created_by' in item ? (item.created_by ?? createdBy) : createdBy;
    let isHere = this.#owners.get(name);
    if (isHere === undefined) {
      isHere = (await this.deps.findUser(name)) !== null;
      this.#owners.set(name, isHere);
    }
    if (!isHere) this.#orphans.set(name, (this.#orphans.get(name) ?? 0) + 1);
    return isHere ? null : createdBy;
  }

  #leaveOut({ type, tenant }: ArchiveRecord, code: LeftOut): void {
    this.to.counts.leftOut(type);
    const key = JSON.stringify([code, type, tenant]);
    const known = this.#leftOut.get(key);
    if (known) known.count++;
    else this.#leftOut.set(key, { code, type, tenant, count: 1 });
  }

  async #lose(record: ArchiveRecord, tenant: string, code: string, text: string): Promise<void> {
    this.to.counts.lost(record.type);
    await this.to.book.add({
      kind: 'fate',
      type: record.type,
      tenant,
      id: idOf(record),
      fate: 'lost',
      code,
      text,
      place: placeText(record.place),
    });
  }

  async #tellNotes(record: ArchiveRecord, tenant: string): Promise<void> {
    for (const { code, path, message } of record.notes) {
      if (ALTERED.has(code)) this.#altered++;
      await this.to.book.add({
        kind: 'note',
        type: record.type,
        tenant,
        id: idOf(record),
        code,
        text: `${path}: ${message}`,
        place: placeText(record.place),
      });
    }
  }

  async #tellSkipped({ type, tenant, reason, message, place }: Skipped): Promise<void> {
    await this.to.book.add({
      kind: 'fate',
      type,
      ...(tenant === null ? {} : { tenant }),
      fate: isLoss(reason) ? 'lost' : 'skipped',
      code: reason,
      text: message,
      place: placeText(place as Place),
    });
  }

  async #tellTotals({ tally }: OpenedRecords): Promise<void> {
    const { book } = this.to;
    for (const { code, type, tenant, count } of this.#leftOut.values())
      await book.add({
        kind: 'total',
        type,
        ...(tenant === null ? {} : { tenant }),
        fate: 'skipped',
        code,
        count,
        text: `${count} ${type} are left out: ${LEFT_OUT[code]}`,
      });
    for (const [owner, count] of this.#orphans)
      await book.add({
        kind: 'note',
        type: 'users',
        id: owner,
        code: 'owner_not_here',
        count,
        text: `${count} objects of ${owner}, who is no user here, belong to ${this.request.createdBy}`,
      });
    for (const [field, count] of tally.unknownFields)
      await book.add({
        kind: 'field',
        id: field,
        code: 'unknown_field',
        count,
        text: `${field} is a field that this manager does not know; ${count} objects have it`,
      });
    for (const [statement, count] of tally.statements)
      await book.add({
        kind: 'field',
        id: statement,
        code: 'statement_not_run',
        count,
        text: `A statement of the dump was not run (${count} times): ${statement}`,
      });
  }
}

const LEFT_OUT: Record<LeftOut, string> = {
  tenant_not_chosen: 'their tenant was not chosen',
  not_of_chosen_deployments: 'no chosen deployment needs them',
  events_not_asked: 'these events were not asked for',
  users_ignored: 'users of the archive are ignored',
};

const FORMATS: Readonly<Record<string, string>> = {
  legacy: 'cloudify-legacy',
  new: 'cloudify',
  early: 'cloudify-early',
};

/** Says what the archive is, and what of it is never carried. @throws ArchiveRefused */
export async function describeArchive(
  archive: Archive,
  book: ReportBook,
): Promise<{ format: string; source: string }> {
  const bundle = await readHeader(archive);
  if (bundle) return { format: 'baton-bundle', source: `baton ${bundle.product_version}` };
  const found = await detect(archive);
  for (const [what, { files, bytes }] of Object.entries(found.notCarried))
    await book.add({
      kind: 'not_carried',
      id: what,
      code: 'not_carried',
      files,
      bytes,
      text: `${what}: ${files} files of ${bytes} bytes are not taken over`,
    });
  const { metadata, family, layout } = found;
  const version = metadata.version ?? family ?? 'of unknown version';
  return { format: FORMATS[layout] ?? 'unknown', source: `cloudify ${version}`.slice(0, 100) };
}
