import { type MatrixRow, rbacMatrix, roles, type Verdict } from '../../test/security/rbac-matrix';
import { notice, table } from './markdown';

const SIGN: Record<Verdict, string> = { allowed: 'yes', refused: '-', 'decided by the service': 'asks' };

/** Returns docs/generated/rbac.md: the permission of each role for each route, in the user's own tenant and in another one. */
export function rbacPage(): string {
  return [
    '# Roles and routes',
    '',
    notice,
    '',
    'Per role: in a tenant where the user holds it / in another tenant. `yes` allowed, `-` 403, `asks` every user',
    'gets there and the service looks who it is. `default` is a user without any tenant. From the permission table',
    '(`services/identity/src/domain/permissions.ts`) and the contracts; `test/security/rbac.int.test.ts` asks a manager',
    'each cell, in both versions of the API.',
    '',
    table(
      ['Route', 'Permission', 'Versions', ...roles],
      rbacMatrix().map((row) => [
        `${row.route.method} ${row.route.path}`,
        row.route.permission,
        row.route.versions.join(', '),
        ...roles.map((role) => cell(row, role)),
      ]),
    ),
    '',
  ].join('\n');
}

function cell({ cells }: MatrixRow, role: (typeof roles)[number]): string {
  const { own, other } = cells[role];
  return `${SIGN[own]} / ${SIGN[other]}`;
}
