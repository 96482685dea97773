/** The plugins of a blueprint to update, and their new versions (reference/rest-api.md 5.18, plugins updates). */
export interface PluginSelection {
  /** Package names; null or empty: all. */
  plugin_names?: string[] | null;
  /** The newest version; the default when no other option is set. */
  all_to_latest?: boolean | null;
  to_latest?: string[] | null;
  /** The newest version with the same major number. */
  all_to_minor?: boolean | null;
  to_minor?: string[] | null;
  /** Package name to version; takes precedence over all other options. */
  mapping?: Record<string, string> | null;
}
