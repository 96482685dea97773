import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { setFakeNow } from '@baton/testkit';
import { createAuthority } from '@baton/tls/authority';
import {
  aboutJson,
  admit,
  enrolHost,
  keyAndRequest,
  newToken,
  serialOf,
  signingRequest,
} from './testing/agent-hosts';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
let instances: string[];
beforeAll(async () => {
  test = await startTestDeployments();
  for (const id of ['d', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l']) await test.create(id);
  instances = (await test.call('GET', '/node-instances?_get_all_results=true')).body.items.map(
    (one: { id: string }) => one.id,
  );
});
afterAll(() => test.stop());

const DAY_MS = 86_400_000;
const enrol = async (token: string, request?: string) =>
  test.agents.enrolAgent({
    token,
    signingRequest: request ?? (await signingRequest()),
    aboutJson: aboutJson(),
  });
const code = (asked: Promise<unknown>) =>
  asked.then(
    () => 'fine',
    (error: { code: string }) => error.code,
  );

it('two replicas that begin at once make one authority', async () => {
  const ask = async () =>
    test.agents.issueListenerCertificate({ gatewayId: 'g', signingRequest: await signingRequest() });
  const [one, two] = await Promise.all([ask(), ask(), ask()]);
  expect(one!.authorities).toBe(two!.authorities);
  expect(one!.listenerDigest).toBe(createHash('sha256').update(one!.authorities).digest('hex'));
  const { rows } = await test.db.pool.query('select key_sealed, certificate from agent_authorities');
  expect(rows).toHaveLength(1);
  expect(String(rows[0].key_sealed)).not.toContain('PRIVATE KEY');
  const listener = new X509Certificate(one!.certificate);
  expect(listener.verify(new X509Certificate(one!.authorities).publicKey)).toBe(true);
  expect(listener.subjectAltName).toBe('DNS:baton-agents');
  expect(listener.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(Date.parse(listener.validFrom)).toBeLessThan(Date.now() - 3_500_000);
});

it('an enrolment gives a certificate with the id of the record, whatever the request is called', async () => {
  const token = await newToken(test, 'agent', instances[0]!);
  const answer = await enrol(token, await signingRequest('CN=../../agents/other, O=evil'));
  const certificate = new X509Certificate(answer.certificate);
  expect(certificate.subject).toBe(`CN=${answer.agent!.agentId}`);
  expect(certificate.ca).toBe(false);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(certificate.verify(new X509Certificate(answer.authorities).publicKey)).toBe(true);
  expect(Date.parse(certificate.validTo) - Date.now()).toBeGreaterThan(29.9 * DAY_MS);
  expect(answer.agent).toMatchObject({
    tenant: 'default_tenant',
    name: 'agent',
    address: `default_tenant/${instances[0]}`,
  });
  const settings = JSON.parse(answer.settingsJson);
  expect(settings).toMatchObject({ maxWorkers: 5, logLevel: 'info', disconnectGraceMs: 900_000, env: {} });
});

it("agent and listener meet by mutual TLS; certificates of others, and the two in each other's place, are refused", async () => {
  const [mine, theirs] = [await keyAndRequest(), await keyAndRequest()];
  const agent = await enrol(await newToken(test, 'meeting', instances[0]!), mine.request);
  const listener = await test.agents.issueListenerCertificate({
    gatewayId: 'g',
    signingRequest: theirs.request,
  });
  const foreign = await createAuthority('Baton agents', Date.now());
  const stranger = await foreign.issue({ names: [agent.agent!.agentId], nowMs: Date.now() });
  const meet = async (cert: string, key: string, ca = agent.authorities): Promise<string> => {
    const server = createServer(
      { cert: listener.certificate, key: theirs.key, ca: listener.authorities, requestCert: true },
      (socket) => socket.on('error', () => undefined).end('welcome'),
    ).on('tlsClientError', () => undefined);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', servername: 'baton-agents', ca, cert, key });
    try {
      let text = '';
      for await (const part of socket) text += part;
      return text;
    } catch (error) {
      return (error as { code: string }).code;
    } finally {
      socket.destroy();
      server.close();
    }
  };
  expect(await meet(agent.certificate, mine.key)).toBe('welcome');
  expect(await meet(agent.certificate, mine.key, foreign.cert)).toMatch(/UNABLE|SELF_SIGNED/);
  expect(await meet(stranger.cert, stranger.key)).not.toBe('welcome');
  expect(await meet(listener.certificate, theirs.key)).not.toBe('welcome');
});

it('a token is good for one key, also when it is used twice at once', async () => {
  const token = await newToken(test, 'twice', instances[1]!);
  const requests = await Promise.all([signingRequest(), signingRequest(), signingRequest()]);
  const answers = await Promise.all(requests.map((request) => code(enrol(token, request))));
  expect(answers.sort()).toEqual(['fine', 'unauthorized_error', 'unauthorized_error']);
  expect(await code(enrol(token))).toBe('unauthorized_error');
});

it('the same request again gets the same certificate: its answer may have been lost', async () => {
  const token = await newToken(test, 'again', instances[2]!);
  const request = await signingRequest();
  const [one, two] = await Promise.all([enrol(token, request), enrol(token, request)]);
  expect(one.certificate).toBe(two.certificate);
});

it('every bad token gets one answer', async () => {
  const old = await newToken(test, 'old', instances[3]!);
  const fresh = await newToken(test, 'old', instances[3]!);
  const stale = await newToken(test, 'stale', instances[3]!);
  await test.db.pool.query(
    `update agent_enrolments set expires_at = app_now() - interval '1 second' where name = 'stale'`,
  );
  const texts = new Set<string>();
  for (const token of [old, stale, '', 'x', 'A'.repeat(43), `${fresh.slice(0, 42)}!`, fresh.repeat(100_000)])
    texts.add(
      await enrol(token).then(
        () => 'fine',
        (error: Error) => error.message,
      ),
    );
  expect(texts.size).toBe(1);
  expect([...texts][0]).toContain('wrong, used or too old');
  expect(await code(enrol(fresh))).toBe('fine');
});

it('refuses other keys, foreign signatures and what is no request', async () => {
  const token = await newToken(test, 'hostile', instances[4]!);
  const good = await signingRequest();
  const changed = good.replace(/.{6}(?=\n-----END)/, 'AAAAAA');
  const requests = [
    await signingRequest('CN=a', { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-256' }),
    await signingRequest('CN=a', {
      name: 'RSASSA-PKCS1-v1_5',
      hash: 'SHA-256',
      publicExponent: new Uint8Array([1, 0, 1]),
      modulusLength: 2048,
    }),
    changed,
    '',
    'garbage',
    good + good,
    `-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(1_000_000)}\n-----END CERTIFICATE REQUEST-----`,
    `-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----`,
  ];
  for (const request of requests)
    expect([request.slice(0, 60), await code(enrol(token, request))]).toEqual([
      request.slice(0, 60),
      'bad_parameters_error',
    ]);
  const tooMuch = { ...JSON.parse(aboutJson()), hostname: 'x'.repeat(10_000_000) };
  for (const json of [JSON.stringify(tooMuch), 'null', '{', ''])
    expect(await code(test.agents.enrolAgent({ token, signingRequest: good, aboutJson: json }))).toBe(
      'bad_parameters_error',
    );
  // None of them has used the token up.
  expect(await code(enrol(token, good))).toBe('fine');
});

it('admits by the present certificate, and by the former one until the present one is used', async () => {
  const host = await enrolHost(test, 'renewing', instances[5]!);
  const first = await admit(test, host);
  const renew = async (serial: string) =>
    serialOf(
      (
        await test.agents.renewAgentCertificate({
          agentId: host.id,
          serial: serial.toUpperCase(),
          signingRequest: await signingRequest(),
        })
      ).certificate,
    );
  // The answer of the first renewal is lost.
  const lost = await renew(host.serial);
  const second = await renew(host.serial);
  expect(await code(admit(test, { ...host, serial: lost }))).toBe('unauthorized_error');
  expect(await admit(test, host)).toBeGreaterThan(first);
  expect(await code(admit(test, { ...host, serial: second }))).toBe('fine');
  expect(await code(admit(test, host))).toBe('unauthorized_error');
  expect(await code(renew(host.serial))).toBe('unauthorized_error');
});

it('refuses who is revoked, expired, deleted or made up', async () => {
  const host = await enrolHost(test, 'refused', instances[6]!);
  const renewal = async (agentId = host.id, serial = host.serial) =>
    code(test.agents.renewAgentCertificate({ agentId, serial, signingRequest: await signingRequest() }));
  for (const [id, serial] of [
    [host.id, '00'],
    [host.id, ''],
    [host.id, `${host.serial}' or true --`],
    ['00000000-0000-0000-0000-000000000000', host.serial],
    ['../refused', host.serial],
    ['x'.repeat(1_000_000), host.serial],
  ] as const)
    expect(await renewal(id, serial)).toBe('unauthorized_error');
  const until = host.certificate.validTo;
  await setFakeNow(test.db.pool, new Date(Date.parse(until) + 1_000).toISOString());
  expect([await code(admit(test, host)), await renewal()]).toEqual([
    'unauthorized_error',
    'unauthorized_error',
  ]);
  await setFakeNow(test.db.pool, null);
  expect(await code(admit(test, host))).toBe('fine');
  const revoked = await test.call('POST', '/agents/refused/revoke');
  expect(revoked.status).toBe(200);
  expect([await code(admit(test, host)), await renewal()]).toEqual([
    'unauthorized_error',
    'unauthorized_error',
  ]);
  // Only a new enrolment ends a revocation, and the old certificate stays refused.
  const anew = await enrolHost(test, 'refused', instances[6]!);
  expect([await code(admit(test, anew)), await code(admit(test, host))]).toEqual([
    'fine',
    'unauthorized_error',
  ]);
  expect((await test.call('DELETE', '/agents/refused')).status).toBe(200);
  expect([await code(admit(test, anew)), await renewal(anew.id, anew.serial)]).toEqual([
    'unauthorized_error',
    'unauthorized_error',
  ]);
});

it('a revocation ends an open token too', async () => {
  const token = await newToken(test, 'open-token', instances[7]!);
  await test.call('POST', '/agents/open-token/revoke');
  expect(await code(enrol(token))).toBe('unauthorized_error');
});

it('one host has one agent: the one that enrols later', async () => {
  const first = await enrolHost(test, 'first', instances[8]!);
  await admit(test, first);
  const second = await enrolHost(test, 'second', instances[8]!);
  expect([await code(admit(test, first)), await code(admit(test, second))]).toEqual([
    'unauthorized_error',
    'fine',
  ]);
});

describe('another authority', () => {
  const rotate = (body: object = {}) => test.call('PATCH', '/agents', { bundle: true, ...body });
  const listener = async () =>
    test.agents.issueListenerCertificate({ gatewayId: 'g', signingRequest: await signingRequest() });
  const blocks = (pem: string) =>
    pem.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----\n/g)!;
  const isBy = (cert: string, authority: string) =>
    new X509Certificate(cert).verify(new X509Certificate(authority).publicKey);

  it('signs agents, while the listener stays with the old one until no certificate of it is left', async () => {
    const host = await enrolHost(test, 'rotated', instances[0]!);
    const before = await listener();
    const { body } = await rotate();
    expect(body.number_of_updated_agents).toBeGreaterThan(0);
    const during = await listener();
    const [old, anew] = blocks(during.authorities);
    expect(during.listenerDigest).not.toBe(before.listenerDigest);
    expect([old, isBy(during.certificate, old!)]).toEqual([before.authorities, true]);
    const next = await test.agents.renewAgentCertificate({
      agentId: host.id,
      serial: host.serial,
      signingRequest: await signingRequest(),
    });
    expect([isBy(next.certificate, anew!), next.authorities]).toEqual([true, during.authorities]);
    const tend = () => test.parts.loops!.find(({ name }) => name === 'tend-agent-authorities')!.tickOnce();
    await tend();
    expect(blocks((await listener()).authorities)).toHaveLength(2);
    await test.db.pool.query(`update agents set revoked_at = app_now() where name <> 'rotated'`);
    await tend();
    // The former certificate of the agent is still good: its new one was not used.
    expect(blocks((await listener()).authorities)).toHaveLength(2);
    await admit(test, { id: host.id, serial: serialOf(next.certificate) });
    await tend();
    const after = await listener();
    expect([after.authorities, isBy(after.certificate, anew!)]).toEqual([anew, true]);
  });

  it('may be given for agents to trust, and lets no agent in', async () => {
    const own = (await listener()).authorities;
    const given = blocks(
      (await test.db.pool.query('select certificate from agent_authorities where retired_at is not null'))
        .rows[0].certificate,
    )[0]!;
    expect((await rotate({ manager_ca_cert: given })).status).toBe(200);
    expect((await listener()).authorities).toBe(own);
    const token = await newToken(test, 'trusting', instances[1]!);
    expect((await enrol(token)).authorities).toContain(given);
    // A repetition changes nothing.
    await rotate({ manager_ca_cert: given });
    const { rows } = await test.db.pool.query(`select from agent_authorities where kind = 'given'`);
    expect(rows).toHaveLength(1);
    const host = await enrolHost(test, 'leaf', instances[2]!);
    for (const pem of ['pem', '', host.certificate.toString()])
      expect(await rotate({ manager_ca_cert: pem })).toMatchObject({
        status: 400,
        body: { error_code: 'bad_parameters_error', field: 'manager_ca_cert' },
      });
  });

  it('has a key that is sealed anew when the master key changes', async () => {
    const tend = () => test.parts.loops!.find(({ name }) => name === 'tend-agent-authorities')!.tickOnce();
    const sealed = async () =>
      (
        await test.db.pool.query(
          `select key_sealed from agent_authorities where kind = 'own' and retired_at is null`,
        )
      ).rows[0].key_sealed as Buffer;
    const before = await sealed();
    test.peers.masterKeys.unshift('second');
    await tend();
    expect((await sealed()).equals(before)).toBe(false);
    test.peers.masterKeys.pop();
    expect(await code(listener())).toBe('fine');
  });

  it('is refused without end: agents keep all of them', async () => {
    let answer = await rotate();
    for (let i = 0; i < 10 && answer.status === 200; i++) answer = await rotate();
    expect(answer).toMatchObject({ status: 409, body: { error_code: 'conflict_error' } });
  });
});

it('tenants see neither tokens nor agents of others', async () => {
  const elsewhere = principal('bob', {
    tenant: 'elsewhere',
    tenants: [{ name: 'elsewhere', roles: ['manager'] }],
  });
  for (const [method, path] of [
    ['POST', '/agents/agent/enrolment'],
    ['POST', '/agents/agent/revoke'],
    ['DELETE', '/agents/agent'],
    ['PATCH', '/agents/agent'],
    ['GET', '/agent-connections/agent'],
  ] as const)
    expect((await test.call(method, path, method === 'GET' ? undefined : {}, elsewhere)).status).toBe(404);
});
