/** A real OpenLDAP server (slapd) on free ports, with its own configuration, certificate and data in a temporary folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@baton/kernel';
import { eventually, freePort } from '@baton/testkit';
import { createAuthority } from '@baton/tls/authority';
import { Attribute, Change, Client } from 'ldapts';

export const SUFFIX = 'dc=example,dc=org';
export const PEOPLE = `ou=people,${SUFFIX}`;
export const GROUPS = `ou=groups,${SUFFIX}`;
export const READER = `cn=reader,${SUFFIX}`;
export const READER_PASSWORD = 'the password of the reader';
const ROOT = `cn=root,${SUFFIX}`;
const ROOT_PASSWORD = 'the password of the tests';
/** Most entries of a search that is not paged. */
const SIZE_LIMIT = 500;

export interface TestSlapd {
  ldaps: string;
  /** For STARTTLS. */
  ldap: string;
  port: { ldap: number; ldaps: number };
  /** PEM of the authority of its certificate. */
  ca: string;
  /** Lines of its log: one for each operation. */
  log: string[];
  /** Works on the data as the administrator of the directory. */
  change<T>(work: (client: Client) => Promise<T>): Promise<T>;
  replace(dn: string, attribute: string, values: readonly (string | Buffer)[]): Promise<void>;
  start(): Promise<void>;
  pause(): Promise<void>;
  stop(): Promise<void>;
}

export interface Entry {
  dn: string;
  [attribute: string]: string | Buffer | readonly string[];
}

export const person = (uid: string, more: Record<string, string | Buffer> = {}): Entry => ({
  dn: `uid=${uid},${PEOPLE}`,
  objectClass: ['inetOrgPerson', 'testPerson'],
  uid,
  cn: uid,
  sn: uid,
  userPassword: `${uid}_pw`,
  ...more,
});

export const group = (cn: string, members: readonly string[], base = GROUPS): Entry => ({
  dn: `cn=${cn},${base}`,
  objectClass: 'groupOfNames',
  cn,
  member: members,
});

const frame: Entry[] = [
  { dn: SUFFIX, objectClass: ['dcObject', 'organization'], dc: 'example', o: 'example' },
  { dn: PEOPLE, objectClass: 'organizationalUnit', ou: 'people' },
  { dn: GROUPS, objectClass: 'organizationalUnit', ou: 'groups' },
  {
    dn: READER,
    objectClass: ['organizationalRole', 'simpleSecurityObject'],
    cn: 'reader',
    userPassword: READER_PASSWORD,
  },
];

const configuration = (folder: string): string => `
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.40 SINGLE-VALUE )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch
  SYNTAX 1.3.6.1.4.1.1466.115.121.1.27 SINGLE-VALUE )
objectclass ( 1.3.6.1.4.1.32473.1.1 NAME 'testPerson' SUP top AUXILIARY MAY ( objectGUID $ userAccountControl ) )
modulepath /usr/lib/ldap
moduleload back_mdb
pidfile ${folder}/slapd.pid
# Binds without a password are good here: a manager that sends one would let everybody in.
allow bind_anon_cred bind_anon_dn
TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
database mdb
suffix "${SUFFIX}"
rootdn "${ROOT}"
rootpw "${ROOT_PASSWORD}"
directory ${folder}/data
maxsize 268435456
index objectClass,uid,member,uniqueMember,entryUUID,objectGUID eq
limits * size.soft=${SIZE_LIMIT} size.hard=${SIZE_LIMIT} size.prtotal=unlimited
access to attrs=userPassword by anonymous auth by * none
# Users read nothing themselves: groups are read by the account of the provider.
access to * by dn.exact="${READER}" read by anonymous auth by * none
`;

/** Text of a change in LDIF: values in base64, so that no character is special. */
const ldif = ({ dn, ...attributes }: Entry): string => {
  const line = (name: string, value: string | Buffer): string =>
    `${name}:: ${Buffer.from(value).toString('base64')}`;
  const lines = Object.entries(attributes).flatMap(([name, values]) =>
    (Array.isArray(values) ? values : [values]).map((value: string | Buffer) => line(name, value)),
  );
  return [line('dn', dn), ...lines, ''].join('\n');
};

/** Starts a directory with these entries. `names`: of its certificate. */
export async function startTestSlapd(
  entries: readonly Entry[],
  names: readonly string[] = ['127.0.0.1'],
): Promise<TestSlapd> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-slapd-'));
  const authority = await createAuthority('tests of directories', systemClock.now());
  const { cert, key } = await authority.issue({ names, nowMs: systemClock.now() });
  mkdirSync(join(folder, 'data'));
  const config = join(folder, 'slapd.conf');
  for (const [name, text] of Object.entries({
    'ca.pem': authority.cert,
    'cert.pem': cert,
    'key.pem': key,
    'slapd.conf': configuration(folder),
    'data.ldif': [...frame, ...entries].map(ldif).join('\n'),
  }))
    writeFileSync(join(folder, name), text);
  const loaded = spawnSync('/usr/sbin/slapadd', ['-q', '-f', config, '-l', join(folder, 'data.ldif')], {
    encoding: 'utf8',
  });
  if (loaded.status !== 0) throw new Error(`slapadd: ${loaded.error?.message ?? loaded.stderr}`);
  const [ldap, ldaps] = [await freePort(), await freePort()];
  const log: string[] = [];
  let running: ChildProcess | undefined;
  const slapd: TestSlapd = {
    ldaps: `ldaps://127.0.0.1:${ldaps}`,
    ldap: `ldap://127.0.0.1:${ldap}`,
    port: { ldap, ldaps },
    ca: authority.cert,
    log,
    change: async (work) => {
      const client = new Client({ url: slapd.ldap });
      try {
        await client.bind(ROOT, ROOT_PASSWORD);
        return await work(client);
      } finally {
        await client.unbind();
      }
    },
    replace: (dn, type, values) =>
      slapd.change((client) => {
        const modification = new Attribute({ type, values: [...values] as string[] });
        return client.modify(dn, new Change({ operation: 'replace', modification }));
      }),
    start: async () => {
      const urls = `${slapd.ldap} ${slapd.ldaps}`;
      running = spawn('/usr/sbin/slapd', ['-d', '256', '-h', urls, '-f', config], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      running.stderr!.setEncoding('utf8').on('data', (text: string) => log.push(...text.split('\n')));
      await eventually(() => slapd.change(async () => undefined));
    },
    pause: async () => {
      const ended = running && once(running, 'exit');
      running?.kill('SIGKILL');
      running = undefined;
      await ended;
    },
    stop: async () => {
      await slapd.pause();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await slapd.start();
  return slapd;
}
