/** Row S7 of the security matrix for directories: a real one, and peers that lie. */
import { once } from 'node:events';
import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { Secret, systemClock } from '@baton/kernel';
import { eventually } from '@baton/testkit';
import { createDirectory } from './adapters/directory';
import { createLdapPool } from './adapters/ldap-pool';
import { blankLdap } from './domain/ldap-settings';
import type { LdapProvider } from './domain/provider';
import { createSealer } from './domain/sealed-text';
import { type DirectoryRig, dnOf, staff, startDirectoryRig } from './testing/directory-rig';
import {
  GROUPS,
  PEOPLE,
  person,
  READER,
  READER_PASSWORD,
  startTestSlapd,
  type TestSlapd,
} from './testing/test-slapd';

let rig: DirectoryRig;
let stranger: TestSlapd;
beforeAll(async () => {
  rig = await startDirectoryRig([
    ...staff,
    person('twin', { cn: 'both' }),
    person('twin2', { cn: 'both' }),
    person('carol'),
  ]);
  // Its certificate is for another host.
  stranger = await startTestSlapd([person('mallory')], ['ldap.example']);
  await rig.put('corp');
  await rig.identity.call('PUT', '/users', { username: 'local', password: 'local_pw' });
});
afterAll(async () => {
  await rig.stop();
  await stranger.stop();
});

const tried = async (over: Record<string, unknown>) => {
  await rig.put('tried', { provision: 'preexisting', ...over });
  return (await rig.identity.call('POST', '/identity-providers/tried/test', {})).body;
};
afterEach(() => rig.identity.call('DELETE', '/identity-providers/tried'));

/** Operations that the directory has seen since `from`, without those of the rig. */
const operations = (slapd: TestSlapd, from: number): string[] =>
  slapd.log.slice(from).flatMap((line) => {
    const bind = /BIND dn="([^"]*)" method=128/.exec(line)?.[1];
    if (bind !== undefined) return [`bind ${bind.replace(/cn=x[0-9a-f]{24}/, 'cn=nobody')}`];
    return / SRCH base=/.test(line) ? ['search'] : [];
  });

const EVIL = [
  '*',
  'a*',
  'alice)(uid=*',
  'alice)(|(uid=*',
  '*)(uid=*))(|(uid=*',
  '\\2a',
  'alice\\',
  'alice\u0000',
  'alice\u0000*',
  '(',
  ')',
  'alice,ou=people',
  'alice+sn=alice',
  'uid=alice',
  '{username}',
  '{dn}',
  ' alice',
  'alice ',
  '#616c',
  'aliçe',
];

test.each(EVIL)('the name %j signs nobody in', async (name) => {
  expect(await rig.isRefused(name, 'alice_pw')).toBe(true);
});

test('a name of thousands of characters signs nobody in', async () => {
  expect(await rig.isRefused('x'.repeat(10_000), 'alice_pw')).toBe(true);
});

test('names are no part of a filter below the check of names either', async () => {
  const sealer = createSealer(new Secret('a key'));
  const provider: LdapProvider = {
    ...blankLdap,
    id: 'direct',
    type: 'ldap',
    name: 'direct',
    secretSealed: sealer.seal('bind password', 'direct', new Secret(READER_PASSWORD)),
    mapping: [],
    provision: 'jit',
    caCertificate: rig.slapd.ca,
    isEnabled: true,
    urls: [rig.slapd.ldaps],
    bindDn: READER,
    userBase: PEOPLE,
    groupBase: GROUPS,
  };
  const pool = createLdapPool({ rules: { isAllowed: () => true }, sealer, clock: systemClock });
  const directory = createDirectory(pool);
  const password = new Secret('alice_pw');
  try {
    const alice = await directory.signIn(provider, { username: 'alice' }, password);
    expect(alice).toMatchObject({ username: 'alice', groups: ['dev'] });
    for (const username of EVIL.filter((name) => name.trim() === name)) {
      const found = await directory.signIn(provider, { username }, password).catch(String);
      expect([username, found]).toEqual([username, null]);
    }
    for (const subject of ['*', `${alice!.subject})(uid=*`, 'alice'])
      expect(await directory.askAgain(provider, subject)).toMatchObject({ kind: 'denied' });
  } finally {
    pool.close();
  }
});

test('an empty password is refused before any bind, though the directory would take it', async () => {
  await rig.basic('alice');
  const from = rig.slapd.log.length;
  expect(await rig.isRefused('alice', '')).toBe(true);
  expect(await rig.isRefused('carol', '')).toBe(true);
  expect(operations(rig.slapd, from).filter((one) => one.startsWith('bind uid='))).toEqual([]);
  const taken = rig.slapd.change((client) => client.bind(dnOf('alice'), ''));
  await expect(taken).resolves.toBeUndefined();
});

test('a password of thousands of characters is not sent on', async () => {
  const from = rig.slapd.log.length;
  expect(await rig.isRefused('alice', 'x'.repeat(5_000))).toBe(true);
  expect(operations(rig.slapd, from).filter((one) => one.startsWith('bind uid='))).toEqual([]);
});

