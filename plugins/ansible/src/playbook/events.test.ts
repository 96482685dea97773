import { eventOf, linesOf } from './events';
import { failureText, requireSuccess } from './outcome';
import type { PlaybookRun } from './run-playbook';
import { tagsIn } from './tags';

const told = (event: object): string => {
  const found = eventOf(`p ${JSON.stringify(event)}`, 'p ');
  return found === null
    ? 'none'
    : linesOf(found)
        .map(({ level, text }) => `${level}: ${text}`)
        .join('\n');
};
const result = { e: 'result', h: 'one', t: 'Write' };

it('tells results: what failed as an error with all that is known, what was ignored as a warning', () => {
  expect(told({ e: 'task', t: 'Write' })).toBe('info: TASK [Write]');
  expect(told({ ...result, s: 'changed', out: 'made' })).toBe('info: changed [one]: made');
  expect(told({ ...result, s: 'ok', rc: 0, out: 'quiet' })).toBe('info: ok [one]');
  expect(told({ ...result, s: 'skipped' })).toBe('debug: skipped [one]');
  expect(told({ ...result, s: 'failed', m: 'no', rc: 1, err: 'bad' })).toBe(
    'error: failed [one]: no\nexit code 1\nbad',
  );
  expect(told({ ...result, s: 'failed', ignored: true, m: 'no' })).toBe(
    'warning: failed (ignored) [one]: no',
  );
  expect(told({ ...result, s: 'unreachable', m: 'gone' })).toBe('error: unreachable [one]: gone');
});

it('takes no line of somebody else for an event, and no characters that control a terminal', () => {
  expect(eventOf('x {"e":"task","t":"a"}', 'p ')).toBeNull();
  expect(told({ e: 'stats', hosts: { one: { ok: 'many' } } })).toBe('none');
  expect(eventOf('p {"e":', 'p ')).toBeNull();
  expect(told({ ...result, s: 'ok', m: '\u001b[2Jclean\u0007' })).toBe('info: ok [one]: [2Jclean');
});

const run = (more: Partial<PlaybookRun>): PlaybookRun => ({
  exitCode: 0,
  hosts: {},
  changed: [],
  failed: [],
  said: '',
  ...more,
});

it.each([
  [2, 0, 'OperationRetry', 'attempt 1 of 2'],
  [4, 0, 'OperationRetry', 'attempt 1 of 2'],
  [4, 1, 'FatalError', 'attempt 2 of 2'],
  [1, 0, 'FatalError', 'ansible-playbook ended with 1: it said nothing'],
  [250, 0, 'FatalError', '250'],
])('judges the exit code %i at try %i: %s', (exitCode, retryNumber, name, text) => {
  const failure = (): void => requireSuccess(run({ exitCode }), { retryNumber, attempts: 2 });
  expect(failure).toThrow(expect.objectContaining({ name, message: expect.stringContaining(text) }));
});

it('says what failed first, and how much more', () => {
  const failed = [1, 2, 3, 4, 5].map((at) => ({
    ...result,
    s: 'failed' as const,
    h: `h${at}`,
    e: 'result' as const,
    m: 'no',
  }));
  expect(failureText(run({ exitCode: 2, failed }))).toMatch(
    /failed \[h1\] in Write: no; .*\[h3\].*; and 2 more$/,
  );
  expect(failureText(run({ exitCode: 1, said: 'ERROR! no such file' }))).toContain('ERROR! no such file');
});

it('reads the tags of a playbook in the order of its tasks', () => {
  const text = `playbook: site.yaml
  play #1 (web): web	TAGS: []
    tasks:
      Install	TAGS: [packages, base]
      Write	TAGS: [config]
      Again	TAGS: [base]
`;
  expect(tagsIn(text)).toEqual(['packages', 'base', 'config']);
});
