import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { openApiDocument } from '../../packages/http/src/index';
import { productVersion } from '../../packages/service-runtime/src/index';

/** Returns the OpenAPI 3.1 document of all routes, one line per nesting level. @throws Error when it is not valid */
export async function openApiText(root: string): Promise<string> {
  const file = join(root, 'packages/contracts/src/http/all.ts');
  if (!existsSync(file)) throw new Error('packages/contracts/src/http/all.ts is missing');
  const { allRoutes } = (await import(file)) as { allRoutes: Parameters<typeof openApiDocument>[0] };
  const document = openApiDocument(allRoutes, { title: 'Baton', version: productVersion });
  const result = await new Validator().validate(structuredClone(document) as never);
  if (!result.valid)
    throw new Error(`the OpenAPI document is not valid: ${JSON.stringify(result.errors, null, 1)}`);
  return `${JSON.stringify(document, null, 1)}\n`;
}
