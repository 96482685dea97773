import { settingsRequests } from './settings-changes';

const now = {
  displayName: 'Web',
  site: 'north',
  visibility: 'private' as const,
  labels: [{ key: 'env', value: 'test' }],
};

test('what stays is not sent', () => expect(settingsRequests(now, { ...now })).toEqual([]));

test('each kind of change is a request of its own, visibility before the site', () =>
  expect(
    settingsRequests(now, {
      displayName: ' Shop ',
      site: '',
      visibility: 'tenant',
      labels: [
        { key: 'env', value: 'prod' },
        { key: '', value: '' },
      ],
    }),
  ).toEqual([
    { operation: 'updateDeployment', body: { display_name: 'Shop', labels: [{ env: 'prod' }] } },
    { operation: 'setDeploymentVisibility', body: { visibility: 'tenant' } },
    { operation: 'setDeploymentSite', body: { detach_site: true } },
  ]));

test('a site can be put in the place of another', () =>
  expect(settingsRequests(now, { ...now, site: 'south' })).toEqual([
    { operation: 'setDeploymentSite', body: { site_name: 'south' } },
  ]));
