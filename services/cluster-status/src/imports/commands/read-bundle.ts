import {
  type Archive,
  type ArchiveRecord,
  ArchiveRefused,
  MANAGER_TYPES,
  parseJson,
  type RecordStream,
  type RecordType,
  type Skipped,
  shapeItem,
  TENANT_TYPES,
  type TypeCount,
  type ValueObject,
} from '@baton/cloudify-archive';
import { openFromBundle } from '@baton/import-part';
import { linesOf } from '@baton/snapshot-part';
import { BUNDLE_FILE, type BundleHeader, blobFile, bundleHeader } from '../domain/bundle';
import { bundleKeyOf } from './bundle-key';

const ORDER: readonly string[] = [...MANAGER_TYPES, ...TENANT_TYPES];
const isManagerType = (type: string): boolean => (MANAGER_TYPES as readonly string[]).includes(type);

/** Null: the archive is no bundle of a Baton. @throws ArchiveRefused for a broken one */
export async function readHeader(archive: Archive): Promise<BundleHeader | null> {
  if (!archive.entries.has(BUNDLE_FILE)) return null;
  const place = { file: BUNDLE_FILE };
  const { value } = parseJson(await archive.readSmall(BUNDLE_FILE), place, archive.limits.maxDepth);
  const parsed = bundleHeader.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new ArchiveRefused('layout', `${path.join('.')}: ${message}`, place);
}

type Counts = RecordStream['tally'];

/** Records of a bundle in restore order, with what was sealed in its place. It may be read once. */
export function bundleRecords(
  archive: Archive,
  header: BundleHeader,
  { passphrase, onSkip }: { passphrase: string | undefined; onSkip: (skipped: Skipped) => void },
): { tally: Pick<Counts, 'types' | 'unknownFields' | 'statements'> } & AsyncIterable<ArchiveRecord> {
  const types = new Map<string, TypeCount>();
  const tally = { types, unknownFields: new Map<string, number>(), statements: new Map<string, number>() };
  return { tally, [Symbol.asyncIterator]: () => read(archive, header, passphrase, { types, onSkip }) };
}

interface To {
  types: Map<string, TypeCount>;
  onSkip: (skipped: Skipped) => void;
}

async function* read(
  archive: Archive,
  header: BundleHeader,
  passphrase: string | undefined,
  to: To,
): AsyncGenerator<ArchiveRecord, void, void> {
  const key =
    passphrase === undefined || header.kdf === null ? null : await bundleKeyOf(passphrase, header.kdf);
  const files = header.files
    .filter(({ name }) => archive.entries.has(name))
    .sort((a, b) => ORDER.indexOf(a.type) - ORDER.indexOf(b.type));
  for (const { name, type } of files) {
    const tenant = isManagerType(type) ? null : header.tenant;
    const counts = countsOf(to.types, type);
    let line = 0;
    for await (const bytes of boundedLines(archive, name)) {
      const place = { file: name, line: ++line };
      counts.read++;
      const skip = (reason: 'invalid' | 'unknown-type', message: string): void => {
        counts.skipped[reason] = (counts.skipped[reason] ?? 0) + 1;
        to.onSkip({ type, tenant, reason, message, place });
      };
      if (!ORDER.includes(type)) {
        skip('unknown-type', 'this manager does not know records of this type');
        continue;
      }
      const { value, notes } = parseJson(bytes, place, archive.limits.maxDepth);
      const raw = isObject(value) && isObject(value.item) ? value.item : {};
      const shaped = shapeItem(type as RecordType, raw);
      if ('problem' in shaped) {
        skip('invalid', shaped.problem);
        continue;
      }
      counts.yielded++;
      const full = opened(
        type,
        { ...shaped.unknown, ...(shaped.item as unknown as ValueObject) },
        key,
        place,
      );
      yield {
        type,
        tenant,
        ...withBlob(archive, full),
        unknown: {},
        notes,
        place,
      } as unknown as ArchiveRecord;
    }
  }
}

async function* boundedLines(archive: Archive, name: string): AsyncGenerator<Buffer, void, void> {
  try {
    yield* linesOf(archive.read(name), archive.limits.maxItemBytes);
  } catch (error) {
    if (error instanceof RangeError) throw new ArchiveRefused('limit', error.message, { file: name });
    throw error;
  }
}

const isObject = (value: unknown): value is ValueObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function countsOf(types: To['types'], type: string): TypeCount {
  let counts = types.get(type);
  if (!counts) types.set(type, (counts = { read: 0, yielded: 0, skipped: {} }));
  return counts;
}

/** Moves sealed fields to their places. @throws ArchiveRefused key for another passphrase */
function opened(
  type: string,
  { sealed, ...item }: ValueObject,
  key: string | null,
  place: { file: string; line: number },
): ValueObject {
  if (!isObject(sealed) || key === null) return item;
  const id = item.key ?? item.name ?? item.username ?? item.id;
  for (const [field, text] of Object.entries(sealed)) {
    const found =
      typeof text === 'string' && typeof id === 'string'
        ? openFromBundle(key, [type, id, field], text)
        : null;
    if (!found) throw new ArchiveRefused('key', 'the passphrase is not that of the bundle', place);
    item[field] = found.value as never;
  }
  return item;
}

/** The digest in a record names a file of the bundle; what is stored is digested anew. */
function withBlob(archive: Archive, item: ValueObject): { item: ValueObject; blob: ArchiveRecord['blob'] } {
  for (const member of ['archive', 'workdir']) {
    const named = item[member];
    if (!isObject(named)) continue;
    const { [member]: _, ...rest } = item;
    const name = typeof named.digest === 'string' ? blobFile(named.digest) : '';
    return { item: rest, blob: archive.entries.has(name) ? { kind: 'file', name } : null };
  }
  return { item, blob: null };
}
