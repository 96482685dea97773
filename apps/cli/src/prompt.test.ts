import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { secretText, shownLine } from './prompt';
import { quietIo } from './testing-io';

const ABOUT = { label: 'Password', options: '--password' };

/** A terminal that remembers whether it shows what is typed. */
function terminal() {
  const raw: boolean[] = [];
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: (is: boolean) => raw.push(is) });
  return { input, raw };
}

test('a prompt shows nothing of what is typed', async () => {
  const { input, raw } = terminal();
  const quiet = quietIo({}, '', { input });
  const asked = secretText(quiet.io, ABOUT);
  input.write('secrez\u007ft\r');
  expect(await asked).toBe('secret');
  expect(quiet.err()).toBe('Password: \n');
  expect(quiet.out()).toBe('');
  expect(raw).toEqual([true, false]);
});

test('Ctrl-C ends a prompt and gives the terminal back', async () => {
  const { input, raw } = terminal();
  const asked = secretText(quietIo({}, '', { input }).io, ABOUT);
  input.write('abc\u0003');
  await expect(asked).rejects.toMatchObject({ exitCode: 130 });
  expect(raw).toEqual([true, false]);
});

test('a secret comes from standard input or a file without its last line end', async () => {
  const { io } = quietIo({}, 'from input\n');
  expect(await secretText(io, { ...ABOUT, file: '-' })).toBe('from input');
  const folder = mkdtempSync(join(tmpdir(), 'baton-cli-'));
  try {
    writeFileSync(join(folder, 'secret'), 'from\nfile\r\n');
    expect(await secretText(io, { ...ABOUT, file: join(folder, 'secret') })).toBe('from\nfile');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a shown line leaves what follows to the next question', async () => {
  const { input, raw } = terminal();
  const quiet = quietIo({}, '', { input });
  const ask = (byDefault?: string) => shownLine(quiet.io, { label: 'User', options: '-U', byDefault });
  input.write('alice\n\nsecret\r');
  expect(await ask()).toBe('alice');
  expect(await ask('bob')).toBe('bob');
  expect(await secretText(quiet.io, ABOUT)).toBe('secret');
  expect(quiet.err()).toBe('User: User [bob]: Password: \n');
  expect(raw).toEqual([true, false]);
});

test('the end of the input ends a question, and without a terminal there is none', async () => {
  const { input } = terminal();
  const asked = shownLine(quietIo({}, '', { input }).io, { label: 'User', options: '-U' });
  input.end();
  await expect(asked).rejects.toMatchObject({ exitCode: 130 });
  await expect(shownLine(quietIo().io, { label: 'User', options: '-U' })).rejects.toThrow('give -U;');
});
