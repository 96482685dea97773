/** Types that need no declaration, with the definitions version that introduced them (reference 3.1). */
export const primitiveTypes: ReadonlyMap<
  string,
  { since: readonly number[] | null; isObject: boolean; doc: string }
> = new Map([
  ['string', { since: null, isObject: false, doc: 'Anything; no conversion.' }],
  ['integer', { since: null, isObject: false, doc: 'A whole number.' }],
  ['float', { since: null, isObject: false, doc: 'A number.' }],
  ['boolean', { since: null, isObject: false, doc: 'true or false.' }],
  ['list', { since: null, isObject: false, doc: 'A sequence.' }],
  ['dict', { since: null, isObject: false, doc: 'A mapping.' }],
  ['regex', { since: null, isObject: false, doc: 'A regular expression.' }],
  ['textarea', { since: null, isObject: false, doc: 'Text of several lines; anything passes.' }],
  ['blueprint_id', { since: [1, 4], isObject: true, doc: 'Id of a blueprint.' }],
  ['deployment_id', { since: [1, 4], isObject: true, doc: 'Id of a deployment.' }],
  ['capability_value', { since: [1, 4], isObject: true, doc: 'Value of a capability.' }],
  ['scaling_group', { since: [1, 4], isObject: true, doc: 'Name of a scaling group.' }],
  ['node_id', { since: [1, 4], isObject: true, doc: 'Id of a node.' }],
  ['node_type', { since: [1, 4], isObject: true, doc: 'Name of a node type.' }],
  ['node_instance', { since: [1, 4], isObject: true, doc: 'Id of a node instance.' }],
  ['secret_key', { since: [1, 4], isObject: true, doc: 'Key of a secret.' }],
  ['operation_name', { since: [1, 5], isObject: true, doc: 'Name of an operation.' }],
]);
