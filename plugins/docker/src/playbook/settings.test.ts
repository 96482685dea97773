import { SETTINGS } from './schema';
import { settingsOf, storedSettings } from './settings';

const KEY = '-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----';
const properties = SETTINGS.parse({
  playbook_path: 'site.yaml',
  sources: {
    all: {
      hosts: { web: { ansible_password: 'geheim', ansible_ssh_private_key_file: KEY, ansible_user: 'me' } },
    },
  },
  run_data: { token: 'hush', plain: 1 },
  sensitive_keys: ['token'],
});

test('runtime properties show no sensitive value, and create has them all the same', () => {
  const stored = storedSettings(properties, { ...properties });
  expect(JSON.stringify(stored)).not.toMatch(/geheim|hush|BEGIN/);
  expect(stored.sources).toMatchObject({ all: { hosts: { web: { ansible_user: 'me' } } } });
  const { settings, hidden } = settingsOf(properties, stored);
  expect(settings).toEqual(properties);
  expect(hidden).toEqual(['geheim', KEY, 'hush']);
});

test('the text of an inventory with a password is masked as a whole', () => {
  const given = SETTINGS.parse({
    sources: '[web]\none ansible_password=geheim',
    additional_args: '-c local',
  });
  const stored = storedSettings(given, given);
  expect(stored).toMatchObject({ sources: '********', additional_args: '-c local' });
  expect(settingsOf(given, stored).settings.sources).toBe(given.sources);
});

test('an input of precreate replaces the property', () => {
  const stored = storedSettings(properties, { ...properties, playbook_path: 'other.yaml' });
  expect(settingsOf(properties, stored).settings.playbook_path).toBe('other.yaml');
});

test('a sensitive value that only an input has is refused by the name of the input, without the value', () => {
  const store = () => storedSettings(properties, { run_data: { token: 'other' } });
  expect(store).toThrow('inputs.run_data: holds a sensitive value');
  expect(store).not.toThrow('other');
});
