import { defaultRoles, type Role } from '../../domain/roles';
import { checkParameters, requireIssuer } from './oidc-settings';
import { checkMapping, grantsOf, mappingOf, storedMapping } from './provider';

const rules = [
  { group: 'admins', role: 'sys_admin' },
  { group: 'ops', tenants: [{ name: 'a', role: 'operations' }] },
  {
    group: 'dev',
    tenants: [
      { name: 'a', role: 'operations' },
      { name: 'b', role: 'viewer' },
    ],
  },
];
const roles: Role[] = defaultRoles.map((role, id) => ({ ...role, id }));
const known = { roles, tenants: ['a', 'b'] };

test('a user gets what the rules of its groups give, each once; groups are compared exactly', () => {
  expect(grantsOf(rules, ['ops', 'dev', 'ops'])).toEqual({
    systemRoles: [],
    tenantRoles: [
      { tenant: 'a', role: 'operations' },
      { tenant: 'b', role: 'viewer' },
    ],
  });
  expect(grantsOf(rules, ['admins']).systemRoles).toEqual(['sys_admin']);
  expect(grantsOf(rules, ['Admins', 'admins ', ''])).toEqual({ systemRoles: [], tenantRoles: [] });
});

test.each([
  [{ group: 'x', role: 'viewer' }, 'role'],
  [{ group: 'x', tenants: [{ name: 'a', role: 'sys_admin' }] }, 'role'],
  [{ group: 'x', tenants: [{ name: 'aa', role: 'viewer' }] }, 'mapping.1.tenants.0.name'],
  [{ group: 'x' }, 'mapping.1'],
])('the rule %j is refused at %p', (rule, field) => {
  expect(() => checkMapping([rules[0]!, rule], known)).toThrow(
    expect.objectContaining({ code: 'bad_parameters_error', details: expect.objectContaining({ field }) }),
  );
});

test('a mapping is stored with its number, and one of a later release is refused', () => {
  expect(mappingOf(storedMapping(rules), 'corp')).toEqual(rules);
  expect(() => mappingOf({ format: 2, rules }, 'corp')).toThrow('format 2');
});

test.each([
  'http://idp.example',
  'idp.example',
  'https://user:pw@idp.example',
  'https://idp.example/?a=b',
  'https://idp.example/#x',
  'ldap://idp.example',
])('issuer %p is refused', (issuer) => expect(() => requireIssuer(issuer)).toThrow('Invalid issuer'));

test('what the sign-in sets itself is no parameter', () => {
  expect(requireIssuer('https://idp.example:8443/realms/a')).toBe('https://idp.example:8443/realms/a');
  expect(() => checkParameters({ prompt: 'consent' })).not.toThrow();
  expect(() => checkParameters({ redirect_uri: 'https://evil.example' })).toThrow('redirect_uri');
});
