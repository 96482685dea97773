import { parseJson } from './json/parse-json';
import type { Archive } from './open-archive';
import { isObject, type ValueObject } from './value';

/** `legacy` holds a dump of the database, `new` JSON pages, `early` the pages of November 2022. */
export type Layout = 'legacy' | 'new' | 'early' | 'unknown';

export interface Detected {
  layout: Layout;
  /** Files that decided. For `unknown`: what was expected. */
  reasons: string[];
  metadata: {
    /** Of the manager that wrote the archive, as it says: `6.4.2`. */
    version: string | null;
    schemaRevision: string | null;
    stageSchemaRevision: string | null;
    composerSchemaRevision: string | null;
    /** The execution that wrote the snapshot. It is in the archive, as `started`. */
    executionId: string | null;
  };
  /** Release family such as `6.4`; null where neither version nor schema tell it. */
  family: string | null;
  familyReasons: string[];
  /** Files that are not taken over, by what they are: how many, and how many bytes. */
  notCarried: Record<string, { files: number; bytes: number }>;
}

/** Heads of the original's migrations. A revision says more than the version: it names the columns. */
const FAMILIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '62a8d746d13b': '5.0',
    '387fcd049efb': '5.1',
    '5ce2b0cbb6f3': '5.1',
    '9d261e90b1f3': '5.2',
    '396303c07e35': '5.3',
    b92770a7b6ca: '6.0',
    a31cb9e704d3: '6.1',
    '03ad040e6f78': '6.2',
    '8e8314b1d848': '6.3',
    '272e61bf5f4a': '6.4',
    edd6d829a209: '7.0',
  }),
);
/** The composer of 4.3 and later wrote this revision, which it did not have. */
const WRONG_COMPOSER = '20170601133017-4_1-init.js';
const RIGHT_COMPOSER = '20171229105614-4_3-blueprint-repo.js';

const NOT_CARRIED: readonly [RegExp, string][] = [
  [/^composer(\/|_data$)/, 'data of the composer'],
  [/^stage(\/|_data$)/, 'data of the user interface'],
  [/^ssl\//, 'certificates and private keys of the manager'],
  [/^snapshot-credentials\//, 'private keys of agents'],
  [/^admin_account\.json$/, 'account of the administrator'],
  [/^agents\.json$/, 'links of agents to brokers'],
  [
    /^(resources|global|tenant|tenant-resources|global-resources|authenticators)\//,
    'files of the file server',
  ],
  [/^blueprints\//, 'unpacked blueprints'],
];

/** Says what an archive is, by its files alone. @throws ArchiveRefused where its metadata cannot be read */
export async function detect(archive: Archive): Promise<Detected> {
  const metadata = await readMetadata(archive);
  const { layout, reasons } = layoutOf(archive);
  return {
    layout,
    reasons,
    metadata,
    ...familyOf(layout, metadata),
    notCarried: notCarriedOf(archive, layout),
  };
}

function layoutOf(archive: Archive): Pick<Detected, 'layout' | 'reasons'> {
  if (archive.entries.has('pg_data'))
    return { layout: 'legacy', reasons: ['pg_data, a dump of the database'] };
  let early: string | undefined;
  let manager: string | undefined;
  for (const name of archive.entries.keys()) {
    if (/^tenants\/[^/]+\/\d{8}\.json$/.test(name) || /^mgmt\/\d{8}\.json$/.test(name))
      return { layout: 'new', reasons: [`${name}, a page of the layout of 7.0 and 7.1`] };
    if (/^(?:tenants\/[^/]+|mgmt)\/[a-z_]+\/[^/]+\.json$/.test(name)) early ??= name;
    else if (name.startsWith('mgmt/')) manager ??= name;
  }
  if (early) return { layout: 'early', reasons: [`${early}, a page of the layout of November 2022`] };
  if (manager) return { layout: 'new', reasons: [`${manager}, the folder of the manager's pages`] };
  return {
    layout: 'unknown',
    reasons: [
      `expected pg_data (5.0.5 to 6.4), or mgmt/00000001.json or tenants/<tenant>/00000001.json (7.0, 7.1), but found ${firstNames(archive)}`,
    ],
  };
}

function firstNames(archive: Archive): string {
  const names = [...archive.entries.keys()].slice(0, 5).map((name) => name.slice(0, 100));
  return names.length === 0 ? 'no files' : names.join(', ');
}

async function readMetadata(archive: Archive): Promise<Detected['metadata']> {
  const file = 'metadata.json';
  const parsed = archive.entries.has(file)
    ? parseJson(await archive.readSmall(file), { file }, archive.limits.maxDepth).value
    : {};
  const raw = isObject(parsed) ? parsed : {};
  const composer = lastLine(raw, 'composer_schema_revision');
  return {
    version: lastLine(raw, 'snapshot_version'),
    schemaRevision: lastLine(raw, 'schema_revision'),
    stageSchemaRevision: lastLine(raw, 'stage_schema_revision'),
    composerSchemaRevision: composer === WRONG_COMPOSER ? RIGHT_COMPOSER : composer,
    executionId: lastLine(raw, 'execution_id'),
  };
}

/** A member that is a text; of several lines only the last counts. */
function lastLine(raw: ValueObject, member: string): string | null {
  const value = raw[member];
  return typeof value === 'string' ? value.trim().split('\n').at(-1)!.trim().slice(0, 200) : null;
}

function familyOf(
  layout: Layout,
  metadata: Detected['metadata'],
): Pick<Detected, 'family' | 'familyReasons'> {
  const familyReasons: string[] = [];
  const { version, schemaRevision } = metadata;
  // A revision may be followed by a remark: `272e61bf5f4a (head)`.
  const bySchema = FAMILIES.get(schemaRevision?.split(' ')[0] ?? '') ?? null;
  const byVersion = /^(\d+\.\d+)(?:\.|$|-)/.exec(version ?? '')?.[1] ?? null;
  if (bySchema) familyReasons.push(`schema revision ${schemaRevision} is the last of ${bySchema}`);
  else if (schemaRevision) familyReasons.push(`schema revision ${schemaRevision} is not that of a release`);
  if (byVersion) familyReasons.push(`metadata.json says version ${version}`);
  if (bySchema && byVersion && bySchema !== byVersion)
    familyReasons.push(`schema and version differ: the schema counts`);
  if (layout === 'new' && !byVersion) familyReasons.push('only 7.0 and 7.1 write this layout');
  return { family: bySchema ?? byVersion, familyReasons };
}

function notCarriedOf(archive: Archive, layout: Layout): Detected['notCarried'] {
  const found: Detected['notCarried'] = {};
  for (const [name, { isFolder, size }] of archive.entries) {
    if (isFolder) continue;
    const what = NOT_CARRIED.find(([pattern]) => pattern.test(name))?.[1];
    if (what === undefined || (layout !== 'legacy' && what === 'unpacked blueprints')) continue;
    const count = (found[what] ??= { files: 0, bytes: 0 });
    count.files++;
    count.bytes += size;
  }
  return found;
}