test('the directory does the same for a name of Baton, for one of its own and for none', async () => {
  await rig.basic('alice');
  const seen = async (username: string) => {
    const from = rig.slapd.log.length;
    expect(await rig.isRefused(username, 'wrong_pw')).toBe(true);
    return operations(rig.slapd, from).map((one) => one.replace(dnOf('alice'), `cn=nobody,${PEOPLE}`));
  };
  const same = [`bind ${READER}`, 'search', `bind cn=nobody,${PEOPLE}`];
  expect([await seen('local'), await seen('nosuch'), await seen('alice'), await seen('*')]).toEqual([
    same,
    same,
    same,
    same,
  ]);
});

test('a name that two entries have is refused', async () => {
  await rig.put('corp', {
    username_attribute: 'cn',
    user_filter: '(&(objectClass=inetOrgPerson)(cn={username}))',
  });
  expect(await rig.isRefused('both', 'twin_pw')).toBe(true);
  expect(rig.logged.join('\n')).toContain('several entries');
  await rig.put('corp');
});

test('a filter that finds somebody by another attribute does not sign in as somebody else', async () => {
  await rig.slapd.replace(dnOf('carol'), 'sn', ['local', 'victim']);
  await rig.put('corp', { user_filter: '(|(uid={username})(sn={username}))' });
  expect(await rig.isRefused('victim', 'carol_pw')).toBe(true);
  expect(await rig.isRefused('local', 'carol_pw')).toBe(true);
  expect(await rig.usernames()).not.toContain('carol');
  await rig.put('corp');
});

describe('TLS', () => {
  test('an authority that the provider does not name is not trusted', async () => {
    const from = rig.slapd.log.length;
    const body = await tried({ ca_certificate: stranger.ca });
    expect(body).toMatchObject({ ok: false, step: 'connection', message: expect.stringContaining('TLS') });
    expect(await tried({ ca_certificate: null })).toMatchObject({ ok: false, step: 'connection' });
    expect(await tried({ ca_certificate: stranger.ca, urls: [rig.slapd.ldap] })).toMatchObject({
      ok: false,
      step: 'connection',
    });
    expect(operations(rig.slapd, from)).toEqual([]);
  });

  test('a certificate of another host is not trusted', async () => {
    const from = stranger.log.length;
    for (const url of [stranger.ldaps, stranger.ldap]) {
      const body = await tried({ ca_certificate: stranger.ca, urls: [url] });
      expect(body).toMatchObject({
        ok: false,
        step: 'connection',
        message: expect.stringContaining('ERR_TLS_CERT_ALTNAME_INVALID'),
      });
    }
    expect(operations(stranger, from)).toEqual([]);
  });

  test('ldap:// is STARTTLS, and everything behind it is', async () => {
    await rig.put('corp', { urls: [rig.slapd.ldap] });
    const from = rig.slapd.log.length;
    expect((await rig.basic('bob')).username).toBe('bob');
    const lines = rig.slapd.log.slice(from).join('\n');
    expect(lines).toContain('STARTTLS');
    expect(lines.indexOf('TLS established')).toBeLessThan(lines.indexOf('BIND'));
    await rig.put('corp');
  });

  test('a peer that refuses STARTTLS, or that is none, is told no password', async () => {
    for (const answer of [refusal(), Buffer.from('HTTP/1.1 400\r\n\r\n')]) {
      const heard: Buffer[] = [];
      const liar = await listening((socket) => {
        socket.on('data', (piece) => {
          heard.push(piece);
          socket.write(answer);
        });
      });
      const body = await tried({ urls: [`ldap://127.0.0.1:${liar.port}`] });
      await liar.close();
      expect(body).toMatchObject({ ok: false, step: 'connection' });
      expect(Buffer.concat(heard).toString('latin1')).not.toContain(READER_PASSWORD);
      expect(Buffer.concat(heard).toString('latin1')).not.toContain(READER);
    }
  });

  test('what somebody puts behind the answer in clear is never read as an answer of the directory', async () => {
    // A bind answer `success` for the next question, whose last byte comes with the first data within TLS.
    const injected = Buffer.from('300d02010361080a01000400040100', 'hex').subarray(0, 14);
    const proxy = await listening((socket) => {
      const server = dial(rig.slapd.port.ldap, '127.0.0.1');
      let isFirst = true;
      server.on('data', (piece) => {
        socket.write(isFirst ? Buffer.concat([piece, injected]) : piece);
        isFirst = false;
      });
      socket.pipe(server);
      socket.on('error', () => server.destroy());
      server.on('error', () => socket.destroy());
    });
    // The beginning of that answer would swallow the first answer of the directory.
    expect(await tried({ urls: [`ldap://127.0.0.1:${proxy.port}`] })).toMatchObject({ ok: true });
    await proxy.close();
  });
});

