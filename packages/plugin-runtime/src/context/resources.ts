import { copyFile, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { JsonObject } from '@baton/kernel';
import { isAppError } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { hasTemplate, renderTemplate } from '../template';
import type { OperationSession } from './session';
import { contextSnapshot } from './snapshot';

/** Files of the deployment or blueprint, as operations ask for them (reference/workflows.md 4.2). */
export interface Resources {
  read(path: string): Promise<Buffer>;
  /** Target default: a fresh folder below `tempDir`. Answers the path written. */
  download(path: string, target: string | null): Promise<string>;
  /** All files below a folder. Target default: a fresh folder below `tempDir`. Answers the folder written. */
  downloadDirectory(path: string, target: string | null): Promise<string>;
  render(path: string, variables: JsonObject): Promise<string>;
  downloadAndRender(path: string, target: string | null, variables: JsonObject): Promise<string>;
}

/** `tempDir` is made by whoever starts the run and asked for only when a file has to be placed there. */
export function sessionResources(session: OperationSession, tempDir: () => Promise<string>): Resources {
  const found = async <T>(path: string, looking: Promise<T>): Promise<T> => {
    try {
      return await looking;
    } catch (error) {
      if (!isAppError(error, 'not_found_error')) throw error;
      throw new FatalError(`Resource not found: ${path}`, { exceptionType: 'HttpException', cause: error });
    }
  };
  const locate = (path: string): Promise<string> => found(path, session.host.readResource(path));
  const freshFolder = async (): Promise<string> => mkdtemp(join(await tempDir(), 'resource-'));
  const placeFor = async (path: string, target: string | null): Promise<string> => {
    const place = target ?? join(await freshFolder(), basename(path));
    await mkdir(dirname(place), { recursive: true });
    return place;
  };
  const log = async (path: string, place: string): Promise<void> => {
    await session.host.emit('log', 'info', `Downloaded ${path} to ${place}`);
  };
  const render = async (path: string, variables: JsonObject): Promise<string> => {
    const text = await readFile(await locate(path), 'utf8');
    if (!hasTemplate(text)) return text;
    if (Object.hasOwn(variables, 'ctx'))
      throw new FatalError('template variables must not contain one called ctx');
    return renderTemplate(text, { ...variables, ctx: await contextSnapshot(session) }, path);
  };
  return {
    read: async (path) => readFile(await locate(path)),
    download: async (path, target) => {
      const source = await locate(path);
      const place = await placeFor(path, target);
      await copyFile(source, place);
      await log(path, place);
      return place;
    },
    downloadDirectory: async (path, target) => {
      const folder = path.replace(/\/+$/, '');
      const inside = await found(path, session.host.listResources(folder));
      const place = target ?? (await freshFolder());
      for (const file of inside) {
        const copy = join(place, file);
        await mkdir(dirname(copy), { recursive: true });
        await copyFile(await locate(join(folder, file)), copy);
      }
      await log(path, place);
      return place;
    },
    render,
    downloadAndRender: async (path, target, variables) => {
      const text = await render(path, variables);
      const place = await placeFor(path, target);
      await writeFile(place, text);
      await log(path, place);
      return place;
    },
  };
}
