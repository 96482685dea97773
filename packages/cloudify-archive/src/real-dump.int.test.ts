import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { TENANT_TABLES } from './legacy/table-specs';
import { legacyEntries, makeEstate, type Release, readAll, SNAPSHOT_EXECUTION, zipBytes } from './testing';
import { columnsOf } from './testing/legacy-columns';
import { dumpOf } from './testing/write-legacy';

/** The programs of PostgreSQL that write and read dumps. @throws Error with what they say */
function run(program: 'psql' | 'pg_dump', args: string[], input?: string): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    encoding: 'utf8',
    input,
    maxBuffer: 2 ** 28,
  });
  if (error) throw new Error(`${program} of PostgreSQL must be installed for this test: ${error.message}`);
  if (status !== 0) throw new Error(`${program}: ${stderr}`);
  return stdout;
}

const server = process.env.DATABASE_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres';
const database = `import_${randomUUID().replaceAll('-', '')}`;
const url = Object.assign(new URL(server), { pathname: `/${database}` }).toString();

function kindOf(release: Release, table: string, column: string): string {
  const { columns = {} } = TENANT_TABLES[table] ?? {};
  if (column.endsWith('_p') || (columns[column] === 'data' && release !== '7.0')) return 'bytea';
  if (column === 'dependencies' || (column === 'entity_id' && release >= '6.4')) return 'text[]';
  if (columns[column] === 'boolean') return 'boolean';
  if (/_at$|^timestamp$|^reported_timestamp$/.test(column)) return 'timestamp without time zone';
  return /_fk$|^_(tenant|creator|storage)_id$/.test(column) || columns[column] === 'integer'
    ? 'integer'
    : 'text';
}

const tablesOf = (release: Release): string =>
  [...columnsOf(release)]
    .map(([table, columns]) => {
      const list = columns.map((column) => `"${column}" ${kindOf(release, table, column)}`);
      return `CREATE TABLE public.${table} (${list.join(', ')});`;
    })
    .join('\n');

beforeAll(() => void run('psql', ['-q', '-d', server, '-c', `CREATE DATABASE ${database}`]));
afterAll(() => void run('psql', ['-q', '-d', server, '-c', `DROP DATABASE ${database} WITH (FORCE)`]));

test.each(['5.0', '6.4', '7.0'] as const)(
  'what pg_dump writes of the tables of %s is read as what was put in',
  async (release) => {
    const estate = makeEstate();
    const made = legacyEntries(estate, release);
    // PostgreSQL accepts the rows of the generator: they are what COPY takes.
    const rows = dumpOf(estate, release).replace(/SELECT pg_catalog\.setval[^;]*;|DELETE FROM[^;]*;$/g, '');
    run(
      'psql',
      ['-q', '-v', 'ON_ERROR_STOP=1', '-d', url],
      `DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n${tablesOf(release)}\n${rows}`,
    );
    const dump = `${run('pg_dump', ['--data-only', '-d', url])}DELETE FROM public.executions WHERE id = '${SNAPSHOT_EXECUTION}';`;

    const real = await readAll(await zipBytes(new Map([...made, ['pg_data', Buffer.from(dump)]])));
    const expected = await readAll(await zipBytes(made));
    const placeless = ({ records }: typeof real) => records.map(({ place: _, ...record }) => record);
    expect(placeless(real)).toEqual(placeless(expected));
    expect(real.records.length).toBeGreaterThan(30);
    expect(real.skipped.map(({ type, reason }) => [type, reason])).toEqual([
      ['executions', 'deleted-in-dump'],
    ]);
  },
);
