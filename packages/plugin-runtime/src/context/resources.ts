import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { JsonObject } from '@baton/kernel';
import { isAppError } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { hasTemplate, renderTemplate } from '@baton/plugin-sdk/template';
import type { Places } from './places';
import type { OperationSession } from './session';
import { contextSnapshot } from './snapshot';

/** Files of the deployment or blueprint, for operations (reference/workflows.md 4.2). */
export interface Resources {
  read(path: string): Promise<Buffer>;
  /** Target default: a fresh folder. Returns the written path. */
  download(path: string, target: string | null): Promise<string>;
  /** All files below a folder. Target default: a fresh folder. Returns the written folder. */
  downloadDirectory(path: string, target: string | null): Promise<string>;
  render(path: string, variables: JsonObject): Promise<string>;
  downloadAndRender(path: string, target: string | null, variables: JsonObject): Promise<string>;
}

export function sessionResources(session: OperationSession, places: Places): Resources {
  const found = async <T>(path: string, looking: Promise<T>): Promise<T> => {
    try {
      return await looking;
    } catch (error) {
      if (!isAppError(error, 'not_found_error')) throw error;
      throw new FatalError(`Resource not found: ${path}`, { exceptionType: 'HttpException', cause: error });
    }
  };
  const locate = (path: string): Promise<string> => found(path, session.host.readResource(path));
  const log = async (path: string, place: string): Promise<void> => {
    await session.host.emit('log', 'info', `Downloaded ${path} to ${place}`);
  };
  const render = async (path: string, variables: JsonObject): Promise<string> =>
    await renderText(session, await readFile(await locate(path), 'utf8'), variables, path);
  return {
    read: async (path) => readFile(await locate(path)),
    download: async (path, target) => {
      const place = await places.file({ path: await locate(path) }, basename(path), target);
      await log(path, place);
      return place;
    },
    downloadDirectory: async (path, target) => {
      const folder = path.replace(/\/+$/, '');
      const inside = await found(path, session.host.listResources(folder));
      const files = inside.map((file) => ({ inside: file, read: () => locate(join(folder, file)) }));
      const place = await places.folder(files, target);
      await log(path, place);
      return place;
    },
    render,
    downloadAndRender: async (path, target, variables) => {
      const text = await render(path, variables);
      const place = await places.file({ text }, basename(path), target);
      await log(path, place);
      return place;
    },
  };
}

/** Fills the templates of a text from `variables` and `ctx`. `name`: the text in errors. @throws FatalError */
export async function renderText(
  session: OperationSession,
  text: string,
  variables: JsonObject,
  name: string,
): Promise<string> {
  if (!hasTemplate(text)) return text;
  if (Object.hasOwn(variables, 'ctx'))
    throw new FatalError('template variables must not contain one called ctx');
  return renderTemplate(text, { ...variables, ctx: await contextSnapshot(session) }, name);
}
