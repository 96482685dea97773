import { type Settings, settingsOf } from '../settings/settings';
import { playbookArguments, variablesOf, words } from './arguments';

const settings = (inputs: object, runtime = {}, properties = {}): Settings =>
  settingsOf({ node: { properties }, instance: { runtimeProperties: runtime } } as never, inputs as never);
const files = { inventory: '/w/hosts', variables: '/w/vars.json', playbook: '/w/site.yaml', modules: null };
const argsOf = (inputs: object, mode = {}, more = {}) =>
  playbookArguments(settings(inputs), { ...files, ...more }, { tags: [], isCheck: false, ...mode });

it('names the inventory, the variables by their file, and the playbook after all options', () => {
  expect(argsOf({ run_data: { password: 'x' } }).args).toEqual([
    '-vv',
    '--inventory=/w/hosts',
    '--extra-vars=@/w/vars.json',
    '--timeout=10',
    '--',
    '/w/site.yaml',
  ]);
});

it('takes settings, options, tags, modules and further arguments', () => {
  const { args, unknown } = argsOf(
    {
      debug_level: '3',
      start_at_task: 'Write the page',
      ssh_extra_args: '-o ProxyJump=bastion',
      options_config: {
        skip_tags: ['a', 'b'],
        become: 'yes',
        limit: 'web',
        forks: 3,
        flush_cache: false,
        foo: 1,
      },
      additional_args: '-c local --private-key "/a b"',
    },
    { tags: ['x', 'y'], isCheck: true },
    { modules: '/w/modules' },
  );
  expect(args.slice(3)).toEqual([
    '--start-at-task=Write the page',
    '--ssh-extra-args=-o ProxyJump=bastion',
    '--timeout=10',
    '--skip-tags=a,b',
    '--become',
    '--limit=web',
    '--forks=3',
    ...['-c', 'local', '--private-key', '/a b'],
    '--tags=x,y',
    '--module-path=/w/modules',
    '--check',
    '--diff',
    '--',
    '/w/site.yaml',
  ]);
  expect([args[0], unknown]).toEqual(['-vvv', ['foo']]);
});

it('makes no option of a value, and of the name of a variable', () => {
  const { args } = argsOf(
    {
      options_config: { limit: '--become', inventory: '/etc' },
      run_data: { '--check': 1 },
      start_at_task: '-x',
    },
    { tags: ['--check'] },
  );
  expect(args).not.toContain('--become');
  expect(args).not.toContain('--check');
  expect(args).not.toContain('--inventory=/etc');
  expect(args).toEqual(expect.arrayContaining(['--limit=--become', '--start-at-task=-x', '--tags=--check']));
});

it('puts an input before the runtime property, that before the property, and overlooks empty ones', () => {
  const { timeout, debug_level, tags, run_data } = settings(
    { timeout: 1, debug_level: null, tags: [], run_data: {} },
    { timeout: 2, debug_level: 0 },
    { timeout: 3, tags: ['a'], run_data: { b: 1 } },
  );
  expect([timeout, debug_level, tags, run_data]).toEqual([1, 0, ['a'], { b: 1 }]);
  expect(() => settings({ number_of_attempts: 'many', run_data: 'secret-text' })).toThrow(
    /^run_data: .*; number_of_attempts: /,
  );
  expect(() => settings({ run_data: 'secret-text' })).not.toThrow('secret-text');
});

it('puts run_data above the variables of options_config', () => {
  const given = { options_config: { extra_vars: { a: 1, b: 1 } }, run_data: { b: 2 } };
  expect(variablesOf(settings(given))).toEqual({ a: 1, b: 2 });
});

it('divides a line as a shell does, and does nothing else of a shell', () => {
  expect(words(`a  'b c' "d \\" e" f\\ g '' $(touch x) ; h`)).toEqual([
    ...['a', 'b c', 'd " e', 'f g', '', '$(touch', 'x)', ';', 'h'],
  ]);
  expect(() => words(`-c "local`)).toThrow('the quote " has no end');
});
