import { answer } from '@baton/http';
import { validateAsExecution } from '../../commands/upload-blueprint';
import type { WirePolicy } from '../wire-policy';
import { presentBlueprint, presentValidation } from './present-blueprint';
import { originalTexts } from './upload-texts';

/** Columns of the original's database that its clients may read. */
const PLUGIN_EXTRAS = {
  wheels_p: null,
  excluded_wheels_p: null,
  supported_platform_p: null,
  supported_py_versions_p: null,
};

/** The answers of the original API (docs/compatibility.md), whose later managers gave v2.1 the fields of v3. */
export const cloudifyWire: WirePolicy = {
  presentBlueprint: (_version, row) => presentBlueprint(row),
  presentPlugin: (_version, row) => ({ ...row, ...PLUGIN_EXTRAS }),
  showsDeleted: () => false,
  pluginDeleteType: /^application\/json$/i,
  skipsUnknown: true,
  // reference/rest-api.md 4.2
  takesLabelsOfQuery: false,
  keepsEmptyUploads: true,
  acceptsFirst: true,
  texts: originalTexts,
  // Always 201 with a blueprint that is never stored: clients read the outcome of the execution that it names.
  async validate(deps, principal, request, archive, signal) {
    const execution = await validateAsExecution(deps, principal, request, archive, signal);
    return answer({ status: 201, body: presentValidation({ ...request, ...execution }, principal) });
  },
};
