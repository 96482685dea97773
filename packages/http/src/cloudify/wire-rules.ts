import type { RouteContract } from '@baton/contracts';
import { JSON_TYPE, type TypeRule, type WireRules } from '../wire-rules';

/** The original takes nothing beside the name. */
const BARE_JSON_TYPE = /^application\/json$/i;

/** The original looks at the type before the body: where a body is due, none without a type is the wrong type. */
function bodyType(contract: RouteContract): TypeRule {
  if (contract.isBodyReadPlainly) return { type: JSON_TYPE, isNeeded: true, refusal: 'bad_parameters_error' };
  const isNeeded = !contract.isBodyOptional && contract.rawBody === undefined;
  return { type: BARE_JSON_TYPE, isNeeded, refusal: 'unsupported_content_type_error' };
}

/** The wire of the original, whose later managers gave v2.1 the fields of v3 (docs/compatibility.md). */
export const cloudifyRules: WireRules = {
  serves: (contract) => contract.isGoneFromOriginal !== true,
  hasLegacyForm: () => false,
  isIncludeLoose: (list) => list.isIncludeLoose === true,
  passedOver: (list) => list.passedOver ?? [],
  bodyType,
};
