import type { ApiVersion, Principal } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import { answer, type HttpAnswer } from '@baton/http';
import { type UploadDeps, validateNow } from '../commands/upload-blueprint';
import type { UploadRequest } from '../domain/upload-request';
import { specTexts, type UploadTexts } from '../domain/upload-texts';
import type { BlueprintRow } from '../queries/read-blueprints';
import type { PluginRow } from '../queries/read-plugins';
import { legacyTime } from './legacy-time';
import type { ArchiveBody } from './upload-body';

/** Differences between the wires. `service.ts` builds one policy and gives it to the routes. */
export interface WirePolicy {
  /** Converts a blueprint, or some of its fields, for this version of the API. */
  presentBlueprint(version: ApiVersion, row: BlueprintRow): Record<string, unknown>;
  presentPlugin(version: ApiVersion, row: PluginRow): PluginRow;
  /** Whether a delete returns the object as it was. Otherwise it answers 204. */
  showsDeleted(version: ApiVersion): boolean;
  /** Content type that the delete of a plugin must have; null: any. */
  pluginDeleteType: RegExp | null;
  /** Whether searches ignore unknown constraints instead of refusing them. */
  skipsUnknown: boolean;
  /** Whether an upload accepts labels from the query too, not only from the part `params`. */
  takesLabelsOfQuery: boolean;
  /** Whether an upload without content is stored as a failed one instead of being refused. */
  keepsEmptyUploads: boolean;
  /** Whether every upload is asynchronous. Otherwise an upload is asynchronous only on request. */
  acceptsFirst: boolean;
  texts: UploadTexts;
  /** Validates an archive and answers with the outcome. @throws AppError, as validateNow. */
  validate(
    deps: UploadDeps,
    principal: Principal,
    request: UploadRequest,
    archive: ArchiveBody,
    signal: AbortSignal,
  ): Promise<HttpAnswer>;
}

/** The wire of the specification. */
export const specWire: WirePolicy = {
  presentBlueprint(version, row) {
    if (version === 'v3.1') return { ...row, upload_execution: null };
    const legacy = Object.fromEntries(legacyFields.blueprint.filter((f) => f in row).map((f) => [f, row[f]]));
    return {
      ...legacy,
      created_at: legacyTime(row.created_at),
      ...('updated_at' in row ? { updated_at: legacyTime(row.updated_at) } : {}),
    };
  },
  presentPlugin(version, row) {
    if (version === 'v3.1') return row;
    const legacy = Object.fromEntries(legacyFields.plugin.filter((f) => f in row).map((f) => [f, row[f]]));
    return 'uploaded_at' in row ? { ...legacy, uploaded_at: legacyTime(row.uploaded_at) } : legacy;
  },
  showsDeleted: (version) => version === 'v2.1',
  pluginDeleteType: null,
  skipsUnknown: false,
  takesLabelsOfQuery: true,
  keepsEmptyUploads: false,
  acceptsFirst: false,
  texts: specTexts,
  async validate(deps, principal, request, archive, signal) {
    await validateNow(deps, principal, request, archive, signal);
    return answer({ status: 204 });
  },
};
