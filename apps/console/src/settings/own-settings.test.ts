import { ownSettingsOf } from './own-settings';

test.each([
  [
    { theme: 'dark', zone: 'utc' },
    { theme: 'dark', zone: 'utc' },
  ],
  [{ theme: 'pink', zone: 7, tenant: 'x' }, {}],
  [{ zone: 'local' }, { zone: 'local' }],
  [{}, {}],
])('%j is %j', (stored, known) => expect(ownSettingsOf(stored)).toEqual(known));
