// S3: every role x every route x own and other tenant, in both versions of the API, tested on a manager and compared with the
// matrix (docs/generated/rbac.md). Bodies are empty and ids unknown: only the permission to call is tested here.
import type { ApiVersion, RouteContract } from '@baton/contracts';
import { type Fleet, startFleet } from '../harness/fleet';
import { type Place, type Role, rbacMatrix, roles, verdictOf } from './rbac-matrix';

const AT_ONCE = 8;
const PASSWORD = 'role-password';
let fleet: Fleet;

const asAdmin = (method: string, path: string, body?: object) =>
  send(method, `/api/v3.1${path}`, `admin:${fleet.adminPassword}`, 'default_tenant', body);

function send(method: string, path: string, user: string, tenant: string | null, body?: object) {
  const headers: Record<string, string> = { authorization: `Basic ${Buffer.from(user).toString('base64')}` };
  if (tenant !== null) headers.tenant = tenant;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return fetch(`${fleet.baseUrl}${path}`, {
    method,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
}

beforeAll(async () => {
  fleet = await startFleet({ mode: 'standalone', env: { BATON_LOG_LEVEL: 'error' } });
  const must = async (response: Promise<Response>) => expect((await response).status).toBeLessThan(300);
  await must(asAdmin('POST', '/tenants/elsewhere'));
  for (const role of roles.slice(1)) {
    await must(asAdmin('PUT', '/users', { username: `u_${role}`, password: PASSWORD, role: 'default' }));
    if (role !== 'default')
      await must(
        asAdmin('PUT', '/tenants/users', { tenant_name: 'default_tenant', username: `u_${role}`, role }),
      );
  }
}, 120_000);
afterAll(async () => await fleet?.stop(), 60_000);

interface Cell {
  route: RouteContract;
  version: ApiVersion;
  role: Role;
  place: Place;
}

/** Returns all combinations. v2.1 has no tenant header: its tenant is default_tenant, so there is no other one. */
function cells(): Cell[] {
  return rbacMatrix().flatMap(({ route }) =>
    route.versions.flatMap((version) =>
      roles.flatMap((role) =>
        (version === 'v2.1' ? (['own'] as const) : (['own', 'other'] as const)).map((place) => ({
          route,
          version,
          role,
          place,
        })),
      ),
    ),
  );
}

/** Returns status and error code. A refusal must come from the gateway, not from the state of a resource. */
async function ask({ route, version, role, place }: Cell) {
  const path = route.path.replace(/:tenant_name/g, place === 'own' ? 'default_tenant' : 'elsewhere');
  const user = role === 'sys_admin' ? `admin:${fleet.adminPassword}` : `u_${role}:${PASSWORD}`;
  const tenant = version === 'v2.1' ? null : place === 'own' ? 'default_tenant' : 'elsewhere';
  const url = `/api/${version}${path.replace(/:\w+|\*/g, 'nosuch')}`;
  const response = await send(route.method, url, user, tenant, route.body ? {} : undefined);
  const { status } = response;
  const isError = status >= 400;
  if (!isError) await response.body?.cancel();
  const code = isError ? ((await response.json()) as { error_code: string }).error_code : '';
  const isRefused =
    code === 'forbidden_error' || (code === 'unauthorized_error' && route.permission !== 'none');
  return { status, isRefused };
}

/** These calls would stop the manager from answering the remaining ones. */
const isLeftOut = ({ route, role }: Cell): boolean =>
  role === 'sys_admin' && (route.id === 'activateMaintenance' || /restore/i.test(route.id));

test('each cell is as the matrix says', async () => {
  const wrong: string[] = [];
  const open = cells().filter((cell) => !isLeftOut(cell));
  const asked = open.length;
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let cell = open.pop(); cell; cell = open.pop()) {
        const verdict = verdictOf(cell.route, cell.role, cell.place);
        const { status, isRefused } = await ask(cell);
        if (status >= 500 || (verdict === 'allowed' && isRefused) || (verdict === 'refused' && !isRefused))
          wrong.push(
            `${cell.version} ${cell.route.method} ${cell.route.path} as ${cell.role} in the ${cell.place} tenant: ${verdict}, answered ${status}`,
          );
      }
    }),
  );
  expect(wrong.sort()).toEqual([]);
  expect(asked).toBeGreaterThan(1500);
}, 300_000);
