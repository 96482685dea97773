/**
 * Identity providers and service accounts in a real browser: secrets are written and never shown, a mapping gives roles, a token of a
 * service account works until it is revoked, and the screen of a user says where each role comes from.
 */
import { createClient } from '@baton/client';
import { eventually } from '@baton/testkit';
import { call } from '../harness/session';
import { judge } from './judge';
import { type Stage, TENANT, VIEWER } from './stage';

/** Nobody listens there. */
const ISSUER = 'https://127.0.0.1:9/realms/main';
const SECRET = 'a client secret that must not come back';

export function identityPart(shared: () => Stage): void {
  let stage: Stage;
  let { client, page, go, dialog, press, send, isClosed } = {} as Stage;

  beforeAll(() => {
    stage = shared();
    ({ client, page, go, dialog, press, send, isClosed } = stage);
  });
  afterEach(async () => expect(await stage.offences()).toEqual([]));

  const field = (name: string) => dialog().getByLabel(name, { exact: true });
  const required = (name: string) =>
    dialog()
      .getByLabel(new RegExp(`^${name}`))
      .first();
  const providerOf = async () => await call(client, 'getIdentityProviderById', { provider_id: 'corp' });

  test('a provider is made, what is wrong stands at its field, and its secret never comes back', async () => {
    const bodies: string[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/identity-providers'))
        void answer.text().then(
          (text) => bodies.push(text),
          () => undefined,
        );
    });
    await go('/admin/identity-providers');
    await page.getByText('No identity providers').waitFor();
    await judge(page, 'identity-providers-empty');
    await press('New provider');
    await required('Id').fill('Corp!');
    await required('Issuer').fill('http://idp.example.org');
    await required('Client id').fill('baton');
    await field('Client secret').fill(SECRET);
    await field('Scopes').fill('profile');
    await send('Create the provider');
    await dialog().getByText('openid is missing.').waitFor();
    await field('Scopes').fill('openid profile groups');
    await send('Create the provider');
    // What the manager refuses: first the id, then the issuer.
    await dialog().locator('input[aria-invalid=true]').waitFor();
    await required('Id').fill('corp');
    await send('Create the provider');
    await dialog().getByText('it does not begin with https://').waitFor();
    await judge(page, 'identity-provider-form');
    await required('Issuer').fill(ISSUER);
    await field('Name').fill('Our company');
    await field('Ending that is cut off user names').fill('@example.org');
    await dialog().getByRole('button', { name: 'Add a parameter' }).click();
    await field('Parameter 1').fill('state');
    await field('Value 1').fill('x');
    await send('Create the provider');
    await dialog()
      .getByText(/is set by the sign-in itself/)
      .waitFor();
    await field('Parameter 1').fill('prompt');
    await field('Value 1').fill('consent');
    await send('Create the provider');
    await page.getByRole('heading', { level: 1, name: 'corp' }).waitFor();
    await page
      .getByText(`${stage.fleet.baseUrl}/api/v3.1/login/oidc/corp/callback`, { exact: true })
      .waitFor();
    expect(await providerOf()).toMatchObject({
      name: 'Our company',
      has_client_secret: true,
      scopes: ['openid', 'profile', 'groups'],
      parameters: { prompt: 'consent' },
      claims: { username: 'preferred_username', groups: 'groups', strip_suffix: '@example.org' },
    });
    expect(bodies.length).toBeGreaterThan(0);
    expect(bodies.filter((body) => body.includes(SECRET))).toEqual([]);
  });

  test('the test says in a sentence that the provider does not answer', async () => {
    await press('Test the provider');
    await page.getByRole('status').getByText('Failed').waitFor();
    await judge(page, 'identity-provider');
  });

  test('groups are mapped to roles; a rule that gives nothing is refused at its place', async () => {
    await press('Edit the rules');
    await dialog().getByRole('button', { name: 'Add a rule' }).click();
    const first = dialog().getByRole('group', { name: 'Rule 1' });
    await first.getByLabel(/^Group at the provider/).fill('shop-team');
    await send('Save');
    await dialog().getByText('This rule gives nothing: choose a role, or add a tenant.').waitFor();
    await first.getByRole('button', { name: 'Add a tenant' }).click();
    await first.getByLabel('Tenant 1', { exact: true }).fill('no-such-tenant');
    await first.getByLabel('Role 1', { exact: true }).selectOption('operations');
    await send('Save');
    await dialog().getByText('There is no tenant `no-such-tenant`').waitFor();
    await judge(page, 'identity-mapping-form');
    await first.getByLabel('Tenant 1', { exact: true }).fill('default_tenant');
    await dialog().getByRole('button', { name: 'Add a rule' }).click();
    const second = dialog().getByRole('group', { name: 'Rule 2' });
    await second.getByLabel(/^Group at the provider/).fill('platform-admins');
    await second.getByLabel('Role in the manager').selectOption('sys_admin');
    await dialog().getByText('The role sys_admin may do everything').waitFor();
    await send('Save');
    await isClosed();
    await page.getByRole('cell', { name: 'operations in default_tenant' }).waitFor();
    expect((await providerOf()).mapping).toEqual([
      { group: 'shop-team', tenants: [{ name: 'default_tenant', role: 'operations' }] },
      { group: 'platform-admins', role: 'sys_admin' },
    ]);
  });

  test('settings are changed without the secret, which stays', async () => {
    await press('Edit');
    expect(await field('Client secret').inputValue()).toBe('');
    await dialog().getByText('A secret is stored. Left empty, it stays.').waitFor();
    await dialog().getByLabel('New users').selectOption('preexisting');
    await dialog().getByLabel('Certificate of its authority').fill('no certificate');
    await send('Save');
    await dialog().getByText('The text is no certificate').waitFor();
    await dialog().getByLabel('Certificate of its authority').fill('');
    await send('Save');
    await isClosed();
    await page.getByText('Only users that an administrator has made').waitFor();
    expect(await providerOf()).toMatchObject({ has_client_secret: true, provision: 'preexisting' });
  });

  test('a user is made before its first sign-in; its screen says where it comes from', async () => {
    await press('Add a user');
    await required('User name').fill('vera');
    await required('Name at the provider').fill('sub-1');
    await send('Add a user');
    await dialog().getByText('User `vera` already exists').waitFor();
    await judge(page, 'identity-provider-user');
    await required('User name').fill('paula');
    await send('Add a user');
    await page.getByRole('heading', { level: 1, name: 'paula' }).waitFor();
    await page.getByText('of an identity provider').waitFor();
    await page.getByText('sub-1').waitFor();
    await call(client, 'createUserGroup', {}, { group_name: 'readers', role: 'default' });
    await call(
      client,
      'addTenantGroup',
      {},
      { tenant_name: 'default_tenant', group_name: 'readers', role: 'viewer' },
    );
    await call(client, 'addUserToGroup', {}, { username: 'paula', group_name: 'readers' });
    await page.reload();
    const why = page.getByRole('table').filter({ hasText: 'Because of' });
    await why.getByRole('row', { name: /default_tenant viewer the user group readers/ }).waitFor();
    await why.getByRole('row', { name: /in the manager default .*given by hand/ }).waitFor();
    await judge(page, 'user-access');
  });

  test('a provider with users is disabled, not deleted', async () => {
    await go('/admin/identity-providers');
    await page.getByRole('cell', { name: 'OpenID Connect' }).waitFor();
    await judge(page, 'identity-providers');
    // A second one of the id would take the place of the first one.
    await press('New provider');
    await required('Id').fill('corp');
    await required('Issuer').fill(ISSUER);
    await required('Client id').fill('another');
    await send('Create the provider');
    await dialog().getByText('There is a provider of this id already.').waitFor();
    await send('Cancel');
    expect((await providerOf()).client_id).toBe('baton');
    await page.getByRole('link', { name: 'corp' }).click();
    await press('Delete');
    await dialog().getByText('1 user of this provider must be deleted first').waitFor();
    expect(await dialog().getByRole('button', { name: 'Delete the provider' }).isDisabled()).toBe(true);
    await send('Cancel');
    await press('Disable');
    await dialog().getByText('the sessions of its 1 user end').waitFor();
    await send('Disable');
    await page.getByRole('heading', { level: 1 }).getByText('Disabled').waitFor();
    await press('Enable');
    await page.getByRole('heading', { level: 1 }).getByText('Enabled').waitFor();
    await call(client, 'removeUserFromGroup', {}, { username: 'paula', group_name: 'readers' });
    await call(client, 'deleteUser', { username: 'paula' });
    await call(client, 'removeTenantGroup', {}, { tenant_name: 'default_tenant', group_name: 'readers' });
    await call(client, 'deleteUserGroup', { group_name: 'readers' });
    await page.reload();
    await press('Delete');
    await dialog().getByLabel('Type this to confirm:').fill('corp');
    await send('Delete the provider');
    await page.getByText('No identity providers').waitFor();
  });

  test('a directory is made by its own form, tested, changed without its password, and deleted', async () => {
    const directoryOf = async () => await call(client, 'getIdentityProviderById', { provider_id: 'people' });
    await press('New provider');
    await dialog().getByLabel('Type').selectOption('ldap');
    await required('Id').fill('people');
    await required('Addresses').fill('https://ldap.example.org');
    await required('Account that searches').fill('reader');
    await field('Its password').fill(SECRET);
    const users = dialog().getByRole('group', { name: 'Users' });
    await users.getByLabel(/^Search below/).fill('ou=people,dc=example,dc=org');
    await dialog().getByRole('button', { name: 'Fill in for Active Directory' }).click();
    expect(await users.getByLabel('Attribute that never changes').inputValue()).toBe('objectGUID');
    await dialog().getByRole('button', { name: 'Fill in for OpenLDAP' }).click();
    expect(await users.getByLabel('Attribute that never changes').inputValue()).toBe('entryUUID');
    await send('Create the provider');
    await dialog().getByText('Each address begins with ldaps:// or ldap://.').waitFor();
    await required('Addresses').fill('ldaps://127.0.0.1:9');
    await send('Create the provider');
    await dialog().getByText('Invalid bind_dn').waitFor();
    await judge(page, 'directory-form');
    await required('Account that searches').fill('cn=reader,dc=example,dc=org');
    await users.getByLabel('Filter').fill('(uid=');
    await send('Create the provider');
    await users.locator('[aria-invalid=true]').waitFor();
    await users.getByLabel('Filter').fill('(uid={username})');
    await send('Create the provider');
    await page.getByRole('heading', { level: 1, name: 'people' }).waitFor();
    await page.getByText('none are read').waitFor();
    expect(await page.getByText('Redirect address').count()).toBe(0);
    await press('Test the provider');
    await page
      .getByRole('status')
      .getByText(/ldaps:\/\/127\.0\.0\.1:9 cannot be used/)
      .waitFor();
    await judge(page, 'directory');
    await press('Edit');
    await dialog().getByText('A password is stored. Left empty, it stays.').waitFor();
    const groups = dialog().getByRole('group', { name: 'Groups' });
    await groups.getByLabel('Search below').fill('ou=groups,dc=example,dc=org');
    await send('Save');
    await isClosed();
    await page.getByText('ou=groups,dc=example,dc=org').waitFor();
    expect(await directoryOf()).toMatchObject({ type: 'ldap', has_bind_password: true, nested_groups: true });
    await press('Delete');
    await dialog().getByLabel('Type this to confirm:').fill('people');
    await send('Delete the provider');
    await page.getByText('No identity providers').waitFor();
  });

  test('a service account is made with a role in a tenant', async () => {
    await go('/admin/service-accounts');
    await page.getByText('No service accounts').waitFor();
    await judge(page, 'service-accounts-empty');
    await press('New service account');
    await required('Name').fill('vera');
    await field('What is it for?').fill('the pipeline of the shop');
    await dialog().getByRole('button', { name: 'Add a tenant' }).click();
    await field('Tenant 1').fill('nowhere');
    await field('Role 1').selectOption('operations');
    await send('Create the account');
    await dialog().getByText('There is no tenant `nowhere`').waitFor();
    await field('Tenant 1').fill('default_tenant');
    await send('Create the account');
    await dialog().getByText('User `vera` already exists').waitFor();
    await judge(page, 'service-account-form');
    await required('Name').fill('ci-shop');
    await send('Create the account');
    await page.getByRole('heading', { level: 1, name: 'ci-shop' }).waitFor();
    await page.getByText('the pipeline of the shop').waitFor();
    await page.getByRole('cell', { name: 'given by hand' }).first().waitFor();
  });

  test('its token is shown once, works, and stops when it is revoked', async () => {
    await press('New token');
    await required('What is it for?').fill('the pipeline');
    expect(await field('Lasts').locator('option', { hasText: 'without end' }).count()).toBe(0);
    await send('New token');
    await dialog().getByText('shown only this once').waitFor();
    const token = (await dialog().locator('code').textContent())!;
    await send('I have copied it');
    await page.getByRole('cell', { name: 'the pipeline', exact: true }).waitFor();
    expect(await page.getByText(token).count()).toBe(0);
    const program = createClient({ baseUrl: stage.fleet.baseUrl, token, tenant: 'default_tenant' });
    expect((await program.call('getCurrentUser')).username).toBe('ci-shop');
    await page.getByRole('button', { name: /^Revoke/ }).click();
    await send('Revoke');
    await page.getByText('It has no tokens.').waitFor();
    await eventually(
      async () => await expect(program.call('getCurrentUser')).rejects.toMatchObject({ status: 401 }),
    );
  });

  test('jobs are trusted by rules; one that would trust everybody is refused', async () => {
    await press('Edit the rules');
    await required('Issuer').fill('https://token.actions.githubusercontent.com');
    await required('Audience').fill('https://manager.example.org');
    await required('Subject').fill('*');
    await send('Save');
    await dialog().getByText('every customer of the issuer would be trusted').waitFor();
    await judge(page, 'service-account-trust');
    await required('Subject').fill('a*b');
    await send('Save');
    await dialog()
      .getByText(/Invalid subject/)
      .waitFor();
    await required('Subject').fill('repo:our-org/shop:*');
    await send('Save');
    await isClosed();
    await page.getByRole('cell', { name: 'repo:our-org/shop:*' }).waitFor();
    await judge(page, 'service-account');
    await go('/admin/service-accounts');
    await page.getByRole('cell', { name: '1 rule' }).waitFor();
    await judge(page, 'service-accounts');
  });

  test('it is deactivated, activated, put into another role, and deleted', async () => {
    await page.getByRole('link', { name: 'ci-shop' }).click();
    await press('Deactivate');
    await send('Deactivate');
    await page.getByRole('heading', { level: 1 }).getByText('Disabled').waitFor();
    await page.getByText('none of these roles counts').waitFor();
    await press('Activate');
    await page.getByRole('heading', { level: 1 }).getByText('Enabled').waitFor();
    await page.getByRole('button', { name: 'Change the role' }).first().click();
    await dialog().getByLabel('Role in the manager').selectOption('sys_admin');
    await dialog().getByText('The role sys_admin may do everything').waitFor();
    await send('Change the role');
    await isClosed();
    await page.getByRole('cell', { name: 'sys_admin' }).waitFor();
    await press('Delete');
    await dialog().getByLabel('Type this to confirm:').fill('ci-shop');
    await send('Delete the account');
    await page.getByText('No service accounts').waitFor();
  });

  test('who is no administrator sees neither', async () => {
    const look = await stage.openAs(VIEWER, '/admin/identity-providers');
    await look.getByText('ldap_set').waitFor();
    expect(await look.getByRole('link', { name: /Identity providers|Service accounts/ }).count()).toBe(0);
    for (const [path, permission] of [
      ['/admin/identity-providers/corp', 'ldap_set'],
      ['/admin/service-accounts', 'user_list'],
      ['/admin/service-accounts/ci-shop', 'user_get'],
    ] as const) {
      await look.goto(`${stage.fleet.baseUrl}${TENANT}${path}`);
      await look.getByText(permission).waitFor();
      expect(await look.locator('main').getByRole('button').count()).toBe(0);
    }
  });
}
