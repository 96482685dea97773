import { createHash } from 'node:crypto';
import { canonicalJson, type JsonObject } from '@baton/kernel';
import { type AnyTx, onClient } from '@baton/postgres';
import type { Fate, ImportContext, Importer, StagedRecord } from './importer';
import { noteSettled, readSettled, type SettledRecord } from './settled-records';

/** A record whose fields fit its type. */
export interface ReadRecord<Item> {
  /** Identifies the object in its tenant. */
  id: string;
  item: Item;
  /** As StagedRecord has it. */
  line: string;
  /** SHA-256 of the content, hex. */
  digest: string;
}

/** What is decided about a record before it is compared with what is here; absent: nothing speaks against it. */
export interface Judgement {
  /** `remark`: it is taken, and the code and text are told. */
  fate: 'lost' | 'skipped' | 'remark';
  code: string;
  text: string;
}

/** One type of records: what is special about it. */
export interface RecordType<Item> {
  type: string;
  /** Checks the fields. `problem` is for people and contains no value of the record. */
  read(item: JsonObject): { item: Item } | { problem: string };
  idOf(item: Item): string;
  /** Whether the record has what it belongs to. Each refusal by the record's id. */
  judge?(
    context: ImportContext,
    records: readonly ReadRecord<Item>[],
    tx: AnyTx,
  ): Promise<ReadonlyMap<string, Judgement>>;
  /** Objects here that have these ids: by id, a text that changes with the content. */
  met(
    context: ImportContext,
    records: readonly ReadRecord<Item>[],
    tx: AnyTx,
  ): Promise<ReadonlyMap<string, string>>;
  /** Removes objects that are replaced. Absent: `write` replaces them. */
  remove?(context: ImportContext, records: readonly ReadRecord<Item>[], tx: AnyTx): Promise<void>;
  /** Writes objects; returns remarks by id, such as about what had to be left out. */
  write(
    context: ImportContext,
    records: readonly ReadRecord<Item>[],
    tx: AnyTx,
  ): Promise<ReadonlyMap<string, { code: string; text: string }>>;
  /** Hears what becomes of each record, before it is written. */
  decided?(context: ImportContext, record: ReadRecord<Item>, fate: Fate['fate']): void;
}

/** A map that all importers of one run share, made at its first use. */
export function sharedMap<V>(context: ImportContext, name: string): Map<string, V> {
  const known = context.shared.get(name) as Map<string, V> | undefined;
  if (known) return known;
  const fresh = new Map<string, V>();
  context.shared.set(name, fresh);
  return fresh;
}

/**
 * Takes records of one type batch by batch. `same` is a record that an earlier import took with the same content, whatever became of
 * the object since. A record that the database refuses is `lost`; the others of its batch are taken.
 */
export function recordImporter<Item>(type: RecordType<Item>): Importer {
  return { type: type.type, take: (context, records) => take(type, context, records) };
}

async function take<Item>(
  type: RecordType<Item>,
  context: ImportContext,
  staged: readonly StagedRecord[],
): Promise<Fate[]> {
  const fates: Fate[] = new Array<Fate>(staged.length);
  const places = new Map<ReadRecord<Item>, number>();
  const seen = new Set<string>();
  for (const [place, record] of staged.entries()) {
    const read = readOne(type, record);
    if ('fate' in read) fates[place] = read;
    else if (seen.has(read.id)) fates[place] = repeated(read.id);
    else places.set(read, place);
    if (!('fate' in read)) seen.add(read.id);
  }
  const records = [...places.keys()];
  const settle = (record: ReadRecord<Item>, fate: Fate): void => {
    fates[places.get(record)!] = fate;
  };
  if (records.length > 0)
    await onClient(context.client, (tx) => takeRead(type, context, records, settle, tx));
  return fates;
}

function readOne<Item>(type: RecordType<Item>, { item, line }: StagedRecord): ReadRecord<Item> | Fate {
  const read = type.read(item);
  if ('problem' in read) return { id: nameOf(item), fate: 'lost', code: 'invalid', text: read.problem };
  const digest = createHash('sha256').update(canonicalJson(item)).digest('hex');
  return { id: type.idOf(read.item), item: read.item, line, digest };
}

