/** Handlers of PUT /blueprints/{id} and /validate. */
import { ownershipOf } from '@baton/contracts';
import type { HttpAnswer, HttpCall } from '@baton/http';
import { badParameter } from '@baton/kernel';
import { acceptUpload, type UploadDeps, uploadNow } from '../commands/upload-blueprint';
import {
  checkSources,
  type RawUploadArguments,
  readUploadRequest,
  type UploadRequest,
} from '../domain/upload-request';
import { getBlueprint } from '../queries/read-blueprints';
import { asAccepted } from './accepted-upload';
import { type ArchiveBody, readUploadBody } from './upload-body';
import type { WirePolicy } from './wire-policy';

interface Received {
  request: UploadRequest;
  archive: ArchiveBody;
  dispose(): Promise<void>;
}

const given = (params: RawUploadArguments): RawUploadArguments =>
  Object.fromEntries(Object.entries(params).filter(([, v]) => v !== undefined));

async function receive(deps: UploadDeps, wire: WirePolicy, call: HttpCall): Promise<Received> {
  const query = call.query as RawUploadArguments;
  if (!wire.takesLabelsOfQuery && query.labels !== undefined) {
    throw badParameter('labels', 'labels are not taken from the query', {
      expected: 'labels in the part params',
    });
  }
  const body = await readUploadBody(call, deps.limits.maxArchiveBytes, Boolean(query.blueprint_archive_url));
  try {
    const args = { ...query, ...given(body.params) };
    const owner = await ownershipOf(call.principal, args, deps.findUser);
    const request = readUploadRequest(call.principal, call.params.blueprint_id!, args, owner);
    if (!wire.keepsEmptyUploads || request.url !== null) checkSources(body.archive !== null, request.url);
    return { request, archive: body.archive, dispose: body.dispose };
  } catch (error) {
    await body.dispose();
    throw error;
  }
}

/**
 * Returns the blueprint; a very large plan only when `_include` names it. Uploads that were only accepted are shown in their
 * initial state.
 */
export async function uploadBlueprint(
  deps: UploadDeps,
  wire: WirePolicy,
  call: HttpCall,
): Promise<HttpAnswer> {
  const { request, archive, dispose } = await receive(deps, wire, call);
  try {
    if (request.isAsync || wire.acceptsFirst) {
      await acceptUpload(deps, call.principal, request, archive);
      const row = await getBlueprint(deps.db.query, call.principal, request.id, call.include, true);
      const begun = asAccepted(
        { ...row, main_file_name: request.mainFileName },
        request.url === null ? 'uploading' : 'pending',
      );
      return wire.presentBlueprint(call.version, begun);
    }
    await uploadNow(deps, call.principal, request, archive, call.signal);
  } finally {
    await dispose();
  }
  const row = await getBlueprint(deps.db.query, call.principal, request.id, call.include, true);
  return wire.presentBlueprint(call.version, row);
}

/** Validates an archive. The answer depends on the wire; an invalid archive may get 400 with every diagnostic. */
export async function validateBlueprint(
  deps: UploadDeps,
  wire: WirePolicy,
  call: HttpCall,
): Promise<HttpAnswer> {
  const { request, archive, dispose } = await receive(deps, wire, call);
  try {
    checkSources(archive !== null, request.url);
    return await wire.validate(deps, call.principal, request, archive, call.signal);
  } finally {
    await dispose();
  }
}
