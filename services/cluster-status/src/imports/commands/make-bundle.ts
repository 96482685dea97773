import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { ArchiveRecord } from '@baton/cloudify-archive';
import { badParameter, isoInstant, notFound } from '@baton/kernel';
import { productVersion } from '@baton/service-runtime';
import { PART_DEADLINE_MS } from '../../adapters/snapshot-parts';
import { createZipWriter, type ZipWriter } from '../../adapters/zip-writer';
import { BUNDLE_FILE, type BundleHeader, blobFile, recordsFile } from '../domain/bundle';
import type { TenantClosure } from '../domain/choice';
import { Needs } from '../domain/needs';
import { IMPORT_ORDER, type ImportService } from '../domain/owners';
import { bundleKeyOf, freshKdf } from './bundle-key';
import type { ImportDeps } from './import-deps';

export interface BundleRequest {
  tenant: string;
  /** Absent: the whole tenant. */
  deploymentId: string;
  /** With `deploymentId`: also the deployments that it depends on, and what these need. */
  withDependencies: boolean;
  includeEvents: boolean;
  /** Absent: values of secrets do not travel. */
  passphrase: string | undefined;
}

interface Export {
  tenant: string;
  deploymentId: string;
  closureJson: string;
  includeEvents: boolean;
  bundleKey: string;
}

/** Services whose records refer to others are read first, so that what they refer to was there before. */
const EXPORT_ORDER: readonly ImportService[] = [...IMPORT_ORDER].reverse();

/**
 * Writes a bundle into `folder` and returns its path. Each service is read at one instant of its own. A crash leaves a file in a
 * temporary folder, which is swept. @throws AppError not_found_error
 */
export async function makeBundle(
  deps: Pick<ImportDeps, 'imports' | 'blobs' | 'clock'>,
  request: BundleRequest,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const kdf = request.passphrase === undefined ? null : freshKdf();
  const wanted: Export = {
    tenant: request.tenant,
    deploymentId: request.deploymentId,
    closureJson: request.deploymentId === '' ? '{}' : JSON.stringify(await closureOf(deps, request, signal)),
    includeEvents: request.includeEvents,
    bundleKey: kdf === null ? '' : await bundleKeyOf(request.passphrase!, kdf),
  };
  const path = join(folder, 'bundle.zip');
  const zip = createZipWriter(path);
  try {
    const files: BundleHeader['files'] = [];
    const blobs = new Set<string>();
    for (const service of EXPORT_ORDER)
      await exportService(deps, service, wanted, { zip, files, blobs, signal });
    for (const digest of blobs) {
      signal.throwIfAborted();
      if (await deps.blobs.stat(digest))
        await zip.add(blobFile(digest), await deps.blobs.open(digest), false);
    }
    const header: BundleHeader = {
      format: 'baton-bundle',
      version: 1,
      product_version: productVersion,
      created_at: isoInstant(deps.clock.now()),
      tenant: request.tenant,
      deployment_id: request.deploymentId,
      kdf,
      files,
    };
    await zip.add(BUNDLE_FILE, Readable.from([Buffer.from(JSON.stringify(header))]), true);
    await zip.finish();
    return path;
  } catch (error) {
    zip.abort(error as Error);
    throw error;
  }
}

interface To {
  zip: ZipWriter;
  files: BundleHeader['files'];
  blobs: Set<string>;
  signal: AbortSignal;
}

async function exportService(
  deps: Pick<ImportDeps, 'imports'>,
  service: ImportService,
  wanted: Export,
  { zip, files, blobs, signal }: To,
): Promise<void> {
  const open = { type: '', file: null as ReturnType<ZipWriter['open']> | null };
  const newline = Buffer.from('\n');
  const pieces = deps.imports[service].exportRecords(wanted, { deadlineMs: PART_DEADLINE_MS, signal });
  for await (const { type, records, blobs: named } of pieces) {
    for (const digest of named) blobs.add(digest);
    if (records.length === 0) continue;
    if (open.type !== type) {
      await open.file?.end();
      const name = recordsFile(type);
      open.type = type;
      open.file = zip.open(name);
      files.push({ name, type });
    }
    await open.file!.write(Buffer.from(records));
    await open.file!.write(newline);
  }
  await open.file?.end();
}

/** What one deployment needs, by the names under which the services export it. @throws AppError not_found_error, bad_parameters_error */
async function closureOf(
  { imports }: Pick<ImportDeps, 'imports'>,
  { tenant, deploymentId, withDependencies }: BundleRequest,
  signal: AbortSignal,
): Promise<Record<string, string[]>> {
  const needs = new Needs();
  const pluginIds = new Map<string, string[]>();
  const read = async (service: 'catalog' | 'deployments', id: string): Promise<void> => {
    const asked = { tenant, deploymentId: id, closureJson: '{}', includeEvents: false, bundleKey: '' };
    const pieces = imports[service].exportRecords(asked, { deadlineMs: PART_DEADLINE_MS, signal });
    for await (const { type, records } of pieces)
      for (const line of Buffer.from(records).toString('utf8').split('\n')) {
        if (line === '') continue;
        const { item } = JSON.parse(line) as { item: Record<string, unknown> };
        if (type === 'plugins') note(pluginIds, item);
        else needs.see({ type, tenant, item } as unknown as ArchiveRecord);
      }
  };
  await read('catalog', '');
  const asked = new Set<string>();
  const chosen = [`${tenant}/${deploymentId}`];
  for (;;) {
    const { closure, unknown } = needs.closureOf(chosen, withDependencies);
    const [next] = unknown.filter((pair) => !asked.has(pair));
    if (next === undefined) return namesOf(closure.get(tenant), deploymentId, pluginIds);
    if (asked.size >= MOST_DEPLOYMENTS)
      throw badParameter(
        'with_dependencies',
        `Deployment ${deploymentId} depends on more than ${MOST_DEPLOYMENTS} others: make a bundle of the tenant`,
      );
    asked.add(next);
    await read('deployments', next.slice(tenant.length + 1));
  }
}

/** Deployments that a bundle of one deployment follows. */
const MOST_DEPLOYMENTS = 1_000;

function namesOf(
  of: TenantClosure | undefined,
  deploymentId: string,
  pluginIds: ReadonlyMap<string, string[]>,
): Record<string, string[]> {
  if (!of?.deployments.has(deploymentId)) throw notFound('Deployment', deploymentId);
  return {
    deployments: [...of.deployments],
    blueprints: [...of.blueprints],
    sites: [...of.sites],
    secrets: [...of.secrets],
    plugins: [...of.plugins].flatMap((name) => pluginIds.get(name) ?? []),
  };
}

function note(ids: Map<string, string[]>, { id, package_name: name }: Record<string, unknown>): void {
  if (typeof id !== 'string' || typeof name !== 'string') return;
  ids.set(name, [...(ids.get(name) ?? []), id]);
}
