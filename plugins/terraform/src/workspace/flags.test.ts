import { flagsFor } from './flags';

it('writes flags for the commands that know them, in all spellings', () => {
  const flags = ['parallelism=3', '-lock-timeout=10s', { refresh: false }, '--upgrade', 'auto-approve'];
  expect(flagsFor('apply', flags)).toEqual(['-parallelism=3', '-lock-timeout=10s', '-refresh=false']);
  expect(flagsFor('init', flags)).toEqual(['-upgrade']);
});

it('an option stays one argument, whatever it holds', () => {
  expect(flagsFor('plan', [{ target: 'a; rm -rf / $(id)' }])).toEqual(['-target=a; rm -rf / $(id)']);
});

test.each(['state=/other/tenant.tfstate', '--var-file=/etc/passwd', 'chdir=/', '-out=x', 'state-out=y'])(
  'refuses %s, which belongs to the plugin',
  (flag) => expect(() => flagsFor('apply', [flag])).toThrow('belongs to the plugin'),
);

test.each(['', 'two words', '; id', '-A'])('refuses %p, which is no flag', (flag) =>
  expect(() => flagsFor('apply', [flag])).toThrow('is no flag'),
);