const nameOf = (item: JsonObject): string => {
  const name = item?.id ?? item?.name;
  return typeof name === 'string' ? name.slice(0, 1024) : '?';
};

const repeated = (id: string): Fate => ({
  id,
  fate: 'lost',
  code: 'repeated',
  text: 'the archive has another record of this id',
});

async function takeRead<Item>(
  type: RecordType<Item>,
  context: ImportContext,
  records: readonly ReadRecord<Item>[],
  settle: (record: ReadRecord<Item>, fate: Fate) => void,
  tx: AnyTx,
): Promise<void> {
  const ids = records.map(({ id }) => id);
  const judged = (await type.judge?.(context, records, tx)) ?? new Map<string, Judgement>();
  const met = await type.met(context, records, tx);
  const settled = await readSettled(context.client, type.type, context.tenant, ids);
  const wanted: ReadRecord<Item>[] = [];
  const base = new Map<ReadRecord<Item>, Fate>();
  for (const record of records) {
    const judgement = judged.get(record.id);
    const fate = decide(context, record, judgement, met.get(record.id), settled.get(record.id));
    type.decided?.(context, record, fate.fate);
    if (fate.fate === 'imported' || fate.fate === 'replaced') {
      wanted.push(record);
      base.set(record, fate);
    } else settle(record, fate);
  }
  await writeSafely(type, context, wanted, tx, (record, outcome) =>
    settle(record, { ...base.get(record)!, ...outcome }),
  );
}

/** Decides what becomes of one record; pure. */
function decide(
  { options, importId }: ImportContext,
  { id, digest }: { id: string; digest: string },
  judgement: Judgement | undefined,
  met: string | undefined,
  settled: SettledRecord | undefined,
): Fate {
  const meeting = met === undefined ? {} : { met };
  const told = judgement && { code: judgement.code, text: judgement.text };
  if (judgement && judgement.fate !== 'remark') return { id, fate: judgement.fate, ...told, ...meeting };
  if (met === undefined) return { id, fate: 'imported', ...told };
  if (settled?.digest === digest) return { id, fate: 'same', ...meeting };
  if (settled?.importId === importId) return repeated(id);
  const other = { code: 'exists', text: 'an object of this id is here already, with other content' };
  if (options.on_conflict === 'skip') return { id, fate: 'skipped', ...other, ...meeting };
  if (options.on_conflict === 'replace') return { id, fate: 'replaced', ...other, ...meeting };
  return { id, fate: 'conflict', ...other, ...meeting };
}

/** Writes records; where the database refuses their content, halves them until the one that it refuses is found. */
async function writeSafely<Item>(
  type: RecordType<Item>,
  context: ImportContext,
  records: readonly ReadRecord<Item>[],
  tx: AnyTx,
  told: (record: ReadRecord<Item>, outcome: Partial<Fate>) => void,
): Promise<void> {
  if (records.length === 0) return;
  const { client } = context;
  await client.query('savepoint records');
  try {
    await type.remove?.(context, records, tx);
    const remarks = await type.write(context, records, tx);
    await noteSettled(client, type.type, context.tenant, context.importId, records);
    await client.query('release savepoint records');
    for (const record of records) told(record, remarks.get(record.id) ?? {});
  } catch (error) {
    if (!isOfContent(error)) throw error;
    await client.query('rollback to savepoint records');
    if (records.length === 1) {
      type.decided?.(context, records[0]!, 'lost');
      told(records[0]!, {
        fate: 'lost',
        code: 'not-storable',
        text: `the database refuses it (${codeOf(error)})`,
      });
      return;
    }
    const half = records.length >> 1;
    await writeSafely(type, context, records.slice(0, half), tx, told);
    await writeSafely(type, context, records.slice(half), tx, told);
  }
}

/** SQLSTATE of an error, also of one that a store function has wrapped. */
function codeOf(error: unknown): string {
  for (let at = error as { code?: unknown; cause?: unknown } | undefined; at; at = at.cause as typeof at)
    if (typeof at.code === 'string' && /^[0-9A-Z]{5}$/.test(at.code)) return at.code;
  return '';
}

/** Data that does not fit (22), or breaks a rule of the tables (23), or is too large (54). */
const isOfContent = (error: unknown): boolean => /^(22|23|54)/.test(codeOf(error));
