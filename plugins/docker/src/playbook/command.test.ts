import { splitWords } from '../container/split-words';
import { playbookCommand, variablesOf } from './command';
import { SETTINGS } from './schema';

const files = { inventory: '/in/hosts', variables: '/in/vars.json', playbook: '/in/playbook/site.yaml' };
const command = (given: object) => playbookCommand(SETTINGS.parse(given), files);

test('a playbook with nothing else', () => {
  expect(command({})).toBe(
    'ansible-playbook -vv -i /in/hosts --extra-vars=@/in/vars.json -- /in/playbook/site.yaml',
  );
});

test('options, arguments and a program of the container', () => {
  const words = splitWords(
    command({
      ansible_playbook_executable_path: '/opt/a b/ansible-playbook',
      debug_level: 0,
      ansible_become: true,
      options_config: {
        tags: ['a', 'b'],
        skip_tags: 'slow',
        vault_id: ['x', 'y'],
        check: true,
        diff: false,
        limit: "web'; rm -rf /",
        extra_vars: { a: 1 },
        verbosity: 4,
      },
      additional_args: `-c local --user 'two words'`,
    }),
  );
  expect(words).toEqual([
    '/opt/a b/ansible-playbook',
    ...['-i', '/in/hosts', '--extra-vars=@/in/vars.json', '--become', '--tags=a,b', '--skip-tags=slow'],
    ...['--vault-id=x', '--vault-id=y', '--check', "--limit=web'; rm -rf /"],
    ...['-c', 'local', '--user', 'two words', '--', '/in/playbook/site.yaml'],
  ]);
});

test('what cannot be a command says where', () => {
  expect(() => command({ options_config: { 'tags=a --user': 'x' } })).toThrow('is no name of an option');
  expect(() => command({ additional_args: `-e 'a` })).toThrow(`without its end`);
});

test('run_data counts more than the variables of options_config', () => {
  const settings = SETTINGS.parse({
    options_config: { extra_vars: { a: 1, b: 1 } },
    run_data: { b: 2 },
  });
  expect(variablesOf(settings)).toEqual({ a: 1, b: 2 });
});
