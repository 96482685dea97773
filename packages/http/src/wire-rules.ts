import type { ApiVersion, ListContract, RouteContract } from '@baton/contracts';

/** How the content type of a JSON body is judged. */
export interface TypeRule {
  type: RegExp;
  /** Asked for before the body is looked at. */
  isNeeded: boolean;
  refusal: 'unsupported_content_type_error' | 'bad_parameters_error';
}

export const JSON_TYPE = /^application\/json\s*(?:;|$)/i;

/** What differs between the wires for every route; what differs for single routes stands in their services. */
export interface WireRules {
  /** Whether the route is there at all. */
  serves(contract: RouteContract): boolean;
  /** Whether this version of the API has fields and page sizes of its own, other than those of v3.1. */
  hasLegacyForm(version: ApiVersion): boolean;
  /** Whether `_include` of this list passes over names that are no fields, instead of refusing them. */
  isIncludeLoose(list: ListContract): boolean;
  /** Parameters that this list does not read, whatever they say. */
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
