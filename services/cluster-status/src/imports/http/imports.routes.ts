import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { makeTemporaryFolder } from '@baton/blob-store';
import { importOptions } from '@baton/contracts';
import { bundleRoutes, importRoutes } from '@baton/contracts/http/imports';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  type HttpAnswer,
  type HttpCall,
  listEnvelope,
} from '@baton/http';
import { AppError } from '@baton/kernel';
import { storeArchive } from '../../commands/store-archive';
import { activate } from '../commands/activate-import';
import type { ImportDeps } from '../commands/import-deps';
import { makeBundle } from '../commands/make-bundle';
import {
  archiveOfSnapshot,
  registerImport,
  requestApply,
  requestCheck,
  requestDeletion,
  requireAdmin,
} from '../commands/request-import';
import { importById, listImports, presentImport, readReport } from '../queries/imports';

/** @throws AppError bad_parameters_error */
function optionsOf(text: string | undefined) {
  if (text === undefined) return importOptions.parse({});
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('bad_parameters_error', 'options is no JSON', { field: 'options', expected: 'JSON' });
  }
  const parsed = importOptions.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new AppError('bad_parameters_error', `options.${path.join('.')}: ${message}`, { field: 'options' });
}

const page = ({ _offset: offset, _size: size }: { _offset: number; _size: number }) => ({ offset, size });

const enveloped = (
  { items, total }: { items: unknown[]; total: number },
  { offset, size }: { offset: number; size: number },
) => ({ items, metadata: { pagination: { total, offset, size } } });

/** The bundle is a file until it was sent or the client has gone away. */
async function exported(deps: ImportDeps, call: HttpCall): Promise<HttpAnswer> {
  const { tenant, deployment_id: deploymentId, include_events: includeEvents, passphrase } = call.body;
  const withDependencies: boolean = call.body.with_dependencies;
  const folder = await makeTemporaryFolder();
  try {
    const request = {
      tenant,
      deploymentId: deploymentId ?? '',
      withDependencies,
      includeEvents,
      passphrase,
    };
    const path = await makeBundle(deps, request, folder.path, call.signal);
    const stream = createReadStream(path);
    stream.once('close', () => void folder.remove());
    const filename = `${[tenant, ...(deploymentId === undefined ? [] : [deploymentId])].join('-')}.zip`;
    const { size } = await stat(path);
    return answer({ stream, length: size, filename, contentType: 'application/octet-stream' });
  } catch (error) {
    await folder.remove();
    throw error;
  }
}

/** From a body or a snapshot. @throws AppError bad_parameters_error, not_found_error, snapshot_action_error */
async function createImport(deps: ImportDeps, call: HttpCall): Promise<string> {
  const { hold, snapshot } = call.query;
  const asked = { options: optionsOf(call.query.options), isHeld: hold ?? false };
  if (call.hasBody !== (snapshot === undefined))
    throw new AppError(
      'bad_parameters_error',
      call.hasBody ? 'There are two archives: a body and a snapshot' : 'No archive: the body is empty',
      { field: 'archive', expected: 'an archive as body, or the parameter snapshot' },
    );
  if (snapshot !== undefined)
    return await registerImport(deps, call.principal, (tx) => archiveOfSnapshot(tx, snapshot), asked);
  const archive = await storeArchive(deps, call.raw);
  return await registerImport(deps, call.principal, async () => archive, asked);
}

/** Imports of archives of other managers (docs/adr/0048-import-of-estates.md). */
export function importsHttp(deps: ImportDeps): BoundRoute[] {
  const { query } = deps.db;
  const shown = async (id: string) => presentImport(await importById(query, id));
  const routes = bindRoutes(importRoutes, {
    listImports: async ({ list }) => listEnvelope(await listImports(query, list), list),
    createImport: async (call) => shown(await createImport(deps, call)),
    getImport: ({ params }) => shown(params.import_id!),
    checkImport: async ({ params, body }) => {
      const { options, ...keys } = body;
      await importById(query, params.import_id!);
      await requestCheck(deps, params.import_id!, { options, keys });
      return shown(params.import_id!);
    },
    readImportReport: async (call) => {
      const asked = page(call.query);
      const { kind } = call.query;
      return enveloped(await readReport(query, call.params.import_id!, { ...asked, kind }), asked);
    },
    applyImport: async ({ params, body }) => {
      await importById(query, params.import_id!);
      await requestApply(deps, params.import_id!, {
        reportDigest: body.report_digest,
        isKept: body.keep_archive,
      });
      return shown(params.import_id!);
    },
    activateImport: async ({ params, body }) => {
      const row = await importById(query, params.import_id!);
      const { tenant, deployments, with_schedules: withSchedules } = body;
      return activate(deps, row, row.tenants, { tenant, deployments, withSchedules });
    },
    deleteImport: async ({ params }) => {
      await importById(query, params.import_id!);
      await requestDeletion(deps, params.import_id!);
      return { id: params.import_id! };
    },
  });
  const bundles = bindRoutes(bundleRoutes, { exportBundle: (call) => exported(deps, call) });
  return [...routes, ...bundles].map(({ contract, handler }) => ({
    contract,
    handler: (call: HttpCall) => {
      requireAdmin(call.principal);
      return handler(call);
    },
  }));
}
