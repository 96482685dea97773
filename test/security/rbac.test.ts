import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rbacPage } from '../../tools/gen/rbac-page';
import { unknownPermissions } from './rbac-matrix';

const page = join(__dirname, '../../docs/generated/rbac.md');

test('the checked-in matrix has a row for every route, and says what the table says', () => {
  // `npm run gen` writes this page; the difference must be reviewed, not only committed.
  expect(readFileSync(page, 'utf8')).toBe(rbacPage());
});

test('every permission of a route is one that the table knows', () => {
  expect(unknownPermissions()).toEqual([]);
});
