/**
 * Every fault that the parser, the preparation and the evaluation report: our own kind, and the code and class of the
 * original (reference 9). Data, so that docs/dsl.md can be generated from it.
 */
export interface KindEntry {
  severity: 'error' | 'warning';
  code: number | null;
  className: string;
  doc: string;
}

const LOGIC = 'DSLParsingLogicException';
const FORMAT = 'DSLParsingFormatException';
const INPUT_TYPE = 'DSLParsingInputTypeException';
const PARSE = 'DSLParsingException';

const kind = (className: string, code: number | null, doc: string): KindEntry => ({
  severity: 'error',
  code,
  className,
  doc,
});
const warn = (doc: string): KindEntry => ({ severity: 'warning', code: null, className: 'Warning', doc });

export const diagnosticKinds = {
  // reading
  yaml_syntax: kind(FORMAT, -1, 'The text is not well-formed YAML.'),
  yaml_token: kind(
    'ScannerError',
    null,
    'A character or word that YAML does not allow there, such as a tab for indentation.',
  ),
  yaml_reference: kind('ComposerError', null, 'An unknown alias, a forbidden tag, or a collection as a key.'),
  yaml_character: kind('ReaderError', null, 'A character that is not printable.'),
  limit_exceeded: kind(FORMAT, 1, 'The input is larger or nested deeper than the bounds allow.'),
  non_ascii: kind(INPUT_TYPE, 108, 'A text with characters outside ASCII.'),
  // shape
  bad_shape: kind(FORMAT, 1, 'A value of the wrong YAML type.'),
  unknown_key: kind(FORMAT, 1, 'A key that does not exist in that place.'),
  missing_key: kind(FORMAT, 1, 'A required key is absent or null.'),
  bad_key: kind(FORMAT, 1, 'A key that is not a text.'),
  null_schema: kind('DSLParsingElementMatchException', null, 'A null property schema.'),
  feature_too_new: kind(LOGIC, 102, 'The definitions version of the blueprint does not have this feature.'),
  // versions
  missing_version: kind(LOGIC, 27, 'tosca_definitions_version is missing.'),
  import_version_newer: kind(LOGIC, 28, 'An imported file declares a newer version than the main file.'),
  unsupported_version: kind(LOGIC, 29, 'The definitions version is not supported.'),
  bad_location: kind(LOGIC, 30, 'The location of the main file cannot become an address.'),
  version_empty: kind(LOGIC, 71, 'The version text is empty.'),
  version_not_text: kind(LOGIC, 72, 'The version is not a text.'),
  version_bad_prefix: kind(LOGIC, 73, 'The version has another prefix than cloudify_dsl_.'),
  version_bad_major: kind(LOGIC, 74, 'The major number is not a number.'),
  version_bad_minor: kind(LOGIC, 75, 'The minor number is not a number.'),
  version_bad_micro: kind(LOGIC, 76, 'The micro number is not a number.'),
  // imports and merging
  null_imports: kind('TypeError', null, 'imports is null.'),
  duplicate_import: kind(FORMAT, 2, 'The same import twice in one file.'),
  not_mergeable: kind(LOGIC, 3, 'A section that may stand in one file only.'),
  duplicate_entry: kind(LOGIC, 4, 'The same name in two files.'),
  import_failed: kind(LOGIC, 13, 'An import cannot be read.'),
  too_many_imports: kind(LOGIC, 13, 'More imports than the bounds allow.'),
  bad_namespace: kind(LOGIC, 212, 'A namespace that contains "--".'),
  blueprint_import_without_namespace: kind(LOGIC, 213, 'A blueprint import needs a namespace.'),
  namespace_on_basic_types: kind(LOGIC, 214, 'The built-in types cannot have a namespace.'),
  namespace_taken: kind(LOGIC, 214, 'Two blueprint imports with one namespace.'),
  bad_import: kind(FORMAT, 220, 'An import item of the wrong form.'),
  bad_import_properties: kind(
    LOGIC,
    221,
    'Import properties that the plugin does not declare, or of the wrong type.',
  ),
  blueprint_import_failed: kind(
    'InvalidBlueprintImport',
    null,
    'The imported blueprint or plugin does not exist.',
  ),
  bad_resolver_rules: kind(
    'DefaultResolverValidationException',
    null,
    'Malformed rules of the import resolver.',
  ),
  // types and properties
  unknown_node_type: kind(LOGIC, 7, 'A node template of an unknown type.'),
  cycle: kind(LOGIC, 100, 'Types or node templates that depend on themselves.'),
  unknown_parent: kind(LOGIC, 103, 'derived_from names no type.'),
  unknown_type: kind(LOGIC, 103, 'A property, input or parameter of an unknown type.'),
  bad_constraint: kind(LOGIC, 103, 'A constraint that is empty, unknown, or has several keys.'),
  bad_availability: kind(LOGIC, 103, 'node_instances_active takes all, partial and none.'),
  reserved_type_name: kind(LOGIC, 104, 'A data type named like a primitive type.'),
  type_mismatch: kind(LOGIC, 105, 'A value that does not match its declared type.'),
  undefined_property: kind(LOGIC, 106, 'A property that the type does not declare.'),
  missing_property: kind(LOGIC, 107, 'A required property without a value.'),
  missing_operation_input: kind(LOGIC, 107, 'An operation input without a value.'),
  bad_constraint_argument: kind(LOGIC, 212, 'A constraint argument of the wrong kind.'),
  hidden_required_input: kind(LOGIC, 215, 'A hidden input must have a default or be optional.'),
  display_without_textarea: kind(INPUT_TYPE, 216, 'display belongs to textarea inputs.'),
  item_type_not_primitive: kind(LOGIC, 217, 'item_type must be a primitive type.'),
  item_type_without_list: kind(LOGIC, 218, 'item_type belongs to lists.'),
  external_resource_function: kind(LOGIC, 219, 'use_external_resource cannot be a function.'),
  constraint_with_function: kind(PARSE, 213, 'The value of an input with constraints is a function.'),
  // plugins, operations, relationships
  bad_plugin_executor: kind(LOGIC, 18, 'A plugin executor that does not exist.'),
  bad_operation_executor: kind(LOGIC, 28, 'An operation executor that does not exist.'),
  unresolved_node_operation: kind(LOGIC, 10, 'The implementation names neither a plugin nor a script.'),
  unresolved_relationship_operation: kind(
    LOGIC,
    19,
    'The implementation names neither a plugin nor a script.',
  ),
  unresolved_workflow: kind(LOGIC, 21, 'The mapping names neither a plugin nor a script.'),
  relationship_to_self: kind(LOGIC, 23, 'A relationship from a node to itself.'),
  host_agent_without_host: kind(LOGIC, 24, 'A host_agent operation on a node without a host.'),
  unknown_relationship_target: kind(LOGIC, 25, 'A relationship to an unknown node template.'),
  unknown_relationship_type: kind(LOGIC, 26, 'A relationship of an unknown type.'),
  plugin_without_source: kind(LOGIC, 50, 'A plugin to install needs source or package_name.'),
  script_input_taken: kind(LOGIC, 60, 'A script operation that also sets script_path or script_source.'),
  script_plugin_missing: kind(LOGIC, 61, 'A script needs a plugin whose name ends with script.'),
  ambiguous_plugin: kind(LOGIC, 91, 'Several plugins fit the implementation.'),
  several_containers: kind(LOGIC, 112, 'More than one contained_in relationship.'),
  lifecycle_operation_missing: kind(
    LOGIC,
    215,
    'depends_on_lifecycle_operation needs the property operation.',
  ),
  lifecycle_operation_undeclared: kind(LOGIC, 216, 'The target does not declare that lifecycle operation.'),
  bad_retries: kind('ValueError', null, 'max_retries below -1, or a negative retry_interval or timeout.'),
  // groups and scaling
  unknown_group_member: kind(LOGIC, 40, 'A group member that is neither a node template nor a group.'),
  unknown_policy_type: kind(LOGIC, 41, 'A group policy of an unknown type.'),
  unknown_trigger_type: kind(LOGIC, 42, 'A policy trigger of an unknown type.'),
  group_cycle: kind(LOGIC, 200, 'Scaling groups that contain each other.'),
  member_in_several_groups: kind(LOGIC, 201, 'A member of several scaling groups.'),
  mixed_group_members: kind(LOGIC, 202, 'Contained and other members in one scaling group.'),
  unsupported_policy: kind(LOGIC, 204, 'The only policy type is cloudify.policies.scaling.'),
  policy_target_not_group: kind(LOGIC, 205, 'A policy target that is not a group.'),
  empty_policy_targets: kind(LOGIC, 206, 'A policy without targets.'),
  bad_instances: kind(LOGIC, 207, 'Numbers of instances that contradict each other.'),
  bad_max_instances: kind(LOGIC, 208, 'max_instances is a number or UNBOUNDED.'),
  deploy_and_capabilities: kind(LOGIC, 209, 'instances.deploy and capabilities exclude each other.'),
  scalable_not_function: kind(LOGIC, 210, 'A scaling property that is a mapping but no function.'),
  group_named_like_node: kind(LOGIC, 211, 'A group with the name of a node template.'),
  negative_deploy: kind(FORMAT, 1, 'instances.deploy is negative.'),
  empty_group: kind(FORMAT, 1, 'A group without members.'),
  // labels and settings
  bad_label_value: kind(PARSE, 1, 'A label value of the wrong kind.'),
  bad_weekday: kind(PARSE, 1, 'A weekday that does not exist.'),
  bad_schedule_parameters: kind(PARSE, 1, 'get_attribute in the parameters of a schedule.'),
  bad_schedule_time: kind('NonRecoverableError', null, 'A time, time delta or time zone of a schedule.'),
  // constraints on values
  constraint_violated: kind('ConstraintException', null, 'A value that violates a constraint.'),
  constraint_not_applicable: kind(
    'ConstraintException',
    null,
    'A constraint that cannot be applied to such a value.',
  ),
  no_candidate: kind('ConstraintException', null, 'No object matches the value.'),
  input_value_mismatch: kind(PARSE, 214, 'A given input does not match its type.'),
  missing_inputs: kind('MissingRequiredInputError', null, 'Required inputs have no value.'),
  unknown_input: kind('UnknownInputError', null, 'An input that the blueprint does not declare.'),
  // functions
  function_argument: kind(
    'ValueError',
    null,
    'Arguments of the wrong form, or SELF, SOURCE or TARGET where they have no meaning.',
  ),
  function_form: kind('FunctionValidationError', null, 'Arguments of the wrong form.'),
  function_failed: kind('FunctionEvaluationError', null, 'A function cannot be evaluated.'),
  function_result: kind('FunctionsEvaluationError', null, 'A capability or label does not exist.'),
  function_index: kind('IndexError', null, 'An index that is out of range.'),
  input_path: kind(
    'InputEvaluationError',
    null,
    'A path into an input that does not exist, or a value of another type.',
  ),
  unknown_node: kind('KeyError', null, 'A function names an unknown node.'),
  unknown_sys_entity: kind('UnknownSysEntityError', null, 'get_sys: unknown entity.'),
  unknown_sys_property: kind('UnknownSysPropertyError', null, 'get_sys: unknown property.'),
  recursion_limit: kind(
    'EvaluationRecursionLimitReached',
    null,
    'Functions that lead to each other without end.',
  ),
  no_secret_lookup: kind(
    'UnsupportedGetSecretError',
    null,
    'get_secret is used but no secrets can be looked up.',
  ),
  unknown_secrets: kind('UnknownSecretError', null, 'Secrets that do not exist.'),
  // instances
  unsupported_relationship: kind(
    'UnsupportedRelationship',
    null,
    'A relationship derived from none of the three bases.',
  ),
  bad_connection_type: kind(
    'IllegalConnectedToConnectionType',
    null,
    'connection_type must be all_to_all or all_to_one.',
  ),
  all_to_one_in_group: kind('UnsupportedAllToOneInGroup', null, 'all_to_one inside one scaling group.'),
  all_to_one_state: kind('IllegalAllToOneState', null, 'all_to_one must have exactly one target so far.'),
  ids_exhausted: kind('RuntimeError', null, 'No instance id is left.'),
  // workflows
  bad_parameters: kind(
    'IllegalExecutionParametersError',
    null,
    'Workflow parameters that are undeclared, missing or of the wrong type.',
  ),
  workflow_unavailable: kind(
    'UnavailableWorkflowError',
    null,
    'The availability rules of the workflow are not met.',
  ),
  // legal but surprising
  double_relationship: warn('Two relationships to one target: only the last one has instances.'),
  built_in_overwritten: warn('An entry named like a built-in one is replaced by an imported one.'),
  unused_input: warn('An input that nothing reads.'),
} as const satisfies Record<string, KindEntry>;

export type DiagnosticKind = keyof typeof diagnosticKinds;
