import type { RouteContract } from '@baton/contracts';
import { JSON_TYPE, type TypeRule, type WireRules } from '../wire-rules';

/** The original accepts no parameters behind the type's name. */
const BARE_JSON_TYPE = /^application\/json$/i;

/** The original checks the type before the body: where a body is required, a missing type counts as a wrong type. */
function bodyType(contract: RouteContract): TypeRule {
  if (contract.isBodyReadPlainly) return { type: JSON_TYPE, isNeeded: true, refusal: 'bad_parameters_error' };
  const isNeeded = !contract.isBodyOptional && contract.rawBody === undefined;
  return { type: BARE_JSON_TYPE, isNeeded, refusal: 'unsupported_content_type_error' };
}

/** The wire of the original, whose later managers had the fields of v3 also in v2.1 (docs/compatibility.md). */
export const cloudifyRules: WireRules = {
  serves: (contract) => contract.isGoneFromOriginal !== true,
  hasLegacyForm: () => false,
  isIncludeLoose: (list) => list.isIncludeLoose === true,
  passedOver: (list) => list.passedOver ?? [],
  bodyType,
};
