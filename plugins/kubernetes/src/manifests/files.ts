import { FatalError } from '@baton/plugin-sdk';
import * as z from 'zod';
import type { Declared } from '../resources/declared';
import type { ResourceScope } from '../resources/scope';
import { readManifests } from './read-manifests';

export const FILE_RESOURCE = z.object({
  resource_path: z.string().optional().describe('File of the blueprint'),
  target_path: z.string().optional().describe('Ignored'),
  template_variables: z.any().optional().describe('Values for the templates of the file'),
});

type FileResource = z.output<typeof FILE_RESOURCE>;

const MAX_FILES = 100;

/** The objects of files of the blueprint. Keys in runtime properties are `path#number of the object`. */
export async function fileDefined(
  scope: ResourceScope,
  given: readonly unknown[],
  where: string,
): Promise<Declared[]> {
  if (given.length === 0 || given.length > MAX_FILES)
    throw new FatalError(`${where}: expected 1 to ${MAX_FILES} files, got ${given.length}`);
  const declared: Declared[] = [];
  for (const one of given) {
    const { path, text } = await textOf(scope, fileOf(one, where), where);
    declared.push(...readManifests(text, path).map((object, i) => ({ key: `${path}#${i}`, object })));
  }
  return declared;
}

function fileOf(value: unknown, where: string): FileResource {
  // A path alone is a file without variables.
  const parsed = FILE_RESOURCE.safeParse(typeof value === 'string' ? { resource_path: value } : value);
  if (parsed.success) return parsed.data;
  throw new FatalError(`${where}: expected resource_path and template_variables`);
}

async function textOf(
  scope: ResourceScope,
  file: FileResource,
  where: string,
): Promise<{ path: string; text: string }> {
  const { resource_path: path, template_variables: variables } = file;
  if (!path) throw new FatalError(`${where}: resource_path is missing`);
  const text = Buffer.from(await scope.ctx.getResource(path)).toString('utf8');
  const values = variables as Record<string, unknown> | null | undefined;
  const isTemplate = values !== undefined && values !== null && Object.keys(values).length > 0;
  return { path, text: isTemplate ? await scope.render(text, values) : text };
}
