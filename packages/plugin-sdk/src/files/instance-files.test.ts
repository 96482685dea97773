import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { MemoryFiles } from '../testing/memory-files';
import { httpWith } from '../tools/http';
import type { FileStore } from './file-store';
import { instanceFiles } from './instance-files';
import { LockedError } from './locked-error';
import { managerStore } from './manager-store';

/** The routes of a manager for the files of one instance, over a store in memory. The service itself has tests of its own. */
function routesOf(memory: MemoryFiles): Server {
  const handle = async (request: IncomingMessage): Promise<[number, unknown]> => {
    const url = new URL(request.url!, 'http://manager');
    const [name, lock] = url.pathname.split('/files')[1]!.split('/').slice(1).map(decodeURIComponent);
    const id = url.searchParams.get('lock_id');
    const body = await buffer(request);
    if (name === undefined) {
      const items = (await memory.list()).map(({ holder, ...file }) => ({
        ...file,
        lock: holder && { holder },
      }));
      return [200, { items }];
    }
    if (lock !== undefined) {
      if (request.method === 'DELETE') return [204, await memory.unlock(name, id)];
      const { lock_id: wanted, holder } = JSON.parse(body.toString());
      return [200, (await memory.lock(name, wanted, holder)) ?? {}];
    }
    if (request.method === 'PUT') return [200, (await memory.write(name, body, id)) ?? {}];
    if (request.method === 'DELETE') return [204, await memory.remove(name, id)];
    const content = await memory.read(name);
    return content === null ? [404, { message: 'no file' }] : [200, Buffer.from(content)];
  };
  return createServer((request, response) => {
    handle(request)
      .catch((error: Error): [number, unknown] => [409, { message: error.message }])
      .then(([status, content]) => {
        response.writeHead(status, {
          'content-type': Buffer.isBuffer(content) ? 'application/octet-stream' : 'application/json',
        });
        response.end(Buffer.isBuffer(content) ? content : JSON.stringify(content ?? null));
      });
  });
}

let server: Server;
let memory: MemoryFiles;
beforeEach(async () => {
  memory = new MemoryFiles();
  server = routesOf(memory);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

const stores: [string, () => FileStore][] = [
  ['in memory', () => memory],
  [
    'at a manager',
    () =>
      managerStore(
        httpWith({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
        'web/1',
      ),
  ],
];

describe.each(stores)('files %s', (_, open) => {
  const files = () => instanceFiles(open, new AbortController().signal);

  it('keep any bytes, and texts', async () => {
    const bytes = Uint8Array.from({ length: 300 }, (_byte, i) => i % 256);
    await files().write('plan', bytes);
    await files().write('state', 'text');
    expect(Buffer.from((await files().read('plan'))!)).toEqual(Buffer.from(bytes));
    expect(await files().read('none')).toBeNull();
    expect((await files().list()).map(({ name, size }) => [name, size])).toEqual([
      ['plan', 300],
      ['state', 4],
    ]);
    await files().remove('plan');
    await files().remove('plan');
    expect(await files().read('plan')).toBeNull();
  });

  it('are written by the holder of a lock alone; the others hear who has it', async () => {
    const held = await files().lock('state', 'an update');
    await expect(files().lock('state', 'another')).rejects.toThrow('state is locked by an update');
    await expect(files().write('state', 'x')).rejects.toBeInstanceOf(LockedError);
    await held.write('mine');
    expect(Buffer.from((await files().read('state'))!).toString()).toBe('mine');
    await held.release();
    await (await files().lock('state', 'another')).release();
  });

  it('are not written with a lock that is lost', async () => {
    const held = await files().lock('state', 'slow');
    await files().breakLock('state');
    await expect(held.write('late')).rejects.toThrow('is over');
    const next = await files().lock('state', 'next');
    await expect(held.write('late')).rejects.toThrow('locked by next');
    await held.release();
    await expect(files().write('state', 'x')).rejects.toThrow('locked by next');
    await next.release();
    expect(await files().read('state')).toBeNull();
  });
});
