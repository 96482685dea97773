import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '@baton/client';
import { exitCodeOf, exitCodes } from './exit-codes';
import { CommandFailure, UsageFailure } from './failure';
import { runCli } from './run';
import { quietIo } from './testing-io';

const refusal = (status: number, code = 'some_error') => new ApiError(status, code, 'refused', {}, null);

test.each([
  [refusal(404), exitCodes.notFound],
  [refusal(400), exitCodes.refused],
  [refusal(401), exitCodes.refused],
  [refusal(403), exitCodes.refused],
  [refusal(409), exitCodes.refused],
  [refusal(500), exitCodes.failed],
  [refusal(503, 'service_unavailable_error'), exitCodes.unreachable],
  [refusal(502, 'http_502'), exitCodes.unreachable],
  [refusal(503, 'maintenance_mode_active'), exitCodes.refused],
  [new TypeError('fetch failed'), exitCodes.unreachable],
  [new TypeError('x is not a function'), exitCodes.failed],
  [new DOMException('timed out', 'TimeoutError'), exitCodes.unreachable],
  [new UsageFailure('wrong'), exitCodes.usage],
  [new CommandFailure('ended', exitCodes.executionFailed), exitCodes.executionFailed],
  [new Error('other'), exitCodes.failed],
])('%s', (error, code) => expect(exitCodeOf(error)).toBe(code));

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const quiet = quietIo();
  const code = await runCli(['node', 'baton', ...args], quiet.io);
  return { code, out: quiet.out(), err: quiet.err() };
}

test('--help and --version end well', async () => {
  expect((await run('--help')).code).toBe(exitCodes.done);
  expect((await run('deployments', 'list', '--help')).out).toContain('Examples:\n  baton deployments list');
  const { code, out } = await run('--version');
  expect([code, out]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
});

test.each([
  [['deploymnts'], /unknown command 'deploymnts'[\s\S]*deployments/],
  [['executions', 'start', 'install'], /required option/],
  [['sites', 'list', '-o', 'xml'], /Allowed choices are table/],
  [['sites', 'list', '--json', '-o', 'yaml'], /exclude each other/],
  [['sites', 'list', '--where', 'nme=x'], /did you mean name\?/],
  [['sites', 'list', '--where', 'name'], /expected field=value/],
  [['events', 'list', '--sort', '-timestmp'], /--sort timestmp: [\s\S]*did you mean timestamp\?/],
  [['sites', 'list', '--size', 'many'], /must be a number/],
  [['sites', 'list', '--watch', '0'], /expected seconds/],
  [['deployments', 'list', '--labels-rule', 'nothing'], /expected a rule/],
  [['secrets', 'create', 'key'], /give --value or --file; there is no terminal/],
  [['secrets', 'create', 'key', '-s', 'a', '--file', 'b'], /not both/],
  [['completion', 'csh'], /expected one of bash, zsh, fish/],
])('baton %p is wrong usage', async (args, text) => {
  const { code, out, err } = await run(...args);
  expect(code).toBe(exitCodes.usage);
  expect(out + err).toMatch(text);
});

test('a manager that nobody serves is not reached', async () => {
  const { code, err } = await run('--url', 'http://127.0.0.1:9', 'users', 'unlock', 'alice');
  expect(code).toBe(exitCodes.unreachable);
  expect(err).toMatch(/^baton: [\s\S]*no manager answers at http:\/\/127\.0\.0\.1:9; name another address/);
});

test('a profile that does not exist is not found', async () => {
  expect((await run('--profile', 'constructor', 'sites', 'list')).code).toBe(exitCodes.notFound);
});

test('with -o json an error is the one document', async () => {
  const { code, out, err } = await run('-o', 'json', 'sites', 'list', '--where', 'x=1');
  expect([code, err]).toEqual([exitCodes.usage, '']);
  expect(JSON.parse(out).error.message).toMatch(/--where x/);
});

test('the README lists each exit code', () => {
  const readme = readFileSync(join(__dirname, '../README.md'), 'utf8');
  for (const code of Object.values(exitCodes)) expect(readme).toContain(`| ${code} |`);
});
