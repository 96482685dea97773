// Signed TypeScript plugins: whose signature a tenant trusts, what it refuses, and what a revoked key stops.
import { generateKeyPairSync } from 'node:crypto';
import { type TestEntry, tgzOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog } from './testing/catalog-setup';
import { moduleEntries, wagon } from './testing/plugin-archives';
import { makeSigner, signedEntries } from './testing/sign-entries';

let catalog: TestCatalog;
let call: TestCatalog['call'];
beforeAll(async () => {
  catalog = await startCatalog();
  ({ call } = catalog);
});
afterAll(() => catalog.close());

const contentType = 'application/octet-stream';
const other = { ...admin, tenant: 'other', tenants: [{ name: 'other', roles: [] }] };
const upload = async (entries: readonly TestEntry[], as = admin) =>
  await call('POST', '/plugins', { raw: await tgzOf(entries), contentType, as });
let minor = 0;
/** The entries of the next version. */
const next = (changes = {}) => moduleEntries({ version: `1.${++minor}.0` }, changes);
const trust = (name: string, pem: string, as = admin) =>
  call('PUT', `/plugin-keys/${name}`, { json: { public_key: pem }, as });
const found = (version: string) =>
  catalog.rpc.findPlugins({
    tenant: 'default_tenant',
    queries: [{ packageName: 'dns', packageVersion: version }],
  });
const message = (answer: { body: { message: string } }) => answer.body.message;

it('a plugin shows who has signed it, and its tenant decides what that is worth', async () => {
  const signer = makeSigner();
  const plain = await upload(next());
  expect(plain.body).toMatchObject({ signature: null });
  const { body } = await upload(signedEntries(next(), signer));
  const { id } = body;
  const { fingerprint } = signer;
  expect(body.signature).toEqual({ state: 'unknown', key_name: null, fingerprint });

  const key = await trust('team-a', signer.pem);
  expect([key.status, key.body]).toEqual([
    201,
    expect.objectContaining({ name: 'team-a', fingerprint, state: 'trusted' }),
  ]);
  const shown = async () => (await call('GET', `/plugins/${id}`, { as: admin })).body.signature;
  expect(await shown()).toEqual({ state: 'trusted', key_name: 'team-a', fingerprint });
  const { body: later } = await upload(signedEntries(next(), signer));
  expect(later.signature).toEqual({ state: 'trusted', key_name: 'team-a', fingerprint });

  expect((await call('DELETE', '/plugin-keys/team-a', { as: admin })).status).toBe(204);
  expect(await shown()).toEqual({ state: 'unknown', key_name: null, fingerprint });
});

it('what a revoked key has signed is neither uploaded nor handed to workers, until it is trusted again', async () => {
  const signer = makeSigner();
  await trust('leaked', signer.pem);
  const { body } = await upload(signedEntries(next(), signer));
  const version = body.package_version;
  expect((await found(version)).plugins).toHaveLength(1);
  const revoked = await call('PATCH', '/plugin-keys/leaked', { json: { state: 'revoked' }, as: admin });
  expect(revoked.body).toMatchObject({ state: 'revoked', changed_by: 'admin' });
  await expect(found(version)).rejects.toThrow(
    /does not run: it is signed by the key `leaked`, which is revoked/,
  );
  const again = await upload(signedEntries(next(), signer));
  expect([again.status, message(again)]).toEqual([
    403,
    expect.stringContaining('`leaked`, which is revoked'),
  ]);
  expect((await call('DELETE', '/plugin-keys/leaked', { as: admin })).body.message).toContain(
    'would run again',
  );
  await call('PATCH', '/plugin-keys/leaked', { json: { state: 'trusted' }, as: admin });
  expect((await found(version)).plugins).toHaveLength(1);
});

it('a tenant that requires signatures takes neither unsigned nor unknown packages; other tenants do', async () => {
  const [known, unknown] = [makeSigner(), makeSigner()];
  await trust('known', known.pem);
  const policy = (requires_signature: boolean) =>
    call('PUT', '/plugin-trust', { json: { requires_signature }, as: admin });
  expect((await call('GET', '/plugin-trust', { as: admin })).body).toEqual({
    requires_signature: false,
    is_default: true,
    is_enforced: false,
  });
  expect((await policy(true)).body).toMatchObject({ requires_signature: true, is_default: false });
  try {
    expect(message(await upload(next()))).toContain('and it has no signature');
    expect(message(await upload(signedEntries(next(), unknown)))).toContain(
      `does not know the key ${unknown.fingerprint}`,
    );
    const raw = await wagon('1.0');
    expect((await call('POST', '/plugins', { raw, contentType, as: admin })).status).toBe(403);
    expect((await upload(signedEntries(next(), known))).status).toBe(201);
    expect((await upload(next(), other)).status).toBe(201);
  } finally {
    await policy(false);
  }
});

describe('a signature is refused', () => {
  const signer = makeSigner();
  it.each<[string, () => TestEntry[], RegExp]>([
    [
      'when a file was changed after it',
      () =>
        signedEntries(next(), signer).map((e) => (e.name === 'index.js' ? { ...e, content: 'evil()' } : e)),
      /does not fit the content/,
    ],
    [
      'when a file was added',
      () => [...signedEntries(next(), signer), { name: 'files/x', content: '' }],
      /does not fit/,
    ],
    [
      'when it names the key of somebody else',
      () => signedEntries(next(), signer, { key: makeSigner().raw.toString('base64') }),
      /does not fit/,
    ],
    ['when it is short', () => signedEntries(next(), signer, { signature: 'AAAA' }), /signature has 3 bytes/],
    [
      'when its key is a point that is none',
      () => signedEntries(next(), signer, { key: Buffer.alloc(32, 255).toString('base64') }),
      /does not fit|key/,
    ],
    ['of another format', () => signedEntries(next(), signer, { format: 2 }), /another format than 1/],
    [
      'that is no JSON',
      () => [...next(), { name: 'files/baton-signature.json', content: '{' }],
      /it is not JSON/,
    ],
  ])('%s', async (_, entries, text) => {
    const answer = await upload(entries());
    expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_plugin_error']);
    expect(message(answer)).toMatch(text);
  });
});

it('keys that are none, private, of another kind, or there already are refused', async () => {
  const signer = makeSigner();
  const rsa = String(
    generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ type: 'spki', format: 'pem' }),
  );
  const secret = String(signer.privateKey.export({ type: 'pkcs8', format: 'pem' }));
  for (const [pem, text] of [
    ['rubbish', 'is no key in PEM'],
    [secret, 'is a private key'],
    [rsa, 'is a key of the kind rsa'],
  ] as const) {
    const answer = await trust('bad', pem);
    expect([answer.status, message(answer)]).toEqual([400, expect.stringContaining(text)]);
    expect(JSON.stringify(answer.body)).not.toContain('PRIVATE KEY-----');
  }
  await trust('first', signer.pem);
  expect(message(await trust('second', signer.pem))).toContain('is there already, as `first`');
  expect(message(await trust('first', makeSigner().pem))).toContain('a key `first` exists already');
});

it('the keys of a tenant are not those of another', async () => {
  const signer = makeSigner();
  await trust('mine', signer.pem, other);
  expect((await call('GET', '/plugin-keys/mine', { as: admin })).status).toBe(404);
  expect((await call('PATCH', '/plugin-keys/mine', { json: { state: 'revoked' }, as: admin })).status).toBe(
    404,
  );
  expect((await call('DELETE', '/plugin-keys/mine', { as: admin })).status).toBe(404);
  const { body } = await upload(signedEntries(next(), signer));
  expect(body.signature.state).toBe('unknown');
});
