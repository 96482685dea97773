import type { BlobStore } from '@baton/blob-store';
import { isAdministrator, type ListPage, reservedLabelKeys } from '@baton/contracts';
import { blueprintLabelRoutes } from '@baton/contracts/http/blueprint-labels';
import { blueprintRoutes } from '@baton/contracts/http/blueprints';
import {
  answer,
  type BoundRoute,
  bindRoutes,
  type HttpAnswer,
  type HttpCall,
  listEnvelope,
  serveFile,
} from '@baton/http';
import { AppError } from '@baton/kernel';
import { spool } from '../archive/spool';
import {
  type ChangeDeps,
  patchBlueprint,
  removeBlueprint,
  setBlueprintIcon,
  setBlueprintVisibility,
} from '../commands/change-blueprint';
import type { UploadDeps } from '../commands/upload-blueprint';
import { checkIcon, MAX_ICON_BYTES } from '../domain/icon';
import { archiveOfBlueprint, kindOfArchive } from '../queries/blueprint-archive';
import { listRules } from '../queries/blueprint-search';
import {
  type BlueprintReader,
  type BlueprintRow,
  getBlueprint,
  listBlueprints,
  listLabelTexts,
  summarizeBlueprints,
} from '../queries/read-blueprints';
import { blueprintIcon } from '../queries/read-resources';
import { uploadBlueprint, validateBlueprint } from './blueprint-uploads';
import type { WirePolicy } from './wire-policy';

export interface BlueprintHttpDeps extends UploadDeps, ChangeDeps, BlueprintReader {
  blobs: BlobStore;
}

/** Converts the rows of a page for the wire. */
export function presentPage(wire: WirePolicy, call: HttpCall, page: ListPage<BlueprintRow>): object {
  return listEnvelope(
    { ...page, items: page.items.map((row) => wire.presentBlueprint(call.version, row)) },
    call.list,
  );
}

/**
 * Reads one blueprint. `isShort`: omit a very large plan unless `_include` names it; only the read of one blueprint includes it by
 * default.
 */
async function shown(
  deps: BlueprintHttpDeps,
  wire: WirePolicy,
  call: HttpCall,
  isShort: boolean,
): Promise<object> {
  const id = call.params.blueprint_id!;
  const row = await getBlueprint(deps.db.query, call.principal, id, call.include, isShort);
  return wire.presentBlueprint(call.version, row);
}

async function download(deps: BlueprintHttpDeps, call: HttpCall): Promise<HttpAnswer> {
  const id = call.params.blueprint_id!;
  const { principal } = call;
  const who = { ...principal, isAdministrator: isAdministrator(principal) };
  const found = await archiveOfBlueprint(deps.db, who, id);
  if (found.archive_digest === null)
    throw new AppError('not_found_error', `blueprint \`${id}\` has no archive (its state is ${found.state})`);
  const kind = await kindOfArchive(deps.db, found.archive_digest);
  return answer({
    stream: await deps.blobs.open(found.archive_digest),
    length: found.archive_size ?? undefined,
    filename: `${id}.${kind}`,
    contentType: 'application/octet-stream',
  });
}

async function readIcon(call: HttpCall): Promise<Buffer | null> {
  if (!call.hasBody) return null;
  const spooled = await spool(call.raw, MAX_ICON_BYTES);
  try {
    if (spooled.size === 0) return null;
    return checkIcon(await spooled.head(spooled.size));
  } finally {
    await spooled.dispose();
  }
}

function labelPage(call: HttpCall, page: ListPage<string>): object {
  return listEnvelope(page, call.list);
}

function reservedLabels(call: HttpCall): object {
  const page = call.list.getAll
    ? reservedLabelKeys
    : reservedLabelKeys.slice(call.list.offset, call.list.offset + call.list.size);
  return listEnvelope({ items: [...page], total: reservedLabelKeys.length }, call.list, {
    hasFiltered: false,
  });
}

export function blueprintHttp(deps: BlueprintHttpDeps, wire: WirePolicy): BoundRoute[] {
  const { db } = deps;
  const change = (run: (call: HttpCall, id: string) => Promise<void>) => async (call: HttpCall) => {
    await run(call, call.params.blueprint_id!);
    return shown(deps, wire, call, true);
  };
  const routes = bindRoutes(blueprintRoutes, {
    listBlueprints: async (call) => {
      const rules = await listRules(db.query, call.principal, call.list.extra._filter_id);
      return presentPage(wire, call, await listBlueprints(deps, call.principal, call.list, rules));
    },
    getBlueprint: (call) => shown(deps, wire, call, false),
    uploadBlueprint: (call) => uploadBlueprint(deps, wire, call),
    validateBlueprint: (call) => validateBlueprint(deps, wire, call),
    deleteBlueprint: async (call) => {
      const before = wire.showsDeleted(call.version) ? await shown(deps, wire, call, true) : null;
      await removeBlueprint(deps, call.principal, call.params.blueprint_id!, call.query.force);
      return before === null ? answer({ status: 204 }) : answer({ status: 200, body: before });
    },
    patchBlueprint: change((call, id) => patchBlueprint(deps, call.principal, id, call.body)),
    downloadBlueprint: (call) => download(deps, call),
    setBlueprintVisibility: change((call, id) =>
      setBlueprintVisibility(deps, call.principal, id, call.body.visibility),
    ),
    setBlueprintGlobal: change((call, id) => setBlueprintVisibility(deps, call.principal, id, 'global')),
    setBlueprintIcon: change(async (call, id) =>
      setBlueprintIcon(deps, call.principal, id, await readIcon(call)),
    ),
    getBlueprintIcon: async (call) =>
      serveFile(call.headers, await blueprintIcon(deps, call.principal, call.params.blueprint_id!)),
    summarizeBlueprints: async (call) => {
      const { _target_field: target, _sub_field: sub } = call.query;
      const { principal, list } = call;
      const rules = (await listRules(db.query, principal, list.extra._filter_id)) ?? [];
      return listEnvelope(
        await summarizeBlueprints(db.query, principal, list, target, sub ?? null, rules),
        list,
        { hasFiltered: false },
      );
    },
  });
  const labels = bindRoutes(blueprintLabelRoutes, {
    listBlueprintLabelKeys: async (call) =>
      call.list.extra._reserved?.at(-1)?.toLowerCase() === 'true'
        ? reservedLabels(call)
        : labelPage(call, await listLabelTexts(db.query, call.principal, call.list, null)),
    listBlueprintLabelValues: async (call) =>
      labelPage(
        call,
        await listLabelTexts(db.query, call.principal, call.list, call.params.label_key!.toLowerCase()),
      ),
  });
  return [...routes, ...labels];
}
