import type { RoleFinding } from './legacy/roles';
import type { ArchiveRecord } from './model/record';
import type { RecordType } from './model/types';
import {
  legacyArchive,
  makeEstate,
  pagesArchive,
  RELEASES,
  type Release,
  SNAPSHOT_EXECUTION,
} from './testing';
import { readAll } from './testing/read-all';

const estate = makeEstate();
const itemsOf = (records: readonly ArchiveRecord[], type: RecordType, tenant: string | null) =>
  records.filter((one) => one.type === type && one.tenant === tenant).map(({ item }) => item);

/** Types that a release does not have yet. */
const ABSENT: Readonly<Record<string, readonly RecordType[]>> = {
  '5.0': [
    'inter_deployment_dependencies',
    'deployment_groups',
    'execution_groups',
    'execution_schedules',
    'deployments_filters',
    'blueprints_filters',
  ],
  '5.2': ['blueprints_filters'],
};
/** Values that a release has no column for: what the reader fills in. */
const LABELS_ABSENT: Readonly<Record<string, readonly RecordType[]>> = {
  '5.0': ['deployments', 'blueprints'],
  '5.2': ['blueprints'],
};

function expectedItems(type: RecordType, items: readonly object[], release: Release) {
  const isDeleted = (item: object): boolean =>
    ('execution_id' in item && item.execution_id === SNAPSHOT_EXECUTION) ||
    ('id' in item && item.id === SNAPSHOT_EXECUTION);
  return items
    .filter((item) => !isDeleted(item))
    .map((item) => ({
      ...item,
      ...(LABELS_ABSENT[release]?.includes(type) ? { labels: [] } : {}),
      ...(type === 'plugins' && release === '5.0' ? { title: null } : {}),
      ...(type === 'node_instances' && release < '6.4' ? { system_properties: null } : {}),
    }));
}

describe.each(RELEASES)('a legacy archive of %s', (release) => {
  test('yields the objects of the estate, with the values of a migration where it has no column', async () => {
    const { records, skipped, tally } = await readAll(await legacyArchive(estate, release));
    for (const [tenant, items] of Object.entries(estate.tenants)) {
      for (const [type, own] of Object.entries(items) as [RecordType, object[]][]) {
        const expected = ABSENT[release]?.includes(type) ? [] : expectedItems(type, own, release);
        const found = itemsOf(records, type, tenant);
        // Events come from two tables.
        const inOrder =
          type === 'events'
            ? [...found].sort((a, b) =>
                'timestamp' in a && 'timestamp' in b && a.timestamp < b.timestamp ? -1 : 1,
              )
            : found;
        expect({ tenant, type, items: inOrder }).toEqual({ tenant, type, items: expected });
      }
    }
    expect(skipped.map(({ type, reason }) => [type, reason])).toEqual([['executions', 'deleted-in-dump']]);
    expect([...tally.unknownFields]).toEqual([]);
    expect([...tally.statements.keys()]).toEqual([
      'SET statement_timeout',
      'SET client_encoding',
      'SELECT pg_catalog.set_config',
      'SELECT pg_catalog.setval',
    ]);
  });
});

test('names roles by their permissions, and leaves out what it cannot name', async () => {
  const { records } = await readAll(await legacyArchive(estate, '6.4'));
  expect(itemsOf(records, 'users', null)).toEqual(estate.manager.users);
  expect(itemsOf(records, 'user_groups', null)).toEqual(estate.manager.user_groups);

  const old = await readAll(await legacyArchive(estate, '5.0'));
  const zoe = old.records.find(({ type, item }) => type === 'users' && item.username === 'zoë');
  expect(zoe).toMatchObject({
    item: { role: null, tenants: {} },
    notes: [{ code: 'role-unknown' }, { code: 'role-unknown' }],
  });
  const admin = old.records.find(({ type, item }) => type === 'users' && item.username === 'admin');
  expect(admin?.item).toMatchObject({ role: 'sys_admin' });

  let told: readonly RoleFinding[] = [];
  const named = await readAll(await legacyArchive(estate, '5.0'), {
    onRoles: (roles) => void (told = roles),
    roles: { 2: 'manager', 3: 'user', 5: 'viewer', 6: 'default' },
  });
  expect(itemsOf(named.records, 'users', null)).toEqual(estate.manager.users);
  expect(told.map(({ id, name }) => [id, name])).toEqual([
    [1, 'sys_admin'],
    [2, 'manager'],
    [3, 'user'],
    [5, 'viewer'],
    [6, 'default'],
  ]);
});

describe.each(['new', 'early'] as const)('an archive of the %s layout', (layout) => {
  test('yields the objects of the estate', async () => {
    const { records, skipped, tally } = await readAll(await pagesArchive(estate, { layout }));
    for (const [tenant, items] of Object.entries(estate.tenants)) {
      for (const [type, own] of Object.entries(items) as [RecordType, object[]][]) {
        const expected = type === 'deployments' ? own.map((one) => ({ ...one, site_name: null })) : own;
        expect({ tenant, type, items: itemsOf(records, type, tenant) }).toEqual({
          tenant,
          type,
          items: expected,
        });
      }
    }
    expect(itemsOf(records, 'users', null)).toEqual(estate.manager.users);
    expect(itemsOf(records, 'tenants', null)).toEqual([
      { name: 'default_tenant' },
      { name: 'empty' },
      { name: 'second' },
    ]);
    expect(skipped).toEqual([]);
    expect([...tally.unknownFields]).toEqual([]);
  });
});

test('a tenant that has only an empty folder is a tenant', async () => {
  const { records } = await readAll(await pagesArchive({ ...estate, manager: {} }));
  const tenants = records.filter(({ type }) => type === 'tenants');
  expect(tenants.map(({ item, place }) => [item, place.file])).toContainEqual([
    { name: 'empty' },
    'tenants/empty/',
  ]);
});
