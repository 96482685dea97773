import { blueprintTgz } from './testing/archives';
import { admin, startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';
import { wagon } from './testing/plugin-archives';

const HEAD = 'tosca_definitions_version: cloudify_dsl_1_4\n';
const NODE = `node_types:\n  root: {properties: {p: {default: ''}, q: {default: ''}}}\n`;
const secretUser = (names: string) =>
  `${HEAD}${NODE}node_templates:\n  web: {type: root, properties: ${names}}\n`;

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startCatalog();
});
afterAll(() => catalog.close());

const bob = userOf('bob');
const peer = userOf('peer', 'default_tenant', 8);
const stranger = userOf('stranger', 'elsewhere', 9);

async function upload(id: string, text: string, query = '', as = bob): Promise<void> {
  const raw = await blueprintTgz({ 'blueprint.yaml': text });
  const path = `/blueprints/${id}${query}`;
  const answer = await catalog.call('PUT', path, { raw, contentType: 'application/octet-stream', as });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
}
async function users(path: string, as = bob): Promise<string[] | number> {
  const { status, body } = await catalog.call('GET', path, { as });
  return status === 200 ? body.items.map(({ id }: { id: string }) => id) : status;
}

test('a secret has the blueprints that name it, of those that the caller sees', async () => {
  await upload('one', secretUser('{p: {get_secret: key}, q: {get_secret: other}}'));
  await upload('twice', secretUser('{p: {get_secret: key}, q: {concat: [a, {get_secret: key}]}}'));
  await upload('hidden', secretUser('{p: {get_secret: key}}'), '?visibility=private');
  // A function computes the name, so no plan contains it.
  await upload(
    'unknown',
    `${secretUser('{p: {get_secret: {get_input: key}}}')}inputs: {key: {default: key}}\n`,
  );
  await upload('foreign', secretUser('{p: {get_secret: key}}'), '', stranger);
  expect(await users('/secrets/key/uses')).toEqual(['one', 'twice', 'hidden']);
  expect(await users('/secrets/key/uses', peer)).toEqual(['one', 'twice']);
  expect(await users('/secrets/key/uses', stranger)).toEqual(['foreign']);
  expect(await users('/secrets/other/uses')).toEqual(['one']);
  expect(await users('/secrets/nosuch/uses')).toEqual([]);
  expect(await users('/secrets/key/uses?_sort=-id&_size=1')).toEqual(['twice']);
  expect(
    (await catalog.call('GET', '/secrets/key/uses?_include=kind,id&id=one', { as: bob })).body.items,
  ).toEqual([{ kind: 'blueprint', id: 'one' }]);
  expect(await users(`/secrets/${encodeURIComponent("a' or 1=1")}/uses`)).toBe(400);
});

test('a blueprint has those that import it, a plugin those that need it in its version; nobody else is told', async () => {
  await upload('imported', `${HEAD}${NODE}`);
  await upload('importer', `${HEAD}imports: [ns--blueprint:imported]\n`);
  await upload('private-one', `${HEAD}${NODE}`, '?visibility=private');
  expect(await users('/blueprints/imported/uses')).toEqual(['importer']);
  expect(await users('/blueprints/importer/uses')).toEqual([]);
  for (const [id, as] of [
    ['nosuch', bob],
    ['imported', stranger],
    ['private-one', peer],
  ] as const)
    expect(await users(`/blueprints/${id}/uses`, as)).toBe(404);

  const plugin = await wagon('1.0');
  const made = await catalog.call('POST', '/plugins', {
    raw: plugin,
    contentType: 'application/octet-stream',
    as: admin,
  });
  const { id, package_name: name } = made.body;
  expect(await users(`/plugins/${id}/uses`, admin)).toEqual([]);
  await catalog.db.pool.query(
    `insert into blueprint_uses (tenant, blueprint_id, kind, name, version)
      select 'default_tenant', b, 'plugin', $1, v from (values ('one', $2), ('twice', 'another')) as x (b, v)`,
    [name, made.body.package_version],
  );
  expect(await users(`/plugins/${id}/uses`, admin)).toEqual(['one']);
  expect(await users(`/plugins/${id}/uses`, stranger)).toBe(404);
});
