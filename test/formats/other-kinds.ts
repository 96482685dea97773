// The manifest of a snapshot, sealed values of secrets, mappings of identity providers, settings of directories, and trust of service
// accounts.
import { Secret } from '@baton/kernel';
import {
  ARCHIVE_VERSION,
  contentHash,
  entryKind,
  type Manifest,
  manifestSchema,
  tableEntry,
} from '../../services/cluster-status/src/domain/snapshot-archive';
import { storedTrust, trustOf } from '../../services/identity/src/accounts/domain/trust';
import { blankLdap, ldapOf, storedLdap } from '../../services/identity/src/providers/domain/ldap-settings';
import { mappingOf, storedMapping } from '../../services/identity/src/providers/domain/provider';
import { masterKeyOf, openValue, type SealedValue } from '../../services/secrets/src/domain/envelope';
import { type Kind, plain } from './kind';

function manifest(): Manifest {
  const table = { name: 'sites', columns: ['key', 'name'], rows: 2, hash: 'a'.repeat(64) };
  const part = { schema_version: '0096_version_of_latest', tables: [table], blobs: 1 };
  const body = {
    format: 'baton-snapshot' as const,
    snapshot_version: ARCHIVE_VERSION,
    product_version: '7.1.0',
    created_at: '2026-11-25T12:00:00.000Z',
    execution_id: '019aa5c4-1740-711d-a3c8-ff6b00000000',
    consistency: 'shared' as const,
    options: { include_events: true, include_logs: false },
    services: { deployments: part },
    blobs: { count: 1, bytes: 10, hash: 'b'.repeat(64) },
  };
  return { ...body, hash: contentHash(body) };
}

const MASTER = masterKeyOf(new Secret('a master key of the corpus'));
const IDENTITY = { tenant: 'default_tenant', key: 'password', version: 3 };
/** A fixed sealed value: each sealing uses new keys and nonces. Its format number, 1, is authenticated together with the value. */
const SEALED = {
  ciphertext: 'JqEq7eCfCh5dOmqqCtaT+HwQur4JgfmxLZsyBlYa/GuB6rwiZOGFlH5Z+ft0rw==',
  wrappedKey: 'hsit806+M/casTDx4+g7epZxrAYFVRWBeELXc2s4bFx1zxV0OzRpGYlgfjqYdGPAVyUDOdqL2YDIxqtI',
  masterKeyId: '2bab9fb9726b9582',
};

export const otherKinds: Kind[] = [
  {
    name: 'snapshot-manifest',
    format: { written: ARCHIVE_VERSION, read: [ARCHIVE_VERSION] },
    write: () => plain({ manifest: manifest(), entry: tableEntry('deployments', 'sites') }),
    read: (stored) => {
      const { manifest: found, entry } = stored as { manifest: unknown; entry: string };
      const read = manifestSchema.parse(found);
      return plain({ read, isWhole: contentHash(read) === read.hash, entry: entryKind(entry) });
    },
  },
  {
    name: 'sealed-secret',
    format: { written: 1, read: [1] },
    write: () => SEALED,
    read: (stored) => {
      const { ciphertext, wrappedKey, masterKeyId } = stored as typeof SEALED;
      const bytes = (text: string) => Buffer.from(text, 'base64');
      const sealed: SealedValue = {
        ciphertext: bytes(ciphertext),
        wrappedKey: bytes(wrappedKey),
        masterKeyId,
      };
      return openValue([MASTER], IDENTITY, sealed).expose();
    },
  },
  {
    name: 'provider-mapping',
    format: { written: 1, read: [1] },
    write: () =>
      plain(
        storedMapping([
          { group: 'admins', role: 'sys_admin' },
          { group: 'dev', tenants: [{ name: 'shop', role: 'operations' }] },
        ]),
      ),
    read: (stored) => plain(mappingOf(stored, 'corp')),
  },
  {
    name: 'provider-ldap',
    format: { written: 1, read: [1] },
    write: () =>
      plain(
        storedLdap({
          ...blankLdap,
          urls: ['ldaps://ldap.example', 'ldap://10.0.0.7:1389'],
          bindDn: 'cn=baton,dc=example,dc=org',
          userBase: 'ou=people,dc=example,dc=org',
          groupBase: 'ou=groups,dc=example,dc=org',
        }),
      ),
    read: (stored) => plain(ldapOf(stored, 'corp')),
  },
  {
    name: 'service-account-trust',
    format: { written: 1, read: [1] },
    write: () =>
      plain(
        storedTrust([
          {
            issuer: 'https://ci.example',
            audience: 'baton',
            subject: 'repo:org/shop:*',
            ca_certificate: null,
          },
        ]),
      ),
    read: (stored) => plain(trustOf(stored, 'ci-shop')),
  },
];
