import type { ApiVersion, ListContract, RouteContract } from '@baton/contracts';

/** How the content type of a JSON body is checked. */
export interface TypeRule {
  type: RegExp;
  /** Whether the content type is checked before the body is read. */
  isNeeded: boolean;
  refusal: 'unsupported_content_type_error' | 'bad_parameters_error';
}

export const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** The differences between the wires that concern every route; differences of single routes are in their services. */
export interface WireRules {
  /** Whether the route exists on this wire. */
  serves(contract: RouteContract): boolean;
  /** Whether this version of the API has its own fields and page sizes, different from those of v3.1. */
  hasLegacyForm(version: ApiVersion): boolean;
  /** Whether `_include` of this list ignores unknown field names, instead of refusing them. */
  isIncludeLoose(list: ListContract): boolean;
  /** Parameters that this list ignores, whatever their values. */
  passedOver(list: ListContract): readonly string[];
  bodyType(contract: RouteContract): TypeRule;
}

/** The wire of the specification. */
export const specRules: WireRules = {
  serves: () => true,
  hasLegacyForm: (version) => version === 'v2.1',
  isIncludeLoose: () => false,
  passedOver: () => [],
  bodyType: () => ({ type: JSON_TYPE, isNeeded: false, refusal: 'unsupported_content_type_error' }),
};
