import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { silentLog, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit/eventually';
import { createAuthority } from '@baton/tls/authority';
import { digestOfAuthorities, readCredentials } from '../run/credentials';
import { isDue, keepTrust } from '../run/trust';
import { startProcess } from '../testing/agent-process';
import { type AgentRig, createAgentRig } from '../testing/agent-rig';

let rig: AgentRig;
beforeEach(async () => {
  rig = await createAgentRig();
});
afterEach(() => rig.close());

const mode = (path: string): number => statSync(path).mode & 0o777;

test('a token is exchanged once for a certificate of a key that never leaves the host', async () => {
  rig.gateway.tokens.add('token-1');
  const former = readFileSync(rig.places.key, 'utf8');
  const enrol = startProcess(['enrol', '--config', rig.places.config], 'token-1\n');
  expect([await enrol.ended, enrol.output()]).toEqual([
    0,
    expect.stringContaining('enrolled as agent agent-1'),
  ]);
  const { certificate, key } = readCredentials(rig.places);
  expect(key).not.toBe(former);
  expect(new X509Certificate(certificate).publicKey.asymmetricKeyDetails).toMatchObject({
    namedCurve: 'prime256v1',
  });
  expect(mode(rig.places.key)).toBe(0o600);
  expect(existsSync(`${rig.places.key}.new`)).toBe(false);
  const again = startProcess(['enrol', '--config', rig.places.config], 'token-1\n');
  expect([await again.ended, again.output()]).toEqual([40, expect.stringContaining('the token was used')]);
  expect(readCredentials(rig.places).key).toBe(key);
});

test('a manager that cannot be reached leaves the token unused and says each address', async () => {
  const { port } = rig.gateway;
  await rig.gateway.close();
  const enrol = startProcess(['enrol', '--config', rig.places.config], 'token-1');
  expect(await enrol.ended).toBe(41);
  expect(enrol.output()).toContain(`https://127.0.0.1:${port}: `);
  await rig.startGateway();
});

test('a certificate is renewed at two thirds of its life, for the same key, and shown at once', async () => {
  const short = await rig.gateway.authority.issue({
    names: ['agent-1'],
    days: 0.01,
    nowMs: systemClock.now(),
  });
  writeFileSync(rig.places.certificate, short.cert);
  writeFileSync(rig.places.key, short.key);
  expect(isDue(short.cert, systemClock.now())).toBe(true);
  const agent = await rig.start();
  const trust = keepTrust({
    places: rig.places,
    config: rig.config,
    agent,
    clock: systemClock,
    log: silentLog,
  });
  await eventually(async () => expect(readCredentials(rig.places).certificate).not.toBe(short.cert));
  await eventually(async () => expect(rig.gateway.hellos.at(-1)?.certificateUntil).not.toBe(''));
  await eventually(async () => expect(isDue(agent.credentials().certificate, systemClock.now())).toBe(false));
  expect(readCredentials(rig.places).key).toBe(short.key);
  trust.close();
});

test('new authorities count when a connection with them alone works; others are refused', async () => {
  const agent = await rig.start();
  const trust = keepTrust({
    places: rig.places,
    config: rig.config,
    agent,
    clock: systemClock,
    log: silentLog,
  });
  const other = await createAuthority('another', systemClock.now());
  const old = rig.gateway.authority.cert;
  trust.noticed({ notice: 'trust', authorities: other.cert, renew: false });
  trust.noticed({ notice: 'trust', authorities: `${other.cert}\n${old}`, renew: false });
  await eventually(async () => expect(agent.credentials().authorities).toBe(`${other.cert}\n${old}`));
  await eventually(async () =>
    expect(rig.gateway.abouts.at(-1)?.authoritiesDigest).toBe(digestOfAuthorities(`${other.cert}\n${old}`)),
  );
  expect(readFileSync(rig.places.authorities, 'utf8')).toBe(`${other.cert}\n${old}`);
  trust.close();
});
