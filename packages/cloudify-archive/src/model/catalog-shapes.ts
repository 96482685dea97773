import { boolean, filled, instant, json, labels, list, name, object, or, orNull, text } from './fields';
import { created, owned } from './owned';
import type { Shape } from './shape';

const filterShape = {
  key: ['id'],
  fields: {
    id: name,
    ...created,
    value: or(list, []),
    updated_at: orNull(instant),
    is_system_filter: or(boolean, false),
  },
} as const;

/** Objects of a tenant that deployments are made of. */
export const CATALOG_SHAPES = {
  sites: { key: ['name'], fields: { name, ...created, location: orNull(text) } },
  plugins: {
    key: ['id'],
    fields: {
      id: name,
      ...owned,
      title: orNull(text),
      uploaded_at: orNull(instant),
      package_name: orNull(text),
      package_version: orNull(text),
      package_source: orNull(text),
      archive_name: orNull(text),
      distribution: orNull(text),
      distribution_release: orNull(text),
      distribution_version: orNull(text),
      supported_platform: filled(json, null),
      supported_py_versions: filled(json, null),
      wheels: filled(json, null),
      excluded_wheels: filled(json, null),
      blueprint_labels: filled(json, null),
      labels: filled(json, null),
      resource_tags: filled(json, null),
    },
  },
  secrets_providers: {
    key: ['name'],
    fields: {
      name,
      ...created,
      type: orNull(text),
      connection_parameters: filled(json, null),
      updated_at: orNull(instant),
    },
  },
  secrets: {
    key: ['key'],
    fields: {
      key: name,
      ...created,
      /** In clear text; null where a provider has it, or where it could not be decrypted (noted then). */
      value: orNull(text),
      schema: filled(json, null),
      is_hidden_value: or(boolean, false),
      provider_name: orNull(name),
      provider_options: filled(json, null),
      updated_at: orNull(instant),
    },
    dropped: ['tenant_name'],
  },
  blueprints: {
    key: ['id'],
    fields: {
      id: name,
      ...created,
      main_file_name: orNull(text),
      plan: orNull(object),
      requirements: filled(json, null),
      description: orNull(text),
      is_hidden: or(boolean, false),
      state: or(text, 'uploaded'),
      error: orNull(text),
      error_traceback: orNull(text),
      updated_at: orNull(instant),
      labels: or(labels, []),
    },
  },
  deployments_filters: filterShape,
  blueprints_filters: filterShape,
} as const satisfies Record<string, Shape>;
