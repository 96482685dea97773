import { createHash } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { http } from '@baton/plugin-sdk';
import { download, findProgram } from './find-program';

const SCRIPT = '#!/bin/sh\necho v9\n';
let content: Buffer;
let server: Server;
let folder: string;
const scope = { http, log: { info: () => undefined } as never };
const url = (name: string) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/${name}`;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-program-'));
  server = createServer((_, response) => response.end(content));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

/** A tar archive with one file. */
function archive(name: string, text: string): Buffer {
  const header = Buffer.alloc(512);
  header.write(name);
  header.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('0', 156);
  const body = Buffer.alloc(Math.ceil(text.length / 512) * 512);
  body.write(text);
  return gzipSync(Buffer.concat([header, body, Buffer.alloc(1024)]));
}

describe('the program', () => {
  it('is taken out of a packed download, whatever path it has there', async () => {
    content = archive('../../linux-amd64/helm', SCRIPT);
    const { program, digest } = await download(scope, url('helm.tar.gz'), undefined);
    expect(readFileSync(program, 'utf8')).toBe(SCRIPT);
    expect(digest).toBe(createHash('sha256').update(content).digest('hex'));
    rmSync(program);
  });

  it('is refused when the download has changed', async () => {
    content = Buffer.from(SCRIPT);
    const first = await download(scope, url('helm'), undefined);
    rmSync(first.program);
    content = Buffer.from(`${SCRIPT}# another one`);
    await expect(download(scope, url('helm'), first.digest)).rejects.toThrow(
      'the file has changed: its SHA-256 is',
    );
  });

  it('is not downloaded where the operator refuses downloads', async () => {
    process.env.BATON_DOWNLOADS = 'refused';
    try {
      await expect(download(scope, url('helm'), undefined)).rejects.toThrow('helm is not downloaded');
    } finally {
      delete process.env.BATON_DOWNLOADS;
    }
  });

  it('is not taken from a folder that somebody else could write', async () => {
    content = Buffer.from(SCRIPT);
    const first = await download(scope, url('helm'), undefined);
    chmodSync(dirname(first.program), 0o777);
    writeFileSync(first.program, 'evil');
    const second = await download(scope, url('helm'), first.digest);
    expect(readFileSync(second.program, 'utf8')).toBe(SCRIPT);
    for (const { program } of [first, second]) rmSync(dirname(program), { recursive: true });
  });

  it('is found in PATH, or by its path', async () => {
    writeFileSync(join(folder, 'helm'), SCRIPT, { mode: 0o755 });
    expect(await findProgram(scope, {}, `relative:/nowhere:${folder}`)).toBe(join(folder, 'helm'));
    expect(await findProgram(scope, { executable_path: join(folder, 'helm') }, '')).toBe(
      join(folder, 'helm'),
    );
  });

  it.each([
    [{}, 'there is no helm on the machine of the worker'],
    [{ executable_path: 'helm' }, 'is no program on the machine'],
    [{ executable_path: '/etc/passwd' }, 'is no program on the machine'],
    [{ installation_source: 'file:///bin/sh' }, 'expected an address that begins with https://'],
  ])('%j is refused', async (choice, message) => {
    await expect(findProgram(scope, choice, '/nowhere')).rejects.toThrow(message);
  });

  it('is refused when the archive does not hold it', async () => {
    content = archive('other', SCRIPT);
    await expect(download(scope, url('x.tgz'), undefined)).rejects.toThrow('the archive holds no file helm');
  });
});