describe('addresses', () => {
  test.each([
    'ldaps://169.254.169.254',
    'ldaps://10.0.0.1:636',
    'ldap://[::1]:389',
    'ldaps://localhost.localdomain.invalid',
  ])('%s is not asked', async (url) => {
    const body = await tried({ urls: [url] });
    expect([body.ok, ['address', 'connection'].includes(body.step)]).toEqual([false, true]);
    expect(body.message).toMatch(/BATON_LOGIN_PROVIDER_ALLOW|DNS/);
  });

  test('a referral leads nowhere', async () => {
    const calls: Socket[] = [];
    const elsewhere = await listening((socket) => calls.push(socket));
    await rig.slapd.change((client) =>
      client.add(`ou=elsewhere,${PEOPLE}`, {
        objectClass: ['referral', 'extensibleObject'],
        ou: 'elsewhere',
        ref: `ldap://127.0.0.1:${elsewhere.port}/${PEOPLE}`,
      }),
    );
    expect((await rig.basic('carol')).username).toBe('carol');
    expect(await rig.isRefused('nosuch', 'x')).toBe(true);
    await rig.put('other', { user_base: `ou=elsewhere,${PEOPLE}` });
    expect(await rig.isRefused('nosuch', 'x')).toBe(true);
    await rig.identity.call('DELETE', '/identity-providers/other');
    expect(calls).toEqual([]);
    await elsewhere.close();
  });
});

describe('directories that are slow or away', () => {
  test('local users sign in while sign-ins at a directory hang', async () => {
    const silent = await listening(() => undefined);
    await rig.put('slow', { urls: [`ldaps://127.0.0.1:${silent.port}`] });
    const said = new Set<string>();
    let isOver = false;
    let names = 0;
    const flood = Array.from({ length: 100 }, async () => {
      while (!isOver) said.add(await rig.basic(`nobody${names++}`, 'x').then(() => 'signed in', String));
    });
    try {
      // From now on the queue is full.
      await eventually(() => [...said].some((one) => one.includes('Too many logins')));
      for (let at = 0; at < 3; at++) expect((await rig.basic('admin', 'admin')).username).toBe('admin');
      expect((await rig.basic('local', 'local_pw')).username).toBe('local');
      // A guess is refused as one, and so it counts: the full queue is no way around the slow-down.
      for (let at = 0; at < 3; at++) expect(await rig.isRefused('local', 'a guess')).toBe(true);
    } finally {
      isOver = true;
      await Promise.all(flood);
    }
    expect([...said].every((one) => /Wrong credentials|Too many logins/.test(one))).toBe(true);
    await rig.identity.call('DELETE', '/identity-providers/slow');
    await silent.close();
  });

  test('a directory that answers without end is cut off', async () => {
    const endless = await listening((socket) => {
      // The beginning of a message of 1 GB.
      socket.once('data', () => {
        socket.write(Buffer.from('3084400000000201010401', 'hex'));
        const more = (): void => {
          while (socket.writable && socket.write(Buffer.alloc(65_536)));
        };
        socket.on('drain', more).on('error', () => undefined);
        more();
      });
    });
    const body = await tried({ urls: [`ldap://127.0.0.1:${endless.port}`] });
    expect(body).toMatchObject({ ok: false, step: 'connection', message: expect.stringContaining('larger') });
    await endless.close();
  });

  test('the next server is asked when one is away', async () => {
    const dead = await listening(() => undefined);
    await dead.close();
    await rig.put('corp', { urls: [`ldaps://127.0.0.1:${dead.port}`, rig.slapd.ldaps] });
    expect((await rig.basic('alice')).username).toBe('alice');
    await rig.put('corp');
  });
});

test('the password of the account is neither read back, nor logged, nor stored in clear; nor are those of users', async () => {
  await rig.basic('alice');
  await rig.isRefused('alice', 'a_wrong_password');
  await tried({ bind_password: 'another secret of the account' });
  const { identity } = rig;
  const answers = await Promise.all([
    identity.call('GET', '/identity-providers'),
    identity.call('GET', '/identity-providers/corp'),
    identity.call('PATCH', '/identity-providers/corp', { bind_password: READER_PASSWORD }),
    identity.call('POST', '/identity-providers/tried/test', {}),
  ]);
  const rows = await identity.db.pool.query(`select p::text from identity_providers p
    union all select o::text from outbox o union all select u::text from users u union all select u::text from provider_users u`);
  const everything = JSON.stringify([answers.map(({ body }) => body), rows.rows, rig.logged]);
  for (const secret of [READER_PASSWORD, 'another secret of the account', 'alice_pw', 'a_wrong_password'])
    expect(everything).not.toContain(secret);
  expect(answers[1]!.body).toMatchObject({ has_bind_password: true });
  expect(rig.logged.length).toBeGreaterThan(0);
});

/** LDAP answer `protocolError` to the first question of a client. */
function refusal(): Buffer {
  return Buffer.from('300c02010278070a010204000400', 'hex');
}

interface Peer {
  port: number;
  close(): Promise<void>;
}

async function listening(handle: (socket: Socket) => void): Promise<Peer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    handle(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as { port: number }).port,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
