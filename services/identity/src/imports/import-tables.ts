/** Identity's part of imports (packages/import-part). Tokens are never taken over. */
import type { ImportTables, StageSealer } from '@baton/import-part';
import { Secret } from '@baton/kernel';
import type { OldPasswords } from '../adapters/old-passwords';
import type { Passwords } from '../adapters/passwords';
import type { TenantParts } from '../adapters/tenant-parts';
import type { Sealer } from '../providers/domain/sealed-text';
import { exportIdentity } from './export-identity';
import { createImportedPasswords } from './imported-password';
import { noteWiderRoles, permissionsImporter } from './permissions';
import { tenantsImporter } from './tenants';
import { userGroupsImporter } from './user-groups';
import { usersImporter } from './users';

export interface ImportDeps {
  passwords: Passwords;
  oldPasswords: OldPasswords;
  tenantParts: TenantParts;
}

/** Roles are made where users and groups need them, with their permissions last. */
export function createImportTables(deps: ImportDeps): ImportTables {
  return {
    importers: [
      tenantsImporter(deps),
      userGroupsImporter,
      usersImporter({
        passwords: createImportedPasswords({ passwords: deps.passwords, old: deps.oldPasswords }),
      }),
      permissionsImporter,
    ],
    finish: noteWiderRoles,
    exported: (client, wanted) => exportIdentity(client, wanted, deps.oldPasswords),
  };
}

/** Users are staged sealed, for the salt of their passwords. */
export function createStageSealer(sealer: Sealer): StageSealer {
  return {
    types: ['users'],
    seal: (place, text) => sealer.seal('staged records', place, new Secret(text)).toString('base64'),
    open: (place, sealed) => {
      const text = sealer.open('staged records', place, Buffer.from(sealed, 'base64'));
      if (!text)
        throw new Error('staged users cannot be opened: they were changed, or another key sealed them');
      return text.expose();
    },
  };
}
