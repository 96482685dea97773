import { createPrivateKey, createPublicKey, createSign, createVerify } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestNode, testNode } from '@baton/plugin-sdk/testing';
import plugin from '../plugin';
import { type SecretStore, startSecretStore } from '../testing/secret-store';

let store: SecretStore;
let folder: string;
beforeEach(async () => {
  store = await startSecretStore();
  folder = mkdtempSync(join(tmpdir(), 'baton-keys-'));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const BITS = 1024;
const node = (config: object, more: object = {}, runtime = {}): TestNode =>
  testNode(plugin, 'cloudify.nodes.keys.RSAKey', {
    properties: { resource_config: { bits: BITS, ...config }, ...more } as never,
    runtime,
  });
const stored = () => [...store.secrets.keys()].sort();

/** The public key of a line of authorized_keys. */
function publicKeyOf(line: string) {
  const wire = Buffer.from(line.split(' ')[1]!, 'base64');
  const fields: Buffer[] = [];
  for (let at = 0; at < wire.length; at += 4 + wire.readUInt32BE(at))
    fields.push(wire.subarray(at + 4, at + 4 + wire.readUInt32BE(at)));
  const [e, n] = fields.slice(1).map((field) => field.toString('base64url'));
  return createPublicKey({ key: { kty: 'RSA', e, n } as never, format: 'jwk' });
}

describe('create', () => {
  it('keeps a pair in two secrets, and the public key in runtime properties', async () => {
    const key = node({ key_name: 'agent', openssh_format: true });
    await key.run('create');
    expect(stored()).toEqual(['agent_private', 'agent_public']);
    const pem = store.secrets.get('agent_private')!;
    expect(pem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n/);
    const publicKey = store.secrets.get('agent_public')!;
    const signature = createSign('sha256').update('text').sign(createPrivateKey(pem));
    expect(createVerify('sha256').update('text').verify(publicKeyOf(publicKey), signature)).toBe(true);
    expect(key.runtimeProperties).toMatchObject({
      secret_key_name: 'agent',
      secrets_key_owner: true,
      public_key_export: publicKey,
      key_fingerprint: expect.stringMatching(/^SHA256:.{43}$/),
    });
    expect(key.runtimeProperties).not.toHaveProperty('private_key_export');
  });

  it('shows the private key in runtime properties only when the author asks, and never in the log', async () => {
    const key = node({}, { key_name: 'old' });
    await key.run('create', { store_private_key_material: true, store_public_key_material: false });
    expect(key.runtimeProperties.private_key_export).toBe(store.secrets.get('old_private'));
    expect(key.runtimeProperties).not.toHaveProperty('public_key_export');
    expect(JSON.stringify(key.log)).not.toContain('PRIVATE KEY');
  });

  it('takes the input resource_config before the property', async () => {
    await node({ key_name: 'property' }).run('create', {
      resource_config: { key_name: 'input', bits: BITS },
    });
    expect(stored()).toEqual(['input_private', 'input_public']);
  });

  it('names the secrets after deployment and instance when the node names none', async () => {
    await node({}).run('create');
    expect(stored()).toEqual(['test-node_abc123_private', 'test-node_abc123_public']);
  });

  it('uses secrets that are there, and does not remove them', async () => {
    store.secrets.set('agent_private', 'p').set('agent_public', 'q');
    const key = node({ key_name: 'agent' }, { use_secrets_if_exist: true });
    await key.run('create', { store_private_key_material: true });
    expect(key.runtimeProperties).toMatchObject({
      secrets_key_owner: false,
      private_key_export: 'p',
      public_key_export: 'q',
    });
    await key.run('delete');
    expect(stored()).toEqual(['agent_private', 'agent_public']);
    expect(key.runtimeProperties).toEqual({});
  });

  it('goes on with the pair of a try that ended in the middle', async () => {
    const key = node({ key_name: 'agent' });
    store.refuse = (request) => (request === 'PUT agent_public' ? 503 : undefined);
    await expect(key.run('create')).rejects.toThrow('503');
    const first = store.secrets.get('agent_private');
    store.refuse = () => undefined;
    await key.run('create');
    expect(store.secrets.get('agent_private')).toBe(first);
    expect(stored()).toEqual(['agent_private', 'agent_public']);
    expect(key.isResumable('create')).toBe(true);
  });

  it('makes nothing again once it has ended', async () => {
    const key = node({ key_name: 'agent' });
    await key.run('create');
    const before = new Map(store.secrets);
    await key.run('create');
    expect(new Map(store.secrets)).toEqual(before);
    expect(key.log.at(-1)).toEqual({ level: 'error', message: 'You should run delete before run create' });
  });

  it('writes files that only their owner reads, and nothing to the default path', async () => {
    const path = join(folder, 'new/key.pem');
    const key = node({ private_key_path: path }, { use_secret_store: false });
    await key.run('create');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(key.runtimeProperties.private_key_path).toBe(path);
    expect(key.runtimeProperties).not.toHaveProperty('public_key_path');
    expect(store.requests).toEqual([]);
    await key.run('delete');
    expect(existsSync(path)).toBe(false);
  });

  test.each([
    ['one secret of two', { key_name: 'agent' }, { use_secrets_if_exist: true }, 'only one of them exists'],
    ['a secret of somebody else', { key_name: 'agent' }, {}, 'exists already: it is not replaced'],
    ['no place for the key', {}, { use_secret_store: false }, 'Must provide private_key_path'],
    [
      'reuse without the store',
      {},
      { use_secret_store: false, use_secrets_if_exist: true },
      'needs use_secret_store',
    ],
    ['another algorithm', { algorithm: 'DSA' }, {}, 'Only RSA algorithm is supported'],
    ['another format', { openssh_format: false }, {}, 'Only OpenSSH format is supported'],
    ['a passphrase', { passphrase: 'hidden' }, {}, 'passphrase is not implemented'],
    ['a key that takes hours to make', { bits: 1_000_000 }, {}, 'properties.resource_config.bits'],
    ['a weak key', { bits: 512 }, {}, 'properties.resource_config.bits'],
  ])('refuses %s', async (_, config, more, message) => {
    store.secrets.set('agent_private', 'of somebody');
    await expect(node(config, more).run('create')).rejects.toThrow(message);
    expect([...store.secrets]).toEqual([['agent_private', 'of somebody']]);
  });

  it('reads no device as a file of a key', async () => {
    const key = node({ private_key_path: '/dev/zero' }, { use_secret_store: false });
    await expect(key.run('create')).rejects.toThrow('/dev/zero is no file of a key');
  });

  it('replaces no file of somebody else', async () => {
    const path = join(folder, 'key');
    writeFileSync(path, 'of somebody');
    const key = node({ private_key_path: path }, { use_secret_store: false });
    await expect(key.run('create')).rejects.toThrow('is not replaced');
    await key.run('delete');
    expect(readFileSync(path, 'utf8')).toBe('of somebody');
  });
});

describe('delete', () => {
  it('removes the secrets, and all runtime properties', async () => {
    const key = node({ key_name: 'agent' });
    await key.run('create');
    await key.run('delete');
    expect(stored()).toEqual([]);
    expect(key.runtimeProperties).toEqual({});
  });

  it('leaves a secret that somebody has replaced', async () => {
    const key = node({ key_name: 'agent' });
    await key.run('create');
    store.secrets.set('agent_private', 'of somebody');
    await key.run('delete');
    expect([...store.secrets]).toEqual([['agent_private', 'of somebody']]);
  });

  it('removes what a creation that failed has left', async () => {
    const key = node({ key_name: 'agent' });
    store.refuse = (request) => (request === 'PUT agent_public' ? 503 : undefined);
    await expect(key.run('create')).rejects.toThrow('503');
    await key.run('delete');
    expect(stored()).toEqual([]);
  });

  it('removes the secrets of a node that the original plugin made', async () => {
    store.secrets.set('agent_private', 'p').set('agent_public', 'q');
    const runtime = { secret_key_name: 'agent', secrets_key_owner: true };
    await node({}, {}, runtime).run('delete');
    expect(stored()).toEqual([]);
  });

  it('keeps a name inside of the secrets', async () => {
    await node({ key_name: '../deployments/x' }).run('create');
    expect(store.requests[0]).toBe('GET ../deployments/x_private');
    expect(stored()).toEqual(['../deployments/x_private', '../deployments/x_public']);
  });
});
